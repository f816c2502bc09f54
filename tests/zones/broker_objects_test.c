/* Objects, with real NATS servers. */
#include "broker_here.h"

#include <sys/stat.h>

enum { PART = 512 * 1024, LARGE = 50 << 20 };

static char folder[64] = "/tmp/muster-objects-test-XXXXXX";
static char source[96], target[96];

static void end(void) {
  if (!here.servers) return;
  lab_end(&here);
  cr_expect_eq(system(formed("rm -r %s", folder)), 0);
}

TestSuite(broker_objects, .fini = end, .timeout = 300);

static struct broker *start(uint32_t nats) {
  start_here(nats, 1);
  cr_assert_not_null(mkdtemp(folder));
  snprintf(source, sizeof source, "%s/source", folder);
  snprintf(target, sizeof target, "%s/target", folder);
  return open_as(0, "a");
}

/* A file of that many bytes, whose words depend on where they are and on `salt`. */
static void write_source(size_t bytes, uint64_t salt) {
  FILE *file = fopen(source, "w");
  cr_assert_not_null(file);
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t word = (at + salt) * 0x9e3779b97f4a7c15u;
    size_t count = bytes - at < sizeof word ? bytes - at : sizeof word;
    cr_assert_eq(fwrite(&word, 1, count, file), count);
  }
  cr_assert_eq(fclose(file), 0);
}

static bool is_target_of(size_t bytes, uint64_t salt) {
  struct stat status;
  FILE *file = fopen(target, "r");
  bool same = file && fstat(fileno(file), &status) == 0 && (size_t)status.st_size == bytes;
  for (size_t at = 0; same && at < bytes; at += sizeof(uint64_t)) {
    uint64_t word = (at + salt) * 0x9e3779b97f4a7c15u, got = 0;
    size_t count = bytes - at < sizeof word ? bytes - at : sizeof word;
    same = fread(&got, 1, count, file) == count && memcmp(&got, &word, count) == 0;
  }
  if (file) fclose(file);
  return same;
}

typedef struct stored {
  lab_answer answer;
  broker_object object;
} stored;

static void note_object(muster_result result, const broker_object *object, void *user) {
  stored *of = user;
  of->object = *object;
  lab_done(result, &of->answer);
}

static stored store(struct broker *broker, const char *name, uint64_t version) {
  stored of = {0};
  call_here(broker_store(broker, name, (zone_place){1, version}, source, note_object, &of), &of.answer);
  return of;
}

static broker_object stored_well(struct broker *broker, const char *name, uint64_t version) {
  stored of = store(broker, name, version);
  EXPECT_RESULT(of.answer, MUSTER_OK);
  cr_assert(place_equal(of.object.version, (zone_place){1, version}));
  return of.object;
}

static lab_answer fetch(struct broker *broker, const char *name, const broker_object *object) {
  stored of = {0};
  return call_here(broker_fetch(broker, name, object, target, note_object, &of), &of.answer);
}

#define EXPECT_FETCHED(broker, name, object, bytes, salt)                                                              \
  do {                                                                                                                 \
    EXPECT_RESULT(fetch(broker, name, object), MUSTER_OK);                                                             \
    cr_expect(is_target_of(bytes, salt));                                                                              \
  } while (0)

/* How many bytes the stream of objects holds. */
static long long bytes_kept(void) {
  brokers_answer answer = brokers_ask(here.servers, BROKERS_NATS, 0, "/jsz?accounts=true&streams=true", NULL, NULL);
  const char *stream = answer.body ? strstr(answer.body, "\"muster-large-objects\"") : NULL;
  const char *bytes = stream ? strstr(stream, "\"bytes\":") : NULL;
  cr_assert_not_null(bytes, "%s", answer.body);
  long long kept = atoll(bytes + 8);
  free(answer.body);
  return kept;
}

Test(broker_objects, what_is_stored_is_fetched) {
  struct broker *broker = start(1);
  broker_object never = {.version = {1, 9}, .bytes = 5};
  cr_expect_eq(fetch(broker, "zone-1", &never).result, MUSTER_E_STALE);
  cr_expect_neq(access(target, F_OK), 0);
  write_source(3 * PART + 5, 1);
  broker_object ten = stored_well(broker, "zone-1", 10);
  write_source(2 * PART, 2);
  broker_object eleven = stored_well(broker, "zone-1", 11);
  EXPECT_FETCHED(broker, "zone-1", &ten, 3 * PART + 5, 1);
  EXPECT_FETCHED(broker, "zone-1", &eleven, 2 * PART, 2);
  cr_expect_eq(fetch(broker, "zone-11", &eleven).result, MUSTER_E_STALE);
  write_source(0, 0);
  broker_object nothing = stored_well(broker, "zone-1", 12);
  EXPECT_FETCHED(broker, "zone-1", &nothing, 0, 0);
  write_source(1, 4);
  broker_object one = stored_well(broker, "zone-1", 13);
  EXPECT_FETCHED(broker, "zone-1", &one, 1, 4);
  unlink(source);
  stored missing = store(broker, "zone-1", 14);
  cr_expect_eq(missing.answer.result, MUSTER_E_INPUT);
  cr_expect(strstr(missing.answer.reason, source), "%s", missing.answer.reason);
}

