/* top_screen.c - `muster top` on a terminal, by ncurses: it knows what each terminal can do, what a key sends and how
 * big the window is now. */
#include "top.h"

#include "bands.h"
#include "base/clock.h"
#include "complaint.h"
#include "text.h"

#include <fcntl.h>
#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  PAIR_CALM = 1,
  PAIR_LOUD,
  PAIR_GOOD,
  PAIR_ALARM,
  BARS_LINE = 3,
  TABLE_LINE = 12,
  TYPES_LEAST = 4,
  TYPES_WISHED = 8,
  LISTS_LEAST = 5, /* lines of a list: an empty one, the head, and three rows */
  LABEL_CELLS = 10,
  WIDE_COLUMNS = 80,
  ESCAPE = 27
};

/* What the table shows: a list of agents (top_list_kind), observers, or types. Tab goes through them in this order. */
enum { TABLE_OBSERVERS = TOP_LISTS, TABLE_TYPES, TABLES };

struct screen {
  top_state *state;
  bool unicode, helps, searches; /* searches: the keys are those of a text */
  int64_t lost_ms;               /* since when no look succeeded; 0: the last one did */
  int table;
  uint32_t selected, first;       /* rows of the table: the chosen one, and the first that is shown */
  int bands, lists, lists_height; /* lines of the bands; lists below, and lines of each */
  int complaints, terminal;       /* where complaints go meanwhile, and where they went */
  char message[256];
};

/* ------------------------------------------------------------------------------------------------------- complaints */

/* A line on standard error would tear the screen: it is kept, and shown in the last line. */
static void catch_complaints(struct screen *screen) {
  fflush(stderr);
  screen->terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  screen->complaints = memfd_create("complaints", MFD_CLOEXEC);
  if (screen->complaints >= 0) dup2(screen->complaints, STDERR_FILENO);
}

static void read_complaint(struct screen *screen) {
  fflush(stderr);
  ssize_t length = pread(screen->complaints, screen->message, sizeof screen->message - 1, 0);
  screen->message[length > 0 ? length : 0] = '\0';
  screen->message[strcspn(screen->message, "\n")] = '\0';
  if (ftruncate(screen->complaints, 0) == 0) lseek(screen->complaints, 0, SEEK_SET);
}

