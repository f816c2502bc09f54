/* own_worlds.h - the control API over worlds that a test has made up and looks into: a server of all routes, with two
 * worlds of a module of the test's own, which run a frame when they are told to. */
#ifndef OWN_WORLDS_H
#define OWN_WORLDS_H

#include "json_rows.h"
#include "own_server.h"
#include "service/api_bodies.h"
#include "service/hosting.h"
#include "service/http_parts.h"
#include "service/live.h"
#include "service/metrics.h"
#include "service/publish.h"
#include "support/little_world.h"

#include "base/clock.h"

#include <muster/overruns.h>
#include <muster/tune.h>

#include <stdatomic.h>

#define WEST "/v1/worlds/west"
#define EAST "/v1/worlds/east"

enum { WORLDS = 2, HENS = 40, FOXES = 20, ROOM = 400, IDS_MAX = HENS + FOXES, MANY_TYPES = 66 };

static struct service service;
static own_server server;
static uv_thread_t frames_thread;
static atomic_bool stopping;
static little_world little[WORLDS];
static muster_agent agents[WORLDS][IDS_MAX];
static uint32_t agent_count[WORLDS];
static uint64_t state = 88172645463325252u;

static inline uint32_t below(uint32_t bound) {
  return (uint32_t)(next_random(&state) >> 16) % bound;
}

/* ------------------------------------------------------------------------------------------ a module, and worlds */

static uint32_t commands_given;

static inline void nothing_before(void *instance, muster_world *world, uint64_t sim_now_ns) {
  (void)instance, (void)world, (void)sim_now_ns;
}

/* Nobody lives in the west of its world. */
static inline muster_result complete(void *instance, const muster_world *world, muster_agent_def *def) {
  (void)instance, (void)world;
  return def->position.x < 0 ? muster_module_fail(MUSTER_E_ARGUMENT, "nobody lives there") : MUSTER_OK;
}

static inline muster_result command(void *instance, muster_world *world, const muster_module_call *call,
                                    muster_module_answer answer, void *answer_user) {
  (void)instance, (void)world;
  commands_given++;
  if (strcmp(call->command, "text") == 0) answer(200, false, "in words", 8, answer_user);
  if (strcmp(call->command, "later") == 0) answer(202, false, NULL, 0, answer_user);
  if (strcmp(call->command, "odd") == 0) cr_expect(!answer(300, false, "no", 2, answer_user));
  if (strcmp(call->command, "twice") == 0) {
    cr_expect(answer(201, false, "the first", 9, answer_user));
    cr_expect(!answer(202, false, "the second", 10, answer_user));
  }
  if (strcmp(call->command, "fail") == 0) return muster_module_fail(MUSTER_E_STATE, "it is not the time");
  return MUSTER_OK;
}

static const muster_module_command commands[] = {{"text", ""},  {"later", ""}, {"odd", ""},
                                                 {"twice", ""}, {"fail", ""},  {0}};
static const muster_module_metric metrics[] = {
    {"eggs", MUSTER_MODULE_GAUGE, "Eggs."}, {"eaten_total", MUSTER_MODULE_COUNTER, "Hens."}, {0}};

static double eggs_laid;

/* Those of now, in each world. */
static inline void read_metrics(void *instance, const muster_world *world, double *values) {
  muster_statistics statistics = muster_statistics_default();
  (void)instance;
  muster_statistics_read(world, &statistics);
  values[0] = eggs_laid + (world == service.worlds[1].world ? 20 : 10);
  values[1] = 100 + (double)statistics.spawned;
}

static const muster_module farm = {.size = sizeof farm,
                                   .name = "farm",
                                   .summary = "",
                                   .before_frame = nothing_before,
                                   .complete = complete,
                                   .commands = commands,
                                   .command = command,
                                   .metrics = metrics,
                                   .read_metrics = read_metrics};

static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};

static inline void register_named(uint32_t number, const char *name, uint64_t period_ns) {
  muster_type_def def = WITH(muster_type_def, it.atoms = &atom, it.atom_count = 1, it.name = name,
                             it.period_ns = period_ns, it.period_max_ns = 20 * period_ns);
  register_type(&little[number], &def);
}

static inline void populate(uint32_t number) {
  register_named(number, "hen", 50000000);
  register_named(number, "fox", 30000000);
  for (uint32_t i = 0; i < HENS + FOXES; i++) {
    little[number].type.index = i < HENS ? 1 : 2;
    muster_position place = {10.0 * (i % 10), 5.0 * (i / 10) + number, i};
    agents[number][agent_count[number]++] = spawn_in(&little[number], place, i % 3);
  }
}

