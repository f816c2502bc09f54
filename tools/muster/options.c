#include "options.h"

#include "base/columns.h"
#include "complaint.h"

#include "base/nearest.h"

#include <stddef.h>

static bool names_are_known(const option_reader *reader, int count, char *const *arguments) {
  int at = 1;
  const char *unknown = nearest_unknown_option(reader->known, count, arguments, &at);
  if (!unknown) return true;
  complain_unknown_option(unknown, nearest_option(reader->known, unknown), reader->command);
  return false;
}

bool options_read(const option_reader *reader, void *options, int count, char **arguments, int *status) {
  int option;
  *status = STATUS_USAGE;
  if (!names_are_known(reader, count, arguments)) return false;
  opterr = 0;
  optind = 0;
  while ((option = getopt_long(count, arguments, ":h", reader->known, NULL)) != -1) {
    if (option == OPTION_HELP || option == 'h') {
      columns_print_help(reader->show_help);
      *status = STATUS_OK;
      return false;
    }
    if (option == '?' || option == ':') {
      *status = complain_option(option, arguments, reader->command);
      return false;
    }
    if (!reader->read(options, option, optarg)) return false;
  }
  return true;
}
