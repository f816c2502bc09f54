/* What a world is hosted with: the modules of a world as one, what is published of it, the world that the settings
 * make, and what it is told of those who died. In this process, with modules of the test's own. */
#include "service/flight.h"
#include "service/hosting.h"
#include "service/poison.h"
#include "service/publish.h"
#include "service/service.h"
#include "service/supervise/orders.h"
#include "support/little_world.h"

#include "base/clock.h"

#include <math.h>
#include <muster/tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct service service;

/* --------------------------------------------------------------------------------------------------- modules as one */

enum { PARTS = 3, PROBLEMS = 4 };

/* What one instance of a module has to say. */
typedef struct spoken {
  uint64_t skip_ns;
  double metric;
  uint32_t problem_count;
  muster_module_problem problems[PROBLEMS];
  uint32_t walked;
} spoken;

static spoken speakers[PARTS];
static muster_agent asked_of;

static void walk(void *instance, muster_world *world, uint64_t sim_now_ns) {
  (void)world, (void)sim_now_ns;
  ((spoken *)instance)->walked++;
}

static uint64_t skip(void *instance, uint64_t sim_now_ns) {
  (void)sim_now_ns;
  return ((spoken *)instance)->skip_ns;
}

static void read_metrics(void *instance, const muster_world *world, double *values) {
  (void)world;
  values[0] = ((spoken *)instance)->metric;
}

static void tell_problems(void *instance, const muster_world *world, muster_agent agent, muster_module_tell tell,
                          void *tell_user) {
  const spoken *self = instance;
  (void)world;
  asked_of = agent;
  for (uint32_t i = 0; i < self->problem_count; i++) tell(&self->problems[i], tell_user);
}

static const muster_module_metric metrics[] = {{"spoken", MUSTER_MODULE_GAUGE, "Spoken."}, {0}};
static const muster_module speaking = {.size = sizeof speaking,
                                       .name = "speaking",
                                       .summary = "",
                                       .before_frame = walk,
                                       .skip_ns = skip,
                                       .metrics = metrics,
                                       .read_metrics = read_metrics,
                                       .problems = tell_problems};
static const muster_module silent = {.size = sizeof silent, .name = "silent", .summary = ""};

static struct modules modules;

/* Opens real modules, whose face has all functions that theirs have; the test may put others in their places. */
static void open_parts(module_parts *parts, const char *folder, const char *module, muster_module_needs *needs) {
  static world_settings settings;
  settings_default_world(&settings);
  strcpy(settings.name, "main"), strcpy(settings.module, module);
  cr_assert_eq(modules_open(&modules, folder), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(module_parts_open(parts, &modules, &settings, needs), MUSTER_OK, "%s", muster_last_error());
}

static void be_spoken(module_parts *parts) {
  parts->count = PARTS;
  for (uint32_t i = 0; i < PARTS; i++)
    parts->parts[i] = (module_part){.module = &speaking, .instance = &speakers[i], .types_end = 3 + 2 * i};
}

/* As long as all agree to. */
Test(hosted_parts, let_pass_the_time_that_is_the_least_of_all) {
  static const uint64_t times[][PARTS + 1] = {{5, 7, 9, 5}, {7, 5, 9, 5}, {9, 7, 5, 5}, {0, 7, 5, 0}, {4, 4, 0, 0}};
  module_parts parts;
  muster_module_needs needs;
  open_parts(&parts, getenv("ODD_MODULES"), "plain", &needs);
  cr_assert(parts.face.skip_ns != NULL);
  cr_expect_eq(parts.face.skip_ns(&parts, 1), 0);
  be_spoken(&parts);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    for (uint32_t k = 0; k < PARTS; k++) speakers[k].skip_ns = times[i][k];
    cr_expect_eq(parts.face.skip_ns(&parts, 1), times[i][PARTS]);
  }
}

/* Room for what comes later is at least room for those who are there from the begin: the second one says nothing of
 * that. Where nobody is to be saved, nothing is. */
