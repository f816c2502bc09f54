/* run/flight.h - the flight recorder's lines: each worker notes in its own line which callback it is in.
 *
 * The stores are relaxed: while the process lives, only a signal handler on the same thread reads them. When it dies,
 * what the thread stored before stays in the mapped file. */
#ifndef RUN_FLIGHT_H
#define RUN_FLIGHT_H

#include "pool/atomics.h"

#include <muster/flight.h>
#include <stdalign.h>

/* The layout of muster_flight_line, with atomic members to write. */
typedef struct flight_line {
  alignas(64) shared_u64 agent;
  shared_u64 place, frame, thread, signal, kernel_thread;
} flight_line;

/* A worker begins its part of a frame; null lines note nothing, here and below. */
void flight_begin(flight_line *line, uint64_t frame);

/* Marks the lines of the calling thread that are inside a callback; tells whether any is. Safe in signal handlers. */
bool flight_mark(flight_line *lines, uint32_t count, int signal);

/* The callbacks that follow are of this agent. */
static inline void flight_agent(flight_line *line, muster_agent agent) {
  if (line) store_relaxed_u64(&line->agent, agent.value);
}

/* One of the agent's callbacks is about to be called. `type` is as in muster_type.index. */
static inline void flight_enter(flight_line *line, muster_flight_doing doing, uint32_t type, uint32_t atom) {
  if (line) store_relaxed_u64(&line->place, (uint64_t)doing << 56 | (uint64_t)type << 32 | atom);
}

/* The last callback of a claim has returned. */
static inline void flight_leave(flight_line *line) {
  if (!line) return;
  store_relaxed_u64(&line->place, 0);
  store_relaxed_u64(&line->agent, 0);
}

/* What a line said before. */
typedef struct flight_note {
  uint64_t agent, place;
} flight_note;

/* A callback outside of claims is about to be called, for an agent (or null): at the intake, or inside an action. */
static inline flight_note flight_turn(flight_line *line, uint64_t frame, muster_agent agent, muster_flight_doing doing,
                                      muster_type type) {
  if (!line) return (flight_note){0, 0};
  flight_note before = {load_relaxed_u64(&line->agent), load_relaxed_u64(&line->place)};
  flight_begin(line, frame);
  flight_agent(line, agent);
  flight_enter(line, doing, type.index, 0);
  return before;
}

/* That callback has returned: the line says again what it said before. */
static inline void flight_return(flight_line *line, flight_note before) {
  if (!line) return;
  store_relaxed_u64(&line->place, before.place);
  store_relaxed_u64(&line->agent, before.agent);
}

#endif
