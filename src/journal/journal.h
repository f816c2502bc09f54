/* journal.h - the parts of a journal: its files, the process that writes a snapshot, and the thread that syncs.
 *
 *   frames' thread     frame ... frame | fork | frame ... frame | adopt | frame ...
 *   PATH-7.journal     -------------------------------------------+
 *   PATH-8.journal                     +--------------------------------------
 *   its process                          snapshot ... PATH-8.snapshot
 *
 * While the process writes, each frame goes to both files; so there is one complete snapshot with its whole record at
 * any moment. Then the older files are removed: by the thread that syncs, once the newer ones are on the disk. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include "base/files.h"
#include "replay/records.h"
#include "run/syncer.h"

#include <muster/journal.h>
#include <muster/snapshot.h>

enum { JOURNAL_PATH_BYTES = 3800, JOURNAL_NAME_BYTES = JOURNAL_PATH_BYTES + 64, NOTES_BYTES = 16 << 20 };

/* ------------------------------------------------------------------------------------------------------------ files */

/* What stands at the head of a snapshot's file, and in the note of its record. */
typedef struct journal_mark {
  uint64_t id;     /* of the journal, drawn when it begins */
  uint64_t number; /* of its files */
} journal_mark;

enum { INCIDENTS_MOST = 1000 /* that may be kept */ };

/* Numbers of files at a path, in descending order. It has room for all incidents that may be kept, and for some that
 * are to go; of more files it has the newest. */
typedef struct journal_numbers {
  uint32_t count;
  uint64_t numbers[INCIDENTS_MOST + 24];
} journal_numbers;

typedef char journal_name[JOURNAL_NAME_BYTES];

/* PATH-NUMBER.ending, where `what` is "" or "incident-". */
const char *journal_file_name(const char *path, const char *what, uint64_t number, const char *ending,
                              journal_name name);

/* The numbers of the files with this ending. MUSTER_E_STALE when there are none, or no folder. */
muster_result journal_files_list(const char *path, const char *what, const char *ending, journal_numbers *numbers);

/* A file in memory, for reading. */
typedef struct journal_bytes {
  const unsigned char *bytes;
  size_t count;
} journal_bytes;

/* MUSTER_E_STALE when there is none. */
muster_result journal_file_map(const char *name, journal_bytes *bytes);
void journal_file_unmap(journal_bytes *bytes);

/* A file that grows: what is written to it later can be read there as well. MUSTER_E_SYSTEM. */
muster_result journal_file_map_growing(const char *name, journal_bytes *bytes);
void journal_file_unmap_growing(journal_bytes *bytes);

/* What stands before a place of such a file is not needed for now: it takes no memory until it is read again. */
void journal_file_forget(const journal_bytes *bytes, size_t before);

/* A new file, or an old one that is emptied; -1 with the reason in muster_last_error(). */
int journal_file_create(const char *name);

/* Writes all of it; false with errno. */
bool journal_file_write(int descriptor, const void *bytes, size_t count);

/* Removes both files of a number. */
void journal_files_remove(const char *path, uint64_t number);

/* All files of the path with numbers below this one: those of a crash become an incident, the others are removed. */
void journal_files_retire(const char *path, uint64_t below, uint32_t incidents_max);

/* -------------------------------------------------------------------------------------------------------- snapshots */

/* Writes the snapshot's file, under another name until it is whole. `sync`: it is on the disk then, and so is the
 * record's file so far. */
muster_result journal_snapshot_write(const muster_journal *journal, journal_mark mark, int record, uint64_t *bytes);

/* Memory for a snapshot that is taken between two frames, and written to its file by the thread of the syncer. */
struct journal_place {
  unsigned char *bytes; /* null = there is none */
  size_t room, count, wanted;
  uint64_t took_ns;  /* predicted for the next one */
  bool measured;     /* by one that was put there */
  bool too_small;    /* the last one did not fit */
  bool used;         /* it waits for that thread, or is being written */
  char problem[160]; /* of that; "" = none */
};

/* Puts the snapshot there. MUSTER_E_MEMORY when there is not room enough. */
muster_result journal_snapshot_place(muster_journal *journal);

/* On the thread of the syncer: gets memory for as many bytes as are wanted, which costs no page fault later; writes
 * what stands there to its file. `user` is the journal. */
void journal_place_prepare(void *user);
void journal_place_write(void *user);
void journal_place_free(struct journal_place *place);

/* What is read from a snapshot's file. */
typedef struct journal_snapshot {
  journal_mark mark;
  void *host;        /* owned */
  const void *world; /* in the file */
  size_t host_bytes, world_bytes;
} journal_snapshot;

/* Reads a whole file, which must stay as long as the snapshot is used. On failure there is nothing to free. */
muster_result journal_snapshot_read(const journal_bytes *file, journal_snapshot *snapshot);

/* Frees the parts; also when there are none. */
void journal_snapshot_free(journal_snapshot *snapshot);

/* ---------------------------------------------------------------------------------------------------------- journal */

/* The note of a record: which snapshot it follows, and the host's bytes. */
struct journal_note {
  journal_mark mark;
  unsigned char host[];
};

/* A record from its snapshot on. */
struct journal_part {
  uint64_t number;
  int descriptor;     /* -1 = there is none */
  uint64_t replay_ns; /* what its frames took */
};

struct muster_journal {
  muster_world *world;
  muster_journal_def def;
  char path[JOURNAL_PATH_BYTES];
  uint64_t id;
  struct journal_note *note;         /* of the record */
  struct journal_part current, next; /* `next` while its snapshot is written */
  struct syncer syncer;
  pid_t owner;       /* the process that began it */
  int process, pipe; /* that writes the snapshot; the result comes through the pipe; pipe -1 = none */
  struct journal_place place;
  int leaving;              /* one that has told its result and is about to end; 0 = none */
  uint64_t begun_ns;        /* when the snapshot of `current` was complete */
  uint64_t frames;          /* of the world, at the last turn */
  bool ends_frame;          /* the host's end_frame runs */
  bool asked;               /* the host asked for a snapshot */
  bool held;                /* no snapshot begins by itself */
  bool ended;               /* by itself */
  uint64_t changes;         /* muster_journal_snapshot() calls so far, */
  uint64_t changes_next;    /* and those that the snapshot under way has */
  uint64_t retry_frame;     /* no other snapshot before this frame: one failed */
  uint64_t snapshot_cpu_ns; /* of the newest */
  uint64_t load_ns;         /* predicted */
  uint32_t fewest, looks;   /* suspended updates, in the frames since a snapshot was nearly due */
  bool warned;
  muster_journal_status status;
};

#endif
