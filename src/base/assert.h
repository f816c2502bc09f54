/* base/assert.h - assertions for programming errors inside Muster. Bad input from outside is an error, not an
 * assertion. They are active unless NDEBUG is defined; without them the compiler still reads the condition, so that
 * names in it cannot become outdated unnoticed. */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include <assert.h>

#ifdef NDEBUG
#define ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#else
#define ASSERT(condition) assert(condition)
#endif

#endif
