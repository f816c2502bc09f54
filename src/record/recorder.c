/* recorder.c - what a frame shares with its record, in either direction. */
#include "record/recorder.h"

#include "base/error.h"
#include "observe/report.h"
#include "record/recorder_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void recorder_cannot(struct muster_world *world, const char *why) {
  if (!recorder_records(world) || world->recorder->trouble[0]) return;
  snprintf(world->recorder->trouble, sizeof world->recorder->trouble, "%s", why);
}

void recorder_diverges(struct muster_world *world, const char *format, ...) {
  recorder *recorder = world->recorder;
  va_list arguments;
  if (recorder->trouble[0]) return;
  va_start(arguments, format);
  vsnprintf(recorder->trouble, sizeof recorder->trouble, format, arguments);
  va_end(arguments);
}

/* ------------------------------------------------------------------------------------------------------------- tags */

static void put_tag(struct recorder *recorder, recorder_tag tag) {
  unsigned char byte = (unsigned char)tag;
  tape_put(&recorder->tape, &byte, 1);
}

recorder_tag replay_tag(struct muster_world *world) {
  recorder *recorder = world->recorder;
  while (!recorder->trouble[0]) {
    unsigned char tag;
    tape_take(&recorder->tape, &tag, 1);
    if (recorder->tape.failed) recorder_diverges(world, "its record ends before it does");
    if (tag == TAG_TYPES)
      replay_types(world);
    else if (tag == TAG_NEWBORN)
      replay_newborn(world);
    else if (!recorder->tape.failed)
      return (recorder_tag)tag;
  }
  return TAG_NONE;
}

bool recorder_mark(struct muster_world *world, recorder_tag tag) {
  recorder *recorder = world->recorder;
  if (recorder_records(world)) put_tag(recorder, tag);
  if (!recorder_replays(world)) return true;
  recorder_tag found = replay_tag(world);
  if (found != tag) recorder_diverges(world, "it needs item %d where its record has %d", (int)tag, (int)found);
  return found == tag;
}

void recorder_exchange(struct muster_world *world, recorder_tag tag, void *value, size_t bytes) {
  recorder *recorder = world->recorder;
  if (!recorder_mark(world, tag)) return;
  if (recorder_records(world)) tape_put(&recorder->tape, value, bytes);
  if (recorder_replays(world)) tape_take(&recorder->tape, value, bytes);
}

bool recorder_exchange_choice(struct muster_world *world, bool choice) {
  if (recorder_records(world)) put_tag(world->recorder, choice ? TAG_YES : TAG_NO);
  if (!recorder_replays(world)) return choice;
  recorder_tag found = replay_tag(world);
  if (found == TAG_YES || found == TAG_NO) return found == TAG_YES;
  recorder_diverges(world, "it needs a choice where its record has item %d", (int)found);
  return choice;
}

/* ---------------------------------------------------------------------------------------------------- what hosts do */

static void keep_types(struct muster_world *world) {
  recorder *recorder = world->recorder;
  for (; recorder->types_known < world->types.count; recorder->types_known++) {
    put_tag(recorder, TAG_TYPES);
    fields_put_type(&recorder->tape, &world->types.types[recorder->types_known]);
  }
}

static uint64_t name_of_user(const struct muster_world *world, uint32_t index) {
  const recorder *recorder = world->recorder;
  void *user = world->store.rows[index].user;
  muster_agent agent = {index, identity_generation(&world->agent_ids, index)};
  if (!user) return 0;
  return recorder->def.name_user ? recorder->def.name_user(agent, user, recorder->def.user) : 1;
}

static void keep_newborn(struct muster_world *world, uint32_t index) {
  recorder *recorder = world->recorder;
  tape *tape = &recorder->tape;
  const agent_row *row = &world->store.rows[index];
  const agent_type *type = &world->types.types[row->type];
  const agent_place *place = &world->store.places[index];
  put_tag(recorder, TAG_NEWBORN);
  tape_put_number(tape, index);
  tape_put_number(tape, identity_generation(&world->agent_ids, index));
  tape_put_number(tape, row->type);
  tape_put_number(tape, row->user ? 1 : 0);
  tape_put_number(tape, name_of_user(world, index));
  tape_put(tape, &row->floor, sizeof row->floor);
  tape_put(tape, &row->elasticity_step, sizeof row->elasticity_step);
  tape_put(tape, row->factors, sizeof row->factors);
  tape_put(tape, place, sizeof *place);
  if (world->store.esteem) tape_put(tape, &world->store.esteem[index], sizeof *world->store.esteem);
  if (type->states) tape_put(tape, type_state(type, row->state_slot), type->def.state_bytes);
  if (type->published) tape_put(tape, type_published(type, row->state_slot, row->front), type->def.published_bytes);
}

