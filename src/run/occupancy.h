/* run/occupancy.h - what a world is busy with, and on which thread. Calls that may come at the wrong moment ask here.
 *
 * One thread at a time writes: the thread that works on the world. Others may read the state at any time, without
 * order: a call from another thread that misuses the world is refused when it is seen, and is a race when it is not. */
#ifndef RUN_OCCUPANCY_H
#define RUN_OCCUPANCY_H

#include "pool/atomics.h"

enum occupation {
  OCCUPIED_NOT = 0,  /* between two frames */
  OCCUPIED_BY_FRAME, /* a frame runs, or is planned, or a report is taken in */
  OCCUPIED_BY_PLAN,  /* the host runs what was planned */
  OCCUPIED_BY_CALL,  /* a call between two frames that calls back, and only reads what agents are */
  OCCUPIED_BY_DESTROYING
};

struct occupancy {
  shared_u32 occupation;
  shared_u64 thread; /* the thread that began it: thread_self() */
  const char *stack; /* an address in that thread's stack, in the call that began its last frame */
  shared_u32 frames; /* the thread that ran the last frame, by the system's number; 0 = none did */
};

/* A number that no other running thread has, for about the price of a load. */
static inline uint64_t thread_self(void) {
  return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

/* What the world is busy with, for about the price of a load. Any thread. */
static inline enum occupation occupancy_get(const struct occupancy *occupancy) {
  return (enum occupation)load_relaxed_u32(&occupancy->occupation);
}

/* The calling thread begins to occupy the world, or stops (OCCUPIED_NOT). */
void occupancy_set(struct occupancy *occupancy, enum occupation occupation);

/* Whether the calling thread is the one that occupies it. */
bool occupancy_is_mine(const struct occupancy *occupancy);

/* The calling thread runs the world's frames from here on. */
void occupancy_take_frames(struct occupancy *occupancy);

/* The thread that runs the world's frames, by the system's number, when that is another than the calling one and has
 * not ended; else 0. In a process that was forked the threads of its parent have ended. */
uint32_t occupancy_other_thread(const struct occupancy *occupancy);

/* Whether the calling thread left its frame without returning, by longjmp(): it occupies the world, and `here` in its
 * stack is no deeper than where the frame began. Never true on another stack than the thread's own, such as a
 * coroutine's, where this cannot be told. */
bool occupancy_was_left(const struct occupancy *occupancy, const char *here);

#endif
