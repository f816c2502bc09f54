/* `muster ctl`: asks a running musterd, and tells it what to do. */
#include "ctl.h"

#include "base/columns.h"
#include "commands.h"
#include "complaint.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_JSON = -1, VALUE_HELP = -2 };

#define TEXT(name, member)                                                                                             \
  { name, required_argument, NULL, (int)offsetof(ctl_options, member) }

/* The value of one with an argument is where its text belongs in ctl_options. */
static const struct option known[] = {
    TEXT("socket", socket),
    TEXT("url", url),
    TEXT("token-file", token_file),
    TEXT("world", world),
    TEXT("agent", agent),
    {"json", no_argument, NULL, VALUE_JSON},
    {"help", no_argument, NULL, VALUE_HELP},
    {0},
};

static void show_help(FILE *stream) {
  fputs("muster ctl - asks a running musterd, and tells it what to do\n"
        "\n"
        "usage: muster ctl [--socket PATH | --url URL] [--world NAME] [--json] COMMAND [ARGUMENT]...\n\n",
        stream);
  ctl_show_commands(stream);
  fputs("\n"
        "  --socket PATH      the daemon's socket (default: $MUSTER_SOCKET, or /run/musterd/control.sock)\n"
        "  --url URL          or where it listens by TCP, such as http://127.0.0.1:8420\n"
        "  --token-file FILE  its first line is the token that changes by TCP need\n"
        "  --world NAME       which world; not needed where there is one\n"
        "  --json             what the daemon answers, as it is\n"
        "\n"
        "An ID is INDEX.GENERATION, as lists show it; a PLACE is X,Y or X,Y,Z in metres.\n",
        stream);
}

/* The option that an argument names, with the length of that; null for what is none. */
static const struct option *find(const char *argument, size_t *length) {
  *length = strcspn(argument, "=");
  if (strncmp(argument, "--", 2) != 0) return NULL;
  for (const struct option *option = known; option->name; option++)
    if (strlen(option->name) == *length - 2 && strncmp(option->name, argument + 2, *length - 2) == 0) return option;
  return NULL;
}

static void set(ctl_options *options, const struct option *option, const char *value) {
  if (option->has_arg)
    memcpy((char *)options + option->val, &value, sizeof value);
  else if (option->val == VALUE_JSON)
    options->json = true;
  else
    options->help = true;
}

/* Takes the options out of the arguments, wherever they stand; places such as -5,3 are none. False after a complaint.
 */
static bool read_options(ctl_options *options, const char *command, int *count, char **arguments) {
  int kept = 0;
  for (int i = 1; i < *count; i++) {
    size_t length;
    const char *argument = strcmp(arguments[i], "-h") == 0 ? "--help" : arguments[i];
    const struct option *option = find(argument, &length);
    if (!option && strncmp(argument, "--", 2) == 0)
      return complain_unknown_option(argument, nearest_option(known, argument), command), false;
    if (!option) {
      arguments[kept++] = arguments[i];
      continue;
    }
    bool takes = option->has_arg, joined = argument[length] == '=';
    if (takes && !joined && i + 1 == *count)
      return complain_usage("--%s wants a value; see `muster %s --help`", option->name, command), false;
    if (!takes && joined)
      return complain_usage("--%s takes no value; see `muster %s --help`", option->name, command), false;
    set(options, option, !takes ? NULL : joined ? argument + length + 1 : arguments[++i]);
  }
  *count = kept;
  return true;
}

const char *ctl_default_socket(void) {
  const char *socket = getenv("MUSTER_SOCKET");
  return socket && *socket ? socket : "/run/musterd/control.sock";
}

static bool begin(ctl_options *options, const char *command, int *count, char **arguments) {
  *options = (ctl_options){.socket = ctl_default_socket()};
  return read_options(options, command, count, arguments);
}

int ctl_command(int count, char **arguments) {
  ctl_options options;
  if (!begin(&options, "ctl", &count, arguments)) return STATUS_USAGE;
  if (options.help) {
    columns_print_help(show_help);
    return STATUS_OK;
  }
  if (count == 0) return complain_usage("say what to do, such as `muster ctl worlds`; `muster ctl --help` lists all");
  return ctl_run(&(ctl_call){&options, count, arguments});
}

/* INDEX.GENERATION. */
static bool is_id(const char *text) {
  size_t index = strspn(text, "0123456789");
  return index > 0 && text[index] == '.' && text[index + 1 + strspn(text + index + 1, "0123456789")] == '\0';
}

bool ctl_is_meant(int count, char *const *arguments) {
  static const char *const own[] = {"--socket", "--url", "--token-file", "--world"};
  for (int i = 1; i < count; i++) {
    const char *argument = arguments[i];
    size_t length = strcspn(argument, "=");
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
      if (strlen(own[k]) == length && strncmp(own[k], argument, length) == 0) return true;
    if (is_id(strncmp(argument, "--agent=", 8) == 0 ? argument + 8 : argument)) return true;
  }
  return false;
}

int ctl_explain_command(int count, char **arguments, void (*show_explain_help)(FILE *stream)) {
  static char name[] = "explain";
  ctl_options options;
  if (!begin(&options, name, &count, arguments)) return STATUS_USAGE;
  if (options.help) {
    columns_print_help(show_explain_help);
    return STATUS_OK;
  }
  if (options.agent && count == 0) return ctl_run(&(ctl_call){&options, 2, (char *[]){name, (char *)options.agent}});
  if (!options.agent && count == 1) return ctl_run(&(ctl_call){&options, 2, (char *[]){name, arguments[0]}});
  return complain_usage("name one agent of the daemon: --agent INDEX.GENERATION, as `muster ctl agents` lists them");
}
