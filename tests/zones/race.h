/* race.h - two writers that want to write the same thing at once, while those that decide are killed.
 *
 * In each race both writers ask for a change on condition that nothing has changed since they looked. At most one of
 * them may be told that it has won. Each on a connection of its own, to a broker of its own, asks before any of them is
 * answered. From time to time the leader dies with a race under way; then everything waits for a new leader, and goes
 * on while the old one comes back. MUSTER_RACES in the environment says how many races there are, and MUSTER_RACE_SEED
 * which. */
#ifndef RACE_H
#define RACE_H

#include "brokers.h"

typedef enum race_answer { RACE_NONE, RACE_WON, RACE_REFUSED, RACE_FAILED } race_answer;

typedef struct race_tally {
  uint64_t wanted, races; /* how many there are to be, and have been */
  uint64_t seed;
  uint64_t won[3];     /* races with so many winners */
  uint64_t no_answer;  /* requests that were not answered, or by a failure */
  uint64_t kills;      /* of the leader, with a race under way */
  uint64_t next_kill;  /* the race of the next one */
  uint64_t first_both; /* the first race with two winners; 0 = none */
} race_tally;

/* As the environment says, else `races` of them and a seed by the clock, which is printed. */
void race_begin(race_tally *tally, uint64_t races);

/* Whether the leader is to be killed in this race; chooses the next such race. */
bool race_kills_now(race_tally *tally);

/* Kills the leader of a kind with a race under way. */
void race_kill(race_tally *tally, brokers *all, brokers_kind kind, int leader);

/* Waits for another leader, as a majority sees it. */
void race_await_another(const brokers *all, brokers_kind kind, const char *stream, int old);

/* The same after a kill, and starts the old one again. */
void race_await_leader(brokers *all, brokers_kind kind, const char *stream, int killed);

/* Counts what both were answered. */
void race_count_answers(race_tally *tally, const race_answer answers[2]);

/* Prints the tally in one line, under a name. */
void race_print(const race_tally *tally, const char *name);

#endif
