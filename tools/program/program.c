#include "program.h"

#include "base/columns.h"
#include "base/nearest.h"
#include "complaint.h"

#include <errno.h>
#include <muster/common.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 16 };

static const program_def *running; /* columns_print_help() hands nothing on */

static void show_help(FILE *stream) {
  const char *name = running->name;
  fprintf(stream, "%s - %s\n\nusage: %s COMMAND [OPTION]...\n\n", name, running->purpose, name);
  for (size_t i = 0; i < running->count; i++)
    fprintf(stream, "  %-8s %s\n", running->commands[i].name, running->commands[i].summary);
  fprintf(stream,
          "\n"
          "  %s COMMAND --help          the command's own options\n"
          "  %s COMMAND --help-options  their names alone, for programs\n"
          "  %s --version\n"
          "\n"
          "Exit status: 0 = done, 1 = failed, 2 = asked for wrongly.\n",
          name, name, name);
}

static int unknown_command(const char *name) {
  const char *names[COMMANDS_MAX];
  size_t count = 0;
  for (; count < running->count && count < COMMANDS_MAX; count++) names[count] = running->commands[count].name;
  const char *nearest = nearest_name(name, names, (uint32_t)count);
  if (nearest) return complain_usage("unknown command '%s'; did you mean '%s'?", name, nearest);
  return complain_usage("unknown command '%s'; `%s --help` lists the commands", name, running->name);
}

static int dispatch(int count, char **arguments) {
  const program_command *commands = running->commands;
  if (count < 2)
    return complain_usage("give a command, such as `%s %s`; `%s --help` lists them", running->name, commands[0].name,
                          running->name);
  const char *name = arguments[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
    return columns_print_help(show_help), STATUS_OK;
  if (strcmp(name, "--version") == 0)
    return printf("%s %s\n", running->name, MUSTER_VERSION) > 0 ? STATUS_OK : STATUS_FAILED;
  for (size_t i = 0; i < running->count; i++)
    if (strcmp(name, commands[i].name) == 0) return commands[i].run(count - 1, arguments + 1);
  return unknown_command(name);
}

int program_run(const program_def *program, int count, char **arguments) {
  running = program;
  int status = dispatch(count, arguments);
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  int reason = errno;
  return status ? status : complain_failure("cannot write to standard output: %s", strerror(reason));
}

const char *program_beside(const char *name, char path[PATH_MAX]) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return name;
  self[length] = '\0';
  char *slash = strrchr(self, '/');
  if (!slash) return name;
  slash[1] = '\0';
  int bytes = snprintf(path, PATH_MAX, "%s%s", self, name);
  return bytes < PATH_MAX && access(path, X_OK) == 0 ? path : name;
}
