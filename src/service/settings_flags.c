#include "service/settings_flags.h"

#include "service/modules.h"
#include "service/settings_keys.h"
#include "service/settings_modules.h"

#include "base/assert.h"
#include "base/nearest.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Numbers of flags begin above all letters, which getopt_long returns in the same place. */
enum {
  FLAGS_MAX = 128,
  OPTION_WORLD = 256,
  OPTION_SET,
  OPTION_CONFIG,
  OPTION_CHECK,
  OPTION_HELP,
  OPTION_VERSION,
  OPTION_KEY = 512
};

/* The options for getopt_long: the table's keys with - for _, and the flags that are no keys. */
typedef struct flag_table {
  char names[FLAGS_MAX][NAME_BYTES];
  struct option options[FLAGS_MAX];
} flag_table;

static void make_table(flag_table *table) {
  static const struct option own[] = {
      {"world", required_argument, NULL, OPTION_WORLD},   {"set", required_argument, NULL, OPTION_SET},
      {"config", required_argument, NULL, OPTION_CONFIG}, {"check", no_argument, NULL, OPTION_CHECK},
      {"help", no_argument, NULL, OPTION_HELP},           {"version", no_argument, NULL, OPTION_VERSION}};
  uint32_t count = sizeof own / sizeof *own;
  memset(table, 0, sizeof *table);
  memcpy(table->options, own, sizeof own);
  for (uint32_t i = 0; settings_key_at(i); i++, count++) {
    ASSERT(count < FLAGS_MAX - 1);
    char *name = table->names[count];
    snprintf(name, NAME_BYTES, "%s", settings_key_at(i)->field.name);
    for (char *next = name; *next; next++)
      if (*next == '_') *next = '-';
    int argument = settings_key_at(i)->field.kind == FIELD_SWITCH ? optional_argument : required_argument;
    table->options[count] = (struct option){name, argument, NULL, OPTION_KEY + (int)i};
  }
}

/* -------------------------------------------------------------------------------------------------------- the flags */

typedef struct flag_reader {
  struct settings *settings;
  world_settings *world;   /* of the last --world; null = flags of worlds apply to all */
  world_settings defaults; /* for worlds that flags add: the values that flags gave for all */
  settings_complaint complain;
  void *user;
} flag_reader;

