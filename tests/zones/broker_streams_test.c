/* Streams that somebody else has made, on a real NATS server: those that keep less than a world needs are not used, and
 * one without room refuses. */
#include "broker_here.h"

#include "service/zones/asks.h"
#include "service/zones/servers.h"
#include "support/log_lines.h"

TestSuite(broker_streams, .fini = end_here, .timeout = 300);

/* A stream of a world, as it must be, but for what is said. */
typedef struct stream_made {
  const char *retention, *discard, *storage, *more;
} stream_made;

static void take_made(muster_result result, const ask_answer *answer, void *user) {
  (void)answer;
  lab_done(result, user);
}

/* Makes one by the connection of a broker of any world, or changes it. */
static void make(struct broker *broker, const char *how, const char *world, const char *kind, const stream_made *made) {
  lab_answer answer = {0};
  const char *subject = formed("$JS.API.STREAM.%s.muster-%s-%s", how, world, kind);
  const char *config = formed("{\"name\": \"muster-%s-%s\", \"subjects\": [\"muster.%s.%s.>\"], \"retention\": \"%s\", "
                              "\"discard\": \"%s\", \"storage\": \"%s\", \"num_replicas\": 1, %s}",
                              world, kind, world, kind, made->retention, made->discard, made->storage, made->more);
  cr_assert(asks_send(broker->servers[0].asks, subject, config, strlen(config), 20000, take_made, &answer));
  LAB_AWAIT(&here, answer.done);
  cr_assert_eq(answer.result, MUSTER_OK, "%s: %s", config, answer.reason);
}

#define AS_IT_MUST "\"max_msgs_per_subject\": 1, \"allow_direct\": true"

static const stream_made good = {"limits", "new", "file", AS_IT_MUST};

static broker_settings settings_of(const char *world) {
  broker_settings settings = lab_settings(&here, "a");
  snprintf(settings.world, sizeof settings.world, "%s", world);
  return settings;
}

/* What is told of a server is told once a minute: where it was slow to connect, another broker is told of its stream.
 */
static void expect_unused(const char *world, const char *kind) {
  const char *wanted = formed(": its stream muster-%s-%s: it exists, and is none of a world's\n", world, kind);
  broker_settings settings = settings_of(world);
  for (bool slow = true, told = false; slow && !told;) {
    errors_begin();
    const struct broker *broker = lab_open(&here, 1, &settings, false);
    LAB_AWAIT(&here, broker->servers[0].streams_retry_ms || here.all[1].nats);
    const char *lines = errors_end();
    told = strstr(lines, wanted);
    slow = strstr(lines, "musterd: warning: nats://");
    cr_expect(slow, "%s", lines);
    cr_expect(!here.all[1].nats && !server_is_ready(&broker->servers[0]), "%s: %s", world, lines);
    lab_close(&here, 1);
  }
}

/* Each thing that a world needs of a stream is missing once. */
Test(broker_streams, of_somebody_else_that_keep_less_are_complained_of_and_not_used) {
  static const stream_made all[] = {
      {"interest", "new", "file", AS_IT_MUST},
      {"workqueue", "new", "file", AS_IT_MUST},
      {"limits", "old", "file", AS_IT_MUST},
      {"limits", "new", "memory", AS_IT_MUST},
      {"limits", "new", "file", AS_IT_MUST ", \"max_age\": 3600000000000"},
      {"limits", "new", "file", "\"max_msgs_per_subject\": 2, \"allow_direct\": true"},
      {"limits", "new", "file", "\"allow_direct\": true"},
      {"limits", "new", "file", "\"max_msgs_per_subject\": 1"},
      {"limits", "new", "file", AS_IT_MUST ", \"no_ack\": true"},
      {"limits", "new", "file", AS_IT_MUST ", \"deny_purge\": true"},
      {"limits", "new", "file", AS_IT_MUST ", \"sealed\": true"},
  };
  struct broker *maker = open_as(0, "a");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int second = 0; second < 2; second++) {
      const char *world = formed("w%zu-%d", i, second), *kind = second ? "objects" : "journal";
      const bool sealed = strstr(all[i].more, "sealed");
      make(maker, "CREATE", world, kind, sealed ? &good : &all[i]);
      if (sealed) make(maker, "UPDATE", world, kind, &all[i]);
      expect_unused(world, kind);
    }
}

/* How much they have is the operator's matter, and what is full says so. */
Test(broker_streams, of_somebody_else_that_keep_all_are_used_and_refuse_when_they_are_full) {
  static const stream_made small = {"limits", "new", "file", AS_IT_MUST ", \"max_bytes\": 4000, \"max_msgs\": 1000"};
  static const char bytes[3000];
  struct broker *maker = open_as(0, "a");
  make(maker, "CREATE", "w", "journal", &small), make(maker, "CREATE", "w", "objects", &good);
  broker_settings settings = settings_of("w");
  struct broker *broker = lab_open(&here, 1, &settings, true);
  for (uint32_t i = 1; i <= 3; i++) {
    lab_answer answer =
        CALL_HERE(broker_keep, broker, BROKER_JOURNAL, "zone-1", ((zone_place){1, 1}), i, bytes, sizeof bytes);
    EXPECT_RESULT(answer, i == 1 ? MUSTER_OK : MUSTER_E_FULL);
  }
  EXPECT_RESULT(CALL_HERE(broker_keep, broker, BROKER_OBJECTS, "zone-1", ((zone_place){1, 1}), 1, bytes, sizeof bytes),
                MUSTER_OK);
}
