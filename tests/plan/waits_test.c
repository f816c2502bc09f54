/* Counts of waiting agents by the time of their release, against a plain list. */
#include "plan/planning.h"
#include "plan/waits.h"

enum { AGENTS = 400, FRAMES = 4000, FRAME_NS = 1000 };

/* Agents come, go, and come back with the time that they had: also one that no other has any more. */
Test(waits, tell_the_oldest_release_of_those_that_wait_in_every_frame) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  wait_book book;
  uint64_t since[AGENTS], had[AGENTS];
  uint32_t back = 0, waiting = 0;
  waits_create(&book, &arena);
  for (uint32_t i = 0; i < AGENTS; i++) since[i] = had[i] = UINT64_MAX;
  for (uint32_t frame = 1; frame < FRAMES; frame++) {
    for (uint32_t i = 0; i < AGENTS; i++) {
      uint64_t random = random_at(1, i, frame, 0);
      /* Now few wait, now nearly all; in every thousandth frame nobody does. */
      bool goes = frame % 1000 == 0 || random % 64 < (frame / 500 % 2 ? 2u : 24u);
      if (since[i] != UINT64_MAX && goes) {
        waits_leave(&book, since[i]);
        had[i] = since[i];
        since[i] = UINT64_MAX;
        waiting--;
      } else if (since[i] == UINT64_MAX && frame % 1000 && random >> 32 & 1) {
        bool again = had[i] != UINT64_MAX && random >> 33 & 1;
        back += again;
        since[i] = again ? had[i] : (uint64_t)frame * FRAME_NS;
        waits_enter(&book, since[i]);
        waiting++;
      }
    }
    cr_assert_eq(book.agents, waiting);
    uint64_t oldest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < AGENTS; i++) oldest_ns = since[i] < oldest_ns ? since[i] : oldest_ns;
    cr_assert_eq(waits_oldest_ns(&book), oldest_ns, "frame %u", frame);
  }
  cr_assert_gt(back, 10000);
}

/* One agent of each frame waits on: times become more than there is room for, and all leave in the end. */
Test(waits, of_more_frames_than_there_is_room_for_are_told_little_too_long) {
  enum { MANY = 3 * WAITS_MAX };
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  wait_book book;
  waits_create(&book, &arena);
  for (uint64_t i = 1; i <= MANY; i++) waits_enter(&book, i * FRAME_NS);
  cr_assert_eq(book.agents, MANY);
  for (uint64_t i = 1; i <= MANY; i++) {
    uint64_t oldest_ns = waits_oldest_ns(&book);
    cr_assert(oldest_ns <= i * FRAME_NS && i * FRAME_NS - oldest_ns < MANY / 4096 * FRAME_NS, "%lu is told as %lu",
              i * FRAME_NS, oldest_ns);
    if (i % 3 == 0) { /* it is put back, when its time may be one with another */
      waits_leave(&book, i * FRAME_NS);
      waits_enter(&book, i * FRAME_NS);
    }
    waits_leave(&book, i * FRAME_NS);
  }
  cr_assert_eq(book.agents, 0);
  cr_assert_eq(waits_oldest_ns(&book), UINT64_MAX);
}
