/* journaling.h - a run with a journal: `muster run --journal`, which a later run goes on from, and which `muster replay
 * --from` repeats. */
#ifndef TOOLS_JOURNALING_H
#define TOOLS_JOURNALING_H

#include "host.h"
#include "run_note.h"

#include <muster/journal.h>

/* The journal that is kept. */
struct journaling {
  muster_journal *journal; /* null: none */
  const char *path;
  const struct host *host;
  bool told; /* that it has ended by itself */
};

/* Begins one for a host's world, as the run was asked to. False with the reason in muster_last_error(). */
bool journaling_begin(struct journaling *journaling, const run_options *options, const struct host *host);

/* After each frame. */
void journaling_turn(struct journaling *journaling, uint64_t spare_ns);

/* Ends it, so that a later run can go on from there. Complains and returns false when it does not hold the whole run.
 * Without a journal it does nothing. */
bool journaling_end(struct journaling *journaling);

/* A journal that is there, and what it says of its run. */
struct journal_found {
  const char *path;
  muster_journal_info info;
  run_options options; /* of its run; its texts stand in `note` */
  muster_world_def world;
  uint64_t skipped_ns;  /* see struct host; as the snapshot has it */
  unsigned char *state; /* what the module saved; null: it is not open */
  size_t state_bytes;
  struct journal_command *commands; /* that operators gave to the module of a service, in their order; owned */
  size_t command_count, command_room, command_next;
  char note[RUN_NOTE_BYTES];
};

/* Looks at a journal: MUSTER_E_STALE when there is none. What is not MUSTER_OK has its reason in muster_last_error(),
 * and nothing is to be closed then. */
muster_result journal_found_open(struct journal_found *found, const char *path);
void journal_found_close(struct journal_found *found);

/* Makes a setup one that goes on from what was found. */
void journal_found_prepare(const struct journal_found *found, host_setup *setup);

/* Brings the host's world to the last complete frame, the module's part before each frame included, and calls `ran`
 * after each, if it is given. False with the reason in muster_last_error(). */
bool journal_found_recover(struct journal_found *found, struct host *host, void (*ran)(void *user), void *user);

#endif
