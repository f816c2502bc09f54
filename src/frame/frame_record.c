/* frame_record.c - see frame_record.h. */
#include "frame/frame_record.h"

#include "agents/batch.h"
#include "base/assert.h"
#include "base/error.h"
#include "run/watchdog.h"
#include "world/cost_learning.h"
#include "world/frame_state.h"
#include "world/world_acts.h"
#include "world/world_learnt.h"
#include "world/world_record.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static void record_put_frame(struct muster_world *world, const muster_frame *frame) {
  struct recorder *recorder = world->recorder;
  world_record_newborns(world);
  recorder_put_tag(recorder, TAG_FRAME);
  tape_put_number(&recorder->tape, world->agents.types.count);
  tape_put_number(&recorder->tape, frame->sim_now_ns);
  tape_put_number(&recorder->tape, frame->budget_ns);
}

void frame_record_begin(struct muster_world *world, const muster_frame *frame) {
  struct recorder *recorder = world->recorder;
  uint64_t *budget_ns = &world->frame->budget_ns;
  if (recorder_records(recorder)) record_put_frame(world, frame);
  recorder_exchange(recorder, TAG_BUDGET, budget_ns, sizeof *budget_ns);
  /* Calls between frames and the debt of past frames leave at least an eighth of it. */
  if (recorder_replays(recorder) && (*budget_ns > frame->budget_ns || *budget_ns < frame->budget_ns / 8)) {
    recorder_diverges(recorder, "its record has a budget of %llu ns", (unsigned long long)*budget_ns);
    *budget_ns = frame->budget_ns;
  }
  recorder_mark(recorder, TAG_LIST_END);
}

/* ------------------------------------------------------------------------------------------------------ run, settle */

/* How an entry ended: 0 = not run, 1 = whole, else cut before the atom of this number - 2. */
static uint32_t outcome_of(const struct batch *batch, uint32_t entry) {
  ASSERT(entry < batch->count + batch->woken_count);
  batch_outcome outcome = (batch_outcome)batch->outcomes[entry];
  return outcome == OUTCOME_NOT_RUN ? 0 : outcome == OUTCOME_PREEMPTED ? batch->results[entry].atom_next + 2u : 1;
}

/* Notes how an entry ended: of one that was cut inside an atom, at which question. */
static void put_outcome(struct muster_world *world, uint32_t entry) {
  const struct batch *batch = world->batch;
  uint32_t how = outcome_of(batch, entry);
  tape_put_number(&world->recorder->tape, how);
  const agent_row *row = &world->agents.store.rows[batch->entries[entry].agent];
  if (how > 1 && world->agents.types.types[row->type].sliced)
    tape_put_number(&world->recorder->tape, batch->results[entry].cut_asks);
}

/* Writes the agent of an entry behind the batch. */
static void keep_woken_agent(struct muster_world *world, uint32_t number) {
  const struct batch *batch = world->batch;
  const batch_entry *entry = &batch->entries[number];
  const agent_type *type = &world->agents.types.types[world->agents.store.rows[entry->agent].type];
  if (batch->outcomes[number] != OUTCOME_NOT_RUN && entry->send_limit < type->sends_max &&
      batch->results[number].sends > 0)
    recorder_cannot(world->recorder, "a woken agent found no room for its messages");
  tape_put_number(&world->recorder->tape, entry->agent);
}

static void keep_woken(struct muster_world *world) {
  const struct batch *batch = world->batch;
  tape_put_number(&world->recorder->tape, batch->woken_count);
  for (uint32_t i = batch->count; i < batch->count + batch->woken_count; i++) {
    keep_woken_agent(world, i);
    put_outcome(world, i);
  }
}

bool frame_record_appending(struct muster_world *world, bool any, void *appending, size_t bytes) {
  if (!world->recorder) return any;
  return recorder_exchange_one(world->recorder, TAG_APPENDING, any, appending, bytes);
}

/* Whether an agent can have been woken and run beside the batch. */
static bool may_be_woken(const struct muster_world *world, uint64_t agent) {
  if (agent >= world->def.limits.agents_max || !store_is_active(&world->agents.store, (uint32_t)agent)) return false;
  const agent_row *row = &world->agents.store.rows[agent];
  return (row->status == AGENT_WAITING || row->status == AGENT_READY) && row->atom_next == 0;
}

