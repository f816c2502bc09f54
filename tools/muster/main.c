/* The program `muster`: finds the command that was asked for. */
#include "base/columns.h"
#include "base/nearest.h"
#include "commands.h"
#include "complaint.h"

#include <errno.h>
#include <muster/common.h>
#include <stdio.h>
#include <string.h>

typedef struct command {
  const char *name;
  const char *summary;
  int (*run)(int count, char **arguments);
} command;

static const command commands[] = {
    {"run", "run a population inside its budget and report how that went", run_command},
    {"explain", "say why one agent of a population runs when and how it does", explain_command},
    {"replay", "replay a recorded run bit for bit", replay_command},
    {"repro", "reproduce a paper's tables and figures beside our measurement", repro_command},
#ifdef MUSTER_HAS_CTL
    {"ctl", "ask a running musterd, and tell it what to do", ctl_command},
    {"top", "a running musterd at a glance, at a terminal", top_command},
#endif
    {"stress", "raise agents, observers, messages, spawns, wakes and workers until something gives way",
     stress_command},
    {"bench", "measure the worker pool beside others, and what scheduling costs", bench_command},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void show_help(FILE *stream) {
  fputs("muster - runs every NPC of a game server as often as it matters, inside a CPU budget per frame\n"
        "\n"
        "usage: muster COMMAND [OPTION]...\n\n",
        stream);
  for (size_t i = 0; i < COMMANDS; i++) fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fputs("\n"
        "  muster COMMAND --help          the command's own options\n"
        "  muster COMMAND --help-options  their names alone, for programs\n"
        "  muster --version\n"
        "\n"
        "Exit status: 0 = done, 1 = failed, 2 = asked for wrongly.\n",
        stream);
}

static int unknown_command(const char *name) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
  const char *nearest = nearest_name(name, names, COMMANDS);
  if (nearest) return complain_usage("unknown command '%s'; did you mean '%s'?", name, nearest);
  return complain_usage("unknown command '%s'; `muster --help` lists the commands", name);
}

static int dispatch(int count, char **arguments) {
  if (count < 2) return complain_usage("give a command, such as `muster run`; `muster --help` lists them");
  const char *name = arguments[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
    return columns_print_help(show_help), STATUS_OK;
  if (strcmp(name, "--version") == 0) return printf("muster %s\n", MUSTER_VERSION) > 0 ? STATUS_OK : STATUS_FAILED;
  for (size_t i = 0; i < COMMANDS; i++)
    if (strcmp(name, commands[i].name) == 0) return commands[i].run(count - 1, arguments + 1);
  return unknown_command(name);
}

int main(int count, char **arguments) {
  int status = dispatch(count, arguments);
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  int reason = errno;
  return status ? status : complain_failure("cannot write to standard output: %s", strerror(reason));
}
