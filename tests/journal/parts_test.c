/* Updates that go on in later frames, between their atoms or inside of one: what each part of them sends, spawns or
 * asks for counts once, in the run, in its record and after a death. */
#include "support/journals.h"
#include "support/recording.h"

#include <muster/sets.h>

enum { SPEAKERS = 12, PARTS_FRAMES = 60, LAST_FRAMES = 40, PIECES = 40, PART_NS = 400000 };

/* What a speaker has done, of which the listener hears. */
typedef struct speaker {
  uint64_t said[3], parts; /* in the first, second and last part of its updates */
  uint32_t done, in_part;
} speaker;

typedef struct hearer {
  uint64_t heard[3], wrong;
} hearer;

static void say(muster_update *update, uint32_t part) {
  speaker *self = update->state;
  const muster_agent *to = update->type_user;
  const uint64_t word = part;
  if (muster_update_send(update, *to, &word, sizeof word) == MUSTER_OK) self->said[part]++;
}

static muster_atom_result say_first(muster_update *update) {
  ((speaker *)update->state)->done = 0;
  say(update, 0);
  return MUSTER_ATOM_NEXT;
}

/* Cut inside, where slices are given: it says something in its first part, and in its last. */
static muster_atom_result say_second(muster_update *update) {
  speaker *self = update->state;
  if (self->done == 0) say(update, 1);
  for (self->parts++; self->done < PIECES;)
    if (++self->done < PIECES && muster_update_should_yield(update)) return MUSTER_ATOM_MORE;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result say_last(muster_update *update) {
  say(update, 2);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result hear_all(muster_update *update) {
  hearer *self = update->state;
  muster_message messages[64];
  uint32_t count = muster_update_messages(update, messages, 64);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t word = 99;
    memcpy(&word, messages[i].bytes, sizeof word);
    self->wrong += word > 2 || messages[i].sent_ns > update->now_ns;
    if (word < 3) self->heard[word]++;
  }
  return MUSTER_ATOM_NEXT;
}

/* A world of one listener and some who speak to it. */
typedef struct parts_world {
  little_world little;
  muster_type speakers;
} parts_world;

static muster_agent listener;

static parts_world parts_of(uint32_t workers, bool sliced, muster_role last) {
  static const muster_atom hears = {hear_all, MUSTER_ROLE_BEHAVIOUR, 1000};
  const muster_atom says[] = {{say_first, MUSTER_ROLE_BEHAVIOUR, PART_NS},
                              {say_second, MUSTER_ROLE_BEHAVIOUR, PART_NS},
                              {say_last, last, PART_NS}};
  const muster_world_def world =
      WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.limits.agents_max = 64);
  parts_world parts = {.little = little_world_create(workers, &world)};
  muster_type_def def = WITH(muster_type_def, it.atoms = &hears, it.atom_count = 1, it.name = "listener",
                             it.state_bytes = sizeof(hearer), it.elapsed.contract = MUSTER_ELAPSED_EVENTS,
                             it.messages.waiting_max = 64, it.messages.bytes_max = 8, it.messages.wake = true);
  register_type(&parts.little, &def);
  def = WITH(muster_type_def, it.atoms = says, it.atom_count = 3, it.name = "speaker", it.state_bytes = sizeof(speaker),
             it.period_ns = it.period_max_ns = 3 * FRAME_NS, it.limit_ns = 1000000000, it.messages.sends_max = 4,
             it.user = &listener);
  if (sliced) def.slices.slice_ns = 100000;
  parts.speakers = muster_type_register(parts.little.world, &def);
  cr_assert_neq(parts.speakers.index, 0, "%s", muster_last_error());
  parts.little.provokes_idle = true;
  return parts;
}

static void parts_populate(parts_world *parts) {
  listener = spawn_at(&parts->little, 0);
  const muster_agent_def def = WITH(muster_agent_def, it.type = parts->speakers);
  for (uint32_t i = 0; i < SPEAKERS; i++)
    cr_assert(!muster_agent_is_null(muster_agent_spawn(parts->little.world, &def)));
}

/* Too little for all that is due, so that updates are cut; at the end there is time for what is left. */
static muster_frame_report parts_frame(parts_world *parts, uint32_t frame) {
  return run_frame_with(&parts->little, frame % 4 == 3 ? 2500000 : 900000 + frame % 3 * 500000);
}

