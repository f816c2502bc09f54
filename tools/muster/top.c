/* `muster top`: a running musterd at a glance, as top and htop show a machine. */
#include "top.h"

#include "commands.h"
#include "complaint.h"
#include "options.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct top_options {
  ctl_options ctl;
  uint64_t interval_ns; /* 0 = not given */
  uint32_t looks;       /* 0 = no end */
} top_options;

static void show_help(FILE *stream) {
  fputs(
      "muster top - a running musterd at a glance: verdict, frame time, pressure, types, importance, agents that stand "
      "out, observers\n"
      "\n"
      "usage: muster top [OPTION]...\n"
      "\n"
      "  --socket PATH      the daemon's socket (default: $MUSTER_SOCKET, or /run/musterd/control.sock)\n"
      "  --url URL          or where it listens by TCP, such as http://127.0.0.1:8420\n"
      "  --token-file FILE  its first line is the token that changes by TCP need\n"
      "  --world NAME       which world first (default: the first one)\n"
      "  --interval TIME    between two looks, 100ms .. 3600s (default: 1s; without a terminal one look alone)\n"
      "  --looks N          end after so many looks, without a terminal\n"
      "  --json             one JSON object for each look\n"
      "\n"
      "Keys: q quit, ? help, / search a type's name or an id, tab the next table (types, most delayed, most "
      "expensive, most important, observers), P cost, M mean, H high, A agents, N name, R the other way round, "
      "arrows select, space pause or go on, s one frame, + and - budget, w next world. A taller window shows more "
      "tables. When the daemon is away it says so, and tries again at each look.\n",
      stream);
}

static const option_def known[] = {
    OPTION("socket", TEXT, top_options, ctl.socket),
    OPTION("url", TEXT, top_options, ctl.url),
    OPTION("token-file", TEXT, top_options, ctl.token_file),
    OPTION("world", TEXT, top_options, ctl.world),
    OPTION_WITHIN("interval", DURATION, top_options, interval_ns, 100000000, 3600000000000),
    OPTION_WITHIN("looks", COUNT32, top_options, looks, 1, 1000000),
    OPTION("json", ON, top_options, ctl.json),
    {0}};

/* One look, or one after the other where an interval or a number was given. */
static int print_looks(top_state *state, const top_options *options) {
  enum { ROWS = 5 };
  state->list_rows = options->ctl.json ? 0 : ROWS;
  bool once = !options->interval_ns && !options->looks;
  uint64_t interval_ns = options->interval_ns ? options->interval_ns : 1000000000u;
  struct timespec interval = {(time_t)(interval_ns / 1000000000u), (long)(interval_ns % 1000000000u)};
  for (uint32_t i = 1;; i++) {
    if (!top_look(state)) return STATUS_FAILED;
    if (i > 1 && !options->ctl.json) putchar('\n');
    if (options->ctl.json)
      top_print_json(state);
    else
      top_print(state);
    if (fflush(stdout) != 0) return STATUS_FAILED;
    if (once || i == options->looks) return STATUS_OK;
    nanosleep(&interval, NULL);
  }
}

int top_command(int count, char **arguments) {
  static const option_reader reader = {"top", known, show_help};
  static top_state state;
  int status;
  top_options options = {.ctl.socket = ctl_default_socket()};
  if (!options_read(&reader, &options, count, arguments, &status)) return status;
  if (optind < count) return complain_usage("'%s' is no option; see `muster top --help`", arguments[optind]);
  if (options.ctl.world && strlen(options.ctl.world) >= sizeof state.wanted)
    return complain_usage("--world: there is no world of such a long name");
  state.ctl = options.ctl;
  if (options.ctl.world) strcpy(state.wanted, options.ctl.world);
  if (options.ctl.json || options.looks || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
    return print_looks(&state, &options);
  return top_screen(&state, options.interval_ns ? (int)(options.interval_ns / 1000000u) : 1000);
}