bool frame_record_put_woken(struct muster_world *world, uint32_t entry, uint64_t agent) {
  struct batch *batch = world->batch;
  ASSERT(recorder_replays(world->recorder));
  if (world->recorder->tape.failed || entry >= world->def.limits.agents_max || !may_be_woken(world, agent))
    return recorder_diverges(world->recorder, "its record wakes agent %llu, which cannot be",
                             (unsigned long long)agent);
  const agent_type *type = &world->agents.types.types[world->agents.store.rows[agent].type];
  batch->entries[entry] = (batch_entry){.agent = (uint32_t)agent, .atom_end = type->parallel_atoms};
  batch->outcomes[entry] = OUTCOME_NOT_RUN;
  return true;
}

void frame_record_adopted(struct muster_world *world, uint32_t woken) {
  struct batch *batch = world->batch;
  if (recorder_records(world->recorder))
    for (uint32_t i = 0; i < woken; i++) keep_woken_agent(world, batch->count + i);
  if (!recorder_replays(world->recorder)) return;
  batch->woken_count = 0;
  for (uint32_t i = 0; i < woken; i++, batch->woken_count++)
    if (!frame_record_put_woken(world, batch->count + i, tape_take_number(&world->recorder->tape))) return;
}

void frame_record_cycles(struct muster_world *world) {
  struct batch *batch = world->batch;
  struct tape *tape = world->def.levels.cycles_max > 1 ? recorder_item(world->recorder, TAG_CYCLES) : NULL;
  for (uint32_t i = 0; tape && i < batch->count; i++) {
    batch_entry *entry = &batch->entries[i];
    bool ran = batch->outcomes[i] == OUTCOME_FINISHED || batch->outcomes[i] == OUTCOME_ACT;
    uint64_t more = tape_exchange_number(tape, ran && entry->cycles > 1 ? entry->cycles - 1u : 0);
    if (!recorder_replays(world->recorder)) continue;
    if (more >= MUSTER_CYCLES_MAX)
      recorder_diverges(world->recorder, "its record has an update of %llu cycles", (unsigned long long)more + 1);
    entry->cycles = more < MUSTER_CYCLES_MAX ? (uint8_t)(more + 1) : 1;
  }
}

void frame_record_outcomes(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  const struct batch *batch = world->batch;
  if (!recorder_records(recorder) || world_is_virtual(world)) return;
  recorder_put_tag(recorder, TAG_OUTCOMES);
  tape_put_number(&recorder->tape, batch->count);
  for (uint32_t i = 0, alike; i < batch->count; i += alike) {
    uint32_t how = outcome_of(batch, i);
    put_outcome(world, i);
    for (alike = 1; how <= 1 && i + alike < batch->count && outcome_of(batch, i + alike) == how;) alike++;
    if (how <= 1) tape_put_number(&recorder->tape, alike);
  }
  keep_woken(world);
  frame_record_cycles(world);
}

bool frame_record_lots(struct muster_world *world, bool any) {
  struct recorder *recorder = world->recorder;
  struct settle_lots *lots = &world->teams->lots;
  if (!recorder) return any;
  if (!recorder_choose(recorder, any)) return false;
  uint32_t left = any ? lots->left : 0, i = 0;
  for (uint32_t entry;; lots->left_entries[i++] = entry) {
    entry = i < left ? lots->left_entries[i] : 0;
    if (!recorder_exchange_one(recorder, TAG_LOTS, i < left, &entry, sizeof entry)) break;
    if (entry < world->batch->count && (!i || entry > lots->left_entries[i - 1])) continue;
    recorder_diverges(recorder, "its record left entry %u, which cannot be", entry);
    return false;
  }
  lots->left = i;
  return !recorder_replays(recorder) || !recorder->trouble[0];
}