static void release_complaints(const struct screen *screen) {
  fflush(stderr);
  if (screen->terminal >= 0) dup2(screen->terminal, STDERR_FILENO);
  close(screen->terminal);
  close(screen->complaints);
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

static void put(attr_t attributes, int line, int column, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Bytes of a text that so many cells hold: ncurses goes on in the next line with what does not fit. */
static int bytes_for(const char *text, int cells) {
  int bytes = 0;
  for (; text[bytes] && (cells > 0 || (text[bytes] & 0xC0) == 0x80); bytes++) cells -= (text[bytes] & 0xC0) != 0x80;
  return bytes;
}

static void put(attr_t attributes, int line, int column, const char *format, ...) {
  char text[TOP_DRAWING_BYTES];
  va_list arguments;
  if (line >= LINES || column >= COLS) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  attrset(attributes);
  mvaddnstr(line, column, text, bytes_for(text, COLS - column));
}

static void put_bar(int line, const char *label, double value, double mark, double full, const char *says) {
  char bar[TOP_DRAWING_BYTES];
  int cells = COLS - LABEL_CELLS - 3 - (COLS < WIDE_COLUMNS ? 28 : 34);
  bool loud = value > mark && mark >= 0;
  put(A_BOLD, line, 0, "%s", label);
  if (cells > 4) {
    put(A_NORMAL, line, LABEL_CELLS, "[");
    put(COLOR_PAIR(loud ? PAIR_LOUD : PAIR_CALM), line, LABEL_CELLS + 1, "%s", top_bar(bar, cells, value, mark, full));
    put(A_NORMAL, line, LABEL_CELLS + 1 + cells, "]");
  }
  put(loud ? A_BOLD : A_NORMAL, line, cells > 4 ? LABEL_CELLS + 3 + cells : LABEL_CELLS, "%s%s", says,
      loud ? " !" : "");
}

static void draw_head(const struct screen *screen) {
  const top_state *state = screen->state;
  const top_world *world = &state->world;
  char time[TOP_DRAWING_BYTES], name[TOP_DRAWING_BYTES];
  snprintf(name, sizeof name, "muster top - %s (%s)", world->name, world->module);
  put(A_BOLD, 0, 0, "%s", name);
  if (state->absent) {
    put(A_NORMAL, 0, (int)strlen(name) + 2, "%u/%u", state->world_index + 1, state->world_count);
    return;
  }
  put(A_NORMAL, 0, (int)strlen(name) + 2, "%s%s%.4g Hz  frame %lu  time %s  %u/%u", world->paused ? "PAUSED  " : "",
      world->failed ? "FAILED  " : "", world->hz, world->frames, top_time(time, world->sim_now_ns),
      state->world_index + 1, state->world_count);
}

/* Bytes of a text that fill a line of so many cells, up to its last whole word. */
static int line_end(const char *text, int cells) {
  int bytes = bytes_for(text, cells), end = bytes;
  if (!text[bytes]) return bytes;
  while (end > 0 && text[end] != ' ') end--;
  return end > 0 ? end : bytes;
}

/* How the world does, in the colour of how bad that is, on two lines; the second has the next step where it is free. A
 * world that does not run has as many lines as its reason takes. Another one that does not run comes before the rest.
 */
static void draw_verdict(const struct screen *screen) {
  static const struct {
    const char *severity;
    int pair;
  } colours[] = {{"good", PAIR_GOOD}, {"warning", PAIR_LOUD}, {"alarm", PAIR_ALARM}};
  const top_state *state = screen->state;
  attr_t attributes = A_NORMAL;
  for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
    if (strcmp(colours[i].severity, state->severity) == 0) attributes = A_BOLD | COLOR_PAIR(colours[i].pair);
  int line = 1, most = state->absent ? TABLE_LINE - 3 : *state->others ? 1 : 2;
  for (const char *words = state->verdict; *words && line <= most; line++) {
    int length = line_end(words, COLS);
    put(attributes, line, 0, "%.*s", length, words);
    words += length + strspn(words + length, " ");
  }
  if (*state->others)
    put(A_BOLD | COLOR_PAIR(PAIR_ALARM), line, 0, "%s", state->others);
  else if (line == 2)
    put(A_NORMAL, line, 0, "%s", state->next);
}

static void draw_bars(const struct screen *screen) {
  const top_world *world = &screen->state->world;
  double budget = (double)world->budget_ns;
  put_bar(BARS_LINE, "Frame", (double)world->wall_ns, budget, 1.25 * budget,
          text_of("%s of %s", text_ns(world->wall_ns), text_duration(budget)));
  put_bar(BARS_LINE + 1, "Pressure", world->pressure, 1, 1.25, text_pressure(world->pressure));
  put_bar(BARS_LINE + 2, "Workers", world->fitted, -1, world->desired,
          text_of("needs %.3g, has %.3g of %lu", world->fitted, world->desired, screen->state->workers));
}

static void draw_line(const struct screen *screen, int line, const char *label, const top_history *history,
                      double least_full) {
  char columns[TOP_DRAWING_BYTES];
  put(A_NORMAL, line, 0, "%s", label);
  put(COLOR_PAIR(PAIR_CALM), line, LABEL_CELLS, "%s",
      top_sparkline(columns, COLS - LABEL_CELLS - 1, history, least_full, screen->unicode));
}

static void draw_numbers(const struct screen *screen) {
  const top_state *state = screen->state;
  const top_world *world = &state->world;
  draw_line(screen, 6, "frame", &state->wall, (double)world->budget_ns);
  draw_line(screen, 7, "pressure", &state->pressure, 1);
  draw_line(screen, 8, "carried", &state->carried, 1);
  put(A_NORMAL, 9, 0, "%s agents, levels 0: %s  1: %s  2: %s  3: %s  memory %s", text_count(world->agents),
      text_count(world->levels[0]), text_count(world->levels[1]), text_count(world->levels[2]),
      text_count(world->levels[3]), text_bytes((double)world->bytes));
  put(A_NORMAL, 10, 0, "released %lu  completed %lu  carried %lu  %s %lu  woken %lu  %s %lu", world->released,
      world->completed, world->carried, COLS < WIDE_COLUMNS ? "cut" : "preempted", world->preempted, world->woken,
      COLS < WIDE_COLUMNS ? "qu." : "quarantined", world->agents_quarantined);
}

/* The names give way where the levels would not fit. */
static int name_cells(void) {
  return COLS < WIDE_COLUMNS ? 12 : 23;
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static uint32_t table_rows(const top_state *state, int table) {
  if (table == TABLE_TYPES) return state->types_shown;
  return table == TABLE_OBSERVERS ? state->observer_count : state->lists[table].count;
}

/* Divides the lines below the table's head: rows of the table, bands where it keeps some, and lists below where there
 * is still room. */
static void divide(struct screen *screen) {
  int room = LINES - TABLE_LINE - 1, wished = (int)screen->state->type_count, rest;
  if (wished > TYPES_WISHED) wished = TYPES_WISHED;
  if (wished < TYPES_LEAST) wished = TYPES_LEAST;
  screen->bands = room >= TYPES_LEAST + (int)MUSTER_BANDS + 2 ? (int)MUSTER_BANDS + 2 : 0;
  rest = room - screen->bands - wished;
  screen->lists = rest / LISTS_LEAST;
  if (screen->lists > 3) screen->lists = 3;
  screen->lists_height = screen->lists > 0 ? rest / screen->lists : 0;
  if (screen->lists_height > TOP_LIST_MAX) screen->lists_height = TOP_LIST_MAX;
  screen->state->list_rows = room > 0 ? (uint32_t)room : 1;
}

static int rows_of_table(const struct screen *screen) {
  int room = LINES - TABLE_LINE - 1 - screen->bands - screen->lists * screen->lists_height;
  return room > 0 ? room : 0;
}

static const char *table_head(char line[TOP_DRAWING_BYTES], int table) {
  if (table == TABLE_TYPES) return top_types_head(line, name_cells());
  return table == TABLE_OBSERVERS ? top_observers_head(line) : top_agents_head(line, (top_list_kind)table);
}

static const char *table_row(char line[TOP_DRAWING_BYTES], const top_state *state, int table, uint32_t row) {
  if (table == TABLE_TYPES) return top_types_row(line, name_cells(), name_cells(), &state->types[row]);
  return table == TABLE_OBSERVERS ? top_observers_row(line, &state->observers[row])
                                  : top_agents_row(line, &state->lists[table].agents[row]);
}

static void draw_table(struct screen *screen) {
  char line[TOP_DRAWING_BYTES];
  uint32_t rows = (uint32_t)rows_of_table(screen), count = table_rows(screen->state, screen->table);
  put(A_REVERSE, TABLE_LINE - 1, 0, "%-*s", COLS, table_head(line, screen->table));
  if (count && screen->selected >= count) screen->selected = count - 1;
  if (screen->selected < screen->first) screen->first = screen->selected;
  if (rows && screen->selected >= screen->first + rows) screen->first = screen->selected - rows + 1;
  for (uint32_t i = 0; i < rows && screen->first + i < count; i++) {
    bool selected = screen->first + i == screen->selected;
    put(selected ? A_BOLD | A_UNDERLINE : A_NORMAL, TABLE_LINE + (int)i, 0, "%-*s", COLS,
        table_row(line, screen->state, screen->table, screen->first + i));
  }
  if (count == 0 && rows > 0)
    put(A_NORMAL, TABLE_LINE, 0, *screen->state->search ? "(nothing of that name)" : "(none)");
}

/* In front of the footer, behind the lists. */
static void draw_bands(const struct screen *screen) {
  const muster_band *bands = screen->state->world.bands;
  char line[BANDS_LINE_BYTES];
  int first = LINES - 1 - (int)MUSTER_BANDS - 1;
  if (!screen->bands) return;
  put(A_REVERSE, first, 0, "%-*s", COLS, bands_head(line, COLS));
  for (int i = 0; i < (int)MUSTER_BANDS; i++)
    put(A_NORMAL, first + 1 + i, 0, "%s", bands_row(line, COLS, bands, (uint32_t)i));
}

static void draw_list(const struct screen *screen, int table, int first) {
  char line[TOP_DRAWING_BYTES];
  uint32_t count = table_rows(screen->state, table);
  put(A_REVERSE, first + 1, 0, "%-*s", COLS, table_head(line, table));
  for (int i = 0; i < screen->lists_height - 2 && i < (int)count; i++)
    put(A_NORMAL, first + 2 + i, 0, "%s", table_row(line, screen->state, table, (uint32_t)i));
}

/* Lists that are not in the table already. */
static void draw_lists(const struct screen *screen) {
  static const int wished[] = {TOP_DELAYED, TOP_EXPENSIVE, TABLE_OBSERVERS, TOP_IMPORTANT};
  int first = TABLE_LINE + rows_of_table(screen), drawn = 0;
  for (size_t i = 0; i < sizeof wished / sizeof *wished && drawn < screen->lists; i++) {
    if (wished[i] == screen->table) continue;
    draw_list(screen, wished[i], first);
    first += screen->lists_height;
    drawn++;
  }
}

/* ------------------------------------------------------------------------------------------------------------ whole */

static void draw_help(void) {
  static const char *const lines[] = {"q  quit   /  search: part of a type's name, or the first digits of an id",
                                      "tab       types, most delayed, most expensive, most important, observers",
                                      "P M H A N R  sort types: cost, mean, 95th percentile, agents, name; reversed",
                                      "up down   select      space  pause or go on      s  one frame",
                                      "+ -       a tenth more or less budget            w  the next world",
                                      "Frame     wall time of the last one; # is the limit",
                                      "Workers   CPU that periods need, and that updates have",
                                      "MEAN HIGH time of an update: mean, 95th percentile; COST% of that of all",
                                      "LATE      how long ago it was due; CPU/S: processor time in each second",
                                      "got       time between updates, also of agents that never ran",
                                      "any key   back"};
  for (int i = 0; i < (int)(sizeof lines / sizeof *lines); i++) put(A_NORMAL, TABLE_LINE + i, 1, "%s", lines[i]);
}

static void draw_footer(const struct screen *screen) {
  const top_state *state = screen->state;
  if (screen->searches)
    put(A_REVERSE, LINES - 1, 0, "%-*s", COLS - 1,
        text_of("search: %s_   (type name or id; enter keeps it, escape ends it)", state->search));
  else if (*screen->message)
    put(A_REVERSE | A_BOLD, LINES - 1, 0, "%-*s", COLS - 1, screen->message);
  else
    put(A_NORMAL, LINES - 1, 0, "q quit  ? help  / search%s%s  tab table  sort (%s)  space pause  s step",
        *state->search ? ": " : "", state->search, top_order_name(state->order));
}

static void draw(struct screen *screen) {
  erase();
  divide(screen);
  draw_head(screen);
  draw_verdict(screen);
  if (!screen->state->absent) {
    draw_bars(screen);
    draw_numbers(screen);
  }
  if (screen->helps) {
    draw_help();
  } else {
    draw_table(screen);
    draw_lists(screen);
    draw_bands(screen);
  }
  draw_footer(screen);
  attrset(A_NORMAL);
  refresh();
}

/* ------------------------------------------------------------------------------------------------------------- keys */

static int64_t now_ms(void) {
  return (int64_t)(clock_system() / 1000000);
}

/* While the daemon is away each look tries again, and the screen tells since when its figures are old. */
static void look(struct screen *screen) {
  static const char prefix[] = "muster: ";
  char reason[sizeof screen->message];
  bool was_lost = screen->lost_ms != 0;
  if (top_look(screen->state)) {
    screen->lost_ms = 0;
    snprintf(screen->message, sizeof screen->message, "%s", was_lost ? "the daemon answers again" : "");
    return;
  }
  if (!was_lost) screen->lost_ms = now_ms();
  read_complaint(screen);
  bool prefixed = strncmp(screen->message, prefix, sizeof prefix - 1) == 0;
  snprintf(reason, sizeof reason, "%s", screen->message + (prefixed ? sizeof prefix - 1 : 0));
  snprintf(screen->message, sizeof screen->message, "no news for %s, trying again: %.200s",
           text_ns((uint64_t)(now_ms() - screen->lost_ms) * 1000000u), reason);
}

static void change(struct screen *screen, const char *end, const char *member, json_t *value) {
  bool well = top_change(screen->state, end, member, value);
  if (well)
    look(screen);
  else
    read_complaint(screen);
}

static void change_budget(struct screen *screen, double factor) {
  double budget_ns = (double)screen->state->world.budget_ns * factor;
  change(screen, "", "budget_ns", json_integer((json_int_t)budget_ns));
}

static void switch_world(struct screen *screen) {
  top_state *state = screen->state;
  if (state->world_count == 0) return;
  uint32_t next = (state->world_index + 1) % state->world_count;
  snprintf(state->wanted, sizeof state->wanted, "%s", state->names[next]);
  screen->selected = screen->first = 0;
  look(screen);
}

static bool sort_by_key(struct screen *screen, int key) {
  static const char keys[TOP_ORDERS + 1] = "PMHAN";
  const char *found = key > 0 && key < 128 ? strchr(keys, key) : NULL;
  if (key == 'R')
    screen->state->reversed = !screen->state->reversed;
  else if (found)
    screen->state->order = (top_order)(found - keys);
  if (key == 'R' || found) top_sort(screen->state);
  return key == 'R' || found;
}

/* A new search begins at the top of a table that has what is searched. */
static void begin_search(struct screen *screen) {
  if (top_searches_id(screen->state))
    screen->table = TOP_FOUND;
  else if (screen->table == TOP_FOUND)
    screen->table = TABLE_TYPES;
  screen->selected = screen->first = 0;
  top_sort(screen->state);
}

/* A key of the text that is searched; tables follow at once, and lists with the next look. */
static void search_by_key(struct screen *screen, int key) {
  char *text = screen->state->search;
  size_t length = strlen(text);
  if (key == '\n' || key == '\r' || key == KEY_ENTER || key == ESCAPE) screen->searches = false;
  if (key == ESCAPE)
    *text = '\0';
  else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length > 0)
    text[length - 1] = '\0';
  else if (key > ' ' && key < 127 && length + 1 < sizeof screen->state->search)
    snprintf(text + length, 2, "%c", key);
  begin_search(screen);
  look(screen);
}

/* The list of what a search found comes only while an id is searched. */
static void switch_table(struct screen *screen) {
  screen->table = (screen->table + 1) % TABLES;
  if (screen->table == TOP_FOUND && !top_searches_id(screen->state)) screen->table++;
  screen->selected = screen->first = 0;
}

/* False: the end. */
static bool take_key(struct screen *screen, int key) {
  const top_world *world = &screen->state->world;
  if (key == 3 || (!screen->helps && !screen->searches && (key == 'q' || key == 'Q'))) return false;
  if (screen->searches)
    search_by_key(screen, key);
  else if (screen->helps || key == 'h' || key == '?')
    screen->helps = !screen->helps;
  else if (sort_by_key(screen, key))
    return true;
  else if (key == '/')
    screen->searches = true;
  else if (key == ESCAPE)
    search_by_key(screen, key);
  else if (key == '\t')
    switch_table(screen);
  else if (key == KEY_UP && screen->selected > 0)
    screen->selected--;
  else if (key == KEY_DOWN)
    screen->selected++;
  else if (key == ' ')
    change(screen, "", "paused", json_boolean(!world->paused));
  else if (key == 's')
    change(screen, "/step", "frames", json_integer(1));
  else if (key == '+' || key == '-')
    change_budget(screen, key == '+' ? 1.1 : 1 / 1.1);
  else if (key == 'w')
    switch_world(screen);
  return true;
}

static void show(struct screen *screen, int interval_ms) {
  int64_t next_ms = now_ms() + interval_ms;
  for (bool goes_on = true; goes_on;) {
    draw(screen);
    int64_t left_ms = next_ms - now_ms();
    timeout(left_ms > 0 ? (int)left_ms : 0);
    int key = getch();
    if (key != ERR && key != KEY_RESIZE) goes_on = take_key(screen, key);
    if (now_ms() < next_ms) continue;
    look(screen);
    next_ms = now_ms() + interval_ms;
  }
}

static void begin_colours(void) {
  if (!has_colors()) return;
  start_color();
  use_default_colors();
  init_pair(PAIR_CALM, COLOR_CYAN, -1);
  init_pair(PAIR_LOUD, COLOR_YELLOW, -1);
  init_pair(PAIR_GOOD, COLOR_GREEN, -1);
  init_pair(PAIR_ALARM, COLOR_RED, -1);
}

int top_screen(top_state *state, int interval_ms) {
  struct screen screen = {.state = state, .table = TABLE_TYPES, .complaints = -1, .terminal = -1};
  setlocale(LC_CTYPE, "");
  screen.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  if (!top_look(state)) return STATUS_FAILED;
  SCREEN *terminal = newterm(NULL, stdout, stdin);
  if (!terminal)
    return complain_failure("the terminal '%s' is not known; give --looks 1 for plain text",
                            getenv("TERM") ? getenv("TERM") : "");
  catch_complaints(&screen);
  cbreak();
  noecho();
  keypad(stdscr, TRUE);
  set_escdelay(50); /* ms: a key that begins with escape has come by then */
  curs_set(0);
  begin_colours();
  show(&screen, interval_ms);
  endwin();
  delscreen(terminal);
  release_complaints(&screen);
  return STATUS_OK;
}
