/* entered.c - pool/enter.c with its one thread-local variable in a place of each fibre's own.
 *
 * `static _Thread_local struct pool_entry *entered_latest;` becomes, with the two macros below, the declaration of a
 * function that returns where the running fibre's variable is, and every use of the variable a call of it. */
#include "pool/inside.h"

#include "explorer.h"

#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define _Thread_local
#define entered_latest (*entered_of_fibre())

#include "pool/enter.c"

static struct pool_entry **entered_of_fibre(void) {
  return (struct pool_entry **)explore_local();
}