/* Before each item that may speak of them. */
static void keep_newborns(struct muster_world *world) {
  uint32_t index;
  keep_types(world);
  while (newborns_take(&world->recorder->newborns, &index)) keep_newborn(world, index);
}

void recorder_exchange_newborns(struct muster_world *world) {
  if (recorder_records(world)) keep_newborns(world);
  recorder_mark(world, TAG_LIST_END);
}

static void keep_array(struct muster_world *world, recorder_tag tag, uint32_t number, const void *ids,
                       const void *values, size_t each, uint32_t count) {
  tape *tape = &world->recorder->tape;
  keep_newborns(world);
  put_tag(world->recorder, tag);
  tape_put_number(tape, number);
  tape_put_number(tape, count);
  tape_put(tape, ids, count * sizeof(muster_agent));
  tape_put(tape, values, count * each);
}

_Static_assert(sizeof(muster_agent) == sizeof(muster_observer), "ids of both kinds stand alike in a record");

void recorder_keep_moves(struct muster_world *world, const muster_agent *agents, const muster_position *values,
                         uint32_t count) {
  keep_array(world, TAG_MOVES, 0, agents, values, sizeof *values, count);
}

void recorder_keep_observer_moves(struct muster_world *world, const muster_observer *observers,
                                  const muster_position *values, uint32_t count) {
  keep_array(world, TAG_OBSERVER_MOVES, 0, observers, values, sizeof *values, count);
}

void recorder_keep_factors(struct muster_world *world, muster_factor factor, const muster_agent *agents,
                           const float *values, uint32_t count) {
  keep_array(world, TAG_FACTORS, (uint32_t)factor, agents, values, sizeof *values, count);
}

/* ------------------------------------------------------------------------------------------------------------ intake
 */

uint32_t recorder_exchange_commands(struct muster_world *world, command *commands, uint32_t count, uint32_t most) {
  recorder *recorder = world->recorder;
  if (recorder_records(world)) keep_newborns(world);
  if (!recorder_mark(world, TAG_COMMANDS)) return 0;
  if (recorder_records(world)) {
    tape_put_number(&recorder->tape, count);
    tape_put(&recorder->tape, commands, count * sizeof *commands);
  }
  if (!recorder_replays(world)) return count;
  uint64_t recorded = tape_take_number(&recorder->tape);
  if (recorded > most) recorder_diverges(world, "its record takes %llu commands at once", (unsigned long long)recorded);
  if (recorded > most) return 0;
  tape_take(&recorder->tape, commands, recorded * sizeof *commands);
  for (uint32_t i = 0; i < recorded; i++)
    if (!replay_accepts(world, &commands[i])) return i;
  return recorder->tape.failed ? 0 : (uint32_t)recorded;
}

static void keep_one(struct muster_world *world, recorder_tag tag, const void *value, size_t bytes) {
  keep_newborns(world);
  put_tag(world->recorder, value ? tag : TAG_LIST_END);
  if (value) tape_put(&world->recorder->tape, value, bytes);
}

static bool next_one(struct muster_world *world, recorder_tag tag, void *value, size_t bytes) {
  recorder_tag found = replay_tag(world);
  if (found != tag && found != TAG_LIST_END)
    recorder_diverges(world, "it needs item %d where its record has %d", (int)tag, (int)found);
  if (found != tag) return false;
  tape_take(&world->recorder->tape, value, bytes);
  return !world->recorder->tape.failed;
}

void recorder_keep_command(struct muster_world *world, const command *command) {
  keep_one(world, TAG_COMMAND, command, sizeof *command);
}

bool recorder_next_command(struct muster_world *world, command *command) {
  return next_one(world, TAG_COMMAND, command, sizeof *command) && replay_accepts(world, command);
}

void recorder_keep_message(struct muster_world *world, const outgoing *message) {
  keep_one(world, TAG_MESSAGE, message, sizeof *message);
}

bool recorder_next_message(struct muster_world *world, outgoing *message) {
  if (!next_one(world, TAG_MESSAGE, message, sizeof *message)) return false;
  if (message->head.size <= sizeof message->bytes) return true;
  recorder_diverges(world, "its record has a message of %u bytes", message->head.size);
  return false;
}

void recorder_keep_tuning(struct muster_world *world, const muster_world_tuning *tuning) {
  keep_one(world, TAG_TUNING, tuning, sizeof *tuning);
}

bool recorder_next_tuning(struct muster_world *world, muster_world_tuning *tuning) {
  return next_one(world, TAG_TUNING, tuning, sizeof *tuning);
}

