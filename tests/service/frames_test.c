/* The frames' thread itself, in this process, with worlds whose frames are so far apart that none comes unless the test
 * has made it due: which frame comes next, and when the one after it is due. And a reload, on this thread. */
#include "room.h"
#include "service/api.h"
#include "service/frames.h"
#include "service/reload.h"
#include "support/little_world.h"

#include "base/clock.h"

enum { WORLDS = 3 };

static const uint64_t period_ns = 100000000000u; /* longer than any test takes */
static struct service service;
static uv_loop_t loop;
static uv_thread_t thread;

static void ignore_news(uv_async_t *news) {
  (void)news;
}

static hosted_world *add_world(const char *name, const char *module) {
  hosted_world *world = &service.worlds[service.world_count++];
  world_settings *settings = settings_add_world(&service.settings, name);
  cr_assert(settings && uv_mutex_init(&world->mutex) == 0);
  strcpy(settings->module, module);
  world->settings = *settings;
  strcpy(world->name, name);
  return world;
}

static void begin_loop(void) {
  settings_default(&service.settings);
  service.loop = &loop;
  cr_assert(uv_loop_init(&loop) == 0 && uv_mutex_init(&service.snapshots.mutex) == 0);
  cr_assert_eq(frame_mailbox_open(&service.mailbox, &loop), MUSTER_OK);
}

static void end_loop(void) {
  frame_mailbox_close(&service.mailbox);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(uv_loop_close(&loop), 0);
}

/* Worlds of a module that does nothing. */
static void start(void) {
  static const char *const names[] = {"west", "east", "south"};
  begin_loop();
  strcpy(service.settings.modules, getenv("ODD_MODULES"));
  service.settings.workers = 1;
  service.modules.descriptor = -1;
  cr_assert(uv_async_init(&loop, &service.frames_news, ignore_news) == 0 && uv_mutex_init(&service.news_mutex) == 0);
  for (uint32_t i = 0; i < WORLDS; i++) {
    hosted_world *world = add_world(names[i], "plain");
    world->budget_ns = world->settings.budget_ns, world->period_ns = period_ns;
  }
  cr_assert_eq(uv_thread_create(&thread, frames_main, &service), 0);
}

static void stop(void) {
  uv_mutex_lock(&service.news_mutex);
  service.stop = true;
  uv_mutex_unlock(&service.news_mutex);
  frame_mailbox_wake(&service.mailbox);
  uv_thread_join(&thread);
  cr_expect(service.opened && service.ended && !service.unsaved);
  uv_close((uv_handle_t *)&service.frames_news, NULL);
  end_loop();
}

TestSuite(frames, .init = start, .fini = stop, .timeout = 120);

/* What the test does between two frames, on their thread; the loop is the test's own. */
typedef struct errand {
  mailbox_request request; /* first: it is the errand */
  int64_t late_ns[WORLDS]; /* by how much a frame is made late; 0 = as it is */
  hosted_world *paused;
  uint32_t steps;
  uint64_t due_ns[WORLDS], frames[WORLDS], frames_late[WORLDS], now_ns; /* as it is found */
  bool done;
} errand;

static void run_errand(mailbox_request *request, struct service *unused) {
  errand *one = (errand *)request;
  (void)unused;
  one->now_ns = clock_system();
  bool any = false;
  for (uint32_t i = 0; i < WORLDS; i++) {
    hosted_world *world = &service.worlds[i];
    if (one->late_ns[i]) world->due_ns = one->now_ns - (uint64_t)one->late_ns[i];
    any = any || one->late_ns[i];
    one->due_ns[i] = world->due_ns;
    one->frames[i] = world->frames, one->frames_late[i] = world->frames_late;
  }
  if (one->paused) frames_pause(&service, one->paused, one->steps);
  if (any) frame_mailbox_wake(&service.mailbox);
}

static void end_errand(mailbox_request *request) {
  ((errand *)request)->done = true;
}

static errand do_errand(errand one) {
  one.request = (mailbox_request){.run = run_errand, .done = end_errand};
  cr_assert_eq(frame_mailbox_post(&service.mailbox, &one.request), MUSTER_OK);
  AWAIT_WITH(uv_run(&loop, UV_RUN_ONCE), one.done);
  return one;
}

static errand be_late(int64_t west_ns, int64_t east_ns, int64_t south_ns) {
  return do_errand((errand){.late_ns = {west_ns, east_ns, south_ns}});
}

/* As many frames of each world have been run, and no more come. */
static errand await_frames(uint64_t west, uint64_t east, uint64_t south) {
  errand found = {.done = false};
  AWAIT_WITH(found = do_errand((errand){0}),
             found.frames[0] >= west && found.frames[1] >= east && found.frames[2] >= south);
  for (int i = 0; i < 5; i++) found = do_errand((errand){0});
  cr_assert(found.frames[0] == west && found.frames[1] == east && found.frames[2] == south, "%lu, %lu, %lu",
            found.frames[0], found.frames[1], found.frames[2]);
  return found;
}

/* Each begins with a frame at once. One that is a period late or less keeps its rhythm; behind a longer delay it begins
 * a new one: what was missed is not made up for. */
Test(frames, that_are_late_are_not_made_up_for) {
  errand found = await_frames(1, 1, 1);
  for (uint32_t i = 0; i < WORLDS; i++) cr_expect_eq(found.frames_late[i], 0);
  errand late = be_late(5 * (int64_t)period_ns / 2, (int64_t)period_ns / 2, 0);
  found = await_frames(2, 2, 1);
  cr_expect(found.frames_late[0] == 1 && found.frames_late[1] == 0 && found.frames_late[2] == 0);
  cr_expect(found.due_ns[0] >= late.now_ns + period_ns && found.due_ns[0] <= found.now_ns + period_ns);
  cr_expect_eq(found.due_ns[1], late.due_ns[1] + period_ns, "it keeps its rhythm");
  cr_expect_eq(found.due_ns[2], late.due_ns[2]);
  be_late(0, 0, 2 * (int64_t)period_ns);
  found = await_frames(2, 2, 2);
  cr_expect(found.frames_late[0] == 1 && found.frames_late[1] == 0 && found.frames_late[2] == 1);
}