Test(hosted_parts, need_what_all_need_together_and_do_what_one_can) {
  module_parts parts;
  muster_module_needs needs;
  open_parts(&parts, getenv("ODD_MODULES"), "second", &needs);
  cr_expect(needs.agents == 10 && needs.agents_max == 10, "%u, %u", needs.agents, needs.agents_max);
  cr_expect(!parts.face.save && !parts.face.resume && !parts.face.complete && !parts.named);
  be_spoken(&parts);
  parts.parts[1].module = &silent;
  parts.face.before_frame(&parts, NULL, 1);
  cr_expect(speakers[0].walked == 1 && speakers[1].walked == 0 && speakers[2].walked == 1);
}

Test(hosted_parts, measure_each_its_own_and_nothing_where_there_is_none) {
  module_parts parts = {0};
  be_spoken(&parts);
  parts.parts[1].module = &silent;
  for (uint32_t i = 0; i < PARTS; i++) speakers[i].metric = 10 + i, parts.parts[i].metrics[0] = 1;
  module_parts_measure(&parts, NULL);
  cr_expect(parts.parts[0].metrics[0] == 10 && parts.parts[2].metrics[0] == 12);
  cr_expect(isnan(parts.parts[1].metrics[0]) && isnan(parts.parts[0].metrics[1]));
}

static muster_module_problem problem(uint64_t count, uint64_t last_ns, uint32_t agents, const char *where) {
  return (muster_module_problem){sizeof(muster_module_problem), agents, where, "of \xc3\xa4 kind\n", count, last_ns};
}

/* Of all modules: the place that failed most often, among those that failed since; how many there are is told. */
Test(hosted_parts, find_the_place_that_failed_most_often_lately) {
  module_parts parts = {0};
  module_problem found;
  be_spoken(&parts);
  speakers[0].problem_count = 3, speakers[2].problem_count = 2;
  speakers[0].problems[0] = problem(90, 4999, 9, "too early");
  speakers[0].problems[1] = problem(7, 5000, 1, "first:1");
  speakers[0].problems[2] = problem(5, 9000, 2, "first:2");
  speakers[2].problems[0] = problem(8, 6000, 3, "last:1");
  speakers[2].problems[1] = problem(0, 9999, 4, "never");
  module_parts_find_problem(&parts, NULL, (muster_agent){77}, 5000, &found);
  cr_expect(found.places == 3 && found.count == 8 && found.last_ns == 6000 && found.agents == 3, "%u, %lu",
            found.places, found.count);
  cr_expect_str_eq(found.where, "last:1");
  cr_expect_str_eq(found.what, "of ?? kind?");
  cr_expect_eq(asked_of.value, 77);
  speakers[2].problem_count = 0;
  module_parts_find_problem(&parts, NULL, (muster_agent){0}, 5001, &found);
  cr_expect(found.places == 1 && found.count == 5);
  module_parts_find_problem(&parts, NULL, (muster_agent){0}, 9001, &found);
  cr_expect(found.places == 0 && found.count == 0 && !*found.where);
}

/* -------------------------------------------------------------------------------------------------------- published */

static little_world little;

static hosted_world *host_little(void) {
  static const muster_atom atom = {.run = nothing};
  hosted_world *world = &service.worlds[0];
  service.world_count = 1;
  cr_assert_eq(uv_mutex_init(&world->mutex), 0);
  little = little_world_create(1, NULL);
  little.provokes_idle = true;
  muster_type_def def = type_with(&atom, 1);
  def.name = "hen";
  register_type(&little, &def);
  for (int i = 0; i < 9; i++) spawn_at(&little, i);
  strcpy(world->name, "main");
  world->world = little.world;
  world->module = &speaking;
  world->instance = &speakers[0];
  world->parts.count = 1;
  world->parts.parts[0] = (module_part){.name = {"inst", "speaking"}, .module = &speaking, .instance = &speakers[0]};
  world->budget_ns = 11, world->period_ns = 12, world->sim_now_ns = 13, world->frames = 14;
  world->paused = true, world->steps_left = 15;
  world->kept.incidents = 16, world->kept.sync = 2;
  return world;
}

