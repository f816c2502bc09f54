/* recording.h - a run in a file: what `muster run --record` writes and `muster replay` reads. */
#ifndef TOOLS_RECORDING_H
#define TOOLS_RECORDING_H

#include "host.h"
#include "run_note.h"

#include <muster/record.h>

/* The file that is being written. */
struct recording {
  int descriptor; /* -1: not open */
  bool refused;   /* the world does not record into it, and it was said why */
  const char *path;
  const run_options *options;
  const struct host *host;
};

/* Opens the file, before the work of the host that it will hold. Complains and returns false when it cannot be written.
 */
bool recording_open(struct recording *recording, const run_options *options, const struct host *host);

/* Makes the world record into it, from now on; `user` is the recording. False with the reason in muster_last_error().
 */
bool recording_begin(void *user, muster_world *world);

/* Ends the recording and closes the file. Complains and returns false when it does not hold the whole run. One that is
 * not open is a no-op. */
bool recording_end(struct recording *recording, muster_world *world);

/* A file that is replayed, and what it says of its run. */
struct replaying {
  const void *bytes; /* null: not open */
  size_t count;
  muster_record_info info;
  const void *state; /* what the module saved when the recording began; null: the world was new then */
  size_t state_bytes;
  uint64_t skipped_ns; /* see struct host */
  run_options options; /* of the recorded run; its texts stand in `note` */
  char note[RUN_NOTE_BYTES];
};

/* Opens and checks a file. Complains and returns false when it holds no run: the frames up to `until` suffice. */
bool replaying_open(struct replaying *replaying, const char *path, uint64_t until);

/* Makes a new world replay it; `user` is what was opened. False with the reason in muster_last_error(). */
bool replaying_begin(void *user, muster_world *world);

/* Closes; what is not open is a no-op. */
void replaying_close(struct replaying *replaying);

#endif
