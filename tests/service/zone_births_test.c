/* A zone's process at one end of its wire, and the test, as its supervisor, at the other: in which birth space it gives
 * ids, and what it tells of those that it names. */
#include "support/zones.h"
#include "wires.h"

#include "service/service.h"
#include "service/zones/zone_parts.h"

enum { NUMBER = 2 };

typedef struct birth_place {
  little_world little;
  hosted_world world;
  struct zone *zone;
  struct wire end; /* of the supervisor */
} birth_place;

static birth_place place;

/* A zone of so many agents, as a process has it that was told that it is its own. */
static void open_place(uint32_t agents_max) {
  const muster_type_def type = walker_type();
  muster_world_def def = zone_world_def(NUMBER);
  def.limits.agents_max = agents_max;
  place = (birth_place){.little = zone_world_of(1, &def, &type)};
  place.zone = calloc(1, sizeof *place.zone);
  TAILQ_INIT(&place.zone->waiting);
  place.world = (hosted_world){.world = place.little.world, .zone = place.zone, .period_ns = 1000000, .name = "west"};
  wires_open(&place.end, &place.zone->wire, true);
}

static void close_place(void) {
  wires_close(&place.end, &place.zone->wire);
  free(place.zone);
  little_world_destroy(&place.little);
}

TestSuite(zone_births, .fini = close_place);

/* What the process has sent of a kind; zero = nothing. */
static wire_head told(wire_kind kind, const unsigned char **bytes) {
  wire_message message;
  wire_head head = {0};
  wire_flush(&place.zone->wire);
  while (head.kind == 0 && wire_next(&place.end, &message)) {
    if (message.head.kind != (uint32_t)kind) continue;
    head = message.head;
    if (bytes) *bytes = message.bytes;
  }
  return head;
}

static void answer_space(uint32_t space) {
  wire_put(&place.end, (wire_head){.kind = WIRE_SPACE, .number = space, .sequence = space}, NULL);
  wire_flush(&place.end);
}

static uint32_t space_of(void) {
  muster_zone_def now;
  cr_assert_eq(muster_zone_read(place.little.world, &now), MUSTER_OK);
  return now.epoch;
}

/* What is restored: a world of epoch 1. It was handed over with a space, closed behind that frame. */
static void restore_as(uint32_t space, uint64_t frame) {
  place.zone->lease = (wire_begin){
      .ground = {.number = NUMBER}, .epoch = 5000000000u, .restores = 1, .space = space, .space_frame = frame};
}

Test(zone_births, go_on_in_the_space_behind_the_frame_that_closed_it) {
  open_place(16);
  run_frame(&place.little);
  restore_as(1, held_last_frame(&place.world));
  cr_assert_eq(zone_go_on_with_births(&place.world), MUSTER_OK);
  cr_expect_eq(place.zone->space, 1);
  cr_expect_eq(told(WIRE_SPACE, NULL).kind, 0, "it asks for no other");
}

Test(zone_births, are_in_another_space_behind_any_other_frame) {
  open_place(16);
  run_frame(&place.little);
  restore_as(1, held_last_frame(&place.world) + 1);
  answer_space(6);
  cr_assert_eq(zone_go_on_with_births(&place.world), MUSTER_OK);
  wire_head asked = told(WIRE_SPACE, NULL);
  cr_expect(asked.kind == WIRE_SPACE && asked.number == 1 && asked.sequence == 0, "it says which one it has");
  cr_expect_eq(space_of(), 6);
  cr_expect_eq(muster_agent_epoch(spawn_at(&place.little, 1)), 6);
}

Test(zone_births, wait_for_a_space_before_a_new_world_is_made) {
  open_place(16);
  muster_world_def def = muster_world_def_default();
  place.zone->lease = (wire_begin){.ground = {.number = NUMBER}, .epoch = 1};
  answer_space(3);
  cr_assert(zone_begin_births(&place.world));
  zone_define(place.zone, &def);
  cr_expect_eq(def.zone.epoch, 3);
  shutdown(place.end.descriptor, SHUT_RDWR);
  place.zone->space = 0;
  cr_expect(!zone_begin_births(&place.world), "the supervisor is gone");
}

