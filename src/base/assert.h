/* base/assert.h - assertions for programming errors inside Muster. Bad input from outside is an error, not an
 * assertion. They are active unless NDEBUG is defined. */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include <assert.h>

#define ASSERT(condition) assert(condition)

#endif
