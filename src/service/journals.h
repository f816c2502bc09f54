/* service/journals.h - worlds that go on from their last complete frame after a crash (muster/journal.h): which worlds
 * have a journal, what the service keeps in it beside the world, and how a world comes back.
 *
 *     PATH = SNAPSHOT_FILE.WORLD, or JOURNAL_FOLDER/NAME.WORLD with the snapshot file's name
 *     PATH-7.snapshot, PATH-7.journal     in force: the library's
 *     PATH-incident-3.snapshot, .journal  of crashes that are over, for `muster replay`: the library's
 *     PATH-7.replaying                    while its frames are run again: the library's
 *     PATH-7.journal.WHAT-1               put aside: damaged, older, other or differing
 *
 * A world's journal begins when the world is open, and replaces that of the last run. What the service keeps is pieces,
 * each with a kind. The snapshot of a journal has all of them as they were; a note brings one of them that has changed
 * since, or what was added. After a crash the pieces come back in this order: those of the snapshot, then the notes up
 * to the last complete frame.
 *
 * A world without a journal has its snapshots only, and says why. One whose journal the system has refused, as a full
 * disk does, keeps the files: a crash takes it back to where that journal ended. It begins another one after a pause,
 * which grows to ten seconds while that is refused. Frames' thread. */
#ifndef SERVICE_JOURNALS_H
#define SERVICE_JOURNALS_H

#include "service/holds.h"
#include "service/settings.h"

#include <muster/journal.h>
#include <muster/module.h>

struct service;
struct hosted_world;
struct snapshot_file;
struct snapshot_file_world;

enum { JOURNAL_REASON_BYTES = 256, JOURNAL_STATE_MAX = 1 << 20, JOURNALS_PATH_BYTES = 2 * PATH_BYTES + NAME_BYTES + 8 };

/* What stands in a journal beside the world. The numbers are fixed. */
typedef enum journal_kind {
  JOURNAL_STATE = 'S',   /* what the world's modules save; a note when it has changed */
  JOURNAL_PACE = 'P',    /* a journal_pace; the same */
  JOURNAL_HOLDS = 'H',   /* a struct holds; the same */
  JOURNAL_COMMAND = 'C', /* a note alone: a command that a module carried out before the frame (journal_command) */
  JOURNAL_KEYS = 'K',    /* idempotency keys; a note adds one */
  JOURNAL_ZONE = 'Z'     /* service/zones/zone_journal.c */
} journal_kind;

/* How the world runs. `number` is that of the newest snapshot file. */
typedef struct journal_pace {
  uint64_t number;
  uint64_t sim_now_ns; /* of the host, between two frames; in snapshots alone */
  uint64_t budget_ns, period_ns;
  uint64_t usual_budget_ns, usual_period_ns; /* of the settings */
  uint32_t paused, steps_left;
} journal_pace;

/* A command of a module; its body follows. */
typedef struct journal_command {
  char instance[NAME_BYTES], command[MUSTER_MODULE_NAME_MAX + 1];
  bool json;
} journal_command;

/* Another part of the service that keeps something in the journals. `save` puts its piece, and is called twice in a row
 * in a process that was forked for it: it changes nothing, neither allocates nor locks. `take` gets the piece and the
 * notes, in order, of a world that has come back. */
typedef struct journal_keeper {
  char kind;
  bool (*save)(struct hosted_world *world, muster_journal_put put, void *put_user);
  void (*take)(struct hosted_world *world, const void *bytes, size_t count);
} journal_keeper;

/* The table ends with a row without a kind. */
extern const journal_keeper journal_keepers[];

/* What a world has lost of its journals, until a person acknowledges it. */
typedef struct journal_lost {
  uint64_t losses, frames;          /* since the last acknowledgement; frames that could be counted */
  uint64_t at_s;                    /* when the last loss was found (CLOCK_REALTIME) */
  char words[JOURNAL_REASON_BYTES]; /* what it was; "" = nothing was lost */
} journal_lost;

/* What the service knows of a world's journal. */
typedef struct world_journal {
  char why[JOURNAL_REASON_BYTES]; /* why it has none; "" = it has one, or none is wanted */
  bool broken;                    /* there was one in this run, or it could not be used: somebody should look */
  bool goes_on;                   /* the world went on from an earlier run */
  bool save_soon;                 /* it needs a snapshot file soon: what it came from was put aside */
  uint64_t number;                /* of the newest snapshot file that the frames' thread knows of */
  uint64_t recovered_frame;       /* behind which it goes on, if it does */
  uint64_t recovered_frames, recovered_ns; /* run again at the start, and how long all of that took */
  uint32_t sync;                           /* of the settings */
  uint32_t incidents;                      /* journals of crashes that are kept */
  journal_pace noted_pace;
  struct holds noted_holds;
  unsigned char *noted, *fresh; /* what the modules saved: as noted last, and room for it now; owned */
  size_t noted_bytes, noted_room, fresh_room;
  char path[JOURNALS_PATH_BYTES]; /* what the names of its files begin with; "" = there is no snapshot_file */
  journal_lost lost;
  bool has_noted;
  bool too_large;   /* what the modules save */
  uint64_t changes; /* snapshots that were asked for */
  bool anew;        /* it has another one, whose first snapshot is not complete: that one promises nothing yet */
  uint64_t again_ns, again_after_ns; /* when one is to be begun, and how long it was waited for that; 0 = never */
} world_journal;