/* Of the pace, of the frame and of what comes with it, each has its own; what is renewed seldom is renewed when it is
 * time for that, and with the first frame. */
Test(hosted_publish, has_each_number_of_its_world) {
  hosted_world *world = host_little();
  world_published *seen = malloc(sizeof *seen);
  speakers[0].metric = 1.5;
  publish_pace(world);
  world_read_published(world, seen);
  cr_expect(seen->budget_ns == 11 && seen->period_ns == 12 && seen->sim_now_ns == 13 && seen->frames == 0);
  cr_expect(seen->paused && !seen->failed && seen->steps_left == 15 && seen->changes == 1 && !seen->statistics_ns);
  cr_expect(seen->journal.incidents == 16 && seen->journal.sync == 2 && !seen->journal.on);
  cr_expect(seen->type_count == 1 && strcmp(seen->types[0].name, "hen") == 0 && seen->part_count == 1);
  cr_expect(strcmp(seen->parts[0].instance, "inst") == 0 && strcmp(seen->parts[0].module, "speaking") == 0);
  cr_expect(seen->parts[0].metrics[0] == 1.5 && seen->parts[0].tables == &speaking);
  muster_frame_report report = run_frame(&little);
  speakers[0].metric = 2.5;
  world->frames = 21, world->frames_late = 1;
  publish_frame(world, 1000000000, 1000000500);
  world_read_published(world, seen);
  cr_expect(seen->frames == 21 && seen->frames_late == 1 && seen->frame_begin_ns == 1000000000);
  cr_expect(seen->frame_end_ns == 1000000500 && seen->statistics_ns == 1000000500 && seen->changes == 2);
  cr_expect(seen->report.frame == report.frame && seen->report.wall_ns == report.wall_ns && seen->report.agents == 9);
  cr_expect(seen->parts[0].metrics[0] == 2.5 && seen->statistics.spawned == 9);
  cr_expect_eq(world_read_frame(world), report.frame);
  speakers[0].metric = 3.5;
  run_frame(&little);
  publish_frame(world, 1099999000, 1100000499);
  world_read_published(world, seen);
  cr_expect(seen->parts[0].metrics[0] == 2.5 && seen->report.frame == 2, "the frame is new, and not what is large");
  publish_frame(world, 1100000400, 1100000500);
  world_read_published(world, seen);
  cr_expect(seen->parts[0].metrics[0] == 3.5 && seen->statistics_ns == 1100000500);
  world->failed = true;
  strcpy(world->failure, "why");
  struct timing frames = seen->timings.frame;
  publish_frame(world, 1100000600, 1100000700);
  world_read_published(world, seen);
  cr_expect(seen->failed && strcmp(seen->failure, "why") == 0 && seen->changes == 5);
  cr_expect_eq(memcmp(&seen->timings.frame, &frames, sizeof frames), 0, "a frame that failed is none");
  world->world = NULL;
  publish_pace(world);
  world_read_published(world, seen);
  cr_expect(seen->type_count == 0 && seen->part_count == 0);
  free(seen);
  little_world_destroy(&little);
}

/* By audit and by the virtual clock a frame is judged, and by nothing else. */
Test(hosted_publish, judges_frames_where_that_can_be_judged) {
  static history_second seconds[HISTORY_SECONDS];
  hosted_world *world = host_little();
  for (uint32_t i = 0; i < 4; i++) {
    world->settings.audit = i & 1, world->settings.virtual_clock = i & 2;
    run_frame(&little);
    world->frames_late += i == 2;
    publish_frame(world, (i + 1) * 1000000000ull, (i + 1) * 1000000000ull + 5);
  }
  cr_assert_eq(world_read_history(world, 0, 5000000000u, seconds), 4);
  for (uint32_t i = 0; i < 4; i++) {
    cr_expect(seconds[i].judged == (i > 0) && seconds[i].late == (i == 2) && seconds[i].frames == 1, "second %u", i);
    cr_expect_eq(seconds[i].frame, i + 1);
  }
  cr_expect_eq(world_read_history(world, 2, 5000000000u, seconds), 2);
  little_world_destroy(&little);
}

