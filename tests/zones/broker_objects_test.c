/* Objects, with real NATS servers. */
#include "broker_lab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART = 256 * 1024, LARGE = 50 << 20 };

static struct lab here;
static char folder[64] = "/tmp/muster-objects-test-XXXXXX";
static char source[96], target[96];

static void end(void) {
  char command[128];
  if (!here.servers) return;
  lab_end(&here);
  snprintf(command, sizeof command, "rm -r %s", folder);
  cr_expect_eq(system(command), 0);
}

TestSuite(broker_objects, .fini = end, .timeout = 300);

static struct broker *start(uint32_t nats) {
  lab_start(&here, &(brokers_options){.nats = nats, .etcd = 1});
  cr_assert_not_null(mkdtemp(folder));
  snprintf(source, sizeof source, "%s/source", folder);
  snprintf(target, sizeof target, "%s/target", folder);
  broker_settings settings = lab_settings(&here, "a", 15);
  return lab_open(&here, 0, &settings, true);
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

static lab_answer store(struct broker *broker, const char *name, uint64_t version, const char *head) {
  lab_answer answer = {0};
  cr_assert_eq(broker_store(broker, name, version, source, head, strlen(head), lab_done, &answer), MUSTER_OK, "%s",
               muster_last_error());
  cr_assert(!answer.done);
  LAB_AWAIT(&here, answer.done);
  return answer;
}

typedef struct fetched {
  lab_answer answer;
  uint64_t version;
  char head[64];
} fetched;

static void note_fetched(muster_result result, uint64_t version, const void *head, size_t head_bytes, void *user) {
  fetched *of = user;
  of->version = version;
  cr_assert_eq(head != NULL, result == MUSTER_OK);
  cr_assert_lt(head_bytes, sizeof of->head);
  if (head) memcpy(of->head, head, head_bytes);
  lab_done(result, &of->answer);
}

static fetched fetch(struct broker *broker, const char *name) {
  fetched of = {0};
  cr_assert_eq(broker_fetch(broker, name, target, note_fetched, &of), MUSTER_OK, "%s", muster_last_error());
  cr_assert(!of.answer.done);
  LAB_AWAIT(&here, of.answer.done);
  return of;
}

#define EXPECT_FETCHED(broker, name, number, words, bytes, salt)                                                       \
  do {                                                                                                                 \
    fetched of_ = fetch(broker, name);                                                                                 \
    cr_assert_eq(of_.answer.result, MUSTER_OK, "%s", of_.answer.reason);                                               \
    cr_expect_eq(of_.version, number);                                                                                 \
    cr_expect_str_eq(of_.head, words);                                                                                 \
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

Test(broker_objects, the_highest_version_counts) {
  struct broker *broker = start(1);
  fetched none = fetch(broker, "zone-1");
  cr_expect_eq(none.answer.result, MUSTER_E_STALE, "%s", none.answer.reason);
  cr_expect_neq(access(target, F_OK), 0);
  write_source(3 * PART + 5, 1);
  cr_assert_eq(store(broker, "zone-1", 10, "ten").result, MUSTER_OK);
  EXPECT_FETCHED(broker, "zone-1", 10, "ten", 3 * PART + 5, 1);
  cr_expect_eq(fetch(broker, "zone-11").answer.result, MUSTER_E_STALE);
  write_source(2 * PART, 2);
  cr_assert_eq(store(broker, "zone-1", 11, "eleven").result, MUSTER_OK);
  EXPECT_FETCHED(broker, "zone-1", 11, "eleven", 2 * PART, 2);
  cr_expect_lt(bytes_kept(), 2 * PART + 4096, "the older one is removed");

  write_source(PART, 3);
  lab_answer older = store(broker, "zone-1", 9, "nine");
  cr_expect_eq(older.result, MUSTER_E_STALE, "%s", older.reason);
  EXPECT_FETCHED(broker, "zone-1", 11, "eleven", 2 * PART, 2);
  cr_assert_eq(store(broker, "zone-1", 11, "again").result, MUSTER_OK);
  EXPECT_FETCHED(broker, "zone-1", 11, "again", PART, 3);

  write_source(0, 0);
  cr_assert_eq(store(broker, "zone-1", 12, "").result, MUSTER_OK);
  EXPECT_FETCHED(broker, "zone-1", 12, "", 0, 0);
  cr_expect_lt(bytes_kept(), 4096);
  unlink(source);
  lab_answer missing = store(broker, "zone-1", 13, "");
  cr_expect_eq(missing.result, MUSTER_E_INPUT);
  cr_expect(strstr(missing.reason, source), "%s", missing.reason);
  cr_expect_eq(broker_store(broker, "zone.1", 1, source, "", 0, lab_done, NULL), MUSTER_E_ARGUMENT);
  cr_expect_eq(broker_fetch(broker, "", target, note_fetched, NULL), MUSTER_E_ARGUMENT);
}

/* The broker is closed in the midst of it: as when the daemon ends. */
Test(broker_objects, an_upload_that_was_cut_leaves_the_older_version) {
  struct broker *broker = start(1);
  lab_answer cut = {0};
  write_source(PART + 1, 1);
  cr_assert_eq(store(broker, "zone-1", 1, "whole").result, MUSTER_OK);
  write_source(LARGE, 2);
  cr_assert_eq(broker_store(broker, "zone-1", 2, source, "cut", 3, lab_done, &cut), MUSTER_OK);
  while (bytes_kept() < 4 * PART) uv_run(&here.loop, UV_RUN_ONCE);
  lab_close(&here, 0);
  cr_assert(cut.done);
  cr_expect_eq(cut.result, MUSTER_E_SYSTEM);
  broker_settings settings = lab_settings(&here, "b", 15);
  broker = lab_open(&here, 0, &settings, true);
  EXPECT_FETCHED(broker, "zone-1", 1, "whole", PART + 1, 1);
  write_source(PART, 3);
  cr_assert_eq(store(broker, "zone-1", 3, "next").result, MUSTER_OK);
  EXPECT_FETCHED(broker, "zone-1", 3, "next", PART, 3);
  cr_expect_lt(bytes_kept(), PART + 4096, "what was cut is removed, too");
}

/* The loop goes on while a large file is stored, and read. */
Test(broker_objects, large_files_go_through_kills) {
  struct broker *broker = start(3);
  lab_answer stored = {0};
  write_source(LARGE, 5);
  cr_assert_eq(broker_store(broker, "large", 1, source, "large", 5, lab_done, &stored), MUSTER_OK);
  uint32_t turns = 0;
  for (; turns < 50; turns++) uv_run(&here.loop, UV_RUN_ONCE);
  cr_assert(!stored.done);
  int leader = brokers_stream_leader(here.servers, "muster-large-objects");
  brokers_kill(here.servers, BROKERS_NATS, leader >= 0 ? (uint32_t)leader : 0);
  LAB_AWAIT(&here, stored.done);
  cr_assert_eq(stored.result, MUSTER_OK, "%s", stored.reason);
  EXPECT_FETCHED(broker, "large", 1, "large", LARGE, 5);
}

/* Two that store at the same time: the lower version is refused, or overtaken; in no case does it harm the other. */
Test(broker_objects, a_former_owner_does_no_harm) {
  struct broker *old = start(1);
  broker_settings settings = lab_settings(&here, "b", 15);
  struct broker *new = lab_open(&here, 1, &settings, true);
  write_source(12 * PART + 9, 4);
  for (uint64_t round = 1; round <= 10; round++) {
    lab_answer lower = {0}, higher = {0};
    bool old_first = round % 2;
    for (int i = 0; i < 2; i++) {
      bool is_old = old_first == (i == 0);
      cr_assert_eq(broker_store(is_old ? old : new, "zone-1", round * 10 + !is_old, source, is_old ? "old" : "new", 3,
                                lab_done, is_old ? &lower : &higher),
                   MUSTER_OK);
    }
    LAB_AWAIT(&here, lower.done && higher.done);
    cr_assert_eq(higher.result, MUSTER_OK, "%s", higher.reason);
    cr_assert(lower.result == MUSTER_OK || lower.result == MUSTER_E_STALE, "%s", lower.reason);
    EXPECT_FETCHED(old, "zone-1", round * 10 + 1, "new", 12 * PART + 9, 4);
  }
}
