/* Requests of libcurl for which there is no memory: they are refused, and nothing of them is left. */
#include "room.h"
#include "service/curl_loop.h"

#include <malloc.h>

#ifdef MUSTER_HAS_ZONES
#include "service/zones/complaints.h"
#include "service/zones/etcd.h"
#endif

static bool lacks; /* libcurl gets no memory */

static void *give(size_t bytes) {
  return lacks ? NULL : malloc(bytes);
}

static void *give_more(void *memory, size_t bytes) {
  return lacks ? NULL : realloc(memory, bytes);
}

static void *give_zeros(size_t count, size_t bytes) {
  return lacks ? NULL : calloc(count, bytes);
}

static char *give_text(const char *text) {
  return lacks ? NULL : strdup(text);
}

static uv_loop_t loop;

static void begin(void) {
  cr_assert_eq(curl_global_init_mem(CURL_GLOBAL_DEFAULT, give, free, give_more, give_text, give_zeros), CURLE_OK);
  cr_assert_eq(uv_loop_init(&loop), 0);
}

static void end(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(uv_loop_close(&loop), 0, "something is left in the loop");
}

TestSuite(no_memory, .init = begin, .fini = end, .timeout = 60);

static void take_end(void *request, CURLcode result) {
  (void)request, (void)result;
}

Test(no_memory, a_loop_of_requests_is_not_opened) {
  lacks = true;
  cr_expect_null(curl_loop_open(&loop, take_end));
  cr_expect_eq(muster_last_result(), MUSTER_E_MEMORY);
  lacks = false;
  struct curl_loop *curls = curl_loop_open(&loop, take_end);
  cr_expect_not_null(curls);
  curl_loop_free(curls);
}

#ifdef MUSTER_HAS_ZONES

static void note_change(bool answers, void *user) {
  (void)answers, (void)user;
}

static void never(muster_result result, const struct document *answer, void *user) {
  (void)result, (void)answer, (void)user;
  cr_expect(false, "it was refused");
}

/* The C library counts what is not given back; a sanitizer has a library of its own, and counts itself. */
Test(no_memory, a_call_of_etcd_is_refused_and_leaves_nothing) {
  enum { CALLS = 1000, MOST = 64 * CALLS };
  static const broker_settings settings = {.world = "land", .node = "a", .etcd = "http://127.0.0.1:1"};
  struct complaints complaints = {.loop = &loop};
  struct etcd *etcd = etcd_open(&loop, &settings, "", &complaints, note_change, NULL);
  cr_assert_not_null(etcd, "%s", muster_last_error());
  lacks = true;
  size_t before = mallinfo2().uordblks;
  for (int i = 0; i < CALLS; i++) cr_assert_eq(etcd_call(etcd, "/v3/kv/range", "{}", never, NULL), MUSTER_E_MEMORY);
  cr_expect_lt(mallinfo2().uordblks, before + MOST);
  lacks = false;
  etcd_close(etcd);
}

#endif
