#include "run_help.h"

#include "catalog.h"

/* Lines are broken where they are shown. */
static const char options[] =
    "\n"
    "Population and load:\n"
    "  --agents N         how many agents (default: the scenario's own)\n"
    "  --observers K      how many observers (default: the scenario's own)\n"
    "  --cost 5us         what an update costs, of scenarios that take a cost: fixed (default 5us)\n"
    "  --seed S           of everything random (default 1)\n"
    "  --up y|z           which axis of the population file is height (default y)\n"
    "Frames:\n"
    "  --budget 10ms      wall time that a frame may take (default 10ms)\n"
    "  --hz 30            frames per second of simulation (default 30)\n"
    "  --frames N         frames to count (default 300)\n"
    "  --warm-up N        frames before counting, after all agents are in (default: one second's worth)\n"
    "  --workers N        the calling thread included (default: one per processor)\n"
    "  --fit RULE         how periods give way: importance (default): the least staleness, weighted by importance, "
    "for the CPU, at any load, and in the order of deadlines; elastic: the important last; or square-root. Of the "
    "last two none is longer than the longest, and beyond that load agents that waited longer come first\n"
    "  --activation-delay N\n"
    "                     frames by which an update may be put off so that none has a peak (default 0)\n"
    "  --no-pace          run frames back to back instead of at --hz on the wall clock\n"
    "Clock:\n"
    "  --virtual          virtual time: costs come from the scenario's cost model; the same seed gives the same "
    "result on any number of workers\n"
    "  --capacity 10ms    work per virtual frame (default: the budget)\n"
    "Promise:\n"
    "  --no-audit         do not measure whether the promise is kept, as --audit does, the default of `muster run`: "
    "that "
    "takes 0.4 us of the budget for each claim, and near its end for each atom, to read the thread's CPU clock; the "
    "figures of overhead leave out those of claims\n"
    "  --machine          after each frame see for as long what the machine alone takes, as `muster bench machine` "
    "does, and tell how often that alone would have broken the promise; it takes the idle time between frames\n"
    "Report:\n"
    "  --json FILE        the report for machines, all times in ns; - is standard output\n"
    "  --trace FILE       the last frames for a trace viewer (ui.perfetto.dev, chrome://tracing); - is standard "
    "output\n"
    "  --trace-frames N   how many of them (default 120)\n"
    "  --record FILE      inputs, choices and measured costs, for `muster replay FILE`; - is standard output\n"
    "  --watch NAME       what one character does, as it happens: townsfolk; of `muster run` alone\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 = done, 1 = failed, 2 = asked for wrongly, 130 = interrupted by SIGINT (^C), 143 = by SIGTERM; "
    "then "
    "the results are those of the frames until then, and say so.\n";

static void show(FILE *stream, const char *about) {
  fputs(about, stream);
  fputs("Scenarios (default wildlife):\n", stream);
  catalog_list(stream);
  fputs(options, stream);
}

void run_help(FILE *stream) {
  show(stream, "muster run - runs a population inside its budget and reports how that went\n"
               "\n"
               "usage: muster run [SCENARIO|POPULATION.csv] [OPTION]...\n"
               "\n");
}

void run_explain_help(FILE *stream) {
  show(
      stream,
      "muster explain - runs a population, or asks a running musterd, and says why one of the agents runs when and how "
      "it does\n"
      "\n"
      "usage: muster explain [SCENARIO|POPULATION.csv] [--agent WHICH] [OPTION]...\n"
#ifdef MUSTER_HAS_CTL
      "       muster explain --agent INDEX.GENERATION [--socket PATH | --url URL] [--world NAME] [--json]\n"
#endif
      "\n"
      "Which agent, after the last frame:\n"
      "  --agent INDEX      the one with this number\n"
      "  --agent most-important\n"
      "  --agent most-delayed\n"
      "                     of agents that are due and wait, the one with the oldest last update; of all, when "
      "none waits (default)\n"
#ifdef MUSTER_HAS_CTL
      "Of a running musterd:\n"
      "  --agent ID         INDEX.GENERATION, as `muster ctl agents` lists it\n"
      "  --socket PATH      the daemon's socket (default: $MUSTER_SOCKET, or /run/musterd/control.sock)\n"
      "  --url URL          or where it listens by TCP, such as http://127.0.0.1:8420\n"
      "  --token-file FILE  its first line is the token that changes by TCP need\n"
      "  --world NAME       which world; not needed where there is one\n"
      "  --json             what the daemon answers, as it is\n"
#endif
      "\n");
}
