/* Epochs and birth spaces of a zone, with real etcd servers: they do not end. MUSTER_HAND_OVERS says how often the zone
 * is handed over. */
#include "broker_here.h"

enum { ZONE = 9, OTHER = 4, HAND_OVERS = 200 };

TestSuite(broker_spaces, .fini = end_here, .timeout = 14400);

/* What a call about a space came to. */
typedef struct space_answer {
  bool done;
  muster_result result;
  zone_space space;
} space_answer;

static void note_space(muster_result result, const zone_space *space, void *user) {
  space_answer *answer = user;
  *answer = (space_answer){.done = true, .result = result};
  if (space) answer->space = *space;
}

static space_answer take_space(struct broker *broker, const broker_lease *lease, uint64_t unborn, uint32_t own) {
  space_answer answer = {.done = false};
  const broker_space_wish wish = {.unborn = unborn, .own = own};
  cr_assert_eq(broker_space_take(broker, lease, &wish, note_space, &answer), MUSTER_OK);
  LAB_AWAIT(&here, answer.done);
  return answer;
}

static space_answer sweep(struct broker *broker, const broker_lease *lease) {
  space_answer answer = {.done = false};
  cr_assert_eq(broker_space_sweep(broker, lease, note_space, &answer), MUSTER_OK);
  LAB_AWAIT(&here, answer.done);
  cr_assert_eq(answer.result, MUSTER_OK, "%s", muster_last_error());
  return answer;
}

/* As if so many had been given: muster/large/zone/9/epoch = 4294967295 a. */
static const char all_of_32_bits[] =
    "{\"key\": \"bXVzdGVyL2xhcmdlL3pvbmUvOS9lcG9jaA==\", \"value\": \"NDI5NDk2NzI5NSBh\"}";

/* As nodes do: one gives the zone behind a frame, and the other takes it with the state behind that. */
Test(broker_spaces, however_often_a_zone_is_handed_over_it_has_one_space) {
  static const char *const names[] = {"a", "b"};
  struct broker *nodes[] = {open_as(0, "a"), open_as(1, "b")};
  broker_lease lease = take(nodes[0], ZONE);
  cr_assert_eq(lease.space.space, 0, "nobody was born yet");
  zone_space space = take_space(nodes[0], &lease, 0, 0).space;
  cr_assert(space.space == 1 && space.used == 1 && space.epoch == 1);
  const uint32_t count = (uint32_t)from_environment("MUSTER_HAND_OVERS", HAND_OVERS);
  for (uint32_t i = 1; i <= count; i++) {
    space_close(&space, lease.epoch, 10u * i);
    EXPECT_RESULT(give(nodes[(i + 1) % 2], &lease, names[i % 2], &space), MUSTER_OK);
    lease = take(nodes[i % 2], ZONE);
    space = lease.space;
    cr_assert_eq(lease.epoch, i + 1u);
    cr_assert(space_goes_on(&space, lease.epoch) && space.frame == 10u * i, "hand-over %u", i);
    cr_assert(space.space == 1 && space.used == 1);
  }
  printf("  %u hand-overs, epoch %" PRIu64 ", birth space %u\n", count, lease.epoch, space.space);
}

Test(broker_spaces, whoever_takes_over_from_the_dead_takes_another) {
  struct broker *a = open_as(0, "a");
  broker_lease first = take(a, ZONE);
  cr_assert_eq(take_space(a, &first, 0, 0).space.space, 1);
  broker_lease second = take(a, ZONE);
  cr_assert(!space_goes_on(&second.space, second.epoch));
  cr_expect_eq(take_space(a, &first, 0, 0).result, MUSTER_E_STATE, "its lease is another's");
  cr_expect_eq(take_space(a, &second, 0, 0).space.space, 2);
  broker_lease third = take(a, ZONE);
  space_answer same = take_space(a, &third, second.epoch, 0);
  cr_expect(same.space.space == 2 && same.space.epoch == third.epoch, "the one before it gave no id");
  zone_space closed = same.space;
  space_close(&closed, third.epoch, 77);
  CALL_HERE(broker_lease_release, a, &third, &closed);
  broker_lease lost = take(a, ZONE), fourth = take(a, ZONE);
  cr_expect(space_goes_on(&lost.space, lost.epoch));
  cr_expect(!space_goes_on(&fourth.space, fourth.epoch), "whoever had it between may have given ids");
}

