/* view.h - what looks at a world for pictures begin with. */
#ifndef VIEW_H
#define VIEW_H

#include "world/world.h"

/* Whether a look may begin; `complete`: all that must be given is. When it may not, the cursor is through. */
muster_result view_check(const muster_world *world, bool complete, uint32_t *cursor, const char *what);

/* The view as far as the caller's version of it goes. False with a message, and the cursor is through. */
bool view_take(const muster_view *given, muster_view *view, uint32_t *cursor);

#endif
