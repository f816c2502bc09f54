/* loop.h - what servers do today: the same scripts in one Lua state on one thread, all agents in turn, each for as long
 * as it takes. No scheduler, no budget, no safepoint, no coroutine, no levels.
 *
 * The loop has its own functions under the name `muster`, which do what Muster's do as cheaply as C can: positions are
 * fields of an agent's table, what is published is seen at once, and there is a grid to find others with. Lua collects
 * its garbage by itself.
 *
 *   raw     Lua's own libraries and allocator
 *   guarded the libraries of src/lua, with its order of pairs, its frozen tables and its caps of memory */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <stdbool.h>
#include <stdint.h>

typedef enum loop_kind { LOOP_GUARDED = 0, LOOP_RAW, LOOP_KINDS } loop_kind;

struct scripts_loop;

/* Loads the file of scripts, and lets its world begin. Null: muster_last_error. */
struct scripts_loop *loop_open(const char *path, loop_kind kind, uint32_t agents, uint64_t seed);
void loop_close(struct scripts_loop *loop);

/* Updates all agents in turn, as if `elapsed_s` had passed; so many are added to *updates. False: muster_last_error. */
bool loop_frame(struct scripts_loop *loop, double elapsed_s, uint64_t *updates);

/* Bytes that its state has. */
uint64_t loop_bytes(const struct scripts_loop *loop);

#endif
