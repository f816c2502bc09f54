/* commands.h - the commands of `muster`, as program.h wants them. */
#ifndef MUSTER_COMMANDS_H
#define MUSTER_COMMANDS_H

int run_command(int count, char **arguments);
int explain_command(int count, char **arguments);
int replay_command(int count, char **arguments);
int ctl_command(int count, char **arguments);
int top_command(int count, char **arguments);
int stress_command(int count, char **arguments);
int lab_command(int count, char **arguments); /* bench and repro, by muster-lab */

#endif