/* Births without an end in a zone of eight: ids come back whenever half of them rest. */
Test(zone_births, do_not_end_when_ids_are_used_up) {
  enum { IDS = 8, ROUNDS = 67000, EACH = IDS / 2 };
  open_place(IDS);
  muster_agent_def one = muster_agent_def_default();
  uint32_t spaces = 1, waits = 0;
  one.type = place.little.type;
  place.zone->space = 1;
  place.zone->runs = true;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t i = 0; i < EACH; i++) {
      muster_agent agent = muster_agent_spawn(place.little.world, &one);
      cr_assert_not(muster_agent_is_null(agent), "round %u: %s", round, muster_last_error());
      cr_assert_eq(muster_agent_epoch(agent), spaces);
      muster_agent_remove(place.little.world, agent);
    }
    run_frame(&place.little);
    zone_look_at_ids(&place.world);
    waits += place.zone->asks_space;
    if (!place.zone->asks_space || waits < 2) continue; /* the answer takes a frame */
    waits = 0;
    wire_head asked = told(WIRE_SPACE, NULL);
    cr_assert(asked.kind == WIRE_SPACE && asked.number == spaces && asked.sequence == 1);
    spaces++;
    zone_take_space(&place.world, &(wire_head){.kind = WIRE_SPACE, .number = spaces, .sequence = spaces});
    cr_assert_eq(space_of(), spaces);
  }
  cr_expect(spaces > 1 && spaces <= 8, "%u birth spaces for %u births", spaces, ROUNDS * EACH);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static bool tells(uint32_t zone, uint32_t space, bool *many) {
  const unsigned char *bytes = NULL;
  zone_tell_named(&place.world);
  wire_head head = told(WIRE_NAMED, &bytes);
  cr_assert_eq(head.kind, WIRE_NAMED);
  *many = head.sequence;
  for (size_t at = 0; at + sizeof(uint32_t) <= head.bytes; at += sizeof(uint32_t)) {
    uint32_t name;
    memcpy(&name, bytes + at, sizeof name);
    if (name == (zone << 14 | space)) return true;
  }
  return false;
}

Test(zone_births, tell_what_was_named_since_three_looks) {
  open_place(16);
  bool many = false;
  place.zone->caught_up = true;
  muster_agent agent = spawn_at(&place.little, 1);
  run_frame(&place.little);
  cr_assert_eq(muster_zone_set_epoch(place.little.world, 2), MUSTER_OK);
  cr_expect(tells(NUMBER, 1, &many) && !many);
  muster_agent_remove(place.little.world, agent);
  run_frame(&place.little);
  cr_expect(tells(NUMBER, 1, &many), "a snapshot that is stored now may have it");
  cr_expect(tells(NUMBER, 1, &many), "the same");
  cr_expect(!tells(NUMBER, 1, &many) && !many);
  cr_expect(tells(NUMBER, 2, &many), "the one in force");
}

Test(zone_births, tell_nothing_of_what_waits_for_long_or_was_not_caught_up_with) {
  open_place(16);
  bool many = false;
  tells(NUMBER, 1, &many);
  cr_expect(many, "it still learns who left in earlier lives");
  place.zone->caught_up = true;
  tells(NUMBER, 1, &many);
  cr_expect(!many);
  zone_waiting *waiting = calloc(1, sizeof *waiting);
  TAILQ_INSERT_TAIL(&place.zone->waiting, waiting, link);
  for (uint32_t look = 0; look < ZONE_LOOKS; look++) {
    tells(NUMBER, 1, &many);
    cr_expect_eq(many, look == ZONE_LOOKS - 1, "look %u", look);
  }
  TAILQ_REMOVE(&place.zone->waiting, waiting, link);
  free(waiting);
  for (uint32_t look = 0; look < ZONE_LOOKS; look++) {
    tells(NUMBER, 1, &many);
    cr_expect_eq(many, look < ZONE_LOOKS - 1, "look %u: as long as it was waiting behind one of them", look);
  }
}