/* What others may know of it at any time. */
typedef struct journal_published {
  bool on, holds, broken;
  uint32_t sync, incidents;
  uint64_t frames_written, frames_safe, bytes;
  uint64_t snapshots, snapshots_failed, snapshot_bytes, snapshot_ns, pause_ns, sync_ns;
  uint64_t recovery_ns, recovered_frames, recovered_ns;
  char why[JOURNAL_REASON_BYTES];
  journal_lost lost;
} journal_published;

/* How far a recovery is. */
typedef struct journal_progress {
  uint64_t done, all; /* frames that were run again; all = 0: nothing recovers */
  uint64_t left_ns;   /* that the others will take, as those did so far */
} journal_progress;

/* Of one that began so long ago. Any thread. */
journal_progress journals_progress(uint64_t done, uint64_t all, uint64_t since_ns);

enum { JOURNALS_PROGRESS_BYTES = 128 };

/* The same in words. Any thread. */
void journals_progress_words(const journal_progress *progress, char text[JOURNALS_PROGRESS_BYTES]);

/* Whether journals can be written where the settings say; "" is allowed. MUSTER_E_INPUT with the reason. Any thread. */
muster_result journals_check_folder(const char *folder);

/* The path of a world's journal. False: there is no snapshot_file, and so no journal. Any thread. */
bool journals_path(const struct settings *settings, const char *world, char path[JOURNALS_PATH_BYTES]);

/* Brings a world, which was opened and has nothing in it yet, to the end of the last complete frame of its journal,
 * where that is newer than `saved`, its part of the snapshot file (both may be null). `back` false: the world is to go
 * on from `saved`, or to begin. It may be closed then, when it could not be opened again. MUSTER_E_SYSTEM and
 * MUSTER_E_MEMORY: the system refuses what it takes to read the journal, which may pass; nothing has happened to it. */
muster_result journals_bring_back(struct service *service, struct hosted_world *world, const struct snapshot_file *file,
                                  const struct snapshot_file_world *saved, bool *back);

/* Reads what earlier runs of the world have lost and nobody has acknowledged. Before journals_bring_back. */
void journals_find_lost(const struct settings *settings, struct hosted_world *world);

/* What was lost is known: it is told no more. MUSTER_E_SYSTEM when that cannot be written down. */
muster_result journals_acknowledge(struct hosted_world *world);

/* The service ends while frames are run again, which is not their fault: the next start may try again. Any thread. */
void journals_cut_short(const struct settings *settings);

/* Begins the journals of all open worlds; where that is refused, the log says why. */
void journals_begin(struct service *service);

/* Ends that of a world, with a last snapshot. Before the world is destroyed. */
void journals_end(struct service *service, struct hosted_world *world);

/* Between two frames, of all worlds: snapshots that are due. `spare_ns` is how long the thread has nothing else to do.
 */
void journals_turn(struct service *service, uint64_t spare_ns);

/* Until when the thread may sleep that has nothing to do before `until_ns` (CLOCK_MONOTONIC): a journal may be bringing
 * a change to safety. */
uint64_t journals_next_turn_ns(struct service *service, uint64_t until_ns);

/* Adds a note to the next frame that ends. Of a world without a journal a no-op. MUSTER_E_MEMORY, MUSTER_E_FULL.
 * Between frames. */
muster_result journals_note(struct hosted_world *world, char kind, const void *bytes, size_t count);

/* Notes a command that the instance of a module has carried out: when the frames are run again, it is given again. */
void journals_note_command(struct hosted_world *world, const char *instance, const muster_module_call *call);

/* A paused world has changed: begins a snapshot, which makes that safe, since no frame does. Errors as
 * muster_journal_snapshot(), which does not wait for one that is being written; MUSTER_OK without a journal. */
muster_result journals_snapshot(struct hosted_world *world);

/* While it is held, the journal begins no snapshot by itself: its record stays in one file. Without one a no-op. */
void journals_hold(struct hosted_world *world, bool held);

/* Copies what others may know. */
void journals_publish(struct hosted_world *world, journal_published *published);

#endif
