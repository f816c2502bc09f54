/* A record of atoms that took too long: only the clocks of the recorded run know which ones. The replay's own atoms are
 * quick, and yet it comes to the same penalties, quarantines and reinstated agents. */
#include "support/burn.h"
#include "world/fixture.h"

enum { AGENTS = 24, GUILTY = 5, FRAMES = 120, REINSTATED_AT_FRAME = 100, LIMIT_US = 50 };

static bool replays; /* no atom burns in the replay */

static muster_atom_result live(muster_update *update) {
  if (!replays && muster_agent_index(update->agent) < GUILTY) burn(4 * LIMIT_US * 1000u);
  return MUSTER_ATOM_NEXT;
}

static little_world open_world(uint32_t workers) {
  return little_world_of(workers, WITH(muster_world_def, it.log.write = say_nothing, it.limits.agents_max = 64));
}

static void register_it(little_world *little) {
  /* Agents are at the best level unless they are demoted. */
  add_type(little,
           CHANGED(type_running(live, 1000), it.name = "suspect", it.levels.count = 2, it.levels.importance[0] = 0.0f,
                   it.period_ns = FRAME_NS, it.limit_ns = LIMIT_US * 1000u, it.overruns.quarantine = 3));
}

typedef struct penalties {
  uint32_t levels[AGENTS];
  bool quarantined[AGENTS];
} penalties;

/* Overruns and their counts as they are read at the end. */
struct told {
  muster_overrun overruns[MUSTER_OVERRUNS_KEPT];
  uint32_t count;
  muster_overrun_counts counts;
};

static struct told told_of(const little_world *little) {
  struct told all = {.counts = muster_overrun_counts_default()};
  all.count = muster_overruns_read(little->world, all.overruns, MUSTER_OVERRUNS_KEPT);
  cr_assert_eq(muster_overrun_counts_read(little->world, (muster_type){1}, &all.counts), MUSTER_OK);
  return all;
}

static void check_told(const struct told *one, const struct told *other) {
  cr_assert_eq(one->count, other->count);
  for (uint32_t i = 0; i < one->count; i++) {
    const muster_overrun *a = &one->overruns[i], *b = &other->overruns[i];
    cr_assert(muster_agent_index(a->agent) == muster_agent_index(b->agent) && a->duration_ns == b->duration_ns &&
                  a->frame == b->frame,
              "%u", i);
    cr_assert(a->atom == b->atom && a->level == b->level && a->limit_ns == b->limit_ns, "%u", i);
  }
  cr_assert_eq(one->counts.overruns, other->counts.overruns);
  cr_assert_eq(one->counts.worst_ns, other->counts.worst_ns);
  cr_assert_eq(muster_agent_index(one->counts.worst_agent), muster_agent_index(other->counts.worst_agent));
}

static penalties penalties_of(const little_world *little) {
  penalties all = {.levels = {0}};
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent));) {
    muster_agent_info info = info_of(little, agent);
    all.levels[muster_agent_index(agent)] = info.penalty;
    all.quarantined[muster_agent_index(agent)] = info.quarantined;
  }
  return all;
}

static struct told record_run(struct recorded *run, penalties *each) {
  SCOPED_WORLD little = open_world(2);
  muster_agent agents[AGENTS];
  recorded_begin(run, little.world);
  register_it(&little);
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  for (uint32_t i = 0; i < FRAMES; i++) {
    if (i == REINSTATED_AT_FRAME) cr_assert_eq(muster_agent_reinstate(little.world, agents[0]), MUSTER_OK);
    recorded_note(run, &little, run_frame_with(&little, 50000000u));
    each[i] = penalties_of(&little);
  }
  recorded_end(run, little.world);
  return told_of(&little);
}

static void replay_run(const struct recorded *run, const penalties *each, const struct told *wanted, uint32_t workers) {
  SCOPED_WORLD little = open_world(workers);
  recorded_replay(run, little.world);
  register_it(&little);
  for (uint32_t i = 0; i < run->frames; i++) {
    muster_frame_report report = recorded_follow(run, little.world, i);
    cr_assert_eq(report.overruns, run->reports[i].overruns, "%u workers, frame %u", workers, i + 1);
    cr_assert_eq(report.agents_demoted, run->reports[i].agents_demoted, "%u workers, frame %u", workers, i + 1);
    cr_assert_eq(report.agents_quarantined, run->reports[i].agents_quarantined, "%u workers, frame %u", workers, i + 1);
    penalties now = penalties_of(&little);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
      cr_assert(now.levels[agent] == each[i].levels[agent] && now.quarantined[agent] == each[i].quarantined[agent],
                "%u workers, frame %u: agent %u", workers, i + 1, agent);
  }
  muster_statistics sums = statistics_of(&little);
  cr_assert_eq(sums.atoms_over_limit, run->sums.atoms_over_limit);
  cr_assert_eq(sums.demotions, run->sums.demotions);
  cr_assert_eq(sums.quarantines, run->sums.quarantines);
  cr_assert_eq(sums.reinstated, run->sums.reinstated);
  struct told told = told_of(&little);
  check_told(&told, wanted);
}

Test(record_overruns, are_replayed_on_any_number_of_workers) {
  SCOPED(recorded_forget) struct recorded run = {0};
  static penalties each[FRAMES];
  replays = false;
  struct told told = record_run(&run, each);
  cr_assert_geq(run.sums.atoms_over_limit, 6 * (uint64_t)GUILTY, "the guilty were over their limit at both levels");
  cr_assert_geq(run.sums.quarantines, GUILTY);
  cr_assert_eq(run.sums.reinstated, 1);
  cr_assert_gt(told.count, 0);
  for (uint32_t i = 0; i < GUILTY; i++) cr_assert(each[REINSTATED_AT_FRAME - 1].quarantined[i], "agent %u went on", i);
  cr_assert_not(each[REINSTATED_AT_FRAME].quarantined[0], "reinstating it brought it back");
  replays = true;
  replay_run(&run, each, &told, 1);
  replay_run(&run, each, &told, 3);
}
