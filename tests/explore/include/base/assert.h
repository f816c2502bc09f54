/* base/assert.h of the explorer - a broken assertion of the product is a failed schedule. */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include "explorer.h"

#define ASSERT(condition)                                                                                              \
  ((condition)                                                                                                         \
       ? (void)0                                                                                                       \
       : explore_fail("%s:%d: the assertion %s does not hold", explore_base_name(__FILE__), __LINE__, #condition))

#endif
