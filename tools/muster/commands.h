/* commands.h - the commands of the program. Each takes its own name as arguments[0] and returns the exit status. */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

int run_command(int count, char **arguments);
int explain_command(int count, char **arguments);
int replay_command(int count, char **arguments);
int repro_command(int count, char **arguments);
int ctl_command(int count, char **arguments);
int top_command(int count, char **arguments);
int stress_command(int count, char **arguments);
int bench_command(int count, char **arguments);
int bench_all_command(int count, char **arguments); /* of bench_command; arguments[0] is "all" */

#endif
