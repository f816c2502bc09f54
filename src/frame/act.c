/* act.c - stage 8: action atoms.
 *
 * When there is not time for all agents, those act first with the earliest turn in the order of the world. Among these,
 * and among the others, all agents of one kind act before those of the next: serial ones one by one, then regions
 * beside each other, then parallel ones. When time runs out, the next commit begins with the next kind, so that no kind
 * waits for ever.
 *
 * Serial actions take effect one by one. For the other kinds it is settled before they run which agents act (under the
 * virtual clock, and in a replay), and what they did takes effect afterwards (act_settle.c). */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/audit.h"
#include "frame/complete.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "frame/settle.h"
#include "frame/stages.h"
#include "record/recorder.h"
#include "run/overrun_check.h"
#include "run/passes.h"
#include "run/timeline.h"
#include "world/frame_state.h"
#include "world/lifecycle.h"
#include "world/messages.h"
#include "world/serial.h"
#include "world/workers.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_learnt.h"
#include "world/world_links.h"
#include "world/world_queues.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

#include <math.h>
#include <string.h>

enum { ACT_URGENCIES = 512 };

/* How far the actions of a frame are. */
typedef struct act_turn {
  uint64_t begin_ns, end_ns; /* wall, or modelled */
  bool first;                /* no agent has acted yet: the very first acts whatever it costs */
} act_turn;

void act_reserve(struct muster_world *world, const agent_type *type) {
  bool acts = type->parallel_atoms < type->atom_count || type->sets.actions;
  if (world->arena.failed || !acts) return;
  ASSERT((unsigned)type->def.act < ACT_KINDS);
  uint32_t **listed = &world->acts->listed[type->def.act];
  if (!*listed) ARENA_ARRAY(&world->arena, *listed, world->def.limits.agents_max);
  if (!world->acts->waiting) ARENA_ARRAY(&world->arena, world->acts->waiting, world->def.limits.agents_max);
  if (type->def.act != MUSTER_ACT_SERIAL && !world->acts->beside.entries)
    acts_create(&world->acts->beside, world->runner, world->def.limits.agents_max, &world->arena);
  if (world->arena.failed) return;
  world->acts->kinds |= 1u << type->def.act;
  world->acts->asks = world->acts->asks || type->spawns_max || type->sends_max;
}

/* Of an agent with waiting actions. */
static uint64_t modelled_act_cost(const struct muster_world *world, uint32_t index) {
  const agent_type *type = world_type_of(world, index);
  if (type->has_sets) return passes_act_cost(type, world_row(world, index));
  return type_model_ns(type, type->parallel_atoms, type->atom_count);
}

static uint64_t act_clock(const struct muster_world *world) {
  return world_is_virtual(world) ? world->frame->spent_ns : clock_now(world->clock);
}

/* Takes all agents out of the bitmap, in agent order. */
static void take_waiting(struct muster_world *world) {
  enum { AT_ONCE = 8 };
  uint64_t *bits = world->queues->acting;
  uint32_t words = bits_words(world->agents.store.high), count = 0;
  for (uint32_t word = 0; word < words; word++) {
    while (word + AT_ONCE < words && !(bits[word] | bits[word + 1] | bits[word + 2] | bits[word + 3] | bits[word + 4] |
                                       bits[word + 5] | bits[word + 6] | bits[word + 7]))
      word += AT_ONCE;
    if (!bits[word]) continue;
    for (uint64_t left = bits[word]; left; left &= left - 1)
      world->acts->waiting[count++] = word * 64 + (uint32_t)__builtin_ctzll(left);
    bits[word] = 0;
  }
  ASSERT(count == world->queues->acting_count);
  world->acts->count = count;
}

/* Agents of a kind's list that found no time wait on: all from `first` on. */
static void wait_on(struct muster_world *world, muster_act kind, uint32_t first) {
  for (uint32_t i = first; i < world->acts->counts[kind]; i++)
    bits_set(world->queues->acting, world->acts->listed[kind][i]);
}

/* ------------------------------------------------------------------------------------------------------ one by one */

