/* The same worlds (own_worlds.h), and what is shown of them: types and their crashes, requests that are carried out
 * once, commands, rankings, maps, streams, metrics and health. */
#include "own_worlds.h"

#include <poll.h>

static daemon_reply reply, again;

TestSuite(own_shown, .init = start, .fini = stop, .timeout = 120);

/* ----------------------------------------------------------------------------------------------------------- types */

static void expect_message(const char *path, const char *words) {
  json_auto_t *refusal = ask("POST", path, NULL, 404);
  expect_in(control_text(refusal, "error.message"), words);
}

Test(own_shown, name_the_type_that_was_meant_or_all) {
  expect_message(EAST "/types/henn/reinstate", "world east has no type 'henn'; did you mean 'hen'?");
  expect_message(EAST "/types/foxx/reinstate", "did you mean 'fox'?");
  expect_message(WEST "/types/zebra/reinstate", "world west has no type 'zebra'; there are: hen, fox");
}

/* Crashes of a type are those of its world alone. */
Test(own_shown, forget_the_crashes_of_the_type_that_is_reinstated) {
  static const char *const types[] = {"hen", "fox"};
  flight_counts *counts = &service.flight.head->counts;
  for (uint32_t i = 0; i < 4; i++) {
    counts->counts[i].crashes = 3 + i;
    strcpy(counts->counts[i].world, service.worlds[i / 2].name);
    strcpy(counts->counts[i].type, types[i % 2]);
  }
  counts->count = 4;
  tell("POST", EAST "/types/hen/reinstate", NULL, 200);
  cr_assert_eq(counts->count, 3);
  cr_expect_null(flight_counts_find(counts, "east", "hen"));
  cr_expect_eq(flight_counts_find(counts, "west", "hen")->crashes, 3);
  cr_expect_eq(flight_counts_find(counts, "west", "fox")->crashes, 4);
  cr_expect_eq(flight_counts_find(counts, "east", "fox")->crashes, 6);
}

/* ----------------------------------------------------------------------------------------------- carried out once */

static long long frame_of(const daemon_reply *answer) {
  char value[24];
  return daemon_header(answer, "Muster-Frame", value, sizeof value) ? atoll(value) : -1;
}

static bool is_replayed(const daemon_reply *answer) {
  char value[8];
  return daemon_header(answer, "Idempotent-Replayed", value, sizeof value);
}

/* Every answer about a world says of which frame it is: a change that of the frame after it, whenever it is told. */
Test(own_shown, say_of_which_frame_each_answer_is) {
  static const char *const reads[] = {"",         "/levels", "/weights",
                                      "/types",   "/agents", "/agents/0.1",
                                      "/history", "/module", "/agents/0.1/explain",
                                      "/ranking"};
  run_frames_of(1, 3);
  for (size_t i = 0; i < COUNT_OF(reads); i++) {
    daemon_ask(&server.asked, "GET", path_to(1, reads[i]), NULL, &reply);
    cr_expect(reply.status == 200 && frame_of(&reply) == 3, "%s: %d, %lld", reads[i], reply.status, frame_of(&reply));
  }
  daemon_ask_once(&server.asked, "POST", EAST "/agents/1.1/wake", "up", NULL, &reply);
  cr_expect(reply.status == 200 && frame_of(&reply) == 4 && !is_replayed(&reply), "%s", reply.text);
  run_frames_of(1, 3);
  for (int i = 0; i < 2; i++) {
    daemon_ask_once(&server.asked, "POST", EAST "/agents/1.1/wake", "up", NULL, &again);
    cr_expect(again.status == 200 && frame_of(&again) == 4 && is_replayed(&again), "%s", again.text);
    cr_expect_str_eq(again.body, reply.body);
  }
  daemon_ask_once(&server.asked, "POST", WEST "/agents/1.1/wake", "up", NULL, &reply);
  cr_expect(reply.status == 200 && frame_of(&reply) == 1 && !is_replayed(&reply), "another world: %s", reply.text);
}