static void settings_flags_complain(const flag_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void settings_flags_complain(const flag_reader *reader, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  reader->complain("", message, reader->user);
}

/* Refuses a value like that of a file, and like `muster` does. */
static void refuse(const flag_reader *reader, const char *flag, const char *text, const char *why) {
  settings_flags_complain(reader, "%s is '%.60s'; %s", flag, text, why);
}

static world_settings *add_world(flag_reader *reader, const char *name) {
  world_settings *world = settings_add_world(reader->settings, name);
  if (!world) return NULL;
  *world = reader->defaults;
  snprintf(world->name, sizeof world->name, "%s", name);
  return world;
}

/* Parses NAME=MODULE, or the NAME of a world of the file. */
static void settings_flags_read_world(flag_reader *reader, const char *text) {
  char name[NAME_BYTES];
  const char *equals = strchrnul(text, '=');
  snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  if (equals - text >= NAME_BYTES || !modules_name_is_good(name)) {
    refuse(reader, "--world", text, "give NAME=MODULE; a name has at most 31 letters, digits, - and _");
    return;
  }
  world_settings *world = settings_find_world(reader->settings, name);
  if (!world) world = add_world(reader, name);
  if (!world || (*equals && settings_key_set(settings_key_find(true, "module"), world, equals + 1)))
    refuse(reader, "--world", text, muster_last_error());
  if (world) reader->world = world;
}

static void read_world_key(flag_reader *reader, const settings_key *key, const char *flag, const char *text) {
  struct settings *settings = reader->settings;
  muster_result result = settings_key_set(key, reader->world ? reader->world : &reader->defaults, text);
  for (uint32_t i = 0; !reader->world && !result && i < settings->world_count; i++)
    result = settings_key_set(key, &settings->worlds[i], text);
  if (result) refuse(reader, flag, text, muster_last_error());
}

/* KEY=VALUE, or INSTANCE.KEY=VALUE: like a flag of worlds, of the one before, or of all. */
static void settings_flags_read_module(flag_reader *reader, const char *text) {
  char key[NAME_BYTES + MODULE_KEY_BYTES];
  const char *equals = strchrnul(text, '='), *dot = memchr(text, '.', (size_t)(equals - text));
  int length = snprintf(key, sizeof key, "%s%.*s", dot ? "" : "module.", (int)(equals - text), text);
  if (!*equals || length >= (int)sizeof key) {
    refuse(reader, "--set", text, "give KEY=VALUE, or INSTANCE.KEY=VALUE where instances have names");
    return;
  }
  struct settings *settings = reader->settings;
  muster_result result =
      settings_module_set(reader->world ? reader->world : &reader->defaults, key, equals + 1, NULL, 0);
  for (uint32_t i = 0; !reader->world && !result && i < settings->world_count; i++)
    result = settings_module_set(&settings->worlds[i], key, equals + 1, NULL, 0);
  if (result) refuse(reader, "--set", text, muster_last_error());
}

static void read_key(flag_reader *reader, const settings_key *key, const char *name, const char *text) {
  char flag[NAME_BYTES + 2];
  snprintf(flag, sizeof flag, "--%s", name);
  if (!text) text = "yes";
  if (key->of_world)
    read_world_key(reader, key, flag, text);
  else if (settings_key_set(key, reader->settings, text))
    refuse(reader, flag, text, muster_last_error());
}

/* Checks all arguments for unknown flags at once, since getopt_long would accept the beginning of a flag for that flag.
 * False when there is an unknown one: an argument that is no option may then be its value. */
static bool names_are_known(const flag_reader *reader, const flag_table *table, int count, char *const *arguments) {
  int at = 1;
  bool all = true;
  const char *unknown;
  for (; (unknown = nearest_unknown_option(table->options, count, arguments, &at)) != NULL; all = false) {
    const char *nearest = nearest_option(table->options, unknown);
    int length = (int)strcspn(unknown, "=");
    if (nearest)
      settings_flags_complain(reader, "unknown option %.*s; did you mean '--%s'? See `musterd --help`", length, unknown,
                              nearest);
    else
      settings_flags_complain(reader, "unknown option %.*s; see `musterd --help`", length, unknown);
  }
  return all;
}

/* Complains of what getopt_long refuses, unless it was reported above. */
static void complain_refused(const flag_reader *reader, int answer, char *const *arguments) {
  const char *argument = optind > 0 ? arguments[optind - 1] : "";
  if (answer == ':')
    settings_flags_complain(reader, "%s wants a value; see `musterd --help`", argument);
  else if (optopt >= OPTION_WORLD)
    settings_flags_complain(reader, "%s takes no value; see `musterd --help`", argument);
  else if (optopt)
    settings_flags_complain(reader, "unknown option -%c; see `musterd --help`", optopt);
}

void settings_read_flags(struct settings *settings, settings_call *call, int count, char *const *arguments,
                         settings_complaint complain_to, void *user) {
  flag_table table;
  flag_reader reader = {.settings = settings, .complain = complain_to, .user = user};
  settings_default_world(&reader.defaults);
  make_table(&table);
  bool known = names_are_known(&reader, &table, count, arguments);
  opterr = 0;
  optind = 0;
  for (int option, index; (option = getopt_long(count, arguments, ":h", table.options, &index)) != -1;) {
    if (option == OPTION_WORLD)
      settings_flags_read_world(&reader, optarg);
    else if (option == OPTION_SET)
      settings_flags_read_module(&reader, optarg);
    else if (option == OPTION_CONFIG)
      call->file = optarg;
    else if (option == OPTION_CHECK)
      call->check = true;
    else if (option == OPTION_HELP || option == 'h')
      call->help = true;
    else if (option == OPTION_VERSION)
      call->version = true;
    else if (option >= OPTION_KEY)
      read_key(&reader, settings_key_at((uint32_t)(option - OPTION_KEY)), table.options[index].name, optarg);
    else
      complain_refused(&reader, option, arguments);
  }
  if (known && optind < count)
    settings_flags_complain(&reader, "'%s' is no option; see `musterd --help`", arguments[optind]);
}

/* ------------------------------------------------------------------------------------------------------------- help */

static void show_keys(FILE *stream, bool of_world) {
  flag_table table;
  make_table(&table);
  for (uint32_t i = 0; table.options[i].name; i++) {
    if (table.options[i].val < OPTION_KEY) continue;
    const settings_key *key = settings_key_at((uint32_t)(table.options[i].val - OPTION_KEY));
    char flag[64];
    snprintf(flag, sizeof flag, "--%s%s%s", table.options[i].name, key->field.kind == FIELD_SWITCH ? "=" : " ",
             key->usage);
    if (key->of_world == of_world) fprintf(stream, "  %-34s %s%s\n", flag, key->help, key->live ? " (*)" : "");
  }
}

void settings_show_help(FILE *stream) {
  fputs("musterd - hosts worlds of behaviour modules: runs their frames, answers on a socket\n"
        "\n"
        "usage: musterd [--config FILE] [--world NAME=MODULE]... [OPTION]...\n"
        "\n"
        "  --config FILE                      settings to begin with; options override them\n"
        "  --check                            checks the settings, says what is wrong, and ends\n"
        "  -h, --help\n"
        "  --version\n"
        "\n"
        "Worlds; of the --world that stands before; with none before, of all:\n"
        "  --world NAME=MODULE                hosts a world, or another module in one of the file\n"
        "  --set KEY=VALUE                    a setting of its module; INSTANCE.KEY=VALUE where it has several\n",
        stream);
  show_keys(stream, true);
  fputs("\nThe service:\n", stream);
  show_keys(stream, false);
  fputs(
      "\n"
      "In the file, keys have _ for -, and stand in the sections [server] and [world NAME]. On SIGHUP the file is read "
      "again; what is marked (*) comes into force then, and scripts are read anew. SIGTERM and SIGINT end the "
      "service.\n"
      "\n"
      "Exit status: 0 = ended when asked to, 1 = failed, or the last snapshot did, 2 = asked for wrongly.\n",
      stream);
}
