/* null_journals.h - the part of null_test.c about journals and replays. */
#ifndef NULL_JOURNALS_H
#define NULL_JOURNALS_H

#include "misuse/misuse.h"

typedef struct null_journals {
  muster_journal *journal;
  muster_journal_def begin;
  muster_journal_status status;
  muster_journal_look_def look;
  muster_journal_recover_def recover;
  muster_journal_info info;
} null_journals;

/* Without paths, which are required. */
static inline null_journals null_journals_default(void) {
  return (null_journals){.begin = muster_journal_def_default(),
                         .status = muster_journal_status_default(),
                         .look = muster_journal_look_def_default(),
                         .recover = muster_journal_recover_def_default(),
                         .info = muster_journal_info_default()};
}

#define OF_JOURNALS(X)                                                                                                 \
  X(muster_journal_begin, REFUSES(muster_journal_begin(NULL, &with.begin, &with.journal)) &&                           \
                              REFUSES(muster_journal_begin(g->world, NULL, &with.journal)) &&                          \
                              REFUSES(muster_journal_begin(g->world, &with.begin, NULL)) &&                            \
                              REFUSES(muster_journal_begin(g->world, &with.begin, &with.journal)))                     \
  X(muster_journal_note, REFUSES(muster_journal_note(NULL, "a", 1)))                                                   \
  X(muster_journal_turn, (muster_journal_turn(NULL, 0), true))                                                         \
  X(muster_journal_hold, (muster_journal_hold(NULL, true), true))                                                      \
  X(muster_journal_snapshot, REFUSES(muster_journal_snapshot(NULL)))                                                   \
  X(muster_journal_end, muster_journal_end(NULL, false) == MUSTER_OK)                                                  \
  X(muster_journal_status_read, REFUSES(muster_journal_status_read(NULL, &with.status)))                               \
  X(muster_journal_look, REFUSES(muster_journal_look(NULL, &with.info, NULL)) &&                                       \
                             REFUSES(muster_journal_look(&with.look, &with.info, NULL)))                               \
  X(muster_journal_recover, REFUSES(muster_journal_recover(NULL, &with.recover, &with.info)) &&                        \
                                REFUSES(muster_journal_recover(g->world, NULL, &with.info)) &&                         \
                                REFUSES(muster_journal_recover(g->world, &with.recover, &with.info)))                  \
  X(muster_agent_quarantine, REFUSES(muster_agent_quarantine(NULL, g->agent)))                                         \
  X(muster_world_is_replaying, !muster_world_is_replaying(NULL))

#endif