/* While the first request is under way its key is that of no other one; and it may be asked for again in a second. */
Test(own_shown, refuse_the_key_of_a_request_that_is_under_way) {
  static const char path[] = EAST "/observers", body[] = "{\"position\": {\"x\": 1, \"y\": 2}}";
  char value[16];
  daemon_ask_once(&server.asked, "POST", path, "one", body, &reply);
  cr_assert_eq(reply.status, 201, "%s", reply.text);
  key_entry *known = (key_entry *)(uintptr_t)keys_find(&service.worlds[1].keys, "one");
  cr_assert(known && !known->held, "it has its answer");
  known->held = true;
  daemon_ask_once(&server.asked, "POST", path, "one", body, &again);
  cr_expect(again.status == 409 && strstr(again.body, "\"under_way\""), "%s", again.text);
  cr_expect(daemon_header(&again, "Retry-After", value, sizeof value) && strcmp(value, "1") == 0, "%s", again.text);
  daemon_ask_once(&server.asked, "POST", path, "one", "{\"position\": {\"x\": 1, \"y\": 3}}", &again);
  cr_expect(again.status == 422 && strstr(again.body, "\"key_reused\""), "%s", again.text);
  known->held = false;
  daemon_ask_once(&server.asked, "POST", path, "one", body, &again);
  cr_expect(again.status == 201 && is_replayed(&again) && strcmp(again.body, reply.body) == 0, "%s", again.text);
  run_frame_of(1);
  json_auto_t *watching = control_get(&server.asked, path);
  cr_expect_eq(control_size(watching, "observers"), 1);
}

/* What each command answers, and that it is answered alike, with the same kind of body, and given once. */
Test(own_shown, answer_commands_as_their_module_did_and_give_each_once) {
  static const struct {
    const char *name;
    int status;
    const char *type, *body;
  } answers[] = {{"text", 200, "text/plain; charset=utf-8", "in words"},
                 {"later", 202, "application/json", "\"later\""},
                 {"odd", 200, "application/json", "\"odd\""},
                 {"twice", 201, "text/plain; charset=utf-8", "the first"},
                 {"fail", 409, "application/json", "it is not the time"}};
  char type[64], first[1024];
  for (size_t i = 0; i < COUNT_OF(answers); i++) {
    const char *path = formed(EAST "/module/%s", answers[i].name);
    for (int turns = 0; turns < 3; turns++) {
      daemon_ask_once(&server.asked, "POST", path, answers[i].name, NULL, &again);
      cr_expect_eq(again.status, answers[i].status, "%s: %s", path, again.text);
      cr_expect(daemon_header(&again, "Content-Type", type, sizeof type) && strcmp(type, answers[i].type) == 0,
                "%s: %s", path, type);
      cr_expect(strstr(again.body, answers[i].body), "%s: %s", path, again.body);
      cr_expect_eq(is_replayed(&again), turns > 0, "%s: %s", path, again.text);
      if (turns) cr_expect_str_eq(again.body, first);
      snprintf(first, sizeof first, "%s", again.body);
    }
    cr_expect_eq(commands_given, i + 1, "%s", path);
  }
}

/* -------------------------------------------------------------------------------------------------- what is shown */

/* The metrics of a world's modules are read when they are asked for. */
Test(own_shown, tell_the_metrics_of_their_modules_as_they_are_now) {
  for (uint32_t turns = 0; turns < 2; turns++)
    for (uint32_t number = 0; number < WORLDS; number++) {
      eggs_laid += 100;
      json_auto_t *module = get(path_to(number, "/module"));
      cr_expect_str_eq(control_text(module, "world"), service.worlds[number].name);
      cr_expect_str_eq(control_text(module, "instances.0.metrics.0.metric"), "eggs");
      cr_expect_str_eq(control_text(module, "instances.0.metrics.0.kind"), "gauge");
      cr_expect_eq(control_number(module, "instances.0.metrics.0.value"), eggs_laid + 10 + 10 * number);
      cr_expect_str_eq(control_text(module, "instances.0.metrics.1.metric"), "eaten_total");
      cr_expect_str_eq(control_text(module, "instances.0.metrics.1.kind"), "counter");
      cr_expect_eq(control_number(module, "instances.0.metrics.1.value"), turns ? 100 + HENS + FOXES : 100);
      cr_expect_eq(control_size(module, "instances.0.commands"), COUNT_OF(commands) - 1);
      run_frame_of(number);
    }
}

