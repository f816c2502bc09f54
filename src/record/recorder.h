/* recorder.h - what a world does differently while it records, and while it replays: nothing but to write down, or to
 * read instead, each thing that the frame cannot know by itself. Frames of other worlds pay a look at a null pointer.
 *
 * All calls come on the frame's thread, in the order of the program, which is the order of the record: there is no
 * other. Each item begins with a tag, so that a replay which goes another way stumbles at once. When it does, what the
 * frame had in hand is used from there on, and the frame's end tells. */
#ifndef RECORDER_H
#define RECORDER_H

#include "base/tape.h"
#include "run/newborns.h"
#include "world/world.h"

typedef enum recorder_mode { RECORDER_ENDED = 0, RECORDER_RECORDS, RECORDER_REPLAYS } recorder_mode;

typedef enum recorder_tag {
  TAG_NONE = 0,
  TAG_TYPES,
  TAG_FRAME,
  TAG_MOVES,
  TAG_OBSERVER_MOVES,
  TAG_FACTORS,
  TAG_NEWBORN,
  TAG_LIST_END,
  TAG_COMMANDS,
  TAG_COMMAND,
  TAG_ACTIVATED,
  TAG_MESSAGE,
  TAG_ID,
  TAG_NO,
  TAG_YES,
  TAG_BUDGET,
  TAG_DESIRED,
  TAG_CAPACITY,
  TAG_OUTCOMES,
  TAG_ACTED,
  TAG_SHARES,
  TAG_COSTS,
  TAG_OFFENCES,
  TAG_SUSPECT,
  TAG_INCIDENT,
  TAG_REPORT,
  TAG_HASH,
  TAG_TUNING,
  TAG_CYCLES,
  TAG_TIMES,
  TAG_URGENCY
} recorder_tag;

/* What the last recorded frame took as a whole, which is known when its record is written out: so it leads the section
 * behind it. */
typedef struct frame_times {
  uint64_t wall_ns, overrun_wall_ns, overrun_own_ns, used_cpu_ns, given_cpu_ns;
} frame_times;

typedef struct recorder {
  recorder_mode mode; /* the frame's thread alone may look */
  bool replays;       /* any thread may: the same as long as others know the world */
  tape tape;
  uint64_t frames, lost;
  uint32_t types_known;
  char trouble[128]; /* why the recording, or the replay, cannot go on */
  /* recording */
  muster_record_def def;
  newborns newborns;
  bool refused; /* a write was */
  frame_times times;
  /* replaying */
  muster_replay_def replay;
  uint64_t frames_max;
  uint32_t agents_given, observers_given; /* ids made up for the host's own calls */
  batch_claim *claims;
  uint64_t *taken; /* bitmap: indices of agents that somebody holds */
} recorder;

static inline bool recorder_records(const struct muster_world *world) {
  return __builtin_expect(world->recorder != NULL, 0) && world->recorder->mode == RECORDER_RECORDS;
}

/* The world is one that replays; also after it diverged. */
static inline bool recorder_replays(const struct muster_world *world) {
  return __builtin_expect(world->recorder != NULL, 0) && world->recorder->replays;
}

/* Records cannot repeat what has just happened: the recording ends with this frame left out. */
void recorder_cannot(struct muster_world *world, const char *why);

