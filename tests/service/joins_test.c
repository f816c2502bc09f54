/* What several worlds say together: of a front whose worlds are servers of this test, which say what the test wants. */
#include "own_server.h"

#include "service/supervise/joins.h"
#include "service/zones/balancer.h"

#include "base/clock.h"

enum { WORLDS = 3 };

typedef struct world_says {
  unsigned status; /* 0 = it does not answer */
  const char *text;
} world_says;

static own_server server;
static struct settings settings;
static struct processes processes;
static struct front *front;
static struct holder *holder; /* of a cluster; null = there is none */
static struct http *worlds[WORLDS];
static int sockets[WORLDS];
static world_says says[WORLDS];

/* A world, and the front, which is no world's server. */
static void handle(http_request *request) {
  const joins_of of = {.front = front, .processes = &processes, .http = server.http, .holder = holder};
  const world_says *own = http_user(request);
  if (own)
    http_answer(request, own->status, HTTP_JSON, own->text, strlen(own->text));
  else
    cr_assert(joins_handle(request, &of));
}

static struct http *serve(int descriptor, world_says *own) {
  static const http_route routes[] = {{.method = "GET", .pattern = "/v1/modules", .handle = handle},
                                      {.method = "GET", .pattern = "/v1/worlds", .handle = handle},
                                      {.method = "GET", .pattern = "/v1/crash", .handle = handle},
                                      {.method = "GET", .pattern = "/readyz", .handle = handle},
                                      {.method = "POST", .pattern = "/v1/snapshot", .handle = handle},
                                      {0}},
                          *const tables[] = {routes, NULL};
  http_options options = http_default_options();
  options.tables = tables;
  options.user = own;
  struct http *http = http_create(&server.loop, &options);
  cr_assert(http && http_listen_unix(http, descriptor) == MUSTER_OK, "%s", muster_last_error());
  return http;
}

static void name_socket(uint32_t index, bool there) {
  world_process *process = &processes.worlds[index];
  snprintf(process->socket, sizeof process->socket, "%s.%u%s", server.asked.socket, index, there ? "" : ".none");
}

static void begin_world(uint32_t index) {
  static const char *const names[WORLDS] = {"main", "forest", "town"};
  world_process *process = &processes.worlds[index];
  *process = (world_process){.all = &processes, .state = PROCESS_RUNNING};
  strcpy(process->name, names[index]);
  name_socket(index, true);
  sockets[index] = own_server_listen(process->socket);
  worlds[index] = serve(sockets[index], &says[index]);
  settings_add_world(&settings, names[index]);
}

static void close_servers(void) {
  front_close(front);
  http_destroy(server.http, NULL, NULL);
  server.http = NULL;
  for (uint32_t i = 0; i < WORLDS; i++) http_destroy(worlds[i], NULL, NULL);
  front_free(front);
}

static void begin(void) {
  own_server_prepare(&server);
  settings_default(&settings);
  processes = (struct processes){.loop = &server.loop, .settings = &settings, .count = WORLDS};
  for (uint32_t i = 0; i < WORLDS; i++) begin_world(i);
  front = front_open(&server.loop);
  cr_assert_not_null(front, "%s", muster_last_error());
  server.http = serve(server.descriptor, NULL);
  server.end = close_servers;
  own_server_begin(&server);
}

static void end(void) {
  for (uint32_t i = 0; i < WORLDS; i++) unlink(processes.worlds[i].socket);
  own_server_stop(&server);
  close_all(sockets, WORLDS);
}

TestSuite(joins, .init = begin, .fini = end, .timeout = 60);

/* The worlds say this, in their order; one whose answer has no status is not there. */
static json_t *ask(const char *method, const char *path, const world_says all[WORLDS], int status) {
  for (uint32_t i = 0; i < WORLDS; i++) {
    says[i] = all[i];
    name_socket(i, all[i].status);
  }
  json_t *joined = control_ask(&server.asked, method, path, NULL, status);
  for (uint32_t i = 0; i < WORLDS; i++) name_socket(i, true);
  return joined;
}

/* Each answer is compared as a whole, whatever the order of the worlds. */
static void expect_joined(const char *method, const char *path, const world_says all[WORLDS], int status,
                          const char *wanted) {
  json_auto_t *joined = ask(method, path, all, status), *whole = json_loads(wanted, 0, NULL);
  SCOPED(free_memory) char *text = json_dumps(joined, JSON_COMPACT);
  cr_assert_not_null(whole, "%s", wanted);
  cr_expect(json_equal(joined, whole), "%s %s: %s instead of %s", method, path, text, wanted);
}

static const world_says nobody[WORLDS] = {{0, ""}, {0, ""}, {0, ""}};
static const char listed[] = "{\"list\":[1]}";
static const world_says each[WORLDS] = {{200, listed}, {200, listed}, {200, listed}};