/* What failed more than ten seconds of simulation ago is past. */
Test(hosted_publish, tells_what_failed_in_the_last_ten_seconds_of_simulation) {
  static const struct {
    uint64_t now_s, last_s;
    bool shown;
  } times[] = {{5, 0, true}, {10, 0, true}, {11, 0, false}, {11, 1, true}, {100, 90, true}, {100, 89, false}};
  hosted_world *world = host_little();
  world_published *seen = malloc(sizeof *seen);
  speakers[0].problem_count = 1;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    speakers[0].problems[0] = problem(3 + i, times[i].last_s * 1000000000, 1, "here");
    world->sim_now_ns = times[i].now_s * 1000000000;
    run_frame(&little);
    publish_frame(world, (i + 1) * 1000000000ull, (i + 1) * 1000000000ull);
    world_read_published(world, seen);
    cr_expect_eq(seen->problem.places, times[i].shown, "%lu of %lu", times[i].last_s, times[i].now_s);
    cr_expect_eq(seen->problem.count, times[i].shown ? 3 + i : 0);
  }
  free(seen);
  little_world_destroy(&little);
}

/* ---------------------------------------------------------------------------------------------------------- hosting */

enum { FRAMES = 20, BUSY = 40 };

static muster_atom_result pass(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

/* What the settings say of each of two worlds is so in the world that is made for it. */
Test(hosting, makes_the_worlds_of_the_settings) {
  static const muster_atom atom = {.run = pass, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 5000};
  static const struct {
    const char *name;
    uint32_t agents, agents_max, processors, room;
    bool virtual_clock;
    uint64_t capacity_ns;
  } wanted[] = {{"west", 300, 0, 2, 300, true, 10000}, {"east", 200, 700, 1, 700, true, 10000000}};
  uint32_t updates[2] = {0};
  settings_default(&service.settings);
  strcpy(service.settings.modules, getenv("ODD_MODULES"));
  service.settings.workers = 4;
  service.world_count = 2;
  service.modules.descriptor = -1;
  cr_assert(uv_mutex_init(&service.news_mutex) == 0 && uv_mutex_init(&service.snapshots.mutex) == 0);
  for (uint32_t i = 0; i < 2; i++) {
    world_settings *settings = settings_add_world(&service.settings, wanted[i].name);
    hosted_world *world = &service.worlds[i];
    cr_assert_not_null(settings);
    strcpy(settings->module, "plain");
    settings->agents = wanted[i].agents, settings->agents_max = wanted[i].agents_max;
    settings->processors = wanted[i].processors;
    settings->virtual_clock = wanted[i].virtual_clock, settings->capacity_ns = wanted[i].capacity_ns;
    world->settings = *settings;
    strcpy(world->name, settings->name);
    world->budget_ns = settings->budget_ns, world->period_ns = settings_period_ns(settings->rate);
    cr_assert_eq(uv_mutex_init(&world->mutex), 0);
  }
  cr_assert_eq(hosting_open(&service), MUSTER_OK, "%s", muster_last_error());
  for (uint32_t i = 0; i < 2; i++) {
    hosted_world *world = &service.worlds[i];
    muster_frame_report report = muster_frame_report_default();
    muster_type_def def = type_with(&atom, 1);
    muster_agent_def agent = muster_agent_def_default();
    cr_expect_eq(muster_world_workers(world->world), wanted[i].processors, "of %s", world->name);
    def.name = "busy";
    def.period_ns = def.period_max_ns = 1000000;
    agent.type = muster_type_register(world->world, &def);
    cr_assert_neq(agent.type.index, 0, "%s", muster_last_error());
    for (int k = 0; k < BUSY; k++) muster_agent_spawn(world->world, &agent);
    for (int frames = 0; frames < FRAMES; frames++) {
      cr_assert_eq(hosting_run_frame(world), MUSTER_OK, "%s", muster_last_error());
      muster_frame_report_read(world->world, &report);
      updates[i] += report.completed;
    }
    cr_expect_eq(world->sim_now_ns, FRAMES * world->period_ns);
    uint32_t ids = BUSY;
    for (; !muster_agent_is_null(muster_agent_spawn(world->world, &agent)); ids++)
      cr_assert_lt(ids, 2 * wanted[i].room);
    cr_expect(ids > wanted[i].room / 2 && ids <= wanted[i].room, "%u ids of %s", ids, world->name);
  }
  cr_expect(3 * updates[0] < updates[1], "a world of less capacity does less: %u, and %u", updates[0], updates[1]);

  /* A move of every observer fits into a frame, beside all other commands. */
  muster_world *world = service.worlds[0].world;
  muster_world_def usual = muster_world_def_default();
  muster_observer_def watching = muster_observer_def_default();
  muster_observer watcher = muster_observer_add(world, &watching);
  cr_assert_eq(hosting_run_frame(&service.worlds[0]), MUSTER_OK);
  uint32_t moves = 0;
  while (muster_observer_move(world, watcher, (muster_position){moves % 100, 0, 0}) == MUSTER_OK) moves++;
  cr_expect_geq(moves, usual.limits.commands_max + usual.limits.observers_max, "%u", moves);
  hosting_close(&service);
  cr_expect_null(service.worlds[0].world);
}

/* ---------------------------------------------------------------------------------------------------- who has died */

static flight_head head;

static void remember(const char *world, const char *key, uint32_t deaths, uint64_t process) {
  flight_poison *poison = &head.poisons.poisons[head.poisons.count++];
  *poison = (flight_poison){.deaths = deaths, .signal = 11, .process = process};
  strcpy(poison->world, world), strcpy(poison->key, key);
  memset(poison->digest, key[0], sizeof poison->digest);
}

/* The requests of a world that may not be carried out again are known by what they did; the incident is that of the
 * last run, and named where it was that run. */
Test(hosted_poison, is_answered_in_its_world_with_the_incident_of_its_run) {
  static const struct {
    const char *key;
    bool known, names;
  } wanted[] = {{"first", true, false},
                {"last", true, true},
                {"once", false, false},
                {"elsewhere", false, false},
                {"kept", true, true}};
  hosted_world *world = host_little();
  for (int i = 0; i < 6; i++) run_frame(&little);
  service.flight.head = &head;
  service.flight.last.process = 77;
  strcpy(service.settings.snapshot_file, "/somewhere/state");
  cr_assert_eq(uv_mutex_init(&service.flight.mutex), 0);
  remember("main", "first", FLIGHT_DEATHS, 76), remember("main", "last", FLIGHT_DEATHS, 77);
  remember("main", "once", FLIGHT_DEATHS - 1, 77), remember("other", "elsewhere", FLIGHT_DEATHS, 77);
  remember("main", "kept", FLIGHT_DEATHS + 1, 77);
  cr_assert(keys_begin(&world->keys));
  keys_finish(&world->keys, &(key_entry){.key = "kept", .status = 200, .body_kind = KEY_BODY_JSON, .frame = 3});
  for (int turns = 0; turns < 2; turns++) {
    poison_take(&service, world, 4);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
      const key_entry *found = keys_find(&world->keys, wanted[i].key);
      cr_expect_eq(found != NULL, wanted[i].known, "%s", wanted[i].key);
      if (!found) continue;
      char body[HTTP_ERROR_BYTES] = "";
      memcpy(body, found->body, found->bytes < sizeof body ? found->bytes : sizeof body - 1);
      cr_expect(found->status == 500 && found->body_kind == KEY_BODY_ENDED && !found->held, "%s", wanted[i].key);
      cr_expect_eq(found->frame, 6, "%s: %lu", wanted[i].key, found->frame);
      cr_expect_eq(found->digest[KEYS_DIGEST_BYTES - 1], wanted[i].key[0]);
      cr_expect_eq(strstr(body, "state.main-incident-4") != NULL, wanted[i].names, "%s: %s", wanted[i].key, body);
      cr_expect(strstr(body, wanted[i].names ? "process 77 died of SIGSEGV" : "process 76 died of SIGSEGV"), "%s",
                body);
    }
  }
  cr_expect_eq(world->keys.count, 1 + 3 + 2, "those of the last run have been kept anew");
  keys_close(&world->keys);
  little_world_destroy(&little);
}