static void put_costs(struct muster_world *world) {
  struct tape *tape = &world->recorder->tape;
  uint64_t samples = 0, interrupted = 0;
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    samples += world->runner->states[i].sample_count;
    interrupted += world->runner->states[i].interrupted;
  }
  tape_put_number(tape, interrupted);
  tape_put_number(tape, samples);
  for (uint32_t i = 0; i < world->runner->state_count; i++)
    for (uint32_t k = 0; k < runner_state_in_turn(world->runner, i)->sample_count; k++) {
      const cost_sample *sample = &runner_state_in_turn(world->runner, i)->samples[k];
      tape_put_number(tape, sample->agent);
      tape_put_number(tape, (uint64_t)sample->level << 2 | sample->how);
      tape_put_number(tape, sample->cost_ns);
      tape_put_number(tape, sample->elapsed_ns);
    }
}

static void take_costs(struct muster_world *world) {
  struct tape *tape = &world->recorder->tape;
  world->sums->statistics.interrupted += tape_take_number(tape);
  for (uint64_t left = tape_take_number(tape); left > 0 && !tape->failed; left--) {
    uint64_t agent = tape_take_number(tape), how = tape_take_number(tape), cost_ns = tape_take_number(tape);
    uint64_t elapsed_ns = tape_take_number(tape), level = how >> 2;
    how &= 3;
    if (agent < world->agents.store.high && world_is_active(world, (uint32_t)agent) && level < MUSTER_LEVELS &&
        how < SAMPLE_HOWS) {
      cost_sample sample = {.agent = (uint32_t)agent,
                            .cost_ns = cost_ns,
                            .elapsed_ns = elapsed_ns,
                            .type = world_row(world, (uint32_t)agent)->type,
                            .level = (uint8_t)level,
                            .how = (uint8_t)how};
      cost_learning_take_sample(world, &sample);
    } else {
      recorder_diverges(world->recorder, "its record has a cost of agent %llu at level %llu", (unsigned long long)agent,
                        (unsigned long long)level);
    }
  }
}

void frame_record_costs(struct muster_world *world) {
  if (!recorder_mark(world->recorder, TAG_COSTS)) return;
  if (recorder_records(world->recorder)) put_costs(world);
  if (recorder_replays(world->recorder)) take_costs(world);
}

/* ---------------------------------------------------------------------------------------------------------- actions */

/* Which agents acted, in runs: twice how many did alike, and 1 when they acted. */
static void exchange_acted(struct muster_world *world, bool replays) {
  struct recorder *recorder = world->recorder;
  struct acts *acts = &world->acts->beside;
  if (!recorder_mark(recorder, TAG_ACTED)) return;
  uint64_t recorded = tape_exchange_number(&recorder->tape, acts->count);
  if (recorded != acts->count) {
    recorder_diverges(recorder, "actions of %u agents wait, in its record of %llu", acts->count,
                      (unsigned long long)recorded);
    return;
  }
  for (uint32_t i = 0; i < acts->count;) {
    uint64_t alike = 1;
    while (!replays && i + alike < acts->count && acts->entries[i + alike].ran == acts->entries[i].ran) alike++;
    uint64_t number = tape_exchange_number(&recorder->tape, alike << 1 | acts->entries[i].ran);
    alike = number >> 1;
    if (alike == 0 || alike > acts->count - i) {
      recorder_diverges(recorder, "its record does not say whether agent %u acted", acts->entries[i].agent);
      return;
    }
    for (; alike > 0; alike--, i++)
      if (replays) acts->entries[i].left_out = !(number & 1);
  }
}

void frame_record_acted(struct muster_world *world) {
  if (recorder_records(world->recorder)) exchange_acted(world, false);
}

void frame_record_choose_acted(struct muster_world *world) {
  if (recorder_replays(world->recorder)) exchange_acted(world, true);
}

/* --------------------------------------------------------------------------------------------------------- runaways */

static void put_counts(struct muster_world *world, const overrun_list *list) {
  struct tape *tape = &world->recorder->tape;
  uint32_t all = overruns_counts(world->agents.types.count), counts = 0;
  for (uint32_t i = 0; i < all; i++) counts += list->by_type[i] > 0;
  tape_put_number(tape, counts);
  for (uint32_t i = 0; i < all; i++) {
    if (!list->by_type[i]) continue;
    tape_put_number(tape, i);
    tape_put_number(tape, list->by_type[i]);
  }
}

