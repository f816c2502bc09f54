/* lua/problems.h - errors of scripts, by the place where they happen. A script that fails in each update of many agents
 * fills no log and is no secret: each place is told once with the traceback, and again with its count at ten times, a
 * hundred times and so on; the host reads all places (muster_module.problems), and what an agent's own updates failed
 * in.
 *
 * A strand notes its own errors while it runs. Between frames those of all strands are put together. A reload begins
 * anew. */
#ifndef LUA_PROBLEMS_H
#define LUA_PROBLEMS_H

#include "lua/scripts.h"

/* An error is on top of the thread's stack, of `what` ("think") of an agent. In the state's strand. */
void problems_note_error(script_state *state, lua_State *thread, const char *what, const script_type *type,
                         muster_agent agent);

/* An update does not end: it stands in the thread. Between frames. */
void problems_note_endless(script_state *state, lua_State *thread, const char *what, const script_type *type,
                           muster_agent agent);

/* The error of muster.world's function that runs before a frame, with its traceback. */
void problems_note_host(script_state *host, const char *text);

/* What is no error of a line: `where` says of what, in a few words. The agent may be null, with its type. */
void problems_note(script_state *state, const char *where, const char *text, const char *what, const script_type *type,
                   muster_agent agent);

/* The agent is being removed. */
void problems_forget(script_state *state, muster_agent agent);

/* Between frames: tells what is new. */
void problems_tell(script_world *scripts);

/* Of new texts nothing is known: the lines may be others. Between frames. */
void problems_clear(script_world *scripts);

/* As muster_module.problems. */
void problems_list(void *instance, const muster_world *world, muster_agent agent, muster_module_tell tell,
                   void *tell_user);

/* Frees them. Null is a no-op. */
void problems_free(struct script_problems *problems);

#endif
