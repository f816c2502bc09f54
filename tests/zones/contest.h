/* contest.h - two writers that race for a subject of a JetStream stream with three replicas (race.h), what they were
 * told, and what the replicas have.
 *
 * What js_Publish() and kvStore_Update() put on the wire is put there by hand, so that both requests are sent before
 * any answer is waited for. Everything that fails but a race fails the test. */
#ifndef CONTEST_H
#define CONTEST_H

#include "race.h"

#include <nats/nats.h>

/* CONTEST_HISTORY: so many of the last messages are looked at after a death. */
enum { CONTEST_HISTORY = 64, CONTEST_PATIENCE = 300, CONTEST_PAUSE_MS = 200 };
enum { CONTEST_SUBJECT_BYTES = 64, CONTEST_TEXT_BYTES = 96 };

typedef struct contest_writer {
  natsConnection *connection;
  natsSubscription *answers;
  char inbox[CONTEST_SUBJECT_BYTES];
} contest_writer;

/* What a message says: the owner's epoch, its number, and who wrote it in which race. */
typedef struct said {
  uint32_t epoch, number, writer;
  uint64_t race;
} said;

/* By the stream's sequence; race 0 = nothing is known. */
typedef struct said_by_sequence {
  said *at;
  uint64_t room, last;
} said_by_sequence;

typedef struct contest {
  const char *stream, *subject;
  brokers *all;
  contest_writer writers[2];
  jsCtx *context;                       /* of the first writer */
  bool expects;                         /* the sequence `last`; otherwise nothing is expected */
  uint64_t last;                        /* sequence of the subject's last message, as far as both know */
  uint64_t forgotten;                   /* messages that were acknowledged, and are not stored */
  said_by_sequence acknowledged, given; /* to the writers; to a reader that listens */
  natsSubscription *reader;
  race_tally tally;
} contest;

/* Starts the brokers and connects the writers, or skips the test. `between` as in brokers_options. */
void contest_open(contest *race, const char *stream, const char *subject, bool between);
void contest_close(contest *race);

/* Connects the writers anew, each to a broker of its own. */
void contest_move(contest *race, uint32_t first, uint32_t second);

/* Makes the stream. */
void contest_add_stream(contest *race);

/* Sends what a writer says; and waits for its answer, for some seconds. `sequence` is 0 unless it won. */
void contest_ask(contest *race, const said *what);
race_answer contest_await(contest *race, const said *what, uint64_t *sequence);

/* One race of two messages, whose leader is killed when it is time for that; true when the first writer's is known to
 * be stored. */
bool contest_run(contest *race, const said said_by[2]);

/* ------------------------------------------------------------------------------------------------- what is stored */

bool contest_is_same(said a, said b);
void contest_note(said_by_sequence *notes, uint64_t sequence, said what);
said contest_noted(const said_by_sequence *notes, uint64_t sequence);

/* The subject's last message; race->last becomes its sequence. */
said contest_look_at_last(contest *race);

/* Counts what the last leader acknowledged and this one has not, among the last. */
void contest_count_forgotten(contest *race);

/* Gives a reader what comes from a sequence on; and the next message of that, NATS_TIMEOUT when there is none. */
natsSubscription *contest_read_from(contest *race, uint64_t sequence);
natsStatus contest_read_next(natsSubscription *reader, int64_t wait_ms, uint64_t *sequence, said *what);

/* Takes what the reader that listens has been given; after a death it listens `anew`. */
void contest_listen(contest *race, bool anew);

/* Reads all three replicas, each while it leads; the caller frees what is in them. */
void contest_read_replicas(contest *race, said_by_sequence replicas[BROKERS_MAX]);

/* Prints how many replicas have what was acknowledged, and expects it in so many at least. */
void contest_expect_in(uint32_t least, const contest *race, const said_by_sequence replicas[BROKERS_MAX]);

#endif
