/* How much brokers can take, here: the figures with which `muster bench zones` says where a cluster ends. A short run
 * shows that it works, not how much; MUSTER_LIMITS=1000 takes the figures, a thousand times as many calls, and judges
 * that a look costs the same however much has crossed before. */
#include "broker_here.h"

#include "base/clock.h"
#include "service/zones/parts.h"

TestSuite(limits, .fini = end_here, .timeout = 3600);

enum { LANES = 128 };

static struct broker *broker;

/* Calls of one kind: each lane has one at a time. */
typedef struct load {
  uint64_t begun, done, failed, wanted;
  void (*call)(uint32_t lane);
} load;

static load now;

static uint64_t times(void) {
  return from_environment("MUSTER_LIMITS", 1);
}

static void end_call(muster_result result, void *user) {
  now.done++;
  now.failed += result != MUSTER_OK;
  if (now.begun == now.wanted) return;
  now.begun++;
  now.call((uint32_t)(uintptr_t)user);
}

static double run_load(const char *name, uint64_t count, void (*call)(uint32_t lane)) {
  now = (load){.wanted = count, .call = call};
  uint64_t begin_ns = clock_system();
  while (now.begun < LANES && now.begun < now.wanted) call((uint32_t)now.begun++);
  for (uint64_t part = 1; part <= 100; part++)
    LAB_AWAIT(&here, now.done >= now.wanted * part / 100); /* each has its patience */
  double seconds = (double)(clock_system() - begin_ns) * 1e-9;
  cr_expect_eq(now.failed, 0, "%s: %" PRIu64 " failed", name, now.failed);
  printf("%-50s %10.0f a second\n", name, (double)count / seconds);
  fflush(stdout);
  return (double)count / seconds;
}

static uint32_t numbers[LANES];
static char bytes[1 << 20];
static size_t size;

/* ------------------------------------------------------------------------------------------------------------- NATS */

static void call_keep(uint32_t lane) {
  cr_assert_eq(broker_keep(broker, BROKER_JOURNAL, formed("zone-%u", lane), (zone_place){1, 1}, ++numbers[lane], bytes,
                           size, end_call, (void *)(uintptr_t)lane),
               MUSTER_OK);
}

static void call_tell(uint32_t lane) {
  broker_tell(broker, ++numbers[lane], formed("muster.large.ghosts.%u.1", lane), bytes, size);
}

static void take_told(const void *told, size_t count, void *user) {
  (void)told;
  end_call(count == size ? MUSTER_OK : MUSTER_E_INPUT, user);
}

Test(limits, of_nats) {
  broker_listener *listeners[LANES];
  start_here(3, 3);
  broker = open_as(0, "a");
  for (uint32_t lane = 0; lane < LANES; lane++) {
    listeners[lane] =
        broker_listen(broker, formed("muster.large.ghosts.%u.1", lane), take_told, (void *)(uintptr_t)lane);
    cr_assert_not_null(listeners[lane]);
  }
  static const struct {
    const char *name;
    size_t size;
    uint64_t count;
    void (*call)(uint32_t lane);
  } loads[] = {{"tellings of 1 KB", 1000, 20000, call_tell},
               {"tellings of 100 KB", 100000, 2000, call_tell},
               {"kept messages of 1 KB", 1000, 2000, call_keep},
               {"kept messages of 100 KB", 100000, 200, call_keep}};
  for (size_t i = 0; i < COUNT_OF(loads); i++) {
    size = loads[i].size;
    run_load(loads[i].name, times() * loads[i].count, loads[i].call);
  }
  for (uint32_t lane = 0; lane < LANES; lane++) broker_stop_listening(listeners[lane]);
}

/* ------------------------------------------------------------------------------------------------------------- etcd */

static broker_lease leases[LANES];
static uint32_t target;

static void call_cross(uint32_t lane) {
  const broker_message message = {target ? target : 1000 + lane, ++numbers[lane], bytes, size};
  cr_assert_eq(broker_cross(broker, &leases[lane], &message, 1, end_call, (void *)(uintptr_t)lane), MUSTER_OK);
}

static void call_renew(uint32_t lane) {
  cr_assert_eq(broker_lease_renew(broker, &leases[lane], end_call, (void *)(uintptr_t)lane), MUSTER_OK);
}

static void take_look(muster_result result, const struct document *answer, void *user) {
  (void)answer;
  end_call(result, user);
}

/* As crossings.c asks for it, of eight senders. */
static void call_look(uint32_t lane) {
  char body[8192];
  json_writer writer;
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "success");
  for (uint32_t from = 1; from <= 8; from++) {
    json_begin_object(&writer, NULL);
    json_begin_object(&writer, "requestRange");
    etcd_write_text(&writer, "key",
                    formed("muster/large/cross/%05u/%05u/%010u.%010u", target, from, 1, numbers[from - 1] + 1));
    etcd_write_text(&writer, "range_end",
                    formed("muster/large/cross/%05u/%05u/0000000000.0000000000", target, from + 1));
    etcd_write_number(&writer, "limit", 2);
    json_end_object(&writer);
    json_end_object(&writer);
  }
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
  cr_assert_eq(etcd_call(broker->etcd, "/v3/kv/txn", body, take_look, (void *)(uintptr_t)lane), MUSTER_OK);
}

Test(limits, of_etcd) {
  start_here(3, 3);
  broker = open_as(0, "a");
  for (uint32_t i = 0; i < LANES; i++) leases[i] = take(broker, 1 + i);
  size = 700;
  run_load("renewals", times() * 20, call_renew);
  run_load("crossings of 700 bytes", times() * 20, call_cross);
  target = 5;
  double first = run_load("looks with nothing there", times() * 10, call_look);
  run_load("crossings of 700 bytes to one zone", times() * 30, call_cross);
  double last = run_load("looks with all of that there", times() * 10, call_look);
  if (times() > 1) cr_expect_gt(last, first / 2, "what has crossed before makes looks slower");
}
