/* crossing.c - one agent as bytes, and back: see crossing.h. Its parts are those of a snapshot. */
#include "snapshot/crossing.h"

#include "agents/mailbox.h"
#include "base/assert.h"
#include "base/fields.h"
#include "frame/frame.h"
#include "plan/periods.h"
#include "plan/retime.h"
#include "record/recorder.h"
#include "snapshot/prepare.h"
#include "world/frame_state.h"
#include "world/ghosts.h"
#include "world/guard.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/overruns_state.h"
#include "world/penalties.h"
#include "world/saved_agent.h"
#include "world/timing.h"
#include "world/tune.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_links.h"
#include "world/world_queues.h"
#include "world/world_record.h"
#include "world/world_score.h"

#include <string.h>
#include <xxhash.h>

_Static_assert(sizeof(crossing_head) % 8 == 0 && sizeof(muster_agent) == 2 * sizeof(uint32_t), "it has no gaps");

chunks_format crossing_format(void) {
  static const size_t sizes[] = {sizeof(crossing_head), sizeof(saved_agent),         sizeof(agent_row),
                                 sizeof(agent_place),   sizeof(agent_alarm),         sizeof(set_state),
                                 sizeof(set_pass),      sizeof(struct message_head), sizeof(ghost_def)};
  return (chunks_format){.name = "crossing",
                         .magic = {'M', 'U', 'C', 'R', 'O', 'S', 'S', '\n'},
                         .version = 3,
                         .layout = chunks_layout(sizes, sizeof sizes / sizeof *sizes)};
}

uint64_t crossing_shape_of(const agent_type *type) {
  uint64_t hash = XXH3_64bits(type->name, strlen(type->name));
  for (const field_row *field = fields_type; field->name; field++)
    if (field->uses & FIELD_SAME)
      hash = XXH3_64bits_withSeed((const unsigned char *)&type->def + field->offset, field_bytes(field), hash);
  return XXH3_64bits_withSeed(&type->sets.count, sizeof type->sets.count, hash);
}

crossing_way crossing_way_from(const struct muster_world *world, uint64_t then_ns, int64_t offset_ns) {
  int64_t now_ns = (int64_t)world->last_now_ns,
          gone_ns = now_ns - world->zone->offset_ns - ((int64_t)then_ns - offset_ns);
  if (gone_ns < -(int64_t)MUSTER_ZONE_EARLY_NS) gone_ns = 0;
  return (crossing_way){.gone_ns = gone_ns > 0 ? (uint64_t)gone_ns : 0,
                        .moved_ns = now_ns - gone_ns - (int64_t)then_ns};
}

void crossing_settle(struct muster_world *world) {
  if (!world->commit->open) return;
  if (recorder_records(world->recorder)) recorder_put_tag(world->recorder, TAG_FINISHED);
  snapshot_finish_commit(world);
  ASSERT(!world->commit->open);
}

/* ---------------------------------------------------------------------------------------------------------- leaving */

/* Whether something was asked of an agent that only the next intake can do; a wake goes along. */
static bool is_about(const struct command *command, uint32_t index) {
  return command->kind < COMMAND_OBSERVER_ADD && command->index == index && command->kind != COMMAND_WAKE;
}

static bool is_asked(const struct muster_world *world, uint32_t index) {
  struct command command;
  for (uint32_t i = 0; i < world->commands->deferred_count; i++)
    if (is_about(&world->commands->deferred[i], index)) return true;
  for (uint32_t i = 0; ring_peek(&world->commands->queues.commands, i, &command); i++)
    if (is_about(&command, index)) return true;
  return false;
}

static bool stands_for_herd(const struct muster_world *world, uint32_t index, bool with_herd) {
  if (!world->herds->table.count) return false;
  herd_tie tie = (herd_tie)world->herds->table.links[index].tie;
  return tie != HERD_TIE_NONE && !(with_herd && tie == HERD_TIE_NAMED);
}