/* Whether an agent that the record makes active waits for that here. */
static bool is_pending(const struct muster_world *world, uint32_t index) {
  return index < world->def.agents_max && world->store.rows[index].status == AGENT_PENDING &&
         identity_is_live(&world->agent_ids, index, identity_generation(&world->agent_ids, index));
}

uint32_t recorder_exchange_activated(struct muster_world *world, uint32_t *agents, uint32_t count, uint32_t most) {
  recorder *recorder = world->recorder;
  if (recorder_records(world)) keep_newborns(world);
  if (!recorder_mark(world, TAG_ACTIVATED)) return 0;
  if (recorder_records(world)) {
    tape_put_number(&recorder->tape, count);
    tape_put(&recorder->tape, agents, count * sizeof *agents);
  }
  if (!recorder_replays(world)) return count;
  uint64_t recorded = tape_take_number(&recorder->tape);
  if (recorded > most) recorder_diverges(world, "its record spawns %llu agents at once", (unsigned long long)recorded);
  if (recorded > most) return 0;
  tape_take(&recorder->tape, agents, recorded * sizeof *agents);
  for (uint32_t i = 0; i < recorded; i++) {
    uint32_t again = 0;
    while (again < i && agents[again] != agents[i]) again++;
    if (again == i && is_pending(world, agents[i])) continue;
    recorder_diverges(world, "agent %u becomes active, but was not spawned", agents[i]);
    return i;
  }
  return (uint32_t)recorded;
}

uint32_t recorder_exchange_id(struct muster_world *world, uint32_t index) {
  recorder_exchange(world, TAG_ID, &index, sizeof index);
  if (!recorder_replays(world) || index == IDENTITY_NONE) return index;
  if (!replay_take_index(world, index)) return IDENTITY_NONE;
  identity_use(&world->agent_ids, index);
  return index;
}

/* -------------------------------------------------------------------------------------------------- run and commit */

static void put_outcome(struct muster_world *world, uint32_t entry) {
  tape *tape = &world->recorder->tape;
  batch_outcome outcome = (batch_outcome)world->batch.outcomes[entry];
  uint32_t atom = world->batch.results[entry].atom_next;
  tape_put_number(tape, outcome == OUTCOME_NOT_RUN ? 0 : outcome == OUTCOME_PREEMPTED ? atom + 2u : 1u);
}

/* How many entries from `first` on ended alike: not run, or whole. */
static uint32_t count_alike(const batch *batch, uint32_t first, uint64_t how) {
  uint32_t i = first;
  for (; i < batch->count; i++) {
    batch_outcome outcome = (batch_outcome)batch->outcomes[i];
    if (outcome == OUTCOME_PREEMPTED || (outcome != OUTCOME_NOT_RUN) != how) break;
  }
  return i - first;
}

static void keep_woken(struct muster_world *world) {
  const batch *batch = &world->batch;
  tape_put_number(&world->recorder->tape, batch->woken_count);
  for (uint32_t i = batch->count; i < batch->count + batch->woken_count; i++) {
    const batch_entry *entry = &batch->entries[i];
    bool short_of_places = entry->send_limit < world->types.types[world->store.rows[entry->agent].type].sends_max;
    if (batch->outcomes[i] != OUTCOME_NOT_RUN && short_of_places && batch->results[i].sends > 0)
      recorder_cannot(world, "a woken agent found no room for its messages");
    tape_put_number(&world->recorder->tape, entry->agent);
    put_outcome(world, i);
  }
}

void recorder_keep_outcomes(struct muster_world *world) {
  recorder *recorder = world->recorder;
  const batch *batch = &world->batch;
  put_tag(recorder, TAG_OUTCOMES);
  tape_put_number(&recorder->tape, batch->count);
  for (uint32_t i = 0, alike; i < batch->count; i += alike) {
    alike = 1;
    put_outcome(world, i);
    if (batch->outcomes[i] == OUTCOME_PREEMPTED) continue;
    alike = count_alike(batch, i, batch->outcomes[i] != OUTCOME_NOT_RUN);
    tape_put_number(&recorder->tape, alike);
  }
  keep_woken(world);
}

void recorder_keep_cycles(struct muster_world *world) {
  const batch *batch = &world->batch;
  tape *tape = &world->recorder->tape;
  put_tag(world->recorder, TAG_CYCLES);
  for (uint32_t i = 0; i < batch->count; i++) {
    bool ran = batch->outcomes[i] == OUTCOME_FINISHED || batch->outcomes[i] == OUTCOME_ACT;
    tape_put_number(tape, ran && batch->entries[i].cycles > 1 ? batch->entries[i].cycles - 1u : 0);
  }
}

