/* What a world is hosted with: the modules of a world as one, what is published of it, the world that the settings
 * make, and what it is told of those who died. In this process, with modules of the test's own. */
#include "room.h"
#include "service/flight.h"
#include "service/hosting.h"
#include "service/poison.h"
#include "service/publish.h"
#include "service/service.h"
#include "service/supervise/orders.h"
#include "support/little_world.h"

#include "base/clock.h"

#include <muster/tune.h>

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

/* Opens real modules, whose face has all functions that theirs have; the test may put others in their places. */
static muster_module_needs open_parts(module_parts *parts, const char *module) {
  static struct modules modules;
  static world_settings settings;
  muster_module_needs needs;
  settings_default_world(&settings);
  strcpy(settings.name, "main"), strcpy(settings.module, module);
  cr_assert_eq(modules_open(&modules, getenv("ODD_MODULES")), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(module_parts_open(parts, &modules, &settings, &needs), MUSTER_OK, "%s", muster_last_error());
  return needs;
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
  open_parts(&parts, "plain");
  cr_assert(parts.face.skip_ns != NULL);
  cr_expect_eq(parts.face.skip_ns(&parts, 1), 0);
  be_spoken(&parts);
  for (size_t i = 0; i < COUNT_OF(times); i++) {
    for (uint32_t k = 0; k < PARTS; k++) speakers[k].skip_ns = times[i][k];
    cr_expect_eq(parts.face.skip_ns(&parts, 1), times[i][PARTS]);
  }
}

/* Room for what comes later is at least room for those who are there from the begin: the second one says nothing of
 * that. Where nobody is to be saved, nothing is. */
Test(hosted_parts, need_what_all_need_together_and_do_what_one_can) {
  module_parts parts;
  muster_module_needs needs = open_parts(&parts, "second");
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
  cr_expect(found.places == 3 && found.count == 8 && found.last_ns == 6000 && found.agents == 3, "%u", found.places);
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
static hosted_world *const hosted = &service.worlds[0];
static world_published seen;

static void add_type(const char *name) {
  static const muster_atom atom = {.run = nothing};
  muster_type_def def = WITH(muster_type_def, it.atoms = &atom, it.atom_count = 1, it.name = name);
  register_type(&little, &def);
}

static void host_little(void) {
  service.world_count = 1;
  cr_assert(uv_mutex_init(&hosted->mutex) == 0 && uv_mutex_init(&service.flight.mutex) == 0);
  little = little_world_create(1, NULL);
  little.provokes_idle = true;
  add_type("hen");
  for (int i = 0; i < 9; i++) spawn_at(&little, i);
  strcpy(hosted->name, "main");
  hosted->world = little.world;
  hosted->module = &speaking;
  hosted->instance = &speakers[0];
  hosted->parts.count = 1;
  hosted->parts.parts[0] = (module_part){.name = {"inst", "speaking"}, .module = &speaking, .instance = &speakers[0]};
  hosted->budget_ns = 11, hosted->period_ns = 12, hosted->sim_now_ns = 13, hosted->frames = 14;
  hosted->paused = true, hosted->steps_left = 15;
  hosted->kept.incidents = 16, hosted->kept.sync = 2;
}

static void end_little(void) {
  little_world_destroy(&little);
}

static void see_pace(void) {
  publish_pace(hosted);
  world_read_published(hosted, &seen);
}

static void see_frame(uint64_t begin_ns, uint64_t end_ns) {
  publish_frame(hosted, begin_ns, end_ns);
  world_read_published(hosted, &seen);
}

TestSuite(hosted_publish, .init = host_little, .fini = end_little);

/* Of the pace, of the frame and of what comes with it, each has its own; what is renewed seldom is renewed when it is
 * time for that, and with the first frame. */
Test(hosted_publish, has_each_number_of_its_world) {
  speakers[0].metric = 1.5;
  see_pace();
  cr_expect(seen.budget_ns == 11 && seen.period_ns == 12 && seen.sim_now_ns == 13 && seen.frames == 0);
  cr_expect(seen.paused && !seen.failed && seen.steps_left == 15 && seen.changes == 1 && !seen.statistics_ns);
  cr_expect(seen.journal.incidents == 16 && seen.journal.sync == 2 && !seen.journal.on);
  cr_expect(seen.type_count == 1 && strcmp(seen.types[0].name, "hen") == 0 && seen.part_count == 1);
  cr_expect(strcmp(seen.parts[0].instance, "inst") == 0 && strcmp(seen.parts[0].module, "speaking") == 0);
  cr_expect(seen.parts[0].metrics[0] == 1.5 && seen.parts[0].tables == &speaking);
  muster_frame_report report = run_frame(&little);
  speakers[0].metric = 2.5;
  hosted->frames = 21, hosted->frames_late = 1;
  see_frame(1000000000, 1000000500);
  cr_expect(seen.frames == 21 && seen.frames_late == 1 && seen.frame_begin_ns == 1000000000);
  cr_expect(seen.frame_end_ns == 1000000500 && seen.statistics_ns == 1000000500 && seen.changes == 2);
  cr_expect(seen.report.frame == report.frame && seen.report.wall_ns == report.wall_ns && seen.report.agents == 9);
  cr_expect(seen.parts[0].metrics[0] == 2.5 && seen.statistics.spawned == 9);
  cr_expect_eq(world_read_frame(hosted), report.frame);
  speakers[0].metric = 3.5;
  run_frame(&little);
  see_frame(1099999000, 1100000499);
  cr_expect(seen.parts[0].metrics[0] == 2.5 && seen.report.frame == 2, "the frame is new, and not what is large");
  see_frame(1100000400, 1100000500);
  cr_expect(seen.parts[0].metrics[0] == 3.5 && seen.statistics_ns == 1100000500);
  hosted->failed = true;
  strcpy(hosted->failure, "why");
  struct timing frames = seen.timings.frame;
  see_frame(1100000600, 1100000700);
  cr_expect(seen.failed && strcmp(seen.failure, "why") == 0 && seen.changes == 5);
  cr_expect_eq(memcmp(&seen.timings.frame, &frames, sizeof frames), 0, "a frame that failed is none");
  hosted->world = NULL;
  see_pace();
  cr_expect(seen.type_count == 0 && seen.part_count == 0);
}

/* By audit and by the virtual clock a frame is judged, and by nothing else. */
Test(hosted_publish, judges_frames_where_that_can_be_judged) {
  static history_second seconds[HISTORY_SECONDS];
  for (uint32_t i = 0; i < 4; i++) {
    hosted->settings.audit = i & 1, hosted->settings.virtual_clock = i & 2;
    run_frame(&little);
    hosted->frames_late += i == 2;
    publish_frame(hosted, (i + 1) * 1000000000ull, (i + 1) * 1000000000ull + 5);
  }
  cr_assert_eq(world_read_history(hosted, 0, 5000000000u, seconds), 4);
  for (uint32_t i = 0; i < 4; i++) {
    cr_expect(seconds[i].judged == (i > 0) && seconds[i].late == (i == 2) && seconds[i].frames == 1, "second %u", i);
    cr_expect_eq(seconds[i].frame, i + 1);
  }
  cr_expect_eq(world_read_history(hosted, 2, 5000000000u, seconds), 2);
}

/* What failed more than ten seconds of simulation ago is past. */
Test(hosted_publish, tells_what_failed_in_the_last_ten_seconds_of_simulation) {
  static const struct {
    uint64_t now_s, last_s;
    bool shown;
  } times[] = {{5, 0, true}, {10, 0, true}, {11, 0, false}, {11, 1, true}, {100, 90, true}, {100, 89, false}};
  speakers[0].problem_count = 1;
  for (size_t i = 0; i < COUNT_OF(times); i++) {
    speakers[0].problems[0] = problem(3 + i, times[i].last_s * 1000000000, 1, "here");
    hosted->sim_now_ns = times[i].now_s * 1000000000;
    run_frame(&little);
    see_frame((i + 1) * 1000000000ull, (i + 1) * 1000000000ull);
    cr_expect_eq(seen.problem.places, times[i].shown, "%lu of %lu", times[i].last_s, times[i].now_s);
    cr_expect_eq(seen.problem.count, times[i].shown ? 3 + i : 0);
  }
}

/* ---------------------------------------------------------------------------------------------------------- hosting */

enum { FRAMES = 20, BUSY = 40 };

/* What the settings say of each of two worlds is so in the world that is made for it. */
Test(hosting, makes_the_worlds_of_the_settings) {
  static const muster_atom atom = {.run = nothing, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 5000};
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
    muster_type_def def = WITH(muster_type_def, it.atoms = &atom, it.atom_count = 1, it.name = "busy",
                               it.period_ns = it.period_max_ns = 1000000);
    muster_agent_def agent = WITH(muster_agent_def, it.type = muster_type_register(world->world, &def));
    cr_expect_eq(muster_world_workers(world->world), wanted[i].processors, "of %s", world->name);
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
Test(hosted_poison, is_answered_in_its_world_with_the_incident_of_its_run, .init = host_little, .fini = end_little) {
  static const struct {
    const char *key;
    bool known, names;
  } wanted[] = {{"first", true, false},
                {"last", true, true},
                {"once", false, false},
                {"elsewhere", false, false},
                {"kept", true, true}};
  run_frames(&little, 6);
  service.flight.head = &head;
  service.flight.last.process = 77;
  strcpy(service.settings.snapshot_file, "/somewhere/state");
  remember("main", "first", FLIGHT_DEATHS, 76), remember("main", "last", FLIGHT_DEATHS, 77);
  remember("main", "once", FLIGHT_DEATHS - 1, 77), remember("other", "elsewhere", FLIGHT_DEATHS, 77);
  remember("main", "kept", FLIGHT_DEATHS + 1, 77);
  cr_assert(keys_begin(&hosted->keys));
  keys_finish(&hosted->keys, &(key_entry){.key = "kept", .status = 200, .body_kind = KEY_BODY_JSON, .frame = 3});
  for (int turns = 0; turns < 2; turns++) {
    poison_take(&service, hosted, 4);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
      const key_entry *found = keys_find(&hosted->keys, wanted[i].key);
      cr_expect_eq(found != NULL, wanted[i].known, "%s", wanted[i].key);
      if (!found) continue;
      char body[HTTP_ERROR_BYTES] = "";
      memcpy(body, found->body, found->bytes < sizeof body ? found->bytes : sizeof body - 1);
      cr_expect(found->status == 500 && found->body_kind == KEY_BODY_ENDED && !found->held, "%s", wanted[i].key);
      cr_expect_eq(found->frame, 6, "%s: %lu", wanted[i].key, found->frame);
      cr_expect_eq(found->digest[KEYS_DIGEST_BYTES - 1], wanted[i].key[0]);
      cr_expect_eq(strstr(body, "state.main-incident-4") != NULL, wanted[i].names, "%s: %s", wanted[i].key, body);
      expect_in(body, wanted[i].names ? "process 77 died of SIGSEGV" : "process 76 died of SIGSEGV");
    }
  }
  cr_expect_eq(hosted->keys.count, 1 + 3 + 2, "those of the last run have been kept anew");
  keys_close(&hosted->keys);
}

/* All agents of the world in whose callbacks the last run died, and no other's. */
Test(hosted_flight, sets_aside_every_agent_in_whose_callback_the_last_run_died, .init = host_little,
     .fini = end_little) {
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
  flight_set_aside(&service.flight, hosted->world, "main", "command");
  run_frame(&little);
  for (uint32_t i = 0; i < 4; i++)
    cr_expect_eq(info_of(&little, agents[i]).quarantined, i == 1 || i == 2, "agent %u", i);
}

/* Each type of the world that has crashed the service so often, whichever number it has; without a limit none. */
Test(hosted_flight, puts_every_type_into_quarantine_that_has_reached_the_limit) {
  static const char *const names[] = {"hen", "fox", "owl", "cow"};
  static const uint64_t crashes[] = {3, 2, 4, 3};
  for (uint32_t limit = 0; limit <= 3; limit += 3) {
    host_little();
    muster_agent agents[4];
    service.flight.head = &head;
    service.flight.crash_limit = limit;
    head.counts.count = 0;
    for (uint32_t i = 0; i < 8; i++) {
      flight_count *count = &head.counts.counts[head.counts.count++];
      *count = (flight_count){.crashes = i < 4 ? 5 : crashes[i % 4]};
      strcpy(count->world, i < 4 ? "other" : "main"), strcpy(count->type, names[i % 4]);
      if (i < 4 && i != 1) count->crashes = 0;
    }
    for (uint32_t i = 0; i < 4; i++) {
      if (i) add_type(names[i]);
      little.type.index = i + 1;
      agents[i] = spawn_at(&little, i);
    }
    while (run_frame(&little).spawns_waiting) continue;
    flight_judge(&service.flight, hosted->world, "main");
    run_frame(&little);
    muster_frame_report report = run_frame(&little);
    cr_expect_eq(report.types_quarantined, limit ? 3 : 0, "%u", report.types_quarantined);
    for (uint32_t i = 0; i < 4; i++)
      cr_expect_eq(info_of(&little, agents[i]).quarantined, limit && crashes[i] >= limit, "%s", names[i]);
    end_little();
  }
}

/* Whatever their lengths, at pages of their own. */
Test(hosted_flight, has_parts_that_lie_behind_each_other) {
  static flight_head many;
  uint64_t end = sizeof many;
  flight_head_begin(&many, 1, 2, &(flight_counts){0}, &(flight_poisons){0});
  for (uint32_t i = 0; i < WORLDS_MAX; i++) {
    const char *name = formed("world%u", i);
    uint64_t bytes = 1 + i * 2731 % 20000, offset = flight_head_next_offset(&many);
    flight_head_add_part(&many, name, "module", bytes);
    cr_expect(many.parts[i].offset == offset && many.parts[i].bytes == bytes && offset % 4096 == 0, "part %u", i);
    cr_expect(offset >= end && offset < end + 4096, "part %u begins at %lu, behind %lu", i, offset, end);
    cr_expect_str_eq(many.parts[i].world, name);
    end = offset + bytes;
  }
  cr_expect_eq(many.part_count, WORLDS_MAX);
}
