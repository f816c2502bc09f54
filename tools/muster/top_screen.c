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

enum { PAIR_CALM = 1, PAIR_LOUD, PAIR_DIM, TABLE_LINE = 10, TYPES_LEAST = 4, LABEL_CELLS = 10, WIDE_COLUMNS = 80 };

struct screen {
  top_state *state;
  bool unicode, helps, lost; /* lost: the last look failed */
  uint32_t selected, first;  /* types: the chosen one, and the first that is shown */
  int complaints, terminal;  /* where complaints go meanwhile, and where they went */
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
  put(A_NORMAL, 0, (int)strlen(name) + 2, "%s%s%.4g Hz  frame %lu  time %s  %u/%u", world->paused ? "PAUSED  " : "",
      world->failed ? "FAILED  " : "", world->hz, world->frames, top_time(time, world->sim_now_ns),
      state->world_index + 1, state->world_count);
}

static void draw_bars(const struct screen *screen) {
  const top_world *world = &screen->state->world;
  double budget = (double)world->budget_ns;
  put_bar(1, "Frame", (double)world->wall_ns, budget, 1.25 * budget,
          text_of("%s of %s", text_ns(world->wall_ns), text_duration(budget)));
  put_bar(2, "Pressure", world->pressure, 1, 1.25, text_pressure(world->pressure));
  put_bar(3, "Workers", world->fitted, -1, world->desired,
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
  draw_line(screen, 4, "frame", &state->wall, (double)world->budget_ns);
  draw_line(screen, 5, "pressure", &state->pressure, 1);
  draw_line(screen, 6, "carried", &state->carried, 1);
  put(A_NORMAL, 7, 0, "%s agents, levels 0: %s  1: %s  2: %s  3: %s  memory %s", text_count(world->agents),
      text_count(world->levels[0]), text_count(world->levels[1]), text_count(world->levels[2]),
      text_count(world->levels[3]), text_bytes((double)world->bytes));
  put(A_NORMAL, 8, 0, "released %lu  completed %lu  carried %lu  %s %lu  woken %lu  %s %lu", world->released,
      world->completed, world->carried, COLS < WIDE_COLUMNS ? "cut" : "preempted", world->preempted, world->woken,
      COLS < WIDE_COLUMNS ? "qu." : "quarantined", world->agents_quarantined);
}

/* The names give way where the levels would not fit. */
static int name_cells(void) {
  return COLS < WIDE_COLUMNS ? 12 : 23;
}

/* Below the types, where these keep some lines. Returns how many lines that takes. */
static int draw_bands(const struct screen *screen) {
  const muster_band *bands = screen->state->world.bands;
  char line[BANDS_LINE_BYTES];
  int first = LINES - 1 - (int)MUSTER_BANDS - 1;
  if (first - 1 < TABLE_LINE + TYPES_LEAST) return 0;
  put(A_REVERSE, first, 0, "%-*s", COLS, bands_head(line, COLS));
  for (int i = 0; i < (int)MUSTER_BANDS; i++)
    put(A_NORMAL, first + 1 + i, 0, "%s", bands_row(line, COLS, bands, (uint32_t)i));
  return (int)MUSTER_BANDS + 2;
}

static void draw_table(struct screen *screen) {
  const top_state *state = screen->state;
  int room = LINES - TABLE_LINE - 1 - draw_bands(screen);
  uint32_t rows = room > 0 ? (uint32_t)room : 0;
  char line[TOP_DRAWING_BYTES];
  put(A_REVERSE, TABLE_LINE - 1, 0, "%-*s", COLS, top_types_head(line, name_cells()));
  if (state->type_count && screen->selected >= state->type_count) screen->selected = state->type_count - 1;
  if (screen->selected < screen->first) screen->first = screen->selected;
  if (rows && screen->selected >= screen->first + rows) screen->first = screen->selected - rows + 1;
  for (uint32_t i = 0; i < rows && screen->first + i < state->type_count; i++) {
    bool selected = screen->first + i == screen->selected;
    put(selected ? A_BOLD | A_UNDERLINE : A_NORMAL, TABLE_LINE + (int)i, 0, "%-*s", COLS,
        top_types_row(line, name_cells(), name_cells(), &state->types[screen->first + i]));
  }
}

static void draw_help(void) {
  static const char *const lines[] = {"q          quit; here: back",
                                      "P M H      sort by cost, mean, 95th percentile",
                                      "A N        sort by agents, name;  R the other way round",
                                      "up, down   select a type",
                                      "space      pause the world, or let it go on;  s one frame",
                                      "+ -        a tenth more or less budget",
                                      "w          the next world",
                                      "COST%      part of what an update of all agents costs",
                                      "Frame      wall time of the last one; # is the limit",
                                      "Workers    CPU that periods need, and that updates have",
                                      "got        time between updates, also of agents that never ran",
                                      "",
                                      "any key    back"};
  for (int i = 0; i < (int)(sizeof lines / sizeof *lines); i++) put(A_NORMAL, TABLE_LINE + i, 2, "%s", lines[i]);
}

static void draw(struct screen *screen) {
  erase();
  draw_head(screen);
  draw_bars(screen);
  draw_numbers(screen);
  if (screen->helps)
    draw_help();
  else
    draw_table(screen);
  if (*screen->message)
    put(A_REVERSE | A_BOLD, LINES - 1, 0, "%-*s", COLS - 1, screen->message);
  else
    put(A_NORMAL, LINES - 1, 0, "q quit  h help  sort (%s)  space pause  s step  +/- budget  w world",
        top_order_name(screen->state->order));
  attrset(A_NORMAL);
  refresh();
}

/* ------------------------------------------------------------------------------------------------------------- keys */

static void look(struct screen *screen) {
  screen->lost = !top_look(screen->state);
  if (screen->lost)
    read_complaint(screen);
  else
    *screen->message = '\0';
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

/* False: the end. */
static bool take_key(struct screen *screen, int key) {
  const top_world *world = &screen->state->world;
  if (key == 3 || (!screen->helps && (key == 'q' || key == 'Q'))) return false;
  if (screen->helps || key == 'h' || key == '?')
    screen->helps = !screen->helps;
  else if (sort_by_key(screen, key))
    return true;
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

static int64_t now_ms(void) {
  return (int64_t)(clock_system() / 1000000);
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
}

int top_screen(top_state *state, int interval_ms) {
  struct screen screen = {.state = state, .complaints = -1, .terminal = -1};
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
  curs_set(0);
  begin_colours();
  show(&screen, interval_ms);
  endwin();
  delscreen(terminal);
  release_complaints(&screen);
  return STATUS_OK;
}
