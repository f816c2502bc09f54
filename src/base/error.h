/* base/error.h - the message behind muster_last_error(), and the log. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <muster/common.h>

/* Sets the calling thread's last error, printf-style, and returns `result`, so that a failing check is one line:
 * return error_set(MUSTER_E_ARGUMENT, "...", ...). The format is a literal. The values are kept, strings as copies, and
 * the words are made by muster_last_error(): tens of nanoseconds, so that it may be called wherever something is
 * refused. Any thread. */
#define error_set(result, ...) error_keep(result, "" __VA_ARGS__)

/* Implements error_set(). The format must neither move nor change. */
muster_result error_keep(muster_result result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the system refused something, which may pass, and says nothing about what it was refused for. */
static inline bool error_may_pass(muster_result result) {
  return result == MUSTER_E_SYSTEM || result == MUSTER_E_MEMORY;
}

/* Sets the error that a required pointer is null; the message names it. Any thread. */
muster_result error_missing(const char *what, const char *missing);

/* Writes one line to the sink, printf-style, at most 511 bytes. Any thread that the sink allows. */
void log_write(const muster_log_sink *sink, muster_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