Test(broker_spaces, epochs_fence_beyond_32_bits) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  brokers_tell_etcd(here.servers, "/v3/kv/put", all_of_32_bits);
  broker_lease first = take(a, ZONE);
  cr_assert_eq(first.epoch, (uint64_t)1 << 32);
  cr_assert_eq(cross(a, &first, OTHER, 1, "message"), MUSTER_OK);
  EXPECT_RESULT(lab_release(&here, a, &first), MUSTER_OK);
  broker_lease second = take(b, ZONE);
  cr_assert_eq(second.epoch, ((uint64_t)1 << 32) + 1);
  cr_expect_eq(cross(a, &first, OTHER, 2, "message"), MUSTER_E_STATE, "it has lost its zone");
  cr_expect_eq(cross(b, &second, OTHER, 1, "message"), MUSTER_OK);
  cr_expect_eq(take_space(b, &second, 0, 0).space.epoch, second.epoch);
  broker_lease third = take(b, ZONE);
  cr_expect_eq(third.space.epoch, second.epoch, "nothing of it was cut");
}

Test(broker_spaces, of_a_zone_that_goes_on_from_files_come_behind_its_own) {
  struct broker *a = open_as(0, "a");
  lab_answer answer = {0};
  call_here(broker_lease_take(a, ZONE, true, 0, 100000, lab_taken, &answer), &answer);
  cr_assert_eq(answer.lease.epoch, 100001, "above those that its files know, in one step");
  space_answer space = take_space(a, &answer.lease, 0, 700);
  cr_expect(space.space.space == 701 && space.space.used == 701, "space %u, %u used", space.space.space,
            space.space.used);
  cr_expect(take_space(a, &answer.lease, 0, SPACES_MAX).space.space == 702,
            "another one, though not that of its world");
}

/* ------------------------------------------------------------------------------------------------------ used again */

/* A zone stores a version that names these spaces of ZONE. */
static void store(struct broker *broker, const broker_lease *lease, int64_t since, uint32_t count,
                  const uint32_t *spaces) {
  struct {
    spaces_note note;
    uint32_t names[8];
  } named = {.note = {.since = since, .after = broker_revision(broker), .count = count}};
  for (uint32_t i = 0; i < count; i++) named.names[i] = ZONE << 14 | spaces[i];
  size_t bytes = sizeof named.note + count * sizeof *named.names;
  lab_answer answer = CALL_HERE(broker_note_stored, broker, lease, "version", 7, &named, bytes);
  EXPECT_RESULT(answer, MUSTER_OK);
}

Test(broker_spaces, are_free_again_when_nothing_names_them_and_nothing_crosses) {
  struct broker *a = open_as(0, "a");
  broker_lease other = take(a, OTHER), lease = {0};
  for (uint32_t i = 1; i <= 5; i++) {
    lease = take(a, ZONE);
    cr_assert_eq(take_space(a, &lease, 0, 0).space.space, i);
  }
  int64_t taken = broker_revision(a);
  store(a, &lease, taken, 1, (const uint32_t[]){5});
  cr_expect_eq(sweep(a, &lease).space.used, 5, "the other zone has noted nothing");
  store(a, &other, 0, 0, NULL);
  cr_expect_eq(sweep(a, &lease).space.used, 5, "it has not noted since when");
  cr_assert_eq(cross(a, &other, ZONE, 1, "message"), MUSTER_OK);
  int64_t crossed = broker_revision(a);
  store(a, &lease, taken, 1, (const uint32_t[]){5});
  store(a, &other, crossed, 1, (const uint32_t[]){3});
  cr_expect_eq(sweep(a, &lease).space.used, 5, "what crossed may name each");
  forget(a, &other, ZONE, (zone_place){other.epoch, 1000});
  space_answer swept = sweep(a, &lease);
  cr_expect(swept.space.used == 2 && swept.space.space == 5, "3, where somebody lives, and the one in force: %u used",
            swept.space.used);
  cr_expect_eq(take(a, ZONE).space.used, 2, "as everybody is told");
}

Test(broker_spaces, of_the_dead_are_given_again_round_and_round) {
  enum { DEATHS = 60 };
  struct broker *a = open_as(0, "a");
  uint32_t last = 0;
  for (uint32_t i = 1; i <= DEATHS; i++) {
    broker_lease lease = take(a, ZONE);
    space_answer answer = take_space(a, &lease, 0, 0);
    cr_assert_eq(answer.result, MUSTER_OK);
    cr_assert_eq(answer.space.space, last + 1, "others come first");
    last = answer.space.space;
    store(a, &lease, broker_revision(a), 1, &last);
    cr_assert_eq(sweep(a, &lease).space.used, 1);
  }
}