muster_result crossing_check_leaving(const struct muster_world *world, uint32_t index, bool with_herd) {
  const agent_row *row = world_row(world, index);
  const char *why = NULL;
  if (!world_is_active(world, index))
    why = "it waits for its first intake";
  else if (row->atom_next || row->status == AGENT_ACTING || row->acts)
    why = "an update of it is under way";
  else if (row->removal_pending || !world_exists(world, world_agent(world, index)) || is_asked(world, index))
    why = "the next intake has something to do with it";
  else if (stands_for_herd(world, index, with_herd))
    why = "it is a herd's";
  else if (row->user)
    why = "it has a user pointer";
  if (!why) return MUSTER_OK;
  muster_agent id = world_id(world, index);
  return error_set(MUSTER_E_STATE, "departure: agent %u.%u cannot leave now: %s", muster_agent_index(id),
                   muster_agent_generation(id), why);
}

static bool crossing_is_woken(const struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  const struct mailbox *mailbox = &world->links->mailbox;
  bool events = world_type(world, row->type)->elapsed == MUSTER_ELAPSED_EVENTS;
  if (row->woken || wakes_is_woken(&world->commands->wakes, index) || (events && row->owes)) return true;
  if (mailbox->places && bits_has(mailbox->to_wake, index)) return true;
  for (uint32_t i = 0; i < world->commands->deferred_count; i++)
    if (world->commands->deferred[i].kind == COMMAND_WAKE && world->commands->deferred[i].index == index) return true;
  return false;
}

void crossing_leave(struct muster_world *world, uint32_t index, uint32_t to) {
  struct world_zone *zone = world->zone;
  ASSERT(to != world->def.zone.number && world_is_active(world, index));
  zone_mark mark = {to, zone->rows[index].hop + 1};
  zone_ids_mark(&zone->ids, world_id(world, index), mark);
  zone->rows[index] = (zone_row){0};
  lifecycle_leave(world, index);
  zone->counts.departed++;
}

/* ---------------------------------------------------------------------------------------------------------- packing */

static void crossing_describe(const struct muster_world *world, crossing_agent *crosser) {
  uint32_t index = crosser->index;
  saved_agent *saved = crosser->saved;
  const zone_row *own = &world->zone->rows[index];
  ASSERT(world_is_active(world, index) && !world_row(world, index)->atom_next);
  saved_agent_describe(world, index, saved);
  if (saved->row.timed) { /* it is about to answer a time: it asks for it once more */
    saved->alarm.wake_at_ns = saved->alarm.answered_ns;
    saved->parts |= 1;
  }
  saved->index = 0;
  crosser->head = (crossing_head){.id = world_id(world, index),
                                  .sent = own->sent,
                                  .shape = crossing_shape_of(world_type(world, saved->row.type)),
                                  .ahead_ns = periods_ahead_ns(&world->queues->classes, &world->agents.store, index),
                                  .now_ns = world->last_now_ns,
                                  .offset_ns = world->zone->offset_ns,
                                  .own = retime_own(&world->queues->classes, world_row(world, index)),
                                  .hop = own->hop + 1,
                                  .woken = crossing_is_woken(world, index),
                                  .cell_m = world->def.cell_m};
  if (world->links->mailbox.places) crosser->head.lost = world->links->mailbox.losses[index].count;
  if (world->links->companions.of)
    memcpy(crosser->head.company, &world->links->companions.of[index], sizeof crosser->head.company);
}

/* --------------------------------------------------------------------------------------------------------- checking */

static bool crossing_is_row(const agent_type *type, const agent_row *row) {
  bool status = row->status == AGENT_WAITING || row->status == AGENT_READY || row->status == AGENT_ADMITTED ||
                row->status == AGENT_QUARANTINED;
  return status && !row->atom_next && !row->acts && !row->queued && !row->state_slot && !row->user &&
         !row->removal_pending && row->level < type->def.levels.count &&
         (!row->level_floor || row->level_floor < type->def.levels.count) && (!row->owes || type->has_sets);
}

