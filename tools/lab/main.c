/* The program `muster-lab`: what measures Muster and reproduces the papers. `muster` hands over to it. */
#include "commands.h"
#include "program.h"

static const program_command commands[] = {
    {"repro", "reproduce a paper's tables and figures beside our measurement", repro_command},
    {"bench", "measure the worker pool beside others, and what scheduling costs", bench_command},
};

static const program_def lab = {
    .name = "muster-lab",
    .purpose = "measures Muster and reproduces the papers that it is made from",
    .commands = commands,
    .count = sizeof commands / sizeof *commands,
};

int main(int count, char **arguments) {
  return program_run(&lab, count, arguments);
}