/* Periods of a type, and workers of a world, that are 0 are those that it had. */
Test(own_shown, take_back_what_was_set_where_0_is_said) {
  static const struct {
    const char *body;
    long long period_ns, period_max_ns;
  } periods[] = {{"{\"period_ns\": 70000000, \"period_max_ns\": 900000000}", 70000000, 900000000},
                 {"{\"period_ns\": 80000000, \"period_max_ns\": 0}", 80000000, 1000000000},
                 {"{\"period_ns\": 60000000, \"period_max_ns\": 700000000}", 60000000, 700000000},
                 {"{\"period_ns\": 0, \"period_max_ns\": 0}", 50000000, 1000000000}};
  static const uint32_t workers[][2] = {{1, 1}, {0, 2}, {2, 2}, {1, 1}, {0, 2}};
  for (size_t i = 0; i < COUNT_OF(periods); i++) {
    tell("PUT", EAST "/types/hen/periods", periods[i].body, 200);
    run_frame_of(1);
    json_auto_t *types = get(EAST "/types");
    cr_expect_eq(control_count(types, "types.0.period_ns"), periods[i].period_ns, "%s", periods[i].body);
    cr_expect_eq(control_count(types, "types.0.period_max_ns"), periods[i].period_max_ns, "%s", periods[i].body);
    cr_expect_eq(control_count(types, "types.1.period_ns"), 30000000);
  }
  for (size_t i = 0; i < COUNT_OF(workers); i++) {
    const char *body = formed("{\"workers\": %u}", workers[i][0]);
    json_auto_t *told = ask("PATCH", EAST, body, 200);
    cr_expect_eq(control_count(told, "workers"), workers[i][1], "%s", body);
    cr_expect_eq(muster_world_workers(service.worlds[1].world), workers[i][1], "%s", body);
    cr_expect_eq(muster_world_workers(service.worlds[0].world), 2, "%s", body);
  }
}

/* What types take is what all agents take, whichever are listed; and who is in quarantine is not awaited. */
Test(own_shown, rank_one_type_and_tell_the_loads_of_all) {
  run_frames_of(1, 30);
  muster_agent late = agents[1][3];
  cr_assert_eq(muster_agent_quarantine(little[1].world, late), MUSTER_OK, "%s", muster_last_error());
  run_frame_of(1);
  service.worlds[1].sim_now_ns += 10000000000u; /* all that have a period are late */
  json_auto_t *all = get(EAST "/ranking?limit=100"), *foxes = get(EAST "/ranking?limit=100&type=fox");
  cr_expect_eq(control_size(all, "delayed"), HENS + FOXES - 1);
  for (size_t i = 0; i < control_size(all, "delayed"); i++)
    cr_expect_str_neq(control_text(all, formed("delayed.%zu.agent", i)), api_id_of(muster_agent_index(late), 1).text);
  cr_expect_eq(control_size(foxes, "delayed"), FOXES);
  cr_expect_eq(control_size(foxes, "expensive"), FOXES);
  cr_expect(json_equal(control_member(all, "types"), control_member(foxes, "types")), "the loads are of all");
  cr_expect_eq(control_count(foxes, "looked"), HENS + FOXES);
  uint32_t shown = 0;
  for (uint32_t type = 0; type < 2; type++)
    for (uint32_t level = 0; level < WORLD_LEVELS; level++)
      shown += (uint32_t)control_count(foxes, formed("types.%u.levels.%u.agents", type, level));
  cr_expect_eq(shown, HENS + FOXES);
}

typedef struct map_head {
  char magic[4];
  uint16_t version, kind;
  uint32_t header_bytes, record_bytes, records, columns, rows, partition;
  uint64_t sim_now_ns;
  double x0, y0, x1, y1;
  uint64_t frame, found;
} map_head;

static map_head ask_map(const char *path) {
  map_head head;
  daemon_ask(&server.asked, "GET", path, NULL, &reply);
  cr_assert(reply.status == 200 && reply.length >= sizeof head, "%s: %s", path, reply.text);
  memcpy(&head, reply.body, sizeof head);
  cr_assert_eq(reply.length, head.header_bytes + head.records * head.record_bytes);
  return head;
}

/* The agents of the east lie 90 m wide and 25 m deep. Each question has its own answer, also while another one's is
 * fresh. */
