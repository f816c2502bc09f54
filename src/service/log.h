/* service/log.h - the log: lines on standard error.
 *
 *     2026-11-29T01:05:53.123Z musterd: warning: world main starts again in 0.25 s: ...     what the daemon says
 *     2026-11-29T01:05:53.125Z musterd[main]: muster lua: a line of print                   what a world's process says
 *
 * The journal of systemd has times itself, and gets levels instead: "<4>world main ...", "<6>[main] muster lua: ...".
 * What could make a line look like another one, such as line ends and control characters, is written as \xNN: whatever
 * a module writes, each line says who said it. */
#ifndef SERVICE_LOG_H
#define SERVICE_LOG_H

#include <muster/common.h>

/* The least level that is written; information by default. Loop's thread. */
void log_set_level(muster_log_level level);

enum { LOG_WORLD_BYTES = 4096 };

/* One line, printf-style; line ends inside become blanks. Any thread. */
void log_line(muster_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line, without its end, that the process of a world has written, of at most LOG_WORLD_BYTES. Its level stands
 * before it, where it has one, as log_line() writes it in such a process. */
void log_of_world(const char *world, const char *text);

/* Writes to this log; for worlds and pools. `name`, the world's or null, is kept. */
muster_log_sink log_sink_of(const char *name);

#endif
