#include "ledger.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 5, ROW_BYTES = 400 };

/* All that is known of an id. */
typedef struct ledger_row {
  uint64_t agent; /* first: rows are compared by it */
  bool seen_born, seen_died, booked_born, booked_died;
  uint32_t stands, zone, hop; /* how often, and where it was found last */
  nomad own;
} ledger_row;

struct ledger {
  void *rows, *lines; /* trees: by agent; what was seen, by zone, epoch and index */
  uint64_t two_owners;
};

static int compare_rows(const void *a, const void *b) {
  uint64_t x = ((const ledger_row *)a)->agent, y = ((const ledger_row *)b)->agent;
  return (x > y) - (x < y);
}

static int compare_lines(const void *a, const void *b) {
  const ledger_line *x = a, *y = b;
  if (x->zone != y->zone) return x->zone < y->zone ? -1 : 1;
  if (x->epoch != y->epoch) return x->epoch < y->epoch ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* Finds what is equal in a tree, or puts a copy there. */
static void *find_or_put(void **tree, const void *wanted, size_t bytes, int (*compare)(const void *, const void *)) {
  void **found = tfind(wanted, tree, compare);
  if (found) return *found;
  void *made = malloc(bytes);
  cr_assert_not_null(made);
  memcpy(made, wanted, bytes);
  cr_assert_not_null(tsearch(made, tree, compare));
  return made;
}

static ledger_row *row_of(ledger *all, uint64_t agent) {
  ledger_row wanted = {.agent = agent};
  return find_or_put(&all->rows, &wanted, sizeof wanted, compare_rows);
}

ledger *ledger_open(void) {
  ledger *all = calloc(1, sizeof *all);
  cr_assert_not_null(all);
  return all;
}

void ledger_close(ledger *all) {
  tdestroy(all->rows, free);
  tdestroy(all->lines, free);
  free(all);
}

/* --------------------------------------------------------------------------------------------------------- entries */

void ledger_sees(ledger *all, const ledger_line *line) {
  const ledger_line *first = find_or_put(&all->lines, line, sizeof *line, compare_lines);
  all->two_owners += first->agent != line->agent || first->died != line->died || first->at_ns != line->at_ns;
  ledger_row *row = row_of(all, line->agent);
  *(line->died ? &row->seen_died : &row->seen_born) = true;
}

void ledger_reads(ledger *all, const ledger_line *line) {
  ledger_row *row = row_of(all, line->agent);
  *(line->died ? &row->booked_died : &row->booked_born) = true;
}

void ledger_finds(ledger *all, uint64_t agent, uint32_t zone, uint32_t hop, const nomad *own) {
  ledger_row *row = row_of(all, agent);
  row->stands++;
  row->zone = zone;
  row->hop = hop;
  row->own = *own;
}

/* The next line of a text, cut off; null at its end. */
static const char *next_line(const char **text, char line[ROW_BYTES]) {
  size_t length = strcspn(*text, "\n");
  if (**text == '\0') return NULL;
  cr_assert_lt(length, ROW_BYTES);
  memcpy(line, *text, length);
  line[length] = '\0';
  *text += length + ((*text)[length] == '\n');
  return line;
}

bool ledger_takes_books(ledger *all, uint32_t zone, const char *text, bool at_end, uint64_t *next) {
  char row[ROW_BYTES], kind;
  while (next_line(&text, row)) {
    ledger_line line = {.zone = zone};
    if (strcmp(row, "end") == 0) return true;
    cr_assert_eq(sscanf(row, "%" SCNu64 " %c %" SCNu64 " %u %" SCNu64, &line.index, &kind, &line.agent, &line.epoch,
                        &line.at_ns),
                 5, "%s", row);
    line.died = kind == 'd';
    *next = line.index + 1;
    if (at_end)
      ledger_reads(all, &line);
    else
      ledger_sees(all, &line);
  }
  return false;
}

bool ledger_takes_standing(ledger *all, uint32_t zone, const char *text, uint64_t *after) {
  char row[ROW_BYTES];
  while (next_line(&text, row)) {
    nomad own = {0};
    uint64_t agent;
    uint32_t hop;
    if (strcmp(row, "end") == 0) return true;
    cr_assert_eq(sscanf(row,
                        "%" SCNu64 " %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                        " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                        &agent, &hop, &own.name, &own.born_ns, &own.at_ns, &own.lived_ns, &own.twice_ns, &own.missed_ns,
                        &own.told, &own.heard, &own.repeated, &own.skipped, &own.late, &own.lost, &own.gap,
                        &own.gap_ns),
                 16, "%s", row);
    *after = agent;
    ledger_finds(all, agent, zone, hop, &own);
  }
  return false;
}

/* --------------------------------------------------------------------------------------------------------- verdict */

typedef struct judging {
  ledger_verdict verdict;
  uint64_t deaf, told; /* that skipped, and that were told of losses */
  FILE *out;
} judging;

/* Counts a trouble, and shows the first few of its kind. */
static void count_trouble(judging *now, uint64_t *kind, const char *what, const ledger_row *row) {
  if (++*kind <= SHOWN_MAX && now->out)
    fprintf(now->out, "ledger: %" PRIu64 " %s (zone %u, hop %u, epoch %u)\n", row->agent, what, row->zone, row->hop,
            (uint32_t)(row->agent >> 36) & 0x3fff);
}

static void judge_standing(judging *now, const ledger_row *row) {
  ledger_verdict *verdict = &now->verdict;
  const nomad *own = &row->own;
  verdict->stand++;
  verdict->crossings += row->hop;
  verdict->heard += own->heard;
  verdict->repeated += own->repeated;
  verdict->skipped += own->skipped;
  verdict->late += own->late;
  verdict->lost += own->lost;
  char gap[128];
  snprintf(gap, sizeof gap, "did not hear all numbers of its child, last before %" PRIu64 ", at %" PRIu64 " ns",
           own->gap, own->gap_ns);
  if (own->skipped) count_trouble(now, &now->deaf, gap, row);
  if (own->lost) count_trouble(now, &now->told, "was told that messages to its mother were lost", row);
  verdict->twice_ns += own->twice_ns;
  verdict->missed_ns += own->missed_ns;
  if (row->stands > 1) count_trouble(now, &verdict->twice, "stands twice", row);
  if (row->booked_died) count_trouble(now, &verdict->risen, "died and stands", row);
  if (!row->booked_born) count_trouble(now, &verdict->unbooked, "stands and was never born", row);
  if (own->lived_ns != own->at_ns - own->born_ns) count_trouble(now, &verdict->wrong_time, "was told wrong times", row);
}

static void judge_row(const void *node, VISIT visit, void *user) {
  judging *now = user;
  const ledger_row *row = *(ledger_row *const *)node;
  ledger_verdict *verdict = &now->verdict;
  if (visit != postorder && visit != leaf) return;
  verdict->born += row->booked_born;
  verdict->died += row->booked_died;
  if (row->stands) judge_standing(now, row);
  if (row->booked_born && !row->booked_died && !row->stands)
    count_trouble(now, &verdict->missing, "was born and is nowhere", row);
  if (row->seen_born && !row->booked_born && !row->stands)
    count_trouble(now, &verdict->births_lost, "was born, which is forgotten", row);
  if (row->seen_died && !row->booked_died) count_trouble(now, &verdict->deaths_undone, "died, which is forgotten", row);
}

ledger_verdict ledger_judge(const ledger *all, FILE *out) {
  judging now = {.verdict.two_owners = all->two_owners, .out = out};
  twalk_r(all->rows, judge_row, &now);
  return now.verdict;
}

bool ledger_is_weak(const ledger_verdict *verdict) {
  return verdict->twice + verdict->two_owners + verdict->missing + verdict->risen + verdict->wrong_time == 0;
}

bool ledger_is_strong(const ledger_verdict *verdict) {
  return ledger_is_weak(verdict) && verdict->unbooked + verdict->births_lost + verdict->deaths_undone == 0 &&
         verdict->repeated + verdict->skipped + verdict->late == 0;
}

void ledger_print(const ledger_verdict *verdict, FILE *out) {
  const struct {
    const char *what;
    uint64_t count;
  } parts[] = {
      {"born", verdict->born},
      {"died", verdict->died},
      {"stand", verdict->stand},
      {"hops of these", verdict->crossings},
      {"in two places", verdict->twice},
      {"two owners", verdict->two_owners},
      {"missing", verdict->missing},
      {"risen", verdict->risen},
      {"unbooked", verdict->unbooked},
      {"births lost", verdict->births_lost},
      {"deaths undone", verdict->deaths_undone},
      {"wrong times", verdict->wrong_time},
      {"ms twice", verdict->twice_ns / 1000000},
      {"ms missed", verdict->missed_ns / 1000000},
      {"numbers heard", verdict->heard},
      {"repeated", verdict->repeated},
      {"skipped", verdict->skipped},
      {"late", verdict->late},
      {"told as lost", verdict->lost},
  };
  fprintf(out, "ledger:");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    fprintf(out, "%s %" PRIu64 " %s", i ? "," : "", parts[i].count, parts[i].what);
  fprintf(out, "\n");
}
