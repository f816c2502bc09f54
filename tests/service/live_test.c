/* What the live page lives on: streams, maps, files. */
#include "served.h"

static void start(void) {
  daemon_start(&service, "--world main=wildlife --agents 3000");
  await_count(WORLD, "agents", 2500); /* spawns are spread over frames */
}

TestSuite(live, .init = start, .fini = stop);

static void expect_refusal(const char *path, int status, const char *field) {
  json_auto_t *error = ask("GET", path, NULL, status);
  if (field) cr_expect_str_eq(control_text(error, "error.field"), field, "%s", path);
}

/* --------------------------------------------------------------------------------------------------------- streams */

static char seen[1 << 18]; /* of the stream that was opened last */

static int open_stream(const char *query) {
  *seen = '\0';
  return control_send(&service, formed("GET " WORLD "/stream%s HTTP/1.1\r\nHost: localhost\r\n\r\n", query));
}

/* Reads on until the whole has `wanted` after `from`; where that begins. */
static char *await(int descriptor, char *text, size_t room, const char *wanted, size_t from) {
  size_t length = strlen(text);
  char *found;
  while ((found = length > from ? strstr(text + from, wanted) : NULL) == NULL) {
    cr_assert_lt(length, room - 1, "no %s in %s", wanted, text);
    ssize_t more = recv(descriptor, text + length, room - 1 - length, 0);
    cr_assert_gt(more, 0, "the stream ended");
    length += (size_t)more;
    text[length] = '\0';
  }
  return found;
}

/* The document of the next event of a kind. The chunks' lengths stand on lines of their own, before "event:". */
static json_t *next_event(int descriptor, const char *kind, size_t *from) {
  json_error_t error;
  char *begin = await(descriptor, seen, sizeof seen, formed("event: %s\n", kind), *from);
  char *end = await(descriptor, seen, sizeof seen, "\n\n", (size_t)(begin - seen)), *data = strstr(begin, "data: ");
  cr_assert(data && data < end);
  json_t *document = json_loadb(data + 6, (size_t)(end - data) - 6, JSON_REJECT_DUPLICATES, &error);
  cr_assert(document != NULL, "%s: %.*s", error.text, (int)(end - data), data);
  *from = (size_t)(end - seen);
  return document;
}

Test(live, a_stream_shows_frame_after_frame_and_what_types_cost) {
  size_t types_from = 0, from = 0;
  int descriptor = open_stream("?hz=20");
  json_auto_t *types = next_event(descriptor, "types", &types_from);
  long long before = 0;
  for (int i = 0; i < 4; i++) {
    json_auto_t *frame = next_event(descriptor, "frame", &from);
    cr_expect_gt(control_count(frame, "frame"), before);
    before = control_count(frame, "frame");
    cr_expect(control_count(frame, "agents") > 2000 && control_count(frame, "budget_ns") == 10000000);
    cr_expect_eq(control_size(frame, "levels"), 4);
  }
  expect_in(seen, "Content-Type: text/event-stream");
  expect_in(seen, "200 OK");
  control_expect(types, "{'types.0.name': 'hare'}");
  cr_expect_gt(control_count(types, "types.0.agents"), 0);
  cr_expect_gt(control_count(types, "staleness_by_importance.0.agents"), 0);
  close(descriptor);
}

Test(live, a_stream_tells_of_a_pause) {
  size_t from = 0;
  int descriptor = open_stream("");
  json_decref(next_event(descriptor, "frame", &from));
  pause_world();
  for (bool paused = false; !paused;) {
    json_auto_t *frame = next_event(descriptor, "frame", &from);
    paused = control_is_true(frame, "paused");
  }
  close(descriptor);
}