static bool crossing_is_company(const crossing_head *head) {
  const muster_agent *ids = (const muster_agent *)(const void *)head->company;
  bool ended = false;
  for (uint32_t i = 0; i < MUSTER_COMPANIONS_MAX; i++) {
    bool null = muster_agent_is_null(ids[i]);
    if (!null && (ended || !zone_ids_is_id(ids[i]) || muster_agent_equal(ids[i], head->id))) return false;
    ended = null;
  }
  return true;
}

static void crossing_check(struct snapshot *snapshot, const crossing_agent *crosser) {
  const struct muster_world *world = snapshot->world;
  const crossing_head *head = &crosser->head;
  const saved_agent *saved = crosser->saved;
  ASSERT(snapshot_checks(snapshot) && world->zone);
  snapshot_expect(snapshot, zone_ids_is_id(head->id) && head->hop > 0, "its id or its hop is none");
  snapshot_expect(snapshot, saved->row.type < world->agents.types.count && saved->place.type == saved->row.type,
                  "it is of type %u", saved->row.type + 1u);
  const agent_type *type = world_type(world, saved->row.type);
  snapshot_expect(snapshot, head->shape == crossing_shape_of(type), "its type %u is not '%s' as it is here",
                  saved->row.type + 1u, type->name);
  snapshot_expect(snapshot, memcmp(&head->cell_m, &world->def.cell_m, sizeof head->cell_m) == 0, "its cell_m is %g",
                  (double)head->cell_m);
  snapshot_expect(snapshot, crossing_is_row(type, &saved->row) && saved_agent_is_elastic(saved),
                  "it is what none can be");
  snapshot_expect(snapshot,
                  saved->parts < 1u << SAVED_COLUMNS && !saved->place.spot && !saved->place.depth &&
                      saved_agent_is_placed(world, &saved->place, saved->row.type),
                  "it is where none can be");
  snapshot_expect(snapshot, head->woken <= 1 && crossing_is_company(head), "it has a company that none can have");
  const uint64_t times[] = {head->now_ns,
                            saved->row.last_update_ns,
                            saved->alarm.wake_at_ns,
                            saved->alarm.quiet_until_ns,
                            saved->alarm.react_by_ns,
                            saved->alarm.react_from_ns};
  for (uint32_t i = 0; i < sizeof times / sizeof *times; i++)
    snapshot_expect(snapshot, times[i] <= (uint64_t)INT64_MAX / 2, "it has times that none can have");
  snapshot_expect(snapshot, retime_is_possible(NULL, head->own), "it has periods that none can have");
  snapshot_expect(snapshot, head->offset_ns <= ZONE_OFFSET_MOST && head->offset_ns >= -ZONE_OFFSET_MOST,
                  "it is from a zone whose offset is none");
  snapshot_expect(snapshot, head->ahead_ns < INT64_MAX / 4 && head->ahead_ns > -(INT64_MAX / 4),
                  "it is due when none can be");
}

muster_result crossing_check_coming(const struct muster_world *world, muster_agent id, uint32_t hop) {
  zone_mark mark;
  if (world_is_live(world, world_find(world, id)))
    return error_set(MUSTER_E_STALE, "arrival: agent %u.%u is here", muster_agent_index(id),
                     muster_agent_generation(id));
  if (!zone_ids_left(&world->zone->ids, id, &mark) || mark.hop < hop) return MUSTER_OK;
  return error_set(MUSTER_E_STALE, "arrival: agent %u.%u left from here with hop %u, and comes with %u",
                   muster_agent_index(id), muster_agent_generation(id), mark.hop, hop);
}

/* ----------------------------------------------------------------------------------------------------------- taking */

bool crossing_needs_index(const struct muster_world *world, muster_agent id) {
  muster_agent ghost = zone_ids_find(&world->zone->ids, id);
  /* The index of a ghost serves, unless it has to rest. */
  return muster_agent_is_null(ghost) || zone_ids_rests(muster_agent_generation(ghost) + 1);
}

bool crossing_take_index(struct muster_world *world, uint32_t *taken, uint32_t *aside) {
  *taken = identity_take(&world->agents.ids);
  if (*taken != IDENTITY_NONE) return true;
  if (*aside == world->commands->spawn_id_count) return false;
  ++*aside;
  return true;
}

