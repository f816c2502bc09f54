/* The program `muster`: its commands. */
#include "commands.h"
#include "program.h"

static const program_command commands[] = {
    {"run", "run a population inside its budget and report how that went", run_command},
    {"explain", "say why one agent of a population runs when and how it does", explain_command},
    {"replay", "replay a recorded run bit for bit", replay_command},
    {"repro", "reproduce a paper's tables and figures beside our measurement", lab_command},
#ifdef MUSTER_HAS_CTL
    {"ctl", "ask a running musterd, and tell it what to do", ctl_command},
    {"top", "a running musterd at a glance, at a terminal", top_command},
#endif
    {"stress", "raise agents, observers, messages, spawns, wakes and workers until something gives way",
     stress_command},
    {"bench", "measure the worker pool beside others, and what scheduling costs", lab_command},
};

static const program_def muster = {
    .name = "muster",
    .purpose = "runs every NPC of a game server as often as it matters, inside a CPU budget per frame",
    .commands = commands,
    .count = sizeof commands / sizeof *commands,
};

int main(int count, char **arguments) {
  return program_run(&muster, count, arguments);
}