/* The promise: a client that does not read costs the frames nothing. Frames and other requests go on, by count. */
Test(live, streams_that_nobody_reads_hold_up_neither_frames_nor_requests) {
  enum { DEAF = 20, FRAMES = 30 };
  int deaf[DEAF];
  for (int i = 0; i < DEAF; i++) {
    int small = 1;
    deaf[i] = open_stream("?hz=20");
    setsockopt(deaf[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  }
  pass_frames(FRAMES);
  cr_expect_eq(fetch("GET", WORLD "/map", NULL)->status, 200);
  for (int i = 0; i < DEAF; i++) close(deaf[i]);
}

Test(live, streams_end_with_the_service) {
  size_t from = 0;
  int descriptor = open_stream("");
  json_decref(next_event(descriptor, "frame", &from));
  daemon_signal(&service, SIGTERM);
  while (recv(descriptor, seen, sizeof seen, 0) > 0) continue;
  close(descriptor);
  cr_expect_eq(daemon_wait(&service), 0);
}

Test(live, one_stream_too_many_is_refused) {
  enum { MOST = 64 };
  static char text[MOST][4096];
  int streams[MOST];
  for (int i = 0; i < MOST; i++) {
    streams[i] = open_stream("?hz=1");
    await(streams[i], text[i], sizeof text[i], "200 OK", 0);
  }
  expect_refusal(WORLD "/stream", 429, NULL);
  for (int i = 0; i < MOST; i++) close(streams[i]);
}

Test(live, streams_of_nothing_or_at_no_rate_are_refused) {
  EACH_TRIPLE(expect_refusal, {"/v1/worlds/none/stream", 404, "world"}, {WORLD "/stream?hz=0", 400, "hz"},
              {WORLD "/stream?hz=21", 400, "hz"}, {WORLD "/stream?hz=fast", 400, "hz"});
}

/* ------------------------------------------------------------------------------------------------------------ maps */

typedef struct map_head {
  char magic[4];
  uint16_t version, kind;
  uint32_t header_bytes, record_bytes, records, columns, rows, partition;
  uint64_t sim_now_ns;
  double x0, y0, x1, y1;
  uint64_t frame, agents;
} map_head;

typedef struct map_agent {
  uint32_t index, generation;
  float x, y, period_s, staleness_s, importance;
  uint16_t type;
  uint8_t level, flags;
} map_agent;

static map_agent agent_at(uint32_t record) {
  map_agent agent;
  memcpy(&agent, reply.body + sizeof(map_head) + record * sizeof agent, sizeof agent);
  return agent;
}

static map_head ask_map(const char *query) {
  map_head head;
  const char *path = formed("%s/map%s", WORLD, query);
  fetch("GET", path, NULL);
  cr_assert_eq(reply.status, 200, "%s: %s", path, reply.body);
  cr_assert_geq(reply.length, sizeof head);
  memcpy(&head, reply.body, sizeof head);
  cr_assert(memcmp(head.magic, "MMAP", 4) == 0 && head.version == 2 && head.header_bytes == sizeof head);
  cr_assert_eq(reply.length, sizeof head + (size_t)head.records * head.record_bytes);
  return head;
}

Test(live, a_map_shows_all_agents_one_by_one_where_they_are_few) {
  pause_world();
  map_head head = ask_map("?max=65536");
  json_auto_t *world = get(WORLD);
  cr_expect_eq((long long)head.agents, control_count(world, "agents"));
  cr_expect(head.kind == 1 && head.record_bytes == 32 && head.records == head.agents);
  cr_expect_eq((long long)head.sim_now_ns, control_count(world, "sim_now_ns"));
  for (uint32_t i = 0; i < head.records; i += 100) {
    const map_agent shown = agent_at(i);
    json_auto_t *agent = get(formed(WORLD "/agents/%u.%u", shown.index, shown.generation));
    double x = head.x0 + (double)shown.x - control_number(agent, "position.x");
    double y = head.y0 + (double)shown.y - control_number(agent, "position.y");
    cr_expect(x * x + y * y < 1e-3);
    ask_map("?max=65536");
  }
}

Test(live, a_map_of_many_is_a_raster_that_counts_each_of_them) {
  pause_world();
  map_head head = ask_map("?max=100&width=20&height=10");
  uint64_t sum = 0;
  uint32_t before = 0;
  cr_expect(head.kind == 2 && head.record_bytes == 24 && head.columns == 20 && head.rows == 10);
  cr_expect(head.records > 0 && head.records <= 200);
  for (uint32_t i = 0; i < head.records; i++) {
    uint32_t cell[2];
    memcpy(cell, reply.body + 88 + (size_t)i * 24, sizeof cell);
    cr_expect(cell[0] < 200 && (i == 0 || cell[0] > before) && cell[1] > 0);
    before = cell[0];
    sum += cell[1];
  }
  cr_expect_eq(sum, head.agents);
  cr_expect_eq(ask_map("?max=0").agents, sum);
}

/* The shortest period of those in each cell, by the agents of the same rectangle. */
static void least_periods(const map_head *cells, float periods_s[]) {
  map_head head =
      ask_map(formed("?x0=%.17g&y0=%.17g&x1=%.17g&y1=%.17g&max=65536", cells->x0, cells->y0, cells->x1, cells->y1));
  cr_assert(head.kind == 1 && head.agents == cells->agents);
  for (uint32_t i = 0; i < head.records; i++) {
    const map_agent agent = agent_at(i);
    uint32_t column = (uint32_t)((double)agent.x * (cells->columns / (cells->x1 - cells->x0)));
    uint32_t row = (uint32_t)((double)agent.y * (cells->rows / (cells->y1 - cells->y0)));
    float *least_s = &periods_s[row * cells->columns + column];
    if (!(*least_s > 0) || agent.period_s < *least_s) *least_s = agent.period_s;
  }
}

Test(live, a_cell_of_a_map_has_the_shortest_period_in_it) {
  enum { COLUMNS = 20, ROWS = 10 };
  float shown_s[COLUMNS * ROWS] = {0}, wanted_s[COLUMNS * ROWS] = {0};
  pause_world();
  map_head head = ask_map("?max=100&width=20&height=10");
  for (uint32_t i = 0; i < head.records; i++) {
    uint32_t cell;
    memcpy(&cell, reply.body + 88 + (size_t)i * 24, sizeof cell);
    memcpy(&shown_s[cell], reply.body + 88 + (size_t)i * 24 + 12, sizeof *shown_s);
  }
  least_periods(&head, wanted_s);
  for (uint32_t i = 0; i < COLUMNS * ROWS; i++) cr_expect_float_eq(shown_s[i], wanted_s[i], 1e-9, "cell %u", i);
}

Test(live, a_map_of_a_rectangle_has_those_inside) {
  pause_world();
  map_head head = ask_map("?x0=0&y0=0&x1=1e2&y1=50.5&max=65536");
  cr_expect(head.x0 == 0 && head.x1 == 100 && head.y1 == 50.5);
  for (uint32_t i = 0; i < head.records; i++) {
    const map_agent agent = agent_at(i);
    cr_expect(agent.x >= 0 && agent.x <= 100 && agent.y >= 0 && agent.y <= 50.5f);
  }
  cr_expect_eq(ask_map("?x0=-9e8&y0=-9e8&x1=-8e8&y1=-8e8").agents, 0);
}

Test(live, maps_that_make_no_sense_are_refused_with_the_field) {
  EACH_TRIPLE(expect_refusal, {WORLD "/map?x0=1", 400, "y0"}, {WORLD "/map?x0=1&y0=0&x1=1&y1=5", 400, "x1"},
              {WORLD "/map?x0=nan&y0=0&x1=1&y1=5", 400, "x0"}, {WORLD "/map?x0=0&y0=0&x1=0x10&y1=5", 400, "x1"},
              {WORLD "/map?max=65537", 400, "max"}, {WORLD "/map?width=1025", 400, "width"},
              {WORLD "/map?width=1000&height=1000", 400, "width"}, {WORLD "/map?partition=65536", 400, "partition"},
              {"/v1/worlds/none/map", 404, "world"});
}

Test(live, who_asks_for_the_same_map_at_once_gets_it) {
  enum { PAGES = 30 };
  static const char request[] = "GET " WORLD "/map HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  int pages[PAGES];
  for (int i = 0; i < PAGES; i++) pages[i] = control_send(&service, request);
  for (int i = 0; i < PAGES; i++) {
    *seen = '\0';
    await(pages[i], seen, sizeof seen, "200 OK", 0);
    close(pages[i]);
  }
}

/* ----------------------------------------------------------------------------------------------------------- files */

static void ask_again(const char *tag) {
  int descriptor = control_send(&service, formed("GET /muster.svg HTTP/1.1\r\nHost: localhost\r\nConnection: "
                                                 "close\r\nIf-None-Match: %s\r\n\r\n",
                                                 tag));
  memset(reply.text, 0, sizeof reply.text);
  await(descriptor, reply.text, sizeof reply.text, "\r\n\r\n", 0);
  close(descriptor);
}

Test(live, files_come_with_their_kind_a_tag_and_no_licence_to_load_others) {
  cr_expect_eq(fetch("GET", "/muster.svg", NULL)->status, 200);
  cr_expect(strncmp(reply.body, "<svg", 4) == 0);
  cr_expect(strstr(reply.text, "Content-Type: image/svg+xml\r\n"));
  cr_expect(strstr(reply.text, "Content-Security-Policy: default-src 'self';"));
  cr_expect(strstr(reply.text, "X-Content-Type-Options: nosniff\r\n"));
  cr_expect(strstr(reply.text, "frame-ancestors 'none'"));
  char tag[64];
  cr_assert_eq(sscanf(strstr(reply.text, "ETag: "), "ETag: %63[^\r]", tag), 1);
  ask_again(tag);
  cr_expect(strstr(reply.text, " 304 "));
  char tags[128];
  snprintf(tags, sizeof tags, "\"another\", %s, \"one more\"", tag);
  ask_again(tags);
  cr_expect(strstr(reply.text, " 304 "), "one of several");
  ask_again("*");
  cr_expect(strstr(reply.text, " 304 "), "whatever it has");
  ask_again("\"another\"");
  cr_expect(strstr(reply.text, " 200 "));
}

Test(live, files_that_are_not_there_and_changes_of_those_that_are_get_refused) {
  expect_refusal("/nothing.html", 404, NULL);
  tell("POST", "/muster.svg", "{}", 405);
}