uint32_t crossing_index_for(struct muster_world *world, muster_agent id, uint32_t taken) {
  muster_agent ghost = zone_ids_find(&world->zone->ids, id);
  ASSERT(muster_agent_is_null(ghost) || zone_ids_is_ghost(&world->zone->ids, muster_agent_index(ghost)));
  bool needs = crossing_needs_index(world, id);
  if (!muster_agent_is_null(ghost) && needs) ghosts_drop(world, muster_agent_index(ghost));
  if (needs) return world_record_any_id(world, taken);
  ghosts_vacate(world, muster_agent_index(ghost));
  zone_ids_close(&world->zone->ids, muster_agent_index(ghost));
  return muster_agent_index(ghost);
}

/* Its times are set again. Where they are past, the next intake answers them. */
static void resume_times(struct muster_world *world, uint32_t index, const saved_agent *saved,
                         const crossing_way *way) {
  agent_row *row = world_row(world, index);
  agent_alarm *alarm = &world->agents.store.alarms[index];
  const agent_alarm *from = &saved->alarm;
  ASSERT(!timers_has(&world->queues->timers, index) && !row->reacts);
  *alarm = (agent_alarm){.wake_at_ns = crossing_time(way, from->wake_at_ns),
                         .quiet_until_ns = crossing_time(way, from->quiet_until_ns),
                         .react_by_ns = saved->row.reacts ? crossing_time(way, from->react_by_ns) : 0,
                         .react_from_ns = saved->row.reacts ? crossing_time(way, from->react_from_ns) : 0};
  row->delayed = saved->row.delayed;
  if (alarm->wake_at_ns || row->delayed) timing_set(&world->agents, world->queues, index);
  if (!saved->row.reacts) return;
  bool later = alarm->react_by_ns > alarm->react_from_ns;
  row->reacts = 1;
  timers_set(&world->queues->reactions, index,
             later ? alarm->react_from_ns + (alarm->react_by_ns - alarm->react_from_ns) / 2 : alarm->react_by_ns);
}

/* It has run at no time that is later than now. */
static void resume_sets(const struct muster_world *world, const agent_type *type, uint32_t slot,
                        const crossing_way *way) {
  ASSERT(type->has_sets);
  for (uint32_t i = 0; i < type->sets.count; i++) {
    set_state *set = &sets_states_of(&type->sets, slot)[i];
    set->last_ns = crossing_time(way, set->last_ns);
    set->began_ns = crossing_time(way, set->began_ns);
    set->due_ns = crossing_time(way, set->due_ns);
    if (set->last_ns > world->last_now_ns) set->last_ns = world->last_now_ns;
    if (set->began_ns > world->last_now_ns) set->began_ns = world->last_now_ns;
  }
}

/* Those that wait in its box are as old as they were. */
static void resume_messages(box_table *boxes, uint32_t slot, const crossing_way *way) {
  for (uint32_t i = 0; boxes->capacity && i < boxes->boxes[slot].count; i++) {
    struct message_head *message = boxes_change(boxes, slot, i);
    message->sent_ns = crossing_time(way, message->sent_ns);
  }
}

static void resume_overruns(struct muster_world *world, uint32_t index, const saved_agent *saved) {
  agent_row *row = world_row(world, index);
  if (row->level_floor) {
    world->overruns->agents_demoted++;
    world->overruns->table.types[row->type].agents_demoted++;
  }
  if (saved->row.status == AGENT_QUARANTINED) penalties_put_aside(world, index);
}

static void resume_links(struct muster_world *world, uint32_t index, const crossing_head *head) {
  struct mailbox *mailbox = &world->links->mailbox;
  struct companions *companions = &world->links->companions;
  const muster_agent *company = (const muster_agent *)(const void *)head->company;
  ASSERT(!companions->of || !companions->places[index]);
  for (uint32_t i = MUSTER_COMPANIONS_MAX; companions->of && i > 0; i--)
    if (!muster_agent_is_null(company[i - 1])) companions_link(companions, index, company[i - 1]);
  if (!mailbox->places || !head->lost) return;
  mailbox_lose(mailbox, index);
  mailbox->losses[index].count = head->lost;
}