static bool is_possible(const struct muster_world *world, const struct overrun *overrun) {
  return overrun->agent < world->def.limits.agents_max && overrun->type < world->agents.types.count &&
         overrun->level < MUSTER_LEVELS && overrun->kind < OVERRUN_KINDS;
}

static bool take_list(struct muster_world *world, overrun_list *list, uint64_t count) {
  ASSERT(list->count == 0);
  struct tape *tape = &world->recorder->tape;
  for (uint32_t i = 0; i < count && !tape->failed; i++)
    if (is_possible(world, &list->overruns[i])) list->overruns[list->count++] = list->overruns[i];
  if (list->count < count) recorder_diverges(world->recorder, "its record has overruns that cannot be");
  for (uint64_t left = tape_take_number(tape); left > 0 && !tape->failed; left--) {
    uint64_t i = tape_take_number(tape), more = tape_take_number(tape);
    if (i < overruns_counts(world->agents.types.count)) list->by_type[i] = (uint32_t)more;
  }
  return !world->recorder->trouble[0];
}

bool frame_record_overruns(struct muster_world *world, bool any, overrun_list *list) {
  if (!world->recorder || world_is_virtual(world)) return any;
  if (recorder_replays(world->recorder)) /* a replay ignores what was noted here */
    for (uint32_t i = 0; i < world->runner->state_count; i++)
      overruns_clear(&world->runner->states[i].overruns, world->agents.types.count);
  any = recorder_choose(world->recorder, any);
  if (!any || !recorder_mark(world->recorder, TAG_OVERRUNS)) return false;
  struct tape *tape = recorder_tape(world->recorder);
  if (!tape) return true;
  uint64_t count = tape_exchange_number(tape, list->count);
  if (count > OVERRUNS_MAX)
    return recorder_diverges(world->recorder, "its record has %llu overruns of one worker", (unsigned long long)count);
  tape_exchange(tape, list->overruns, count * sizeof *list->overruns);
  if (recorder_replays(world->recorder)) return take_list(world, list, count);
  put_counts(world, list);
  return true;
}

bool frame_record_suspect(struct muster_world *world, bool any, uint32_t *type) {
  if (!recorder_choose(world->recorder, any)) return false;
  recorder_exchange(world->recorder, TAG_SUSPECT, type, sizeof *type);
  return *type < world->agents.types.count;
}

bool frame_record_incident(struct muster_world *world, bool any, watch_incident *incident) {
  if (!recorder_choose(world->recorder, any)) return false;
  recorder_exchange(world->recorder, TAG_INCIDENT, incident, sizeof *incident);
  return !world->recorder || ((world->zone || incident->agent < world->def.limits.agents_max) &&
                              incident->type < world->agents.types.count);
}

/* ------------------------------------------------------------------------------------------------------------- sums */

/* Over the agents that ran, as each left its state. */
static uint64_t sum_of_updates(const struct muster_world *world) {
  const struct batch *batch = world->batch;
  uint64_t sum = 0;
  ASSERT(world->runner->sums);
  for (uint32_t i = 0; i < batch->count + batch->woken_count; i++)
    if (batch->outcomes[i] != OUTCOME_NOT_RUN) sum += batch->results[i].state_hash;
  return sum;
}

void frame_record_sum(struct muster_world *world) {
  if (recorder_tape(world->recorder) && world->recorder->journal.on) world->recorder->sum = sum_of_updates(world);
}

/* Over one agent in HASH_FRAMES, in turn: where it is, and its state. */
static uint64_t sum_of_turn(const struct muster_world *world) {
  enum { HASH_FRAMES = 60, AHEAD = 8 };
  const agent_store *store = &world->agents.store;
  uint32_t each = store->high / HASH_FRAMES + 1, first = (uint32_t)(world->frames % HASH_FRAMES) * each;
  uint64_t sum = 0;
  for (uint32_t i = first; i < first + each && i < store->high; i++) {
    const agent_row *row = &store->rows[i];
    if (i + AHEAD < store->high) __builtin_prefetch(&store->rows[i + AHEAD]);
    if (!store_is_active(store, i)) continue;
    const agent_type *type = &world->agents.types.types[row->type];
    const uint64_t hashed[] = {row->last_update_ns, row->runs,
                               (uint64_t)row->atom_next << 32 | (uint64_t)(uint8_t)row->cost_factor << 16 |
                                   (uint64_t)row->level << 8 | row->status};
    uint64_t hash = XXH3_64bits_withSeed(hashed, sizeof hashed, i);
    if (type->states) hash = XXH3_64bits_withSeed(type_state(type, row->state_slot), type->def.state_bytes, hash);
    sum += hash;
  }
  return sum;
}

