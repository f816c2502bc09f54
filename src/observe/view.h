/* view.h - how calls that look at a world for pictures begin. */
#ifndef VIEW_H
#define VIEW_H

#include "world/world.h"

#include <muster/view.h>

/* Whether a look may begin; `complete`: everything that must be given is given. If it may not, the cursor is set to the
 * end. */
muster_result view_check(const muster_world *world, bool complete, uint32_t *cursor, const char *what);

/* Reads the view as far as the caller's version of it goes. False with a message, and the cursor is then at its end. */
bool view_take(const muster_view *given, muster_view *view, uint32_t *cursor);

#endif