bool recorder_take_cycles(struct muster_world *world) {
  batch *batch = &world->batch;
  if (!recorder_mark(world, TAG_CYCLES)) return false;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint64_t more = tape_take_number(&world->recorder->tape);
    if (more >= MUSTER_CYCLES_MAX)
      recorder_diverges(world, "its record has an update of %llu cycles", (unsigned long long)more + 1);
    batch->entries[i].cycles = more < MUSTER_CYCLES_MAX ? (uint8_t)(more + 1) : 1;
  }
  return !world->recorder->tape.failed && !world->recorder->trouble[0];
}

bool recorder_exchange_shares(struct muster_world *world, bool any, uint32_t looked_at[WHEEL_SHARDS]) {
  batch *batch = &world->batch;
  any = recorder_exchange_choice(world, any);
  if (!any || !recorder_mark(world, TAG_SHARES)) return false;
  for (uint32_t i = 0; i < WHEEL_SHARDS; i++) recorder_exchange(world, TAG_SHARES, &looked_at[i], sizeof looked_at[i]);
  for (uint32_t i = 0; i < batch->claim_count; i++) {
    uint16_t *ran_by = &batch->claims[i].ran_by;
    if (recorder_records(world)) tape_put_number(&world->recorder->tape, *ran_by == CLAIM_LEFT ? 0 : *ran_by + 1u);
    if (!recorder_replays(world)) continue;
    uint64_t number = tape_take_number(&world->recorder->tape);
    *ran_by = number == 0 || number > CLAIM_LEFT ? CLAIM_LEFT : (uint16_t)(number - 1);
  }
  return !world->recorder->trouble[0];
}

static void put_costs(struct muster_world *world) {
  tape *tape = &world->recorder->tape;
  uint64_t samples = 0, interrupted = 0;
  for (uint32_t i = 0; i < world->runner.state_count; i++) {
    samples += world->runner.states[i].sample_count;
    interrupted += world->runner.states[i].interrupted;
  }
  tape_put_number(tape, interrupted);
  tape_put_number(tape, samples);
  for (uint32_t i = 0; i < world->runner.state_count; i++)
    for (uint32_t k = 0; k < world->runner.states[i].sample_count; k++) {
      const cost_sample *sample = &world->runner.states[i].samples[k];
      tape_put_number(tape, sample->type);
      tape_put_number(tape, (uint64_t)sample->level << 1 | sample->offends);
      tape_put_number(tape, sample->cost_ns);
    }
}

static void take_costs(struct muster_world *world) {
  tape *tape = &world->recorder->tape;
  world->statistics.interrupted += tape_take_number(tape);
  for (uint64_t left = tape_take_number(tape); left > 0 && !tape->failed; left--) {
    uint64_t type = tape_take_number(tape), how = tape_take_number(tape), cost_ns = tape_take_number(tape);
    uint64_t level = how >> 1;
    if (type < world->types.count && level < MUSTER_LEVELS)
      costs_add(&world->costs, (uint32_t)type, (uint32_t)level, cost_ns, how & 1);
    else
      recorder_diverges(world, "its record has a cost of type %llu at level %llu", (unsigned long long)type,
                        (unsigned long long)level);
  }
}

void recorder_exchange_costs(struct muster_world *world) {
  if (!recorder_mark(world, TAG_COSTS)) return;
  if (recorder_records(world)) put_costs(world);
  if (recorder_replays(world)) take_costs(world);
}

/* ------------------------------------------------------------------------------------------------------------ frames
 */

void recorder_begin_frame(struct muster_world *world, const muster_frame *frame) {
  recorder *recorder = world->recorder;
  keep_newborns(world);
  put_tag(recorder, TAG_FRAME);
  tape_put_number(&recorder->tape, world->types.count);
  tape_put_number(&recorder->tape, frame->sim_now_ns);
  tape_put_number(&recorder->tape, frame->budget_ns);
}

static bool write_out(struct recorder *recorder, tape_kind kind, uint64_t number) {
  size_t count;
  const void *bytes = tape_close(&recorder->tape, kind, number, &count);
  if (bytes && !recorder->refused) recorder->refused = !recorder->def.write(bytes, count, recorder->def.user);
  return bytes && !recorder->refused;
}

static void put_times(struct recorder *recorder) {
  put_tag(recorder, TAG_TIMES);
  tape_put(&recorder->tape, &recorder->times, sizeof recorder->times);
}