static void exchange_sums(struct muster_world *world) {
  uint64_t own[2] = {world->recorder->sum, sum_of_turn(world)}, sums[2] = {own[0], own[1]};
  recorder_exchange(world->recorder, TAG_SUMS, sums, sizeof sums);
  if (sums[0] != own[0])
    recorder_diverges(world->recorder, "an agent that it updated has another state than in its record");
  else if (sums[1] != own[1])
    recorder_diverges(world->recorder, "an agent has another state than in its record");
}

/* ------------------------------------------------------------------------------------------------------------ notes */

static void put_notes(struct recorder *recorder) {
  recorder_journal *journal = &recorder->journal;
  uint64_t bytes = journal->notes_bytes;
  if (journal->full) recorder_cannot(recorder, "the notes of one frame had no room");
  tape_put(&recorder->tape, journal->notes, journal->notes_bytes);
  tape_put(&recorder->tape, &bytes, sizeof bytes);
  journal->notes_bytes = 0;
  journal->full = false;
}

/* Who looks for notes has looked before the replay. */
static void pass_notes(struct recorder *recorder) {
  size_t left = recorder->tape.end - recorder->tape.at;
  uint64_t bytes = 0;
  if (left < sizeof bytes) recorder->tape.failed = true;
  if (left >= sizeof bytes) tape_take_place(&recorder->tape, left - sizeof bytes);
  tape_take(&recorder->tape, &bytes, sizeof bytes);
  if (bytes != left - sizeof bytes)
    recorder_diverges(recorder, "its record has notes of %llu bytes", (unsigned long long)bytes);
}

/* What a frame of a journal has besides. What the host gives at the end of the frame waits for the next one. */
static void exchange_journal(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  if (recorder_records(recorder) && recorder->journal.end_frame) recorder->journal.end_frame(recorder->journal.user);
  world_record_waiting(world);
  exchange_sums(world);
  if (!recorder_mark(recorder, TAG_NOTES)) return;
  if (recorder_records(recorder))
    put_notes(recorder);
  else
    pass_notes(recorder);
}

/* ------------------------------------------------------------------------------------------------- end of the frame */

static void end_recorded_frame(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  if (recorder->tape.failed)
    snprintf(recorder->trouble, sizeof recorder->trouble, "the buffer of %zu bytes was full",
             recorder->def.buffer_bytes);
  if (!recorder->trouble[0] && !recorder_write_out(recorder, TAPE_FRAME, recorder->frames + 1))
    snprintf(recorder->trouble, sizeof recorder->trouble, "a write was refused");
  if (!recorder->trouble[0]) {
    recorder->frames++;
    return;
  }
  recorder->lost++;
  recorder_finish(world->recorder);
  log_write(&world->def.log, MUSTER_LOG_WARNING, "frame %llu: the recording ended: %s",
            (unsigned long long)world->frames, recorder->trouble);
}

/* Whether two reports are alike in what a replay must come to as well. */
static bool is_alike(const muster_frame_report *one, const muster_frame_report *other) {
  return one->agents == other->agents && one->released == other->released && one->completed == other->completed &&
         one->carried == other->carried && one->preempted == other->preempted && one->woken == other->woken &&
         one->actions_waiting == other->actions_waiting && one->longest_wait_ns == other->longest_wait_ns &&
         one->scored == other->scored && one->score_waiting == other->score_waiting &&
         memcmp(one->levels, other->levels, sizeof one->levels) == 0;
}

void frame_record_check_experience(struct muster_world *world, const frame_experience *own) {
  frame_experience *read = &world->learnt->experience;
  if (experience_is_possible(read)) return;
  recorder_diverges(world->recorder, "its record has measured times that cannot be");
  *read = *own;
}

