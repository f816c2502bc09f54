#include "service/settings_flags.h"

#include "service/modules.h"
#include "service/settings_keys.h"

#include "base/assert.h"
#include "base/error.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* Beyond what a letter can be, which getopt_long tells in the same place. */
enum { FLAGS_MAX = 64, OPTION_WORLD = 256, OPTION_CONFIG, OPTION_CHECK, OPTION_HELP, OPTION_VERSION, OPTION_KEY = 512 };

/* What getopt_long is given: the table's keys with - for _, and the flags that are no keys. */
typedef struct flag_table {
  char names[FLAGS_MAX][NAME_BYTES];
  struct option options[FLAGS_MAX];
} flag_table;

static void make_table(flag_table *table) {
  static const struct option own[] = {{"world", required_argument, NULL, OPTION_WORLD},
                                      {"config", required_argument, NULL, OPTION_CONFIG},
                                      {"check", no_argument, NULL, OPTION_CHECK},
                                      {"help", no_argument, NULL, OPTION_HELP},
                                      {"version", no_argument, NULL, OPTION_VERSION}};
  uint32_t count = sizeof own / sizeof *own;
  memset(table, 0, sizeof *table);
  memcpy(table->options, own, sizeof own);
  for (uint32_t i = 0; settings_key_at(i); i++, count++) {
    ASSERT(count < FLAGS_MAX - 1);
    char *name = table->names[count];
    snprintf(name, NAME_BYTES, "%s", settings_key_at(i)->name);
    for (char *next = name; *next; next++)
      if (*next == '_') *next = '-';
    int argument = settings_key_at(i)->kind == SETTING_SWITCH ? optional_argument : required_argument;
    table->options[count] = (struct option){name, argument, NULL, OPTION_KEY + (int)i};
  }
}

/* -------------------------------------------------------------------------------------------------------- the flags */

typedef struct flag_reader {
  settings *settings;
  world_settings *world;   /* of the last --world; null = flags of worlds are for all */
  world_settings defaults; /* of the worlds that flags begin: what was said for all */
  settings_complaint complain;
  void *user;
} flag_reader;

static world_settings *add_world(flag_reader *reader, const char *name) {
  world_settings *world = settings_add_world(reader->settings, name);
  if (!world) return NULL;
  *world = reader->defaults;
  snprintf(world->name, sizeof world->name, "%s", name);
  return world;
}

/* NAME=MODULE, or NAME of a world of the file. */
static void read_world(flag_reader *reader, const char *text) {
  char name[NAME_BYTES];
  const char *equals = strchrnul(text, '=');
  snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  if (equals - text >= NAME_BYTES || !modules_name_is_good(name)) {
    reader->complain("--world", "give NAME=MODULE; a name has at most 31 letters, digits, - and _", reader->user);
    return;
  }
  world_settings *world = settings_find_world(reader->settings, name);
  if (!world) world = add_world(reader, name);
  if (!world || (*equals && settings_key_set(settings_key_find(true, "module"), world, equals + 1)))
    reader->complain("--world", muster_last_error(), reader->user);
  if (world) reader->world = world;
}

static void read_world_key(flag_reader *reader, const settings_key *key, const char *flag, const char *text) {
  settings *settings = reader->settings;
  muster_result result = settings_key_set(key, reader->world ? reader->world : &reader->defaults, text);
  for (uint32_t i = 0; !reader->world && !result && i < settings->world_count; i++)
    result = settings_key_set(key, &settings->worlds[i], text);
  if (result) reader->complain(flag, muster_last_error(), reader->user);
}

static void read_key(flag_reader *reader, const settings_key *key, const char *name, const char *text) {
  char flag[NAME_BYTES + 2];
  snprintf(flag, sizeof flag, "--%s", name);
  if (!text) text = "yes";
  if (key->of_world)
    read_world_key(reader, key, flag, text);
  else if (settings_key_set(key, reader->settings, text))
    reader->complain(flag, muster_last_error(), reader->user);
}

static void complain_unknown(flag_reader *reader, int answer, char *const *arguments) {
  const char *argument = optind > 0 ? arguments[optind - 1] : "";
  const char *message = answer == ':' ? "it wants a value; see --help" : "there is no such flag; see --help";
  if (answer == '?' && optopt >= OPTION_WORLD) message = "it takes no value";
  reader->complain(argument, message, reader->user);
}

void settings_read_flags(settings *settings, settings_call *call, int count, char *const *arguments,
                         settings_complaint complain, void *user) {
  flag_table table;
  flag_reader reader = {.settings = settings, .complain = complain, .user = user};
  settings_default_world(&reader.defaults);
  make_table(&table);
  opterr = 0;
  optind = 0;
  for (int option, index; (option = getopt_long(count, arguments, ":", table.options, &index)) != -1;) {
    if (option == OPTION_WORLD)
      read_world(&reader, optarg);
    else if (option == OPTION_CONFIG)
      call->file = optarg;
    else if (option == OPTION_CHECK)
      call->check = true;
    else if (option == OPTION_HELP)
      call->help = true;
    else if (option == OPTION_VERSION)
      call->version = true;
    else if (option >= OPTION_KEY)
      read_key(&reader, settings_key_at((uint32_t)(option - OPTION_KEY)), table.options[index].name, optarg);
    else
      complain_unknown(&reader, option, arguments);
  }
  if (optind < count) complain(arguments[optind], "this is no flag; see --help", user);
}

/* ------------------------------------------------------------------------------------------------------------- help */

static void show_keys(bool of_world) {
  flag_table table;
  make_table(&table);
  for (uint32_t i = 0; table.options[i].name; i++) {
    if (table.options[i].val < OPTION_KEY) continue;
    const settings_key *key = settings_key_at((uint32_t)(table.options[i].val - OPTION_KEY));
    char flag[64];
    snprintf(flag, sizeof flag, "--%s%s%s", table.options[i].name, key->kind == SETTING_SWITCH ? "=" : " ", key->usage);
    if (key->of_world == of_world) printf("  %-34s %s%s\n", flag, key->help, key->live ? " (*)" : "");
  }
}

void settings_show_help(void) {
  puts("musterd - hosts worlds of behaviour modules: runs their frames, answers on a socket\n"
       "\n"
       "usage: musterd [--config FILE] [--world NAME=MODULE]... [FLAG]...\n"
       "\n"
       "  --config FILE                      settings to begin with; flags override them\n"
       "  --check                            checks the settings, says what is wrong, and ends\n"
       "  --help, --version\n"
       "\n"
       "Worlds; of the --world that stands before; with none before, of all:\n"
       "  --world NAME=MODULE                hosts a world, or another module in one of the file");
  show_keys(true);
  puts("\nThe service:");
  show_keys(false);
  puts("\n"
       "In the file, keys have _ for -, and stand in the sections [server] and [world NAME]. On SIGHUP the file is "
       "read\n"
       "again; what is marked (*) comes into force then. SIGTERM and SIGINT end the service.\n"
       "\n"
       "Exit status: 0 = ended when asked to, 1 = failed, 2 = asked for wrongly.");
}
