/* base/error.h - the message behind muster_last_error(), and the log. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <muster/common.h>

/* Sets the calling thread's last error, printf-style, and returns `result`, so that a failing check is one line:
 * return error_set(MUSTER_E_ARGUMENT, "...", ...). Any thread. */
muster_result error_set(muster_result result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes one line to the sink, printf-style, at most 511 bytes. Any thread that the sink allows. */
void log_write(const muster_log_sink *sink, muster_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
