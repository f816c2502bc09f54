/* lua/lines.h - what scripts say, and what is said of them: lines to standard error. A script that prints in each
 * update of many agents fills no log: each strand has some lines in a second of simulation time, and then one that says
 * how many were left out. Errors: lua/problems.h. */
#ifndef LUA_LINES_H
#define LUA_LINES_H

#include "lua/scripts.h"

enum { LINES_OF_PRINT = 100 }; /* of a strand in a second of simulation time */

/* One line. */
void lines_say(const script_world *scripts, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether one more of at most `most` lines may be said now; else it is counted as left out. */
bool lines_take(script_lines *lines, uint32_t most);

/* Between frames: in a new second there are lines again, and what was left out in the one before is told. */
void lines_begin_second(script_world *scripts);

#endif