/* All agents of the world in whose callbacks the last run died, and no other's. */
Test(hosted_flight, sets_aside_every_agent_in_whose_callback_the_last_run_died) {
  hosted_world *world = host_little();
  muster_agent agents[4];
  flight_report *last = &service.flight.last;
  for (int i = 0; i < 4; i++) agents[i] = spawn_at(&little, 20 + i);
  while (run_frame(&little).spawns_waiting) continue;
  static const char *const worlds[] = {"other", "main", "main", "main"};
  last->culprit_count = 3, last->inside_count = 4; /* the last one was running beside them */
  for (uint32_t i = 0; i < 4; i++) {
    strcpy(last->inside[i].world, worlds[i]);
    last->inside[i].entry.agent = agents[i];
  }
  flight_set_aside(&service.flight, world->world, "main", "command");
  run_frame(&little);
  for (uint32_t i = 0; i < 4; i++)
    cr_expect_eq(info_of(&little, agents[i]).quarantined, i == 1 || i == 2, "agent %u", i);
  little_world_destroy(&little);
}

/* Each type of the world that has crashed the service so often, whichever number it has; without a limit none. */
Test(hosted_flight, puts_every_type_into_quarantine_that_has_reached_the_limit) {
  static const muster_atom atom = {.run = nothing};
  static const char *const names[] = {"hen", "fox", "owl", "cow"};
  static const uint64_t crashes[] = {3, 2, 4, 3};
  for (uint32_t limit = 0; limit <= 3; limit += 3) {
    const hosted_world *world = host_little();
    muster_agent agents[4];
    service.flight.head = &head;
    service.flight.crash_limit = limit;
    cr_assert_eq(uv_mutex_init(&service.flight.mutex), 0);
    head.counts.count = 0;
    for (uint32_t i = 0; i < 8; i++) {
      flight_count *count = &head.counts.counts[head.counts.count++];
      *count = (flight_count){.crashes = i < 4 ? 5 : crashes[i % 4]};
      strcpy(count->world, i < 4 ? "other" : "main"), strcpy(count->type, names[i % 4]);
      if (i < 4 && i != 1) count->crashes = 0;
    }
    for (uint32_t i = 0; i < 4; i++) {
      muster_type_def def = type_with(&atom, 1);
      def.name = names[i];
      if (i) register_type(&little, &def);
      little.type.index = i + 1;
      agents[i] = spawn_at(&little, i);
    }
    while (run_frame(&little).spawns_waiting) continue;
    flight_judge(&service.flight, world->world, "main");
    run_frame(&little);
    muster_frame_report report = run_frame(&little);
    cr_expect_eq(report.types_quarantined, limit ? 3 : 0, "%u", report.types_quarantined);
    for (uint32_t i = 0; i < 4; i++)
      cr_expect_eq(info_of(&little, agents[i]).quarantined, limit && crashes[i] >= limit, "%s", names[i]);
    little_world_destroy(&little);
  }
}

/* Whatever their lengths, at pages of their own. */
Test(hosted_flight, has_parts_that_lie_behind_each_other) {
  static flight_head many;
  uint64_t end = sizeof many;
  flight_head_begin(&many, 1, 2, &(flight_counts){0}, &(flight_poisons){0});
  for (uint32_t i = 0; i < WORLDS_MAX; i++) {
    char name[NAME_BYTES];
    uint64_t bytes = 1 + i * 2731 % 20000, offset = flight_head_next_offset(&many);
    snprintf(name, sizeof name, "world%u", i);
    flight_head_add_part(&many, name, "module", bytes);
    cr_expect(many.parts[i].offset == offset && many.parts[i].bytes == bytes && offset % 4096 == 0, "part %u", i);
    cr_expect(offset >= end && offset < end + 4096, "part %u begins at %lu, and the one before ends at %lu", i, offset,
              end);
    cr_expect_str_eq(many.parts[i].world, name);
    end = offset + bytes;
  }
  cr_expect_eq(many.part_count, WORLDS_MAX);
}
