/* world_record.h - what hosts and other threads do to a world that records: written down, or read from the record in a
 * replay (see record/recorder.h). Spawned agents come before anything that may name them. Everything here is called on
 * the frame's thread. */
#ifndef WORLD_RECORD_H
#define WORLD_RECORD_H

#include "record/recorder.h"
#include "world/saved_agent.h"

#include <muster/tune.h>

struct outgoing;
struct command;
struct zone_call;

/* Recording: writes down the agents that were spawned and the types that were registered until now. */
void world_record_newborns(struct muster_world *world);

/* An agent as its spawner left it. */
struct logged_spawn {
  uint64_t index, generation, type, any_user, name; /* `any_user`: it has a user pointer, known by the name */
  muster_agent id;                                  /* in a zone */
  saved_agent agent;
};

/* What a record says of it: written, or read. Its state and published state follow. */
void world_record_spawned(struct muster_world *world, struct logged_spawn *spawn);

/* An array of ids and values that the host hands over between frames; `number` is the factor, if the array is of one.
 * False in a replay, which uses the record's array instead. */
bool world_record_array(struct muster_world *world, recorder_tag tag, uint32_t number, const void *ids,
                        const void *values, size_t each, uint32_t count);

/* A call of a zone between two frames, with what was handed over. False in a replay, which makes the record's calls
 * instead. */
bool world_record_zone(struct muster_world *world, const struct zone_call *call, const void *bytes, size_t count);

/* Commands that were popped: writes them down, or reads the record's instead, at most `most`; returns how many there
 * are. */
uint32_t world_record_commands(struct muster_world *world, struct command *commands, uint32_t count, uint32_t most);

/* The next of a list of commands, of messages of the host, of tunings of the world: whether there is one, and which
 * one. */
bool world_record_command(struct muster_world *world, bool any, struct command *command);
bool world_record_message(struct muster_world *world, bool any, struct outgoing *message);
bool world_record_tuning(struct muster_world *world, bool any, muster_world_tuning *tuning);

/* Whether a command of a record can have been given; if not, the replay has diverged. A new observer takes its index
 * here. */
bool world_record_accepts(struct muster_world *world, const struct command *command);

/* Takes at most `most` spawned agents, which become active; returns how many. */
uint32_t world_record_take_spawns(struct muster_world *world, uint32_t *agents, uint32_t most);

/* The end of a frame of a journal: what waits for the next intake is written down, or its place in the record is kept
 * for world_record_refill(). */
void world_record_waiting(struct muster_world *world);

/* A replay has ended and the world goes on: what waited at the end of the last frame waits again, and nothing else.
 * Also after no frame at all. */
void world_record_refill(struct muster_world *world);

/* An index for an agent, as in the recorded run; IDENTITY_NONE when none was taken then. `index` is what was found
 * here. */
uint32_t world_record_id(struct muster_world *world, uint32_t index);

/* The same; where none was taken, the last of those that are set aside for spawns from inside updates serves. Not while
 * a frame uses these. */
uint32_t world_record_any_id(struct muster_world *world, uint32_t index);

/* Takes an index, as the record says. False, and the replay has diverged, when an agent has it already. */
bool world_record_claim(struct muster_world *world, uint64_t index);

/* The world is about to be destroyed: a recording ends, and a replay reads no further. */
void world_record_close(struct muster_world *world);

#endif