static void exchange_report(struct muster_world *world) {
  muster_frame_report report = world->sums->report;
  recorder_exchange(world->recorder, TAG_REPORT, &report, sizeof report);
  if (!is_alike(&report, &world->sums->report))
    recorder_diverges(world->recorder,
                      "it released %u, completed %u and carried %u of %u agents, its record %u, %u and %u of %u",
                      world->sums->report.released, world->sums->report.completed, world->sums->report.carried,
                      world->sums->report.agents, report.released, report.completed, report.carried, report.agents);
  world->sums->report = report;
  frame_experience own = world->learnt->experience;
  recorder_exchange(world->recorder, TAG_REPORT, &world->learnt->experience, sizeof world->learnt->experience);
  if (recorder_replays(world->recorder)) frame_record_check_experience(world, &own);
}

static void exchange_hash(struct muster_world *world) {
  uint32_t every = world->recorder->def.hash_every;
  if (!recorder_choose(world->recorder, every && world->frames % every == 0)) return;
  uint64_t own = world->recorder->hash(world), hash = own;
  recorder_exchange(world->recorder, TAG_HASH, &hash, sizeof hash);
  if (hash != own)
    recorder_diverges(world->recorder, "its hash is %016llx, in its record %016llx", (unsigned long long)own,
                      (unsigned long long)hash);
}

void frame_record_end(struct muster_world *world) {
  if (!world->recorder) return;
  if (world->recorder->mode == RECORDER_ENDED) {
    world->recorder->lost += world->recorder->trouble[0] != '\0'; /* it ended by itself: else nothing is missed */
    return;
  }
  exchange_report(world);
  exchange_hash(world);
  if (world->recorder->journal.on) exchange_journal(world);
  if (recorder_records(world->recorder)) end_recorded_frame(world);
}

/* What stands first behind the frame's own record. No times stand behind the last frame of a record that was cut. */
static bool take_times(struct recorder *recorder) {
  struct chunk section;
  if (recorder->tape.at != recorder->tape.end)
    recorder_diverges(recorder, "its record of this frame goes on behind its end");
  if (recorder->tape.failed || recorder->trouble[0] || tape_next(&recorder->tape, &section)) return false;
  recorder->between = section.kind == TAPE_BETWEEN;
  if (!recorder_mark(recorder, TAG_TIMES)) return false;
  tape_take(&recorder->tape, recorder->times, sizeof recorder->times);
  return true;
}

/* Where the times stand in a report. */
static void times_of(muster_frame_report *report, uint64_t *times[FRAME_TIMES]) {
  uint64_t *const all[FRAME_TIMES] = {&report->wall_ns,     &report->overrun_wall_ns, &report->overrun_own_ns,
                                      &report->used_cpu_ns, &report->given_cpu_ns,    &report->serial_ns,
                                      &report->work_ns,     &report->acts_serial_ns};
  memcpy(times, all, sizeof all);
}

void frame_record_times(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  uint64_t *times[FRAME_TIMES];
  times_of(&world->sums->report, times);
  if (recorder_records(recorder)) {
    for (uint32_t i = 0; i < FRAME_TIMES; i++) recorder->times[i] = *times[i];
    recorder_put_times(recorder);
  }
  if (!recorder_replays(recorder)) return;
  recorder->times_due = !take_times(recorder) && !recorder->trouble[0];
  if (recorder->times_due || recorder->trouble[0]) return;
  for (uint32_t i = 0; i < FRAME_TIMES; i++) *times[i] = recorder->times[i];
}

void frame_record_late_times(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  struct world_sums *sums = world->sums;
  uint64_t *times[FRAME_TIMES];
  ASSERT(recorder_replays(recorder) && recorder->times_due);
  recorder->times_due = false;
  if (!take_times(recorder)) {
    recorder_diverges(recorder, "its record has no times of the frame before");
    return;
  }
  sums->statistics.serial_ns -= sums->report.serial_ns;
  sums->statistics.work_ns -= sums->report.work_ns;
  times_of(&sums->report, times);
  for (uint32_t i = 0; i < FRAME_TIMES; i++) *times[i] = recorder->times[i];
  sums->statistics.serial_ns += sums->report.serial_ns;
  sums->statistics.work_ns += sums->report.work_ns;
}
