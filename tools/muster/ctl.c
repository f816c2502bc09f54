/* `muster ctl`: asks a running musterd, and tells it what to do. */
#include "ctl.h"

#include "commands.h"
#include "complaint.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ctl_option {
  const char *name;
  size_t offset; /* of the text in ctl_options; SIZE_MAX of those without a value */
} ctl_option;

static const ctl_option known[] = {
    {"--socket", offsetof(ctl_options, socket)},
    {"--url", offsetof(ctl_options, url)},
    {"--token-file", offsetof(ctl_options, token_file)},
    {"--world", offsetof(ctl_options, world)},
    {"--agent", offsetof(ctl_options, agent)},
    {"--json", SIZE_MAX},
    {"--help", SIZE_MAX},
};

enum { KNOWN = sizeof known / sizeof *known };

static void show_help(void) {
  puts("muster ctl - asks a running musterd, and tells it what to do\n"
       "\n"
       "usage: muster ctl [--socket PATH | --url URL] [--world NAME] [--json] COMMAND [ARGUMENT]...\n");
  ctl_show_commands();
  puts("\n"
       "  --socket PATH      the daemon's socket (default: $MUSTER_SOCKET, or /run/musterd/control.sock)\n"
       "  --url URL          or where it listens by TCP, such as http://127.0.0.1:8420\n"
       "  --token-file FILE  its first line is the token that changes by TCP need\n"
       "  --world NAME       which world; not needed where there is one\n"
       "  --json             what the daemon answers, as it is\n"
       "\n"
       "An ID is INDEX.GENERATION, as lists show it; a PLACE is X,Y or X,Y,Z in metres.");
}

/* The option that an argument names, with its length; null for what is none. */
static const ctl_option *find(const char *argument, size_t *length) {
  *length = strcspn(argument, "=");
  for (size_t i = 0; i < KNOWN; i++)
    if (strlen(known[i].name) == *length && strncmp(known[i].name, argument, *length) == 0) return &known[i];
  return NULL;
}

static void set(ctl_options *options, const ctl_option *option, const char *value) {
  if (option->offset != SIZE_MAX)
    memcpy((char *)options + option->offset, &value, sizeof value);
  else if (strcmp(option->name, "--json") == 0)
    options->json = true;
  else
    options->help = true;
}

/* Takes the options out of the arguments, wherever they stand; places such as -5,3 are none. False after a complaint.
 */
static bool read_options(ctl_options *options, int *count, char **arguments) {
  int kept = 0;
  for (int i = 1; i < *count; i++) {
    size_t length;
    const char *argument = arguments[i];
    const ctl_option *option = find(argument, &length);
    if (!option && strncmp(argument, "--", 2) == 0)
      return complain_usage("unknown option %s; see `muster ctl --help`", argument), false;
    if (!option) {
      arguments[kept++] = arguments[i];
      continue;
    }
    bool takes = option->offset != SIZE_MAX, joined = argument[length] == '=';
    if (takes && !joined && i + 1 == *count)
      return complain_usage("%s wants a value; see `muster ctl --help`", option->name), false;
    if (!takes && joined) return complain_usage("%s takes no value; see `muster ctl --help`", option->name), false;
    set(options, option, !takes ? NULL : joined ? argument + length + 1 : arguments[++i]);
  }
  *count = kept;
  return true;
}

static bool begin(ctl_options *options, int *count, char **arguments) {
  const char *socket = getenv("MUSTER_SOCKET");
  *options = (ctl_options){.socket = socket && *socket ? socket : "/run/musterd/control.sock"};
  return read_options(options, count, arguments);
}

int ctl_command(int count, char **arguments) {
  ctl_options options;
  if (!begin(&options, &count, arguments)) return STATUS_USAGE;
  if (options.help) {
    show_help();
    return STATUS_OK;
  }
  if (count == 0) return complain_usage("say what to do, such as `muster ctl worlds`; `muster ctl --help` lists all");
  return ctl_run(&(ctl_call){&options, count, arguments});
}

bool ctl_is_meant(int count, char *const *arguments) {
  for (int i = 1; i < count; i++)
    if (strncmp(arguments[i], "--socket", 8) == 0 || strncmp(arguments[i], "--url", 5) == 0) return true;
  return false;
}

int ctl_explain_command(int count, char **arguments) {
  static char name[] = "explain";
  ctl_options options;
  if (!begin(&options, &count, arguments)) return STATUS_USAGE;
  if (options.help) {
    puts("usage: muster explain --socket PATH [--world NAME] [--json] --agent ID");
    return STATUS_OK;
  }
  if (!options.agent && count != 1) return complain_usage("name one agent of the daemon: --agent INDEX.GENERATION");
  return ctl_run(&(ctl_call){&options, 2, (char *[]){name, options.agent ? (char *)options.agent : arguments[0]}});
}
