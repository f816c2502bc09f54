/* service/log.h - the log: lines on standard error, for the journal or a terminal. */
#ifndef SERVICE_LOG_H
#define SERVICE_LOG_H

#include <muster/common.h>

/* The least level that is written; information by default. Loop's thread. */
void log_set_level(muster_log_level level);

/* One line, printf-style; line ends inside become blanks. Any thread. */
void log_line(muster_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes to this log; for worlds and pools. `name`, the world's or null, is kept. */
muster_log_sink log_sink_of(const char *name);

#endif
