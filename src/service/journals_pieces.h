/* service/journals_pieces.h - what the files of the journals share: how pieces stand in a snapshot, and callbacks. */
#ifndef SERVICE_JOURNALS_PIECES_H
#define SERVICE_JOURNALS_PIECES_H

#include "service/journals.h"

/* In front of each piece in a journal's snapshot. A note has one byte, its kind, in front. */
typedef struct journal_piece {
  uint64_t kind, bytes;
} journal_piece;

enum { JOURNAL_NOTE_BYTES = MODULE_SETTINGS_MAX * (NAME_BYTES + MODULE_KEY_BYTES + MODULE_TEXT_BYTES + 8) + 8192 };

/* The definition's callbacks; their user is the world. */
bool journals_save_host(muster_journal_put put, void *put_user, void *user);
void journals_end_frame(muster_journal *journal, void *user);

/* How many bytes the modules of a world save. False: more than JOURNAL_STATE_MAX, or they cannot now. */
bool journals_try_state(struct hosted_world *world, size_t *bytes);

/* The text that stands in front of a journal: lines of NAME=VALUE of how the world is hosted, the module first. Returns
 * its bytes. */
uint32_t journals_describe(const struct hosted_world *world, char *text, size_t room);

/* The world has no journal from now on, for a reason, printf-style, which is told. */
void journals_give_up(struct hosted_world *world, bool broken, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Frames of the world are gone that somebody may have been told of; `frames` of them could be counted. What happened is
 * said printf-style, as in "frames 3 to 7 of its journal are lost: ...": it is told until it is acknowledged. */
void journals_lose(struct hosted_world *world, uint64_t frames, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Renames all files of the journal at `path` to NAME.WHAT-1 and so on, and says so in the log. False when there were
 * none. */
bool journals_put_aside(const char *path, const char *what);

/* How many incidents are kept at `path`, and the number of the newest; 0 = there is none. */
uint32_t journals_count_incidents(const char *path, uint64_t *newest);

#endif