/* A paused world runs the steps that it was told, a period apart, whatever is due of the others. */
Test(frames, of_a_paused_world_come_for_its_steps_alone) {
  await_frames(1, 1, 1);
  do_errand((errand){.paused = &service.worlds[1], .steps = 2});
  await_frames(1, 2, 1);
  cr_expect(service.worlds[1].paused && service.worlds[1].steps_left == 1);
  be_late(1, 1, 0);
  await_frames(2, 3, 1);
  cr_expect(service.worlds[1].paused && service.worlds[1].steps_left == 0);
  errand late = be_late(1, 1, 1);
  errand found = await_frames(3, 3, 2);
  cr_expect_eq(found.due_ns[1], late.due_ns[1], "none is due of a world that stands");
  cr_expect(!service.worlds[0].paused && !service.worlds[2].paused);
}

/* A world that has failed runs no more, and the others do. */
Test(frames, of_a_failed_world_do_not_come) {
  await_frames(1, 1, 1);
  service.worlds[0].failed = true;
  be_late(1, 1, 1);
  await_frames(1, 2, 2);
}

/* ---------------------------------------------------------------------------------------------------------- reloads */

static uint32_t reloads[2];

static muster_result take_command(void *instance, muster_world *world, const muster_module_call *call,
                                  muster_module_answer answer, void *answer_user) {
  (void)world;
  cr_expect_str_eq(call->command, "reload");
  ++*(uint32_t *)instance;
  answer(200, false, "read anew", 9, answer_user);
  return MUSTER_OK;
}

static const muster_module_command commands[] = {{"reload", ""}, {0}};
static const muster_module scripted = {
    .size = sizeof scripted, .name = "scripted", .summary = "", .commands = commands, .command = take_command};

/* Lets the reload that is under way come to its end. */
static void turn_until_done(void) {
  for (int i = 0; i < 10; i++) {
    frame_mailbox_serve(&service.mailbox, &service, 0, 1000000000u);
    uv_run(&loop, UV_RUN_NOWAIT);
  }
}

static little_world reloaded[2];
static int listening;

/* Two worlds, of whose settings each has its own pace and what is live has another value than by default. */
static void begin_service(void) {
  static char words[256], *arguments[32];
  const struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(words, "musterd --world west=scripted --hz 20 --budget 2ms --world east=scripted --hz 40 --budget 3ms "
                "--crash-limit 9 --log-level error --snapshot-interval 77s --body-bytes-max 5000");
  for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) arguments[service.argument_count++] = word;
  service.arguments = arguments;
  listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  cr_assert(listening >= 0 && bind(listening, (const struct sockaddr *)&address, sizeof address.sun_family) == 0 &&
            listen(listening, 4) == 0);
  begin_loop();
  service.stage = SERVICE_RUNNING;
  for (uint32_t i = 0; i < 2; i++) {
    hosted_world *world = add_world(i ? "east" : "west", "scripted");
    reloaded[i] = little_world_create(1, NULL);
    world->world = reloaded[i].world;
    world->budget_ns = 11000000, world->period_ns = 12000000;
    world->parts.count = 1;
    world->parts.parts[0] = (module_part){.name = {"module", "scripted"}, .module = &scripted, .instance = &reloads[i]};
  }
  service.http = api_serve(&loop, &service.settings, listening, NULL, &service);
  cr_assert_not_null(service.http, "%s", muster_last_error());
}

static void end_service(void) {
  http_destroy(service.http, NULL, NULL);
  end_loop();
  close(listening);
  for (uint32_t i = 0; i < 2; i++) little_world_destroy(&reloaded[i]);
}

TestSuite(frames_reload, .init = begin_service, .fini = end_service, .timeout = 60);

/* What the settings say counts in each world again, and the modules of each are told: each time. */
Test(frames_reload, reaches_every_world_and_all_that_is_live) {
  for (uint32_t round = 1; round <= 2; round++) {
    reload_begin(&service);
    cr_expect(service.reloads && !service.reload_again && service.settings.crash_limit == (round == 1 ? 3 : 9));
    turn_until_done();
    cr_expect(!service.reloads && !service.reload_again);
    for (uint32_t i = 0; i < 2; i++) {
      cr_expect_eq(reloads[i], round, "%u of world %u", reloads[i], i);
      cr_expect_eq(service.worlds[i].budget_ns, i ? 3000000 : 2000000);
      cr_expect_eq(service.worlds[i].period_ns, i ? 25000000 : 50000000);
      service.worlds[i].budget_ns = 1000000; /* by control */
    }
    cr_expect(service.settings.crash_limit == 9 && service.settings.log_level == MUSTER_LOG_ERROR);
    cr_expect(service.snapshots.interval_ns == 77000000000u && service.settings.body_bytes_max == 5000);
    cr_expect_eq(service.settings.world_count, 2);
  }
}

/* However often it is asked for meanwhile, one more comes behind the one that is under way. */
Test(frames_reload, that_is_asked_for_meanwhile_comes_once_behind_it) {
  for (int i = 0; i < 4; i++) reload_begin(&service);
  cr_expect(service.reloads && service.reload_again);
  turn_until_done();
  cr_expect(!service.reloads && !service.reload_again);
  for (uint32_t i = 0; i < 2; i++) cr_expect_eq(reloads[i], 2, "%u", reloads[i]);
}