/* Runs the action atoms of one agent and completes its update. */
static void act_act(struct muster_world *world, uint32_t index) {
  uint64_t began_ns = world->agents.store.begun[index].started_ns;
  ASSERT(world->queues->acting_count > 0 && world_row(world, index)->status == AGENT_ACTING);
  world->queues->acting_count--;
  if (!world_row(world, index)->removal_pending) {
    batch_result result = {0};
    uint64_t cost_ns = modelled_act_cost(world, index);
    acts_run_one(runner_caller(world->runner), index, &result);
    settle_effects(world, index, &result);
    world->frame->spent_ns += cost_ns;
  }
  update_complete(world, world->sums->parts, 0, index, began_ns);
}

/* Runs the serial agents of the list in agent order while there is time. False when time ran out. */
static bool act_serially(struct muster_world *world, act_turn *turn) {
  cost_estimate *each = &world->learnt->experience.act_each[MUSTER_ACT_SERIAL];
  const uint32_t *agents = world->acts->listed[MUSTER_ACT_SERIAL];
  /* Few frames may be late: on the wall clock the action is expected to be one of the long ones. */
  uint64_t each_ns = (uint64_t)(world_is_virtual(world) ? each->mean_ns : each->high_ns);
  for (uint32_t i = 0; i < world->acts->counts[MUSTER_ACT_SERIAL]; i++) {
    uint64_t begin_ns = act_clock(world);
    if (recorder_choose(world->recorder, !turn->first && begin_ns + each_ns > turn->end_ns)) {
      wait_on(world, MUSTER_ACT_SERIAL, i);
      return false;
    }
    turn->first = false;
    act_act(world, agents[i]);
    uint64_t blocked_ns = runner_caller(world->runner)->blocked_ns ? audit_blocked(world) : 0;
    turn->end_ns += blocked_ns;
    uint64_t spent_ns = act_clock(world) - begin_ns - blocked_ns;
    world->sums->report.acts_serial_ns += spent_ns;
    estimate_add_clipped(each, (double)spent_ns, 5e3);
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------- beside each other */

/* Opens the list of a kind. */
static void open_list(struct muster_world *world, muster_act kind) {
  ASSERT((unsigned)kind < ACT_KINDS);
  struct acts *acts = &world->acts->beside;
  const uint32_t *agents = world->acts->listed[kind];
  acts->kind = kind;
  acts->count = world->acts->counts[kind];
  for (uint32_t i = 0; i < acts->count; i++) acts->entries[i] = (act_entry){.agent = agents[i]};
}

/* What an agent of the list is expected to take; before any was measured, as its type guesses. */
static double each_ns_of(const struct muster_world *world) {
  const cost_estimate *each = &world->learnt->experience.act_each[world->acts->beside.kind];
  if (each->samples || world->acts->beside.count == 0) return each->mean_ns;
  return (double)modelled_act_cost(world, world->acts->beside.entries[0].agent);
}

/* Virtual clock: how many agents of the list can act; charges them. */
static uint32_t act_charge(struct muster_world *world, act_turn *turn) {
  const struct acts *acts = &world->acts->beside;
  cost_estimate *each = &world->learnt->experience.act_each[acts->kind];
  uint64_t each_ns = (uint64_t)each_ns_of(world);
  uint32_t count = 0;
  for (; count < acts->count; count++) {
    uint32_t index = acts->entries[count].agent;
    uint64_t cost_ns = world_row(world, index)->removal_pending ? 0 : modelled_act_cost(world, index);
    if (!turn->first && world->frame->spent_ns + each_ns > turn->end_ns) break;
    turn->first = false;
    world->frame->spent_ns += cost_ns;
    estimate_add_clipped(each, (double)cost_ns, 5e3);
  }
  return count;
}

/* Before the list runs: which of its agents act, as far as that is known, and until when. */
static void act_choose(struct muster_world *world, act_turn *turn) {
  struct acts *acts = &world->acts->beside;
  acts->timed = world->timed;
  if (world_is_virtual(world))
    acts->count = act_charge(world, turn);
  else
    frame_record_choose_acted(world);
  if (acts->count == 0) return;
  acts->sure = turn->first;
  turn->first = false;
  if (!acts->timed) return;
  uint64_t now_ns = clock_now(world->clock), left_ns = turn->end_ns > now_ns ? turn->end_ns - now_ns : 0;
  uint64_t settle_ns = (uint64_t)(world->learnt->experience.act_settle.mean_ns * acts->count);
  acts->each_ns = (uint64_t)each_ns_of(world);
  acts->stop_ns = turn->end_ns - (settle_ns < left_ns / 2 ? settle_ns : left_ns / 2);
}

/* Sets aside ids for spawns and places for messages, in agent order: agents late in the list may get fewer. */
static void act_set_aside(struct muster_world *world) {
  struct acts *acts = &world->acts->beside;
  uint32_t ids = world->commands->spawn_id_count, places = world->batch->places_max;
  ASSERT(acts->count <= world->queues->acting_count);
  for (uint32_t i = 0; i < acts->count; i++) {
    act_entry *entry = &acts->entries[i];
    const agent_type *type = world_type_of(world, entry->agent);
    entry->spawn_base = world->commands->spawn_id_count - ids;
    entry->spawn_limit = type->spawns_max < ids ? type->spawns_max : (uint16_t)ids;
    ids -= entry->spawn_limit;
    entry->send_base = world->batch->places_max - places;
    entry->send_limit = type->sends_max < places ? type->sends_max : (uint16_t)places;
    places -= entry->send_limit;
  }
  uint32_t used = world->batch->places_max - places;
  if (used > world->links->mailbox.places_high) world->links->mailbox.places_high = used;
}

/* A few actions are not worth waking workers for. In a replay all agents act in agent order. */
static uint32_t helpers_for(const struct muster_world *world) {
  const struct acts *acts = &world->acts->beside;
  if (acts->claim_count < 2 || (!world->timed && !world_is_virtual(world))) return 0;
  uint32_t helpers = serial_helpers_for(world, (uint64_t)(each_ns_of(world) * acts->count));
  return helpers < acts->claim_count ? helpers : acts->claim_count - 1;
}

/* A team's work: runs actions of the list. */
static void act_together(void *argument, uint32_t worker) {
  struct muster_world *world = argument;
  acts_work(&world->acts->beside, worker);
}

/* The caller runs the list claim by claim, as a team would; to which it calls fewer helpers than there are claims. */
static void act_alone(struct muster_world *world) {
  struct acts *acts = &world->acts->beside;
  uint64_t worth_ns = serial_help_worth_ns(world), most_ns = acts->claim_count * worth_ns;
  uint64_t work_ns = (uint64_t)(each_ns_of(world) * acts->count);
  if (work_ns >= most_ns) work_ns = most_ns ? most_ns - 1 : 0;
  timeline_offer(world->runner->timeline, acts->claim_count, work_ns, worth_ns);
  acts_work(acts, world->runner->caller);
}

/* Runs the list. */
static void run_list(struct muster_world *world) {
  struct acts *acts = &world->acts->beside;
  acts_open(acts);
  uint32_t helpers = helpers_for(world);
  if (helpers)
    serial_run_team(world, act_together, helpers);
  else if (world->runner->timeline)
    act_alone(world);
  else
    acts_run_in_order(acts);
  if (!acts->timed) return;
  act_part sum = {0};
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    sum.spent_ns += acts->parts[i].spent_ns;
    sum.acted += acts->parts[i].acted;
  }
  if (sum.acted)
    estimate_add_clipped(&world->learnt->experience.act_each[acts->kind], (double)sum.spent_ns / (double)sum.acted,
                         5e3);
}

/* Those that found no time in the list wait on: they are the last ones, or else have not run. */
static void wait_on_unless_ran(struct muster_world *world) {
  const struct acts *acts = &world->acts->beside;
  for (uint32_t i = 0; i < acts->count; i++)
    if (!acts->entries[i].ran) bits_set(world->queues->acting, acts->entries[i].agent);
  wait_on(world, acts->kind, acts->count);
}

/* Runs the agents of one kind beside each other, while there is time. False when time ran out. */
static bool act_beside(struct muster_world *world, muster_act kind, act_turn *turn) {
  const struct acts *acts = &world->acts->beside;
  uint32_t listed = world->acts->counts[kind];
  if (listed == 0) return true;
  open_list(world, kind);
  act_choose(world, turn);
  if (world->acts->asks) act_set_aside(world);
  run_list(world);
  if (acts->timed) {
    turn->end_ns += audit_blocked(world);
    frame_record_acted(world);
  }
  uint64_t begin_ns = acts->timed ? clock_now(world->clock) : 0;
  uint32_t ran = settle_acted(world);
  ASSERT(ran <= listed);
  if (ran < listed) wait_on_unless_ran(world);
  if (acts->timed && ran)
    estimate_add_clipped(&world->learnt->experience.act_settle,
                         (double)(clock_now(world->clock) - begin_ns) / (double)ran, 500.0);
  return ran == listed;
}

/* -------------------------------------------------------------------------------------------------------- a frame's */

/* How many agents of a kind act at a time. */
static double at_a_time(const struct muster_world *world, muster_act kind) {
  return kind == MUSTER_ACT_SERIAL || world_is_virtual(world) ? 1.0 : (double)world_workers(world);
}

/* About the most that the actions of any agent are expected to take of this frame: few frames have more to do than they
 * can. */
static double dearest_ns(const struct muster_world *world) {
  double most_ns = 0.0;
  for (uint32_t i = 0; i < ACT_KINDS; i++)
    most_ns = fmax(most_ns, world->learnt->experience.act_each[i].high_ns / at_a_time(world, (muster_act)i));
  return most_ns > 0.0 ? most_ns : (double)INFINITY; /* not known yet */
}

/* What the actions of an agent are expected to take of this frame. */
static double expected_of(const struct muster_world *world, uint32_t index) {
  muster_act kind = world_type_of(world, index)->def.act;
  if (world_is_virtual(world)) return (double)modelled_act_cost(world, index);
  return world->learnt->experience.act_each[kind].mean_ns / at_a_time(world, kind);
}

/* How urgent an agent's turn is; 0 is the most urgent. By how long ago or ahead it is, in eight steps for each doubling
 * from 131 us on. */
static uint32_t urgency_of(const struct muster_world *world, uint32_t index) {
  int64_t ahead_ns = ready_turn(&world->queues->ready, world_row(world, index)) - (int64_t)world->frame->now_ns;
  uint64_t units = (uint64_t)(ahead_ns < 0 ? -ahead_ns : ahead_ns) >> 17, steps = units;
  if (units >= 8) {
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(units);
    steps = (octave - 2) * 8 + (units >> (octave - 3) & 7);
  }
  if (steps > ACT_URGENCIES / 2 - 1) steps = ACT_URGENCIES / 2 - 1;
  return (uint32_t)(ahead_ns < 0 ? ACT_URGENCIES / 2 - 1 - steps : ACT_URGENCIES / 2 + steps);
}

/* Which agents act in this frame for certain, as a record has it. */
typedef struct act_choice {
  uint32_t end;   /* agents of lower urgency numbers act; ACT_URGENCIES where all find time */
  uint32_t late;  /* how many agents should have acted before now, */
  double late_ns; /* and what they will take: unknown where all find time */
  double left_ns; /* what the agents that wait on will take */
} act_choice;

/* The most urgent go first: as many steps as find time, and at least the first one that holds agents. */
static act_choice choose_end(const struct muster_world *world, double left_ns) {
  double expected_ns[ACT_URGENCIES] = {0}, sum_ns = 0.0;
  act_choice choice = {0};
  for (uint32_t i = 0; i < world->acts->count; i++) {
    uint32_t index = world->acts->waiting[i], urgency = urgency_of(world, index);
    ASSERT(urgency < ACT_URGENCIES && world_row(world, index)->status == AGENT_ACTING);
    expected_ns[urgency] += expected_of(world, index);
    choice.late += urgency < ACT_URGENCIES / 2;
  }
  for (uint32_t i = 0; i < ACT_URGENCIES / 2; i++) choice.late_ns += expected_ns[i];
  while (choice.end < ACT_URGENCIES && (sum_ns == 0.0 || sum_ns + expected_ns[choice.end] <= left_ns))
    sum_ns += expected_ns[choice.end++];
  for (uint32_t i = choice.end; i < ACT_URGENCIES; i++) choice.left_ns += expected_ns[i];
  return choice;
}

/* How urgent an agent must be to act first, ACT_URGENCIES where all find time. Agents act in agent order, but those
 * with high numbers shall not wait for ever, nor important ones for the rest. */
static uint32_t choose_urgent(struct muster_world *world, const act_turn *turn) {
  uint64_t now_ns = act_clock(world);
  double left_ns = turn->end_ns > now_ns ? (double)(turn->end_ns - now_ns) : 0.0;
  bool fits = world->acts->count * dearest_ns(world) <= left_ns;
  act_choice choice = fits ? (act_choice){.end = ACT_URGENCIES} : choose_end(world, left_ns);
  recorder_exchange(world->recorder, TAG_URGENCY, &choice, sizeof choice);
  world->frame->acts_late = choice.late;
  world->frame->acts_late_ns = fmin(fmax(choice.late_ns, 0.0), 1e18); /* a record may be made up */
  world->learnt->experience.acts_left_ns = fmin(fmax(choice.left_ns, 0.0), 1e18);
  return choice.end;
}

/* Lists the waiting agents of lower urgency numbers than `end`, kind by kind; the others stay. */
static void list_kinds(struct muster_world *world, uint32_t end) {
  struct world_acts *acts = world->acts;
  uint32_t kind = (uint32_t)__builtin_ctz(acts->kinds), stay = 0;
  bool mixed = acts->kinds & (acts->kinds - 1);
  memset(acts->counts, 0, sizeof acts->counts);
  for (uint32_t i = 0; i < acts->count; i++) {
    uint32_t index = acts->waiting[i];
    if (end < ACT_URGENCIES && urgency_of(world, index) >= end) {
      acts->waiting[stay++] = index;
      continue;
    }
    if (mixed) kind = world_type_of(world, index)->def.act;
    ASSERT(acts->kinds >> world_type_of(world, index)->def.act & 1);
    acts->listed[kind][acts->counts[kind]++] = index;
  }
  acts->count = stay;
}

/* Runs the agents that are listed, kind by kind. False when time ran out: the rest of them wait on. */
static bool act_all(struct muster_world *world, act_turn *turn) {
  bool time_left = true;
  for (uint32_t i = 0; i < ACT_KINDS; i++) {
    muster_act kind = (muster_act)((world->acts->first + i) % ACT_KINDS);
    if (!time_left)
      wait_on(world, kind, 0);
    else
      time_left = kind == MUSTER_ACT_SERIAL ? act_serially(world, turn) : act_beside(world, kind, turn);
  }
  return time_left;
}

/* Runs the most urgent agents, and then the others. False when time ran out. */
static bool act_by_urgency(struct muster_world *world, act_turn *turn) {
  take_waiting(world);
  list_kinds(world, choose_urgent(world, turn));
  bool time_left = act_all(world, turn);
  if (time_left && world->acts->count) {
    list_kinds(world, ACT_URGENCIES);
    return act_all(world, turn);
  }
  for (uint32_t i = 0; i < world->acts->count; i++) bits_set(world->queues->acting, world->acts->waiting[i]);
  return time_left;
}

/* The next kind that some type has. */
static void turn_first(struct muster_world *world) {
  ASSERT(world->acts->kinds != 0 && world->acts->kinds < 1u << ACT_KINDS);
  do world->acts->first = (world->acts->first + 1) % ACT_KINDS;
  while (!(world->acts->kinds >> world->acts->first & 1));
}

void act_run(struct muster_world *world) {
  uint64_t begin_ns = act_clock(world), blocked_ns = world->sums->report.blocked_ns;
  world->learnt->experience.acts_left_ns = 0.0;
  if (world->queues->acting_count) {
    act_turn turn = {.end_ns = world_is_virtual(world) ? world->frame->capacity_ns : forecast_end_ns(world),
                     .first = true};
    if (!world_is_virtual(world)) overrun_check_begin(runner_caller(world->runner), begin_ns);
    if (!act_by_urgency(world, &turn)) turn_first(world);
    settle_count_refused(world);
  }
  world->frame->act_ns = act_clock(world) - begin_ns;
  world->sums->report.actions_waiting = world->queues->acting_count;
  blocked_ns = world->sums->report.blocked_ns - blocked_ns;
  estimate_add_clipped(&world->learnt->experience.act, (double)(world->frame->act_ns - blocked_ns), 2e5);
}
