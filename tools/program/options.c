#include "options.h"

#include "base/columns.h"
#include "complaint.h"
#include "parse.h"

#include "base/nearest.h"

#include <string.h>

enum { OPTIONS_MAX = 40, VALUE_HELP = 256, VALUE_NAMES, VALUE_FIRST };

/* The table as getopt_long wants it, with --help and --help-options behind it. */
static void list(const option_def *known, struct option out[OPTIONS_MAX]) {
  int count = 0;
  for (; known[count].name; count++)
    out[count] = (struct option){known[count].name, known[count].kind >= OPTION_TEXT, NULL, VALUE_FIRST + count};
  out[count++] = (struct option){"help", no_argument, NULL, VALUE_HELP};
  out[count++] = (struct option){"help-options", no_argument, NULL, VALUE_NAMES};
  out[count] = (struct option){0};
}

/* What completions and manuals are made of, and what tests compare them with. */
static void print_names(const option_def *known) {
  for (; known->name; known++) printf("--%s%s\n", known->name, known->kind >= OPTION_TEXT ? "=" : "");
  puts("--help");
}

static bool take(const option_def *option, void *options, const char *text) {
  char name[64];
  void *value = (char *)options + option->at;
  snprintf(name, sizeof name, "--%s", option->name);
  switch (option->kind) {
  case OPTION_ON:
  case OPTION_OFF:
    *(bool *)value = option->kind == OPTION_ON;
    return true;
  case OPTION_TEXT:
    *(const char **)value = text;
    return true;
  case OPTION_COUNT:
    return parse_count(name, text, option->least, option->most, value);
  case OPTION_COUNT32:
    return parse_count32(name, text, (uint32_t)option->least, (uint32_t)option->most, value);
  case OPTION_DURATION:
    return parse_duration(name, text, option->least, option->most, value);
  case OPTION_RATE:
    return parse_rate(name, text, option->least, option->most, value);
  default:
    return option->read(options, text);
  }
}

/* Arguments that getopt_long returns by themselves, as `letters` ask for it, are moved to the front and counted in
 * `kept`. */
static bool read_by(const char *letters, const option_reader *reader, void *options, int count, char **arguments,
                    int *kept, int *status) {
  struct option known[OPTIONS_MAX];
  int option, at = 1;
  list(reader->known, known);
  *status = STATUS_USAGE;
  const char *unknown = nearest_unknown_option(known, count, arguments, &at);
  if (unknown) return complain_unknown_option(unknown, nearest_option(known, unknown), reader->command), false;
  opterr = 0;
  optind = 0;
  while ((option = getopt_long(count, arguments, letters, known, NULL)) != -1) {
    if (option == VALUE_HELP || option == VALUE_NAMES || option == 'h') {
      if (option == VALUE_NAMES)
        print_names(reader->known);
      else
        columns_print_help(reader->show_help);
      *status = STATUS_OK;
      return false;
    }
    if (option <= '9')
      arguments[(*kept)++] = arguments[optind - 1];
    else if (option < VALUE_FIRST)
      return complain_option(option, arguments, reader->command), false;
    else if (!take(&reader->known[option - VALUE_FIRST], options, optarg))
      return false;
  }
  return true;
}

bool options_read(const option_reader *reader, void *options, int count, char **arguments, int *status) {
  return read_by(":h", reader, options, count, arguments, NULL, status);
}

/* getopt_long returns 1 for an argument, and its first digit or point for a negative number. */
bool options_read_mixed(const option_reader *reader, void *options, int *count, char **arguments, int *status) {
  static const char letters[] = "-:h0::1::2::3::4::5::6::7::8::9::.::";
  int kept = 0;
  if (!read_by(letters, reader, options, *count, arguments, &kept, status)) return false;
  while (optind < *count) arguments[kept++] = arguments[optind++];
  *count = kept;
  return true;
}

bool options_list_next(const char **list, char word[OPTION_WORD_BYTES]) {
  if (!*list) return false;
  size_t length = strcspn(*list, ",");
  snprintf(word, OPTION_WORD_BYTES, "%.*s", (int)length, *list);
  *list = (*list)[length] ? *list + length + 1 : NULL;
  return true;
}

bool options_list_has(const char *list, const char *key) {
  char word[OPTION_WORD_BYTES];
  bool has = !list;
  while (!has && options_list_next(&list, word)) has = strcmp(word, key) == 0;
  return has;
}