bool recorder_finish(struct muster_world *world) {
  recorder *recorder = world->recorder;
  tape_drop(&recorder->tape);
  if (recorder->frames) put_times(recorder);
  write_out(recorder, TAPE_END, recorder->frames);
  recorder->mode = RECORDER_ENDED;
  newborns_close(&recorder->newborns);
  return !recorder->refused;
}

static void end_recorded_frame(struct muster_world *world) {
  recorder *recorder = world->recorder;
  if (recorder->tape.failed)
    snprintf(recorder->trouble, sizeof recorder->trouble, "the buffer of %zu bytes was full",
             recorder->def.buffer_bytes);
  if (!recorder->trouble[0] && !write_out(recorder, TAPE_FRAME, world->frames))
    snprintf(recorder->trouble, sizeof recorder->trouble, "a write was refused");
  if (!recorder->trouble[0]) {
    recorder->frames++;
    return;
  }
  recorder->lost++;
  recorder_finish(world);
  log_write(&world->def.log, MUSTER_LOG_WARNING, "frame %llu: the recording ended: %s",
            (unsigned long long)world->frames, recorder->trouble);
}

/* What a replay must come to as well. */
static bool is_alike(const muster_frame_report *one, const muster_frame_report *other) {
  return one->agents == other->agents && one->released == other->released && one->completed == other->completed &&
         one->carried == other->carried && one->preempted == other->preempted && one->woken == other->woken &&
         one->actions_waiting == other->actions_waiting && one->longest_wait_ns == other->longest_wait_ns &&
         one->scored == other->scored && one->score_waiting == other->score_waiting &&
         memcmp(one->levels, other->levels, sizeof one->levels) == 0;
}

static void exchange_report(struct muster_world *world) {
  muster_frame_report report = world->report;
  recorder_exchange(world, TAG_REPORT, &report, sizeof report);
  if (!is_alike(&report, &world->report))
    recorder_diverges(world, "it released %u, completed %u and carried %u of %u agents, its record %u, %u and %u of %u",
                      world->report.released, world->report.completed, world->report.carried, world->report.agents,
                      report.released, report.completed, report.carried, report.agents);
  world->report = report;
  frame_experience own = world->experience;
  recorder_exchange(world, TAG_REPORT, &world->experience, sizeof world->experience);
  if (recorder_replays(world)) replay_check_experience(world, &own);
}

static void exchange_hash(struct muster_world *world) {
  uint32_t every = world->recorder->def.hash_every;
  if (!recorder_exchange_choice(world, every && world->frames % every == 0)) return;
  uint64_t own = world_hash(world), hash = own;
  recorder_exchange(world, TAG_HASH, &hash, sizeof hash);
  if (hash != own)
    recorder_diverges(world, "its hash is %016llx, in its record %016llx", (unsigned long long)own,
                      (unsigned long long)hash);
}

void recorder_end_frame(struct muster_world *world) {
  if (world->recorder->mode == RECORDER_ENDED) {
    world->recorder->lost++;
    return;
  }
  exchange_report(world);
  exchange_hash(world);
  if (recorder_records(world)) end_recorded_frame(world);
}

static void keep_times(struct recorder *recorder, const muster_frame_report *report) {
  recorder->times = (frame_times){.wall_ns = report->wall_ns,
                                  .overrun_wall_ns = report->overrun_wall_ns,
                                  .overrun_own_ns = report->overrun_own_ns,
                                  .used_cpu_ns = report->used_cpu_ns,
                                  .given_cpu_ns = report->given_cpu_ns};
  put_times(recorder);
}

/* Behind the last frame of a record that was cut there is none. */
static void take_times(struct muster_world *world) {
  recorder *recorder = world->recorder;
  muster_frame_report *report = &world->report;
  tape_section section;
  bool cut;
  if (recorder->tape.at != recorder->tape.end)
    recorder_diverges(world, "its record of this frame goes on behind its end");
  if (recorder->tape.failed || recorder->trouble[0] || tape_next(&recorder->tape, &section, &cut)) return;
  if (!recorder_mark(world, TAG_TIMES)) return;
  tape_take(&recorder->tape, &recorder->times, sizeof recorder->times);
  report->wall_ns = recorder->times.wall_ns;
  report->overrun_wall_ns = recorder->times.overrun_wall_ns;
  report->overrun_own_ns = recorder->times.overrun_own_ns;
  report->used_cpu_ns = recorder->times.used_cpu_ns;
  report->given_cpu_ns = recorder->times.given_cpu_ns;
}

void recorder_exchange_times(struct muster_world *world) {
  if (recorder_records(world)) keep_times(world->recorder, &world->report);
  if (recorder_replays(world)) take_times(world);
}