Test(joins, each_member_is_joined_by_its_kind) {
  static const world_says snapshots[WORLDS] = {
      {200, "{\"written\":1,\"failed\":2,\"bytes\":4,\"refused\":8,\"number\":50,\"written_at\":70,\"age\":5,"
            "\"held\":false,\"why\":\"\",\"list\":[1,2]}"},
      {200, "{\"written\":16,\"failed\":32,\"bytes\":64,\"refused\":128,\"number\":40,\"written_at\":80,\"age\":7,"
            "\"held\":true,\"why\":\"full\",\"list\":[2,3]}"},
      {200, "{\"written\":256,\"failed\":512,\"bytes\":1024,\"refused\":2048,\"number\":60,\"written_at\":60,\"age\":6,"
            "\"held\":false,\"why\":\"other\",\"list\":[3,1,4]}"}};
  static const char whole[] =
      "{\"written\":273,\"failed\":546,\"bytes\":1092,\"refused\":2184,\"number\":40,\"written_at\":60,\"age\":7,"
      "\"held\":true,\"why\":\"full\",\"list\":[1,2,3,4]}";
  processes.worlds[1].state = PROCESS_STARTING; /* which answers soon */
  expect_joined("POST", "/v1/snapshot", snapshots, 200, whole);
  expect_joined("GET", "/v1/modules", snapshots, 200, whole);
  for (uint32_t bad = 0; bad < WORLDS; bad++) {
    static const char well[] = "{\"last\":{\"clean\":true,\"pid\":1}}",
                      ill[] = "{\"last\":{\"clean\":false,\"pid\":2}}";
    world_says crashes[WORLDS] = {{200, well}, {200, well}, {200, well}};
    crashes[bad].text = ill;
    expect_joined("GET", "/v1/crash", crashes, 200, ill);
  }
}

/* A change that one world has refused is not made, whatever the others say; a question is answered by the others. */
Test(joins, a_change_is_answered_by_who_refuses_it_and_a_question_by_who_answers) {
  for (uint32_t bad = 0; bad < WORLDS; bad++)
    for (uint32_t others = 0; others < 2; others++) {
      const char *refusal = formed("{\"error\":%u}", bad);
      world_says all[WORLDS] = {each[0], each[1], each[2]};
      all[bad] = (world_says){409, refusal};
      if (others) all[(bad + 1) % WORLDS] = (world_says){503, "{\"error\":9}"};
      const char *first = others && (bad + 1) % WORLDS < bad ? "{\"error\":9}" : refusal;
      expect_joined("POST", "/v1/snapshot", all, first == refusal ? 409 : 503, first);
      expect_joined("GET", "/v1/modules", all, 200, listed);
    }
  static const world_says all[WORLDS] = {{404, "{\"error\":1}"}, {409, "{\"error\":2}"}, {404, "{\"error\":3}"}};
  expect_joined("GET", "/v1/modules", all, 404, "{\"error\":1}");
}

static void expect_no_answer(const char *method, const char *path, const world_says all[WORLDS], const char *of) {
  json_auto_t *refused = ask(method, path, all, 502);
  cr_expect_str_eq(control_text(refused, "error.code"), "no_answer");
  expect_in(control_text(refused, "error.message"), of);
}

Test(joins, a_change_needs_the_answer_of_each_that_was_asked) {
  for (uint32_t silent = 0; silent < WORLDS; silent++) {
    world_says all[WORLDS] = {each[0], each[1], each[2]};
    all[silent] = nobody[0];
    json_auto_t *refused = ask("POST", "/v1/snapshot", all, 502);
    cr_expect_str_eq(control_text(refused, "error.code"), "no_answer");
    cr_expect(strstr(control_text(refused, "error.message"), processes.worlds[silent].name));
    cr_expect_null(strstr(control_text(refused, "error.message"), "()"), "nobody says why");
    expect_joined("GET", "/v1/modules", all, 200, listed);
    processes.worlds[silent].state = PROCESS_FAILED; /* one that does not run is not asked */
    expect_joined("POST", "/v1/snapshot", all, 200, listed);
    processes.worlds[silent].state = PROCESS_RUNNING;
  }
  expect_no_answer("GET", "/v1/modules", nobody, "");
}

