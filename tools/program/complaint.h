/* complaint.h - how the program reports errors: one line on standard error that says what to do, and an exit status
 * that tells bad usage from failure. */
#ifndef TOOLS_COMPLAINT_H
#define TOOLS_COMPLAINT_H

#include <stddef.h>

enum {
  STATUS_OK = 0,
  STATUS_FAILED = 1, /* the usage was right, but the command failed */
  STATUS_USAGE = 2   /* the usage was wrong */
};

/* Writes "muster: ..." and a line end to standard error, printf-style, and returns STATUS_USAGE. */
int complain_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a failure: returns STATUS_FAILED. */
int complain_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* After getopt_long() returned '?' or ':': names the option that it did not like. Returns STATUS_USAGE. */
int complain_option(int result, char *const *arguments, const char *command);

/* The same for an option that does not exist; `nearest` is the name without dashes that was meant, or null. */
int complain_unknown_option(const char *argument, const char *nearest, const char *command);

/* For a name that is none of `names`: says which was probably meant, or the names, and `more` behind them. Returns
 * STATUS_USAGE. */
int complain_unknown(const char *what, const char *name, const char *const *names, size_t count, const char *more);

#endif