static inline void make_world(uint32_t number) {
  static const char *const names[] = {"west", "east"};
  hosted_world *world = &service.worlds[number];
  muster_world_def def = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.limits.agents_max = 2 * ROOM,
                              it.limits.types_max = MANY_TYPES + 2, it.limits.observers_max = 256);
  little[number] = little_world_create(2, &def);
  little[number].provokes_idle = true;
  world->settings = *settings_add_world(&service.settings, names[number]);
  strcpy(world->settings.module, "farm");
  strcpy(world->name, names[number]);
  cr_assert_eq(uv_mutex_init(&world->mutex), 0);
  world->world = little[number].world;
  world->module = &farm;
  world->parts.count = 1;
  world->parts.parts[0] = (module_part){.name = {"module", "farm"}, .module = &farm};
  world->needs.agents_max = ROOM;
  world->budget_ns = 5000000, world->period_ns = 100000000;
  world->paused = true;
  populate(number);
  publish_pace(world);
}

static inline void end_loop(void) {
  frame_mailbox_close(&service.mailbox);
  live_close(&service);
}

static inline void serve_mailbox(void *argument) {
  (void)argument;
  while (!stopping) frame_mailbox_serve(&service.mailbox, &service, clock_system() + 1000000000u, 1000000);
}

static inline void start(void) {
  static flight_head head;
  settings_default(&service.settings);
  service.stage = SERVICE_RUNNING;
  service.world_count = WORLDS;
  for (uint32_t i = 0; i < WORLDS; i++) make_world(i);
  service.flight.head = &head;
  service.pool = little[0].pool;
  service.metrics = metrics_create();
  cr_assert(uv_mutex_init(&service.snapshots.mutex) == 0 && uv_mutex_init(&service.flight.mutex) == 0);
  own_server_prepare(&server);
  server.end = end_loop;
  service.loop = &server.loop;
  cr_assert_eq(frame_mailbox_open(&service.mailbox, &server.loop), MUSTER_OK);
  cr_assert_eq(live_open(&service), MUSTER_OK);
  server.http = service.http = api_serve(&server.loop, &service.settings, server.descriptor, NULL, &service);
  own_server_begin(&server);
  cr_assert_eq(uv_thread_create(&frames_thread, serve_mailbox, NULL), 0);
}

static inline void stop(void) {
  stopping = true;
  frame_mailbox_wake(&service.mailbox);
  uv_thread_join(&frames_thread);
  own_server_stop(&server);
  metrics_destroy(service.metrics);
  for (uint32_t i = 0; i < WORLDS; i++) little_world_destroy(&little[i]);
}

typedef struct turn {
  mailbox_request request; /* first: it is the turn */
  hosted_world *world;
  uv_sem_t done;
} turn;

static inline void take_turn(mailbox_request *request, struct service *unused) {
  hosted_world *world = ((turn *)request)->world;
  uint64_t begin_ns = clock_system();
  (void)unused;
  cr_assert_eq(hosting_run_frame(world), MUSTER_OK, "%s", muster_last_error());
  world->frames++;
  publish_frame(world, begin_ns, clock_system());
}

static inline void end_turn(mailbox_request *request) {
  uv_sem_post(&((turn *)request)->done);
}

/* Runs a frame of a world on the frames' thread. */
static inline void run_frame_of(uint32_t number) {
  turn one = {.request = {.run = take_turn, .done = end_turn}, .world = &service.worlds[number]};
  cr_assert_eq(uv_sem_init(&one.done, 0), 0);
  cr_assert_eq(frame_mailbox_post(&service.mailbox, &one.request), MUSTER_OK);
  uv_sem_wait(&one.done);
  uv_sem_destroy(&one.done);
}

static inline void run_frames_of(uint32_t number, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) run_frame_of(number);
}

/* Of a world by its number, and of what is in it, such as "/agents". */
static inline const char *path_to(uint32_t number, const char *end) {
  return formed("/v1/worlds/%s%s", service.worlds[number].name, end);
}

static inline json_t *ask(const char *method, const char *path, const char *body, int status) {
  return control_ask(&server.asked, method, path, body, status);
}

static inline json_t *get(const char *path) {
  return control_get(&server.asked, path);
}

static inline void tell(const char *method, const char *path, const char *body, int status) {
  json_decref(control_ask(&server.asked, method, path, body, status));
}

#endif