/* The replay went another way than the record: printf-style. */
void recorder_diverges(struct muster_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a tag, or finds it; false when there is another. */
bool recorder_mark(struct muster_world *world, recorder_tag tag);

/* Writes a value, or reads it instead. */
void recorder_exchange(struct muster_world *world, recorder_tag tag, void *value, size_t bytes);

/* Writes a choice, or reads it instead. */
bool recorder_exchange_choice(struct muster_world *world, bool choice);

/* A choice by the clock, or by what other threads did. */
static inline bool recorder_choose(struct muster_world *world, bool choice) {
  return __builtin_expect(world->recorder != NULL, 0) ? recorder_exchange_choice(world, choice) : choice;
}

/* ------------------------------------------------------------------------------------------------ frames and between
 */

/* A recorded frame begins. */
void recorder_begin_frame(struct muster_world *world, const muster_frame *frame);
/* It is over, and so is its report but for what writing it takes. */
void recorder_end_frame(struct muster_world *world);
/* That is known, too. A replay stands at the next section afterwards. */
void recorder_exchange_times(struct muster_world *world);

/* Arrays that the host hands over between frames; `values` are positions, or the floats of a factor. */
void recorder_keep_moves(struct muster_world *world, const muster_agent *agents, const muster_position *values,
                         uint32_t count);
void recorder_keep_observer_moves(struct muster_world *world, const muster_observer *observers,
                                  const muster_position *values, uint32_t count);
void recorder_keep_factors(struct muster_world *world, muster_factor factor, const muster_agent *agents,
                           const float *values, uint32_t count);

/* ------------------------------------------------------------------------------------------------------------ intake
 */

/* Agents that hosts have spawned until now become known to the record; or come to be in the replay. So they do before
 * anything that other threads may have said about them. */
void recorder_exchange_newborns(struct muster_world *world);

static inline void recorder_newborns(struct muster_world *world) {
  if (__builtin_expect(world->recorder != NULL, 0)) recorder_exchange_newborns(world);
}

/* Commands that were popped, at most `most`; returns how many there are. */
uint32_t recorder_exchange_commands(struct muster_world *world, command *commands, uint32_t count, uint32_t most);

/* One of a list of commands; with null the list's end. When replaying, the next one is written to `command`; false at
 * the end. */
void recorder_keep_command(struct muster_world *world, const command *command);
bool recorder_next_command(struct muster_world *world, command *command);

/* Agents taken to become active. */
uint32_t recorder_exchange_activated(struct muster_world *world, uint32_t *agents, uint32_t count, uint32_t most);

/* A message of the host; null at the end of them. */
void recorder_keep_message(struct muster_world *world, const outgoing *message);
bool recorder_next_message(struct muster_world *world, outgoing *message);

/* A tuning of the world; null at the end of them. */
void recorder_keep_tuning(struct muster_world *world, const muster_world_tuning *tuning);
bool recorder_next_tuning(struct muster_world *world, muster_world_tuning *tuning);

/* How many cycles each update ran; replaying: is to run. Before and after stage 7 on the wall clock. */
void recorder_keep_cycles(struct muster_world *world);
bool recorder_take_cycles(struct muster_world *world);

/* An index for an agent: taken in the recorded run, IDENTITY_NONE when none was. `index` is what was found here. */
uint32_t recorder_exchange_id(struct muster_world *world, uint32_t index);

/* -------------------------------------------------------------------------------------------------- run and commit */

/* After stage 7: which entries ran, and who was woken and run beside them. */
void recorder_keep_outcomes(struct muster_world *world);

/* Who of the list of those who act beside each other did so: written down after they ran; or, on the wall clock, read
 * before: the others are left out. In recorder_acts.c. */
void recorder_keep_acted(struct muster_world *world);
void recorder_choose_acted(struct muster_world *world);

/* Which claims were settled beside each other: by share, the number of claims it looked at. False when none. */
bool recorder_exchange_shares(struct muster_world *world, bool any, uint32_t looked_at[WHEEL_SHARDS]);

/* The offences that a worker noted, when there are any: written down. */
bool recorder_exchange_offences(struct muster_world *world, offence_list *list);

/* Replaying: the next such list, into an empty one; false when there is no further one. */
bool recorder_next_offences(struct muster_world *world, offence_list *list);

/* A type whose claim took suspiciously long, and an incident of the watchdog: written, or read instead. False when
 * there is none, or no more. */
bool recorder_exchange_suspect(struct muster_world *world, bool any, uint32_t *type);
bool recorder_exchange_incident(struct muster_world *world, bool any, watch_incident *incident);

/* What the workers measured: learnt from the record when replaying. */
void recorder_exchange_costs(struct muster_world *world);

/* --------------------------------------------------------------------------------------------------------- replaying
 */

/* Asides of the record, which may stand before any tag: a type to compare, an agent that the host spawned in the
 * recorded run and that comes to be where it was then. In replay.c. */
void replay_types(struct muster_world *world);
void replay_newborn(struct muster_world *world);

/* An index is taken, as the record says: false, and the replay has diverged, when somebody has it. In
 * src/replay/replay.c. */
bool replay_take_index(struct muster_world *world, uint64_t index);

/* An index that was taken so is free again. */
static inline void recorder_give_back(recorder *recorder, uint32_t index) {
  recorder->taken[index / 64] &= ~(1ull << (index % 64));
}

/* Whether a command can have been given; else the replay has diverged. In replay.c. */
bool replay_accepts(struct muster_world *world, const command *command);

/* Takes what a frame may take from a record that was made up: else the replay has diverged. In replay.c. */
void replay_check_experience(struct muster_world *world, const frame_experience *own);

/* The next tag behind such asides; TAG_NONE when there is none, or after trouble. In recorder.c. */
recorder_tag replay_tag(struct muster_world *world);

/* Ends the recording, for good. False when a write was refused. In recorder.c. */
bool recorder_finish(struct muster_world *world);

#endif
