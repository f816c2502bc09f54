/* `muster ctl`: asks a running musterd, and tells it what to do. */
#include "ctl.h"

#include "base/columns.h"
#include "commands.h"
#include "complaint.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

static const option_def known[] = {OPTION("socket", TEXT, ctl_options, socket),
                                   OPTION("url", TEXT, ctl_options, url),
                                   OPTION("token-file", TEXT, ctl_options, token_file),
                                   OPTION("world", TEXT, ctl_options, world),
                                   OPTION("agent", TEXT, ctl_options, agent),
                                   OPTION("json", ON, ctl_options, json),
                                   OPTION("no-retry", ON, ctl_options, no_retry),
                                   OPTION("undo", ON, ctl_options, undo),
                                   {0}};

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
        "  --no-retry         send a change once, also when the world's process ends before it answers\n"
        "  --undo             of drain: the node gets zones again\n"
        "  -h, --help         this; behind a command, what that command takes\n"
        "\n"
        "An ID is INDEX.GENERATION, as lists show it; a PLACE is X,Y or X,Y,Z in metres.\n",
        stream);
}

const char *ctl_default_socket(void) {
  const char *socket = getenv("MUSTER_SOCKET");
  return socket && *socket ? socket : "/run/musterd/control.sock";
}

/* Whether the next argument is the value of this one. */
static bool takes_value(const char *argument) {
  if (strncmp(argument, "--", 2) != 0 || strchr(argument, '=')) return false;
  const option_def *option = known;
  while (option->name && strcmp(option->name, argument + 2) != 0) option++;
  return option->name && option->kind == OPTION_TEXT;
}

/* The command whose help is asked for, as `agents --help`, `-h agents` or `help agents`; null: none. */
static const char *help_wanted(int count, char *const *arguments) {
  const char *command = NULL;
  bool wanted = false;
  for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++) {
    if (takes_value(arguments[i]))
      i++;
    else if (strcmp(arguments[i], "-h") == 0 || strcmp(arguments[i], "--help") == 0)
      wanted = true;
    else if (!command && !wanted && strcmp(arguments[i], "help") == 0)
      wanted = true;
    else if (!command && *arguments[i] != '-')
      command = arguments[i];
  }
  return wanted ? command : NULL;
}

int ctl_command(int count, char **arguments) {
  static const option_reader reader = {"ctl", known, show_help};
  ctl_options options = {.socket = ctl_default_socket()};
  int status;
  const char *topic = help_wanted(count, arguments);
  if (topic && ctl_show_command(topic)) return STATUS_OK;
  if (!options_read_mixed(&reader, &options, &count, arguments, &status)) return status;
  bool helps = count > 0 && strcmp(arguments[0], "help") == 0;
  if (helps && count == 1) {
    columns_print_help(show_help);
    return STATUS_OK;
  }
  if (helps) return ctl_run(&(ctl_call){&options, 1, arguments + 1}); /* refuses a command that does not exist */
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
  const option_reader reader = {name, known, show_explain_help};
  ctl_options options = {.socket = ctl_default_socket()};
  int status;
  if (!options_read_mixed(&reader, &options, &count, arguments, &status)) return status;
  if (count + (options.agent != NULL) == 1)
    return ctl_run(&(ctl_call){&options, 2, (char *[]){name, options.agent ? (char *)options.agent : arguments[0]}});
  return complain_usage("name one agent of the daemon: --agent INDEX.GENERATION, as `muster ctl agents` lists them");
}