/* Of each part all was heard that was said: what is left is under way. */
static void expect_heard(parts_world *parts, bool sliced, const char *where) {
  uint64_t said[3] = {0}, slices = 0;
  for (uint32_t i = 0; i < LAST_FRAMES; i++) run_frame_with(&parts->little, 9000000);
  const hearer *heard = info_of(&parts->little, listener).state;
  for (muster_agent agent = muster_agent_next(parts->little.world, listener); !muster_agent_is_null(agent);
       agent = muster_agent_next(parts->little.world, agent)) {
    const speaker *one = info_of(&parts->little, agent).state;
    slices += one->parts - one->said[1];
    for (uint32_t part = 0; part < 3; part++) said[part] += one->said[part];
  }
  for (uint32_t part = 0; part < 3; part++) {
    cr_expect_gt(said[part], 5 * SPEAKERS, "%s: part %u", where, part);
    cr_expect_leq(heard->heard[part], said[part], "%s: part %u is heard twice", where, part);
    cr_expect_geq(heard->heard[part] + SPEAKERS, said[part], "%s: of %lu of part %u %lu were heard", where, said[part],
                  part, heard->heard[part]);
  }
  cr_expect_eq(heard->wrong, 0, "%s", where);
  cr_expect_eq(slices > 0, sliced, "%s: %lu slices", where, slices);
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(parts->little.world, &sums);
  cr_expect_eq(sums.messages_refused, 0, "%s", where);
  cr_expect_eq(sums.messages_dropped, 0, "%s", where);
}

static void run_and_replay(bool sliced, muster_role last) {
  static struct recorded run;
  parts_world parts = parts_of(2, sliced, last);
  recorded_begin(&run, parts.little.world);
  parts_populate(&parts);
  uint32_t cut = 0;
  for (uint32_t i = 0; i < PARTS_FRAMES; i++) {
    muster_frame_report report = parts_frame(&parts, i);
    cut += report.preempted;
    recorded_note(&run, &parts.little, report);
  }
  cr_assert_gt(cut, SPEAKERS, "%u updates were cut", cut);
  recorded_end(&run, parts.little.world);
  expect_heard(&parts, sliced, "in the run");
  little_world_destroy(&parts.little);
  for (uint32_t workers = 1; workers <= 4; workers += 3) {
    parts = parts_of(workers, sliced, last);
    recorded_replay(&run, parts.little.world);
    for (uint32_t i = 0; i < PARTS_FRAMES; i++) recorded_follow(&run, parts.little.world, i);
    little_world_destroy(&parts.little);
  }
  recorded_forget(&run);
}

Test(journal_parts, each_is_heard_in_the_run_and_its_replay) {
  run_and_replay(false, MUSTER_ROLE_BEHAVIOUR);
  run_and_replay(false, MUSTER_ROLE_ACTION);
}

Test(journal_parts, so_is_each_slice_of_an_atom) {
  run_and_replay(true, MUSTER_ROLE_BEHAVIOUR);
  run_and_replay(true, MUSTER_ROLE_ACTION);
}

/* ------------------------------------------------------------------------------------------------------- a death */

typedef struct parts_life {
  journal_place place;
  told_frames *told;
  uint32_t frames;
  bool sliced;
  muster_agent listener;
} parts_life;

static void parts_live(void *user) {
  parts_life *life = user;
  parts_world parts = parts_of(2, life->sliced, MUSTER_ROLE_ACTION);
  muster_journal *journal = NULL;
  parts_populate(&parts);
  life->listener = listener;
  for (uint32_t i = 0; i < life->frames; i++) {
    if (i == 5) journal = journal_begin(&parts.little, life->place.path);
    parts_frame(&parts, i);
    told_frame(life->told, &parts.little, i + 1);
    if (i == life->frames / 2) must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
    muster_journal_turn(journal, 0);
  }
}

/* The world dies in the middle of updates, at another frame each time. */
Test(journal_parts, after_a_death_each_is_heard_once) {
  for (uint32_t more = 0; more < 6; more++) {
    parts_life *life = shared_memory(sizeof *life);
    *life = (parts_life){place_make(), told_create(), PARTS_FRAMES + more, more % 2, {0}};
    live_until_death(parts_live, life);
    parts_world parts = parts_of(1 + more, more % 2, MUSTER_ROLE_ACTION);
    listener = life->listener;
    cr_assert_eq(journal_back(&parts.little, life->place.path).frames, PARTS_FRAMES + more);
    expect_told(life->told, &parts.little, PARTS_FRAMES + more);
    expect_heard(&parts, more % 2, "after its death");
    little_world_destroy(&parts.little);
    told_destroy(life->told);
    place_remove(&life->place);
    munmap(life, sizeof *life);
  }
}
