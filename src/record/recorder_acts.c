/* recorder_acts.c - who acted beside others before time ran out is known by clocks alone: written down, or read. */
#include "record/recorder.h"

void recorder_keep_acted(struct muster_world *world) {
  tape *tape = &world->recorder->tape;
  const acts *acts = &world->acts;
  recorder_mark(world, TAG_ACTED);
  tape_put_number(tape, acts->count);
  for (uint32_t i = 0, alike; i < acts->count; i += alike) {
    alike = 1;
    while (i + alike < acts->count && acts->entries[i + alike].ran == acts->entries[i].ran) alike++;
    tape_put_number(tape, (uint64_t)alike << 1 | acts->entries[i].ran);
  }
}

void recorder_choose_acted(struct muster_world *world) {
  tape *tape = &world->recorder->tape;
  acts *acts = &world->acts;
  uint32_t listed = acts->count;
  if (!recorder_mark(world, TAG_ACTED)) return;
  uint64_t recorded = tape_take_number(tape);
  if (recorded != listed) {
    recorder_diverges(world, "actions of %u agents wait, in its record of %llu", listed, (unsigned long long)recorded);
    return;
  }
  for (uint32_t i = 0; i < listed;) {
    uint64_t number = tape_take_number(tape), alike = number >> 1;
    if (tape->failed || alike == 0 || alike > listed - i) {
      recorder_diverges(world, "its record does not say whether agent %u acted", acts->entries[i].agent);
      return;
    }
    for (; alike > 0; alike--, i++) acts->entries[i].left_out = !(number & 1);
  }
}
