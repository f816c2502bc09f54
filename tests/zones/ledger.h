/* ledger.h - keeps, by id, which animals of nomads.c were born, died and are where, and judges whether zones have kept
 * their promises.
 *
 * It is told three things. What was SEEN while the zones ran: births and deaths that a zone had in its books and told,
 * which it does only of frames that count. What the BOOKS of all zones say at the end. And who STANDS where at the end,
 * once all rest and nothing is on its way.
 *
 *     always      nobody stands in two zones; no line of a zone's books is seen with two contents in one epoch (it had
 *                 two owners then); nobody was told time that did not pass, or not told time that did
 *     strong      what was seen is in the books; whoever the books have born and not died stands somewhere, and nobody
 *                 else; no number that a child told its mother came twice, never, or behind a higher one,
 *                 while both live
 *     weak        what was seen and is in no books was taken back: births (lost, or standing all the same) and deaths
 *                 (returned); each is counted, by id
 *
 * Ids are values of muster_agent. One thread. */
#ifndef LEDGER_H
#define LEDGER_H

#include "nomads.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct ledger ledger;

/* A line of a zone's books. */
typedef struct ledger_line {
  uint32_t zone, epoch;
  uint64_t index; /* in these books */
  uint64_t agent, at_ns;
  bool died;
} ledger_line;

typedef struct ledger_verdict {
  uint64_t born, died, stand;       /* by the books at the end; who stands */
  uint64_t crossings;               /* hops of all that stand */
  uint64_t twice;                   /* stand in two zones, or twice in one */
  uint64_t two_owners;              /* lines of which two were seen */
  uint64_t missing;                 /* born and not died by the books, and stand nowhere */
  uint64_t risen;                   /* died by the books, and stand */
  uint64_t unbooked;                /* stand, and no books have their birth */
  uint64_t births_lost;             /* births that were seen, are in no books, and who was born stands nowhere */
  uint64_t deaths_undone;           /* deaths that were seen and are in no books */
  uint64_t wrong_time;              /* stand, and did not live as long as it is since their birth */
  uint64_t twice_ns, missed_ns;     /* of these */
  uint64_t heard;                   /* highest numbers that mothers have heard of their children, added up */
  uint64_t repeated, skipped, late; /* of these numbers */
  uint64_t lost;                    /* messages of which their senders were told that they were lost */
} ledger_verdict;

ledger *ledger_open(void);
void ledger_close(ledger *all);

/* A line that was seen, maybe not for the first time; a line of the books at the end. */
void ledger_sees(ledger *all, const ledger_line *line);
void ledger_reads(ledger *all, const ledger_line *line);

/* An animal that stands in a zone at the end. */
void ledger_finds(ledger *all, uint64_t agent, uint32_t zone, uint32_t hop, const nomad *own);

/* Reads the text of the module's command `books` of a zone, as seen or as the books at the end, and the index to ask
 * from next. Whether it was the last part. */
bool ledger_takes_books(ledger *all, uint32_t zone, const char *text, bool at_end, uint64_t *next);

/* Reads the text of `stands`, and the id to ask after next. Whether it was the last part. */
bool ledger_takes_standing(ledger *all, uint32_t zone, const char *text, uint64_t *after);

/* Counts everything, and writes the first few ids of each kind of trouble to `out` (null = nowhere). */
ledger_verdict ledger_judge(const ledger *all, FILE *out);

/* Whether a promise is kept by a verdict. */
bool ledger_is_strong(const ledger_verdict *verdict);
bool ledger_is_weak(const ledger_verdict *verdict);

/* Prints a verdict, in a line. */
void ledger_print(const ledger_verdict *verdict, FILE *out);

#endif
