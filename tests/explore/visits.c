/* visits.c - pool/visit.c with its one thread-local variable in a place of each fibre's own.
 *
 * `static _Thread_local visit *visits;` becomes, with the two macros below, the declaration of a function that returns
 * where the running fibre's variable is, and every use of the variable a call of it. */
#include "pool/inside.h"

#include "explorer.h"

#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define _Thread_local
#define visits (*visits_of_fibre())

#include "pool/visit.c"

static struct visit **visits_of_fibre(void) {
  return (struct visit **)explore_local();
}
