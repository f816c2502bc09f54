#include "complaint.h"

#include "base/nearest.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void write_line(const char *format, va_list arguments) {
  char message[1024];
  vsnprintf(message, sizeof message, format, arguments);
  for (char *next = message; *next; next++)
    if (*next == '\n') *next = ' ';
  fprintf(stderr, "muster: %s\n", message);
}

int complain_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
  return STATUS_USAGE;
}

int complain_failure(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
  return STATUS_FAILED;
}

/* getopt has moved on behind the argument that it refused, unless that was a cluster of letters. */
int complain_option(int result, char *const *arguments, const char *command) {
  const char *argument = optind > 0 ? arguments[optind - 1] : "";
  if (result == ':') return complain_usage("%s wants a value; see `muster %s --help`", argument, command);
  if (optopt > 0 && optopt < 256) return complain_usage("unknown option -%c; see `muster %s --help`", optopt, command);
  if (optopt) return complain_usage("%s takes no value; see `muster %s --help`", argument, command);
  return complain_unknown_option(argument, NULL, command);
}

int complain_unknown_option(const char *argument, const char *nearest, const char *command) {
  int length = (int)strcspn(argument, "=");
  if (!nearest) return complain_usage("unknown option %.*s; see `muster %s --help`", length, argument, command);
  return complain_usage("unknown option %.*s; did you mean '--%s'? See `muster %s --help`", length, argument, nearest,
                        command);
}

int complain_unknown(const char *what, const char *name, const char *const *names, size_t count, const char *more) {
  char list[512] = "";
  size_t length = 0;
  const char *nearest = nearest_name(name, names, count);
  for (size_t i = 0; i < count && length < sizeof list; i++)
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
  if (nearest) return complain_usage("unknown %s '%s'; did you mean '%s'? Known: %s", what, name, nearest, list);
  return complain_usage("unknown %s '%s'; known: %s%s", what, name, list, more);
}