Test(own_shown, have_maps_of_what_was_asked_for) {
  static const struct {
    const char *query;
    uint32_t kind, columns, rows, partition, found;
    double x0, y0, x1, y1;
  } maps[] = {{"", 1, 0, 0, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?partition=1", 1, 0, 0, 1, 20, -1.4, 0.25, 91.4, 26.75},
              {"?max=5", 2, 160, 100, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?max=5&width=8&height=4", 2, 8, 4, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?max=5&width=9&height=4", 2, 9, 4, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?max=5&width=9&height=5", 2, 9, 5, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?max=19&width=9&height=5", 2, 9, 5, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?max=20&width=9&height=5", 1, 0, 0, 0, 20, -1.4, 0.25, 91.4, 26.75},
              {"?x0=0&y0=0&x1=10&y1=1.5", 1, 0, 0, 0, 1, 0, 0, 10, 1.5},
              {"?x0=0&y0=0&x1=10&y1=1", 1, 0, 0, 0, 0, 0, 0, 10, 1},
              {"?x0=0&y0=0&x1=31&y1=1.5", 1, 0, 0, 0, 2, 0, 0, 31, 1.5}};
  run_frame_of(0), run_frames_of(1, 2);
  for (int turns = 0; turns < 2; turns++)
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
      const char *path = formed(EAST "/map%s", maps[i].query);
      map_head head = ask_map(path);
      cr_expect(memcmp(head.magic, "MMAP", 4) == 0 && head.version == 2 && head.kind == maps[i].kind, "%s", path);
      cr_expect(head.columns == maps[i].columns && head.rows == maps[i].rows, "%s", path);
      cr_expect(head.partition == maps[i].partition && head.found == maps[i].found, "%s: %lu", path, head.found);
      cr_expect(head.frame == 2 && head.sim_now_ns == 200000000, "%s", path);
      const double wanted[] = {maps[i].x0, maps[i].y0, maps[i].x1, maps[i].y1},
                   shown[] = {head.x0, head.y0, head.x1, head.y1};
      for (uint32_t side = 0; side < 4; side++)
        cr_expect_float_eq(shown[side], wanted[side], 1e-9, "%s: %g", path, shown[side]);
    }
  map_head other = ask_map(WEST "/map");
  cr_expect(fabs(other.y0 + 0.75) < 1e-9 && other.frame == 1, "another world: %g", other.y0);
}

static uv_sem_t let_go;

static void hold_frames(mailbox_request *request, struct service *unused) {
  (void)request, (void)unused;
  uv_sem_wait(&let_go);
}

/* While no map gets on: so many gather, and so many wait for one of them. Who comes then is told how many that are. */
Test(own_shown, gather_so_many_maps_and_let_so_many_wait_for_one) {
  static const struct {
    bool same;
    uint32_t asked;
    const char *words;
  } rows[] = {{true, 68, "64 wait for this map; ask again later"},
              {false, 20, "16 maps are being gathered; ask again later"}};
  run_frame_of(1);
  cr_assert_eq(uv_sem_init(&let_go, 0), 0);
  for (size_t row = 0; row < COUNT_OF(rows); row++) {
    struct pollfd clients[68];
    turn held = {.request = {.run = hold_frames, .done = end_turn}};
    cr_assert(uv_sem_init(&held.done, 0) == 0 && frame_mailbox_post(&service.mailbox, &held.request) == MUSTER_OK);
    for (uint32_t i = 0; i < rows[row].asked; i++) {
      const char *path = formed(EAST "/map?max=%u&partition=%u", rows[row].same ? 7 : 8, rows[row].same ? 0 : i);
      clients[i] = (struct pollfd){.fd = daemon_begin(&server.asked, "GET", path, "", NULL, 0), .events = POLLIN};
    }
    cr_assert_gt(poll(clients, rows[row].asked, 60000), 0, "nobody is refused");
    for (uint32_t i = 0; i < rows[row].asked; i++) {
      if (!clients[i].revents) continue;
      daemon_end(clients[i].fd, &reply);
      clients[i].fd = -1;
      cr_expect(reply.status == 429 && strstr(reply.body, rows[row].words), "%s", reply.text);
    }
    uv_sem_post(&let_go);
    uv_sem_wait(&held.done);
    for (uint32_t i = 0; i < rows[row].asked; i++)
      if (clients[i].fd >= 0) daemon_end(clients[i].fd, &reply);
    uv_sem_destroy(&held.done);
  }
  uv_sem_destroy(&let_go);
}

Test(own_shown, show_no_rectangle_without_a_height_or_a_width) {
  static const char *const whats[] = {"map", "cells", "herds"};
  for (size_t i = 0; i < COUNT_OF(whats); i++) {
    const char *flat = formed(EAST "/%s?x0=0&y0=5&x1=1&y1=5", whats[i]);
    const char *thin = formed(EAST "/%s?x0=1&y0=5&x1=1&y1=6", whats[i]);
    CONTROL_EXPECT_REFUSALS(&server.asked, {"GET", flat, NULL, 400, "out_of_range", "x1"},
                            {"GET", thin, NULL, 400, "out_of_range", "x1"});
  }
}

/* What is kept of /metrics for a moment is made anew once any world has had a frame. */
Test(own_shown, measure_each_frame_at_once) {
  for (uint32_t i = 1; i <= 20; i++) {
    for (uint32_t k = 0; k < WORLDS; k++) {
      run_frame_of(k);
      cr_expect_eq(daemon_metric(&server.asked, "muster_frames_total{world=\"west\"}"), i);
      cr_expect_eq(daemon_metric(&server.asked, "muster_frames_total{world=\"east\"}"), i - 1 + k);
    }
  }
}

/* However many frames there are, a page gets as many a second as it has asked for. */
Test(own_shown, stream_no_more_frames_a_second_than_are_asked_for) {
  static char text[1 << 20];
  size_t length = 0;
  const uint64_t begin_ns = clock_system(), enough_ns = 350000000;
  int page = control_send(&server.asked, "GET " EAST "/stream?hz=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (clock_system() - begin_ns < enough_ns || !strstr(text, "event: frame\n")) {
    cr_assert_lt(clock_system() - begin_ns, 60000000000u, "no frame is told: %s", text);
    run_frame_of(1);
    ssize_t got = recv(page, text + length, sizeof text - 1 - length, MSG_DONTWAIT);
    if (got > 0) length += (size_t)got;
  }
  uint64_t passed_ns = clock_system() - begin_ns;
  text[length] = '\0';
  const uint32_t events = count_in(text, "event: frame\n");
  cr_expect(events >= 1 && events <= 1 + (passed_ns + 100000000) / 1000000000u, "%u in %lu ms", events,
            passed_ns / 1000000);
  close(page);
}

/* ---------------------------------------------------------------------------------------------------------- health */

/* A paused world, in which no frame comes to publish it, has nothing to tell any more at once. */
Test(own_shown, tell_no_more_of_a_loss_that_is_acknowledged) {
  for (uint32_t i = 0; i < WORLDS; i++) {
    world_journal *kept = &service.worlds[i].kept;
    snprintf(kept->path, sizeof kept->path, "%s/journal%u", server.asked.folder, i);
    kept->lost = (journal_lost){.losses = 2 + i, .frames = 30 + i, .at_s = 1};
    snprintf(kept->lost.words, sizeof kept->lost.words, "lost by world %u", i);
    publish_pace(&service.worlds[i]);
  }
  json_auto_t *known = ask("POST", EAST "/acknowledge", NULL, 200);
  cr_expect(control_count(known, "losses") == 3 && control_count(known, "lost_frames") == 31);
  cr_expect_str_eq(control_text(known, "lost"), "lost by world 1");
  json_auto_t *west = get(WEST), *east = get(EAST);
  cr_expect(control_count(west, "journal.losses") == 2 && control_count(west, "journal.lost_frames") == 30);
  cr_expect_eq(control_count(east, "journal.losses"), 0);
  cr_expect_str_empty(control_text(east, "journal.lost"));
}

/* The reasons of /readyz of a world, as "CODE: MESSAGE" lines. */
static const char *reasons_of(const char *world) {
  json_auto_t *answer = get("/readyz");
  const char *text = "";
  for (size_t i = 0; i < control_size(answer, "reasons"); i++) {
    json_t *reason = json_array_get(control_member(answer, "reasons"), i);
    if (strcmp(control_text(reason, "world"), world) == 0)
      text = formed("%s%s: %s\n", text, control_text(reason, "code"), control_text(reason, "message"));
  }
  return text;
}

/* A world that has no journal since none is wanted, or can be, is well; and of the history the last ten seconds count.
 */
Test(own_shown, are_ready_and_say_what_is_the_matter_all_the_same) {
  uint64_t now_s = clock_system() / 1000000000u;
  for (uint32_t i = 0; i < WORLDS; i++) {
    hosted_world *world = &service.worlds[i];
    strcpy(world->kept.why, i ? "a full disk" : "its module has no save");
    world->kept.broken = i;
    for (uint32_t k = 0; k < 3; k++)
      world->history.ring[k] = (history_second){
          .second = now_s - (k ? 3 - k : 60), .frames = 10, .idle_faults = k ? i : 9, .mended = k ? 2 * i : 9};
    world->history.count = world->history.next = 3;
    publish_pace(world);
  }
  const char *west = reasons_of("west"), *east = reasons_of("east");
  cr_expect_str_empty(west, "%s", west);
  expect_in(east, "degraded: "), expect_in(east, "a full disk");
  expect_in(east, "idle: in 10 s 2 frames left budget"), expect_in(east, "were mended 4 times");
}

/* --------------------------------------------------------------------------------------------------- large answers */

/* One that is larger than all that may wait is sent all the same, where nothing waits; what was taken waits no more. */
Test(own_shown, send_a_single_answer_however_large_it_is) {
  hosted_world *world = &service.worlds[0];
  uint64_t now_s = clock_system() / 1000000000u;
  for (uint32_t i = 0; i < HISTORY_SECONDS; i++)
    world->history.ring[i] = (history_second){.second = now_s - HISTORY_SECONDS + 1 + i, .frames = 1};
  world->history.count = HISTORY_SECONDS;
  service.http->options.answers_bytes_max = 1000;
  for (int turns = 0; turns < 3; turns++) {
    http_counts counts;
    daemon_ask(&server.asked, "GET", WEST "/history", NULL, &reply);
    cr_expect(reply.status == 200 && reply.length > 65536, "%d: %zu bytes", reply.status, reply.length);
    AWAIT((http_count(service.http, &counts), counts.answers_waiting == 0));
  }
}

/* A stream that has nothing to send may sleep for as long as it has nothing. */
Test(own_shown, stream_to_pages_that_may_wait_for_ever) {
  char text[4096];
  int page = control_send(&server.asked, "GET " EAST "/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  cr_assert_gt(recv(page, text, sizeof text, 0), 0);
  const volatile http_connection *connection = LIST_FIRST(&service.http->connections);
  AWAIT(connection->deadline_ms == UINT64_MAX);
  close(page);
}

/* ---------------------------------------------------------------------------------------------------- many at once */

/* Each axis of each record is looked at, and nothing is moved when one is wrong. */
Test(own_shown, refuse_a_bulk_of_positions_for_any_axis_that_is_none) {
  enum { RECORDS = 3 };
  static const double wrong[] = {1.0000001e9, -1.0000001e9, NAN, INFINITY};
  struct {
    char magic[8];
    uint32_t version, count;
    struct {
      uint32_t index, generation;
      double axes[3];
    } records[RECORDS];
  } body = {.magic = {'M', 'U', 'S', 'T', 'E', 'R', 'P', 'O'}, .version = 1, .count = RECORDS};
  run_frame_of(1);
  for (uint32_t i = 0; i < RECORDS; i++) {
    body.records[i].index = muster_agent_index(agents[1][i]), body.records[i].generation = 1;
    for (uint32_t axis = 0; axis < 3; axis++) body.records[i].axes[axis] = 100 + 10 * i + axis;
  }
  for (uint32_t i = 0; i < 4 * 3 * RECORDS; i++) {
    double *axis = &body.records[i % RECORDS].axes[i / RECORDS % 3], before = *axis;
    const char *field = formed("records[%u].%c", i % RECORDS, "xyz"[i / RECORDS % 3]);
    *axis = wrong[i / RECORDS / 3];
    daemon_ask_bytes(&server.asked, "POST", EAST "/positions", "application/octet-stream", &body, sizeof body, &reply);
    cr_expect(reply.status == 400 && strstr(reply.body, field), "%s: %s", field, reply.text);
    *axis = before;
    cr_expect_eq(info_of(&little[1], agents[1][0]).position.x, 0);
  }
  daemon_ask_bytes(&server.asked, "POST", EAST "/positions", "application/octet-stream", &body, sizeof body, &reply);
  cr_expect(reply.status == 200 && strstr(reply.body, "\"moved\": 3"), "%s", reply.text);
  run_frame_of(1);
  for (uint32_t i = 0; i < RECORDS; i++) {
    muster_position at = info_of(&little[1], agents[1][i]).position;
    cr_expect(at.x == 100 + 10 * i && at.y == 101 + 10 * i && at.z == 102 + 10 * i, "agent %u is at %g", i, at.x);
  }
}