/* The agent's row, slot and id: it is as one that was spawned. */
static void crossing_write(struct muster_world *world, const crossing_agent *crosser) {
  saved_agent saved = *crosser->saved;
  agent_row *row = &saved.row;
  saved.index = crosser->index;
  ASSERT(!world_is_active(world, crosser->index) && world_row(world, crosser->index)->status == AGENT_FREE);
  row->status = AGENT_PENDING;
  row->scheduled = row->class = row->released_frame = 0;
  row->woken = row->timed = row->called = row->delayed = row->reacts = 0;
  row->first_due_ns = row->virtual_due_ns = 0;
  const crossing_way way = crossing_way_from(world, crosser->head.now_ns, crosser->head.offset_ns);
  row->last_update_ns = crossing_time(&way, row->last_update_ns);
  if (row->last_update_ns > world->last_now_ns) row->last_update_ns = world->last_now_ns;
  bool taken = saved_agent_take(world, &saved, 1u << SAVED_RATINGS, NULL);
  ASSERT(taken); /* there is a slot for each index */
  (void)taken;
  zone_ids_admit(&world->zone->ids, crosser->index, crosser->head.id, false);
  world->zone->rows[crosser->index] = (zone_row){.sent = crosser->head.sent, .hop = crosser->head.hop};
}

/* Its state has been read. */
static void crossing_enter(struct muster_world *world, const crossing_agent *crosser) {
  uint32_t index = crosser->index;
  agent_row *row = world_row(world, index);
  int64_t ahead_ns = crosser->head.ahead_ns;
  bool ready = crosser->saved->row.status == AGENT_READY || crosser->saved->row.status == AGENT_ADMITTED;
  const crossing_way way = crossing_way_from(world, crosser->head.now_ns, crosser->head.offset_ns);
  if (world_type(world, row->type)->has_sets) resume_sets(world, world_type(world, row->type), row->state_slot, &way);
  resume_messages(&world_type(world, row->type)->boxes, row->state_slot, &way);
  if ((ready || row->owes) && ahead_ns > 0) ahead_ns = 0;
  lifecycle_resume(world, index, ahead_ns, way.gone_ns);
  if (crosser->head.own.nominal_ns) tune_periods(world, index, crosser->head.own, true);
  resume_times(world, index, crosser->saved, &way);
  resume_links(world, index, &crosser->head);
  resume_overruns(world, index, crosser->saved);
  zone_ids_unmark(&world->zone->ids, crosser->head.id);
  world->zone->counts.arrived++;
  if (!crosser->head.woken || row->status == AGENT_QUARANTINED) return;
  struct command wake = command_about(COMMAND_WAKE, world_agent(world, index));
  lifecycle_defer(world, &wake);
}

void crossing_exchange(struct snapshot *snapshot, crossing_agent *crosser) {
  struct muster_world *world = snapshot->world;
  if (snapshot_saves(snapshot)) crossing_describe(world, crosser);
  snapshot_exchange(snapshot, &crosser->head, sizeof crosser->head);
  snapshot_saved(snapshot, crosser->saved);
  if (snapshot_checks(snapshot)) crossing_check(snapshot, crosser);
  if (snapshot_loads(snapshot)) crossing_write(world, crosser);
  agent_row row = snapshot_checks(snapshot) ? crosser->saved->row : *world_row(world, crosser->index);
  if (snapshot_loads(snapshot)) row.status = crosser->saved->row.status; /* one that is pending has no sets yet */
  snapshot_state(snapshot, &row);
  if (snapshot_loads(snapshot)) crossing_enter(world, crosser);
  const crossing_way way = snapshot_loads(snapshot)
                               ? crossing_way_from(world, crosser->head.now_ns, crosser->head.offset_ns)
                               : (crossing_way){0};
  crossing_order(snapshot, crosser->index, &way);
  if (snapshot_loads(snapshot)) zone_spaces_note_agent(world, crosser->index);
}
