/* rotation.h - when a journal's next snapshot is due, and the process that writes it. Frames' thread. */
#ifndef ROTATION_H
#define ROTATION_H

#include <muster/journal.h>

/* Counts the frames that ended since it was called last; or notices that the record has ended. */
void rotation_count_frames(muster_journal *journal);

/* A snapshot was written in so much processor time: how long loading one takes follows from that. */
void rotation_learn(muster_journal *journal, uint64_t bytes, uint64_t cpu_ns);

/* How long it may take to put a snapshot into memory, until one was. */
void rotation_guess_place(muster_journal *journal);

/* How long a recovery would take now. */
uint64_t rotation_predict(const muster_journal *journal);

/* The first snapshot is written by a process: the record that was begun is the next one until then. False: there is no
 * process, and it is as before. */
bool rotation_begin_beside(muster_journal *journal);

/* The world as it is now becomes the begin of the next record, which each frame goes to as well from here on. */
muster_result rotation_open(muster_journal *journal);

/* The next snapshot is complete: its record is the journal's, and the files before it can be removed. */
void rotation_adopt(muster_journal *journal);

/* There is no next snapshot: its files are removed. With a reason it failed, and that is told. */
void rotation_give_up(muster_journal *journal, const char *why);

/* Waits for the process that writes a snapshot, if there is one. */
void rotation_wait(muster_journal *journal);

#endif