Test(joins, worlds_without_a_process_stand_first_among_the_reasons) {
  static const world_says all[WORLDS] = {
      {200, "{\"ready\":true,\"reasons\":[{\"code\":\"of main\"}]}"}, {0, ""}, {0, ""}};
  static const char *const codes[] = {"failed", "ended", "of main"};
  processes.worlds[1].state = PROCESS_FAILED, processes.worlds[2].state = PROCESS_ENDED;
  json_auto_t *refused = ask("GET", "/readyz", all, 503);
  cr_expect(!control_is_true(refused, "ready"));
  cr_assert_eq(control_size(refused, "reasons"), 3);
  for (uint32_t i = 0; i < 3; i++) {
    cr_expect_str_eq(control_text(refused, formed("reasons.%u.code", i)), codes[i]);
    if (i < 2) cr_expect_str_eq(control_text(refused, formed("reasons.%u.world", i)), processes.worlds[i + 1].name);
  }
  processes.worlds[1].elsewhere = processes.worlds[2].elsewhere = true;
  json_auto_t *ready = ask("GET", "/readyz", all, 200);
  cr_expect(control_is_true(ready, "ready"), "another node runs them");
  cr_expect_eq(control_size(ready, "reasons"), 1);
  static const world_says one[WORLDS] = {{200, "{\"ready\":true}"},
                                         {503, "{\"ready\":false,\"reasons\":[{\"code\":\"slow\"}]}"},
                                         {200, "{\"ready\":true}"}};
  for (uint32_t i = 0; i < WORLDS; i++)
    processes.worlds[i].elsewhere = false, processes.worlds[i].state = PROCESS_RUNNING;
  expect_joined("GET", "/readyz", one, 503, "{\"ready\":false,\"reasons\":[{\"code\":\"slow\"}]}");
}

#ifdef MUSTER_HAS_ZONES

/* What a node of a cluster tells of itself stands behind what is said of its worlds, each once. */
Test(joins, a_cluster_s_clock_and_birth_spaces_are_reasons_though_worlds_are_ready) {
  static const world_says all[WORLDS] = {
      {200, "{\"ready\":true}"}, {200, "{\"ready\":true}"}, {200, "{\"ready\":true}"}};
  char text[NODES_TEXT_BYTES];
  holder = calloc(1, sizeof *holder);
  cr_assert(holder && (holder->balancer = calloc(1, sizeof *holder->balancer)));
  for (uint32_t i = 0; i < 3; i++) { /* the first is off */
    node_told told = {.life = 1, .count = 1, .capacity = 1, .has_wall = true};
    told.wall_ns = 1795680000000000000 + (i ? 0 : 3600000000000);
    snprintf(told.name, sizeof told.name, "n%u", i);
    cr_assert(nodes_hear(&holder->balancer->nodes, text, nodes_write(&told, text), clock_boot()));
  }
  holder->count = 2;
  for (uint32_t i = 0; i < 2; i++) {
    holder->holdings[i].ground.number = 4 + i;
    holder->holdings[i].leased = true;
    holder->holdings[i].births.space.used = SPACES_MAX;
  }
  json_auto_t *told = ask("GET", "/readyz", all, 200);
  static const char *const reasons[][2] = {
      {"clock", "node n0 is 3600.0 s ahead"}, {"birth_spaces", "zone 4 has used"}, {"birth_spaces", "zone 5 has used"}};
  cr_expect(control_is_true(told, "ready"));
  cr_assert_eq(control_size(told, "reasons"), COUNT_OF(reasons));
  for (uint32_t i = 0; i < COUNT_OF(reasons); i++) {
    cr_expect_str_eq(control_text(told, formed("reasons.%u.code", i)), reasons[i][0]);
    expect_in(control_text(told, formed("reasons.%u.message", i)), reasons[i][1]);
  }
  free(holder->balancer);
  free(holder);
  holder = NULL;
}

#endif

/* An answer of any size comes as a whole, also one that fills a block of memory to its end. */
Test(joins, an_answer_of_any_size_comes_as_it_was_said) {
  static char text[6000];
  for (uint32_t bytes = 5000; bytes < 5016; bytes++) {
    memset(text, ' ', bytes);
    memcpy(text, listed, strlen(listed));
    text[bytes] = '\0';
    const world_says all[WORLDS] = {{200, text}, {200, text}, {200, text}};
    expect_joined("GET", "/v1/modules", all, 200, listed);
  }
}

Test(joins, all_worlds_have_a_row_of_their_process) {
  static const world_says all[WORLDS] = {{200, "{\"worlds\":[{\"world\":\"main\"}]}"},
                                         {409, "{\"error\":1}"},
                                         {200, "{\"worlds\":[{\"world\":\"town\"}]}"}};
  for (uint32_t none = 0; none < 2; none++) {
    json_auto_t *joined = ask("GET", "/v1/worlds", none ? nobody : all, 200);
    cr_expect_eq(control_size(joined, "worlds"), none ? 0 : 2);
    cr_expect_eq(control_size(joined, "processes"), WORLDS);
    if (!none) cr_expect_str_eq(control_text(joined, "worlds.1.world"), "town");
  }
}
