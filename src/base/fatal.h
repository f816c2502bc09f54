/* base/fatal.h - ends the process when the library was misused in a way that no error could report safely. */
#ifndef BASE_FATAL_H
#define BASE_FATAL_H

/* Writes one line, "muster: ...", to standard error, printf-style, at most 511 bytes, and aborts. Takes no lock: the
 * misuse may have left any of them held. Any thread. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
