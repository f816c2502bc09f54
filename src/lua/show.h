/* lua/show.h - the command `show`: what an agent's table holds, as a text. */
#ifndef LUA_SHOW_H
#define LUA_SHOW_H

#include "lua/scripts.h"

/* Answers with the agent's type, its memory, the fields of its table in the order of lua/order.h, and where an update
 * of it stands that was cut. `id` is INDEX.GENERATION. MUSTER_E_ARGUMENT when it is not, or the agent is none of the
 * scripts' own; MUSTER_E_STALE when it is gone. The text has at most 16 KB: what is more is left out, and it ends with
 * three points. Between two frames. */
muster_result show_agent(script_world *scripts, const char *id, muster_module_answer answer, void *answer_user);

#endif