Test(broker_objects, what_is_damaged_is_not_taken) {
  struct broker *broker = start(1);
  write_source(PART + 5, 1);
  broker_object object = stored_well(broker, "zone-1", 1), other = object;
  other.checksum++;
  cr_expect_eq(fetch(broker, "zone-1", &other).result, MUSTER_E_INPUT);
  other = object;
  other.bytes++;
  cr_expect_eq(fetch(broker, "zone-1", &other).result, MUSTER_E_INPUT);
  cr_expect_neq(access(target, F_OK), 0, "there is no file, and no part of one");
  cr_expect_neq(access(formed("%s.fetching", target), F_OK), 0);
  EXPECT_FETCHED(broker, "zone-1", &object, PART + 5, 1);
}

Test(broker_objects, a_file_that_cannot_be_made_is_told) {
  struct broker *broker = start(1);
  write_source(PART + 5, 1);
  broker_object object = stored_well(broker, "zone-1", 1);
  const char *nowhere = formed("%s/none/target", folder);
  stored of = {0};
  lab_answer answer = call_here(broker_fetch(broker, "zone-1", &object, nowhere, note_object, &of), &of.answer);
  cr_expect_eq(answer.result, MUSTER_E_SYSTEM);
  cr_expect(strstr(answer.reason, formed("%s.fetching: No such file or directory", nowhere)), "%s", answer.reason);
}

/* Removed is all that came before: versions, and what a store that was cut has left. */
Test(broker_objects, what_is_older_is_removed) {
  struct broker *broker = start(1);
  broker_ends ends;
  stored cut = {0};
  write_source(PART + 1, 1);
  broker_object whole = stored_well(broker, "zone-1", 1);
  write_source(LARGE, 2);
  cr_assert_eq(broker_store(broker, "zone-1", (zone_place){1, 2}, source, note_object, &cut), MUSTER_OK);
  while (bytes_kept() < 4 * PART) uv_run(&here.loop, UV_RUN_ONCE);
  lab_close(&here, 0);
  cr_assert(cut.answer.done);
  cr_expect_eq(cut.answer.result, MUSTER_E_SYSTEM);
  broker = open_as(0, "b");
  EXPECT_FETCHED(broker, "zone-1", &whole, PART + 1, 1);
  write_source(PART, 3);
  stored_well(broker, "zone-1", 3);
  stored_well(broker, "zone-2", 1);
  broker_read_ends(broker, &ends);
  broker_object next = stored_well(broker, "zone-1", 4);
  broker_remove(broker, "zone-1", &ends);
  while (bytes_kept() > 2 * PART + 4096) uv_run(&here.loop, UV_RUN_ONCE);
  EXPECT_FETCHED(broker, "zone-1", &next, PART, 3);
}

/* The loop goes on while a large file is stored, and read. */
Test(broker_objects, large_files_go_through_kills) {
  struct broker *broker = start(3);
  stored of = {0};
  write_source(LARGE, 5);
  cr_assert_eq(broker_store(broker, "large", (zone_place){1, 1}, source, note_object, &of), MUSTER_OK);
  for (uint32_t turns = 0; turns < 50; turns++) uv_run(&here.loop, UV_RUN_ONCE);
  cr_assert(!of.answer.done);
  brokers_kill(here.servers, BROKERS_NATS, 1);
  LAB_AWAIT(&here, of.answer.done);
  cr_assert_eq(of.answer.result, MUSTER_OK, "%s", of.answer.reason);
  brokers_revive(here.servers, BROKERS_NATS, 1);
  brokers_await(here.servers);
  for (uint32_t turns = 0; turns < 200; turns++) uv_run(&here.loop, UV_RUN_ONCE);
  brokers_kill(here.servers, BROKERS_NATS, 0);
  EXPECT_FETCHED(broker, "large", &of.object, LARGE, 5);
}
