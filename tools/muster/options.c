#include "options.h"

#include "complaint.h"

#include <stddef.h>

bool options_read(const option_reader *reader, void *options, int count, char **arguments, int *status) {
  int option;
  *status = STATUS_USAGE;
  opterr = 0;
  optind = 0;
  while ((option = getopt_long(count, arguments, ":", reader->known, NULL)) != -1) {
    if (option == OPTION_HELP) {
      reader->show_help();
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
