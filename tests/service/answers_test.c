/* Every number in the answers of GET, with a value that no other one has: a server of the routes, asked over its unix
 * socket, tells of worlds that this test has made up. A number that this test does not know is seen, too. */
#include "json_rows.h"
#include "own_server.h"
#include "service/api_agents.h"
#include "service/stream_texts.h"
#include "service/supervise/states.h"
#include "support/little_world.h"

#include <stdatomic.h>

#define WORLD(...)  ROW_OF(world_published, __VA_ARGS__)
#define SECOND(...) ROW_OF(history_second, __VA_ARGS__)
#define BAND(...)   ROW_OF(muster_band, __VA_ARGS__)

/* Rows of what is shown by the name of its member. */
#define OWN(member)    WORLD(#member, member)
#define REPORT(member) WORLD(#member, report.member)
#define FRAME(member)  WORLD("frame." #member, report.member)
#define SHOWN(member)  SECOND(#member, member)
#define COST(member)   ROW_OF(muster_type_cost, #member, member)
#define AGENT(member)  ROW_OF(muster_agent_info, #member, member)
#define SAVED(member)  ROW_OF(snapshots_status, #member, member)
#define LEVELS                                                                                                         \
  WORLD("levels.0", report.levels[0]), WORLD("levels.1", report.levels[1]), WORLD("levels.2", report.levels[2]),       \
      WORLD("levels.3", report.levels[3])

static const shown_row world_rows[] = {
    /* of the world as a whole */
    OWN(paused), OWN(failed), OWN(steps_left), OWN(frames), OWN(frames_late), OWN(sim_now_ns), OWN(budget_ns),
    OWN(period_ns), REPORT(agents), REPORT(spawns_waiting), REPORT(pressure), REPORT(important_load),
    REPORT(elapsed_load), REPORT(agents_put_off), REPORT(share), WORLD("serial_share", statistics.serial_share), LEVELS,
    REPORT(agents_quarantined), REPORT(types_quarantined), WORLD("bytes_used", statistics.bytes_used),
    /* of its last frame */
    WORLD("frame.number", report.frame), FRAME(wall_ns), FRAME(overrun_wall_ns), FRAME(released), FRAME(completed),
    FRAME(carried), FRAME(preempted), FRAME(woken), FRAME(commands_waiting), FRAME(utilisation_desired),
    FRAME(utilisation_nominal), FRAME(utilisation_fitted), FRAME(debt_ns), FRAME(serial_ns), FRAME(work_ns),
    /* of what was left though agents waited */
    WORLD("idle.fault_ns", statistics.idle_ns[MUSTER_IDLE_FAULT]),
    WORLD("idle.fault_frames", statistics.idle_frames[MUSTER_IDLE_FAULT]),
    WORLD("idle.at_x_ns", statistics.idle_ns[MUSTER_IDLE_X]),
    WORLD("idle.long_ns", statistics.idle_ns[MUSTER_IDLE_LONG]),
    WORLD("idle.estimates_mended", statistics.estimates_mended),
    /* of its journal */
    OWN(journal.on), OWN(journal.broken), OWN(journal.frames_written), OWN(journal.frames_safe),
    OWN(journal.recovery_ns), OWN(journal.holds), OWN(journal.bytes), OWN(journal.snapshots),
    OWN(journal.snapshots_failed), OWN(journal.snapshot_bytes), OWN(journal.snapshot_ns), OWN(journal.pause_ns),
    OWN(journal.sync_ns), OWN(journal.incidents), OWN(journal.recovered_frames), OWN(journal.recovered_ns),
    WORLD("journal.losses", journal.lost.losses), WORLD("journal.lost_frames", journal.lost.frames),
    /* of its zone */
    OWN(zone.number), OWN(zone.epoch), OWN(zone.space), OWN(zone.spaces_used), OWN(zone.ids_resting), OWN(zone.frozen),
    OWN(zone.ghosts), WORLD("zone.parcels_waiting", zone.waiting), OWN(zone.departed), OWN(zone.arrived),
    OWN(zone.refused), WORLD("zone.messages_sent", zone.sent), WORLD("zone.messages_delivered", zone.delivered),
    WORLD("zone.messages_lost", zone.lost)};

/* Of GET /v1/worlds/W/levels, and of the stream's event: these members of a world's report, with those above. */
static const shown_row levels_rows[] = {LEVELS, REPORT(agents_shed), REPORT(agents_demoted), REPORT(pressure)};

static const shown_row stream_rows[] = {
    /* of the world as a whole */
    REPORT(frame), OWN(frames), OWN(frames_late), OWN(sim_now_ns), OWN(paused), OWN(failed), OWN(budget_ns),
    OWN(period_ns),
    /* of its last frame */
    REPORT(wall_ns), REPORT(overrun_wall_ns), REPORT(debt_ns), REPORT(pressure), REPORT(important_load), REPORT(share),
    REPORT(utilisation_desired), REPORT(utilisation_fitted), REPORT(released), REPORT(completed), REPORT(carried),
    REPORT(preempted), REPORT(woken), WORLD("stage_ns.0", report.stage_ns[0]), WORLD("stage_ns.1", report.stage_ns[1]),
    WORLD("stage_ns.2", report.stage_ns[2]), WORLD("stage_ns.3", report.stage_ns[3]),
    WORLD("stage_ns.4", report.stage_ns[4]), WORLD("stage_ns.5", report.stage_ns[5]),
    WORLD("stage_ns.6", report.stage_ns[6]), WORLD("stage_ns.7", report.stage_ns[7]), REPORT(agents),
    REPORT(spawns_waiting), LEVELS, REPORT(agents_shed), REPORT(agents_quarantined), REPORT(types_quarantined),
    REPORT(represented), REPORT(leaves), REPORT(herds_folded), REPORT(herds_unfolded)};

static const shown_row band_rows[] = {
    BAND("agents", agents),        BAND("beyond_wish", agents_beyond_wish),
    BAND("wanted", wanted_ns),     BAND("period", period_ns),
    BAND("interval", interval_ns), BAND("agent_time", agent_time_ns),
    BAND("completed", completed),  BAND("p50", staleness.p50_ns),
    BAND("p99", staleness.p99_ns), BAND("max", staleness.max_ns),
    BAND("age_p50", age.p50_ns),   BAND("age_p99", age.p99_ns),
    BAND("age_max", age.max_ns),
};

static const shown_row cost_rows[] = {COST(agents),      COST(mean_ns),  ROW_OF(muster_type_cost, "p95_ns", high_ns),
                                      COST(samples),     COST(fixed_ns), COST(per_second_ns),
                                      COST(elapsed_load)};

static const shown_row second_rows[] = {
    /* of all its frames */
    SHOWN(frames), SHOWN(late), SHOWN(judged), SHOWN(broken), SHOWN(wall_p50_ns), SHOWN(wall_p99_ns),
    SHOWN(wall_max_ns), SHOWN(overrun_max_ns), SHOWN(updates_cpu_ns), SHOWN(released), SHOWN(completed),
    SHOWN(preempted),
    /* of the last one */
    SHOWN(frame), SHOWN(budget_ns), SHOWN(carried), SHOWN(agents), SHOWN(beyond_wish), SHOWN(quarantined),
    /* of what was left though agents waited, and means */
    SECOND("idle_fault_ns", idle_ns[MUSTER_IDLE_FAULT]), SECOND("idle_x_ns", idle_ns[MUSTER_IDLE_X]),
    SECOND("idle_long_ns", idle_ns[MUSTER_IDLE_LONG]), SHOWN(idle_faults), SHOWN(mended), SHOWN(pressure),
    SHOWN(important_load), SHOWN(wants), SHOWN(has), SECOND("level_0", levels[0]), SECOND("level_1", levels[1]),
    SECOND("level_2", levels[2]), SECOND("level_3", levels[3])};

static const shown_row agent_rows[] = {
    AGENT(active),     AGENT(partition),        AGENT(position.x), AGENT(position.y), AGENT(position.z),
    AGENT(importance), AGENT(elasticity),       AGENT(level),      AGENT(period_ns),  AGENT(last_update_ns),
    AGENT(delays),     AGENT(expected_cost_ns), AGENT(messages),   AGENT(wake_at_ns), AGENT(quarantined),
};

static const shown_row saved_rows[] = {
    SAVED(enabled), SAVED(running),  SAVED(number),   SAVED(written), SAVED(failed),
    SAVED(bytes),   SAVED(write_ns), SAVED(pause_ns), SAVED(refused), SAVED(written_at),
};

/* ---------------------------------------------------------------------------------------------------------- service */

enum { WORLDS = 2, TYPES = 2, SECONDS = 3 };

static struct service service;
static own_server server;
static uv_thread_t frames_thread;
static atomic_bool stopping;

static uint64_t number_of_world(uint32_t world) {
  return 200 * world;
}

static void fill_world(uint32_t number) {
  static const char *const names[] = {"west", "east"}, *const modules[] = {"wildlife", "townsfolk"};
  hosted_world *world = &service.worlds[number];
  world_published *published = &world->published;
  cr_assert_eq(uv_mutex_init(&world->mutex), 0);
  strcpy(world->name, names[number]);
  strcpy(world->settings.module, modules[number]);
  published->report = muster_frame_report_default();
  published->statistics = muster_statistics_default();
  rows_fill(levels_rows, COUNT_OF(levels_rows), published, number_of_world(number) + 180);
  rows_fill(stream_rows, COUNT_OF(stream_rows), published, number_of_world(number) + 100);
  rows_fill(world_rows, COUNT_OF(world_rows), published, number_of_world(number)); /* which have some of these */
  for (uint32_t band = 0; band < MUSTER_BANDS; band++)
    rows_fill(band_rows, COUNT_OF(band_rows), &published->statistics.bands[band],
              1000 + (number * MUSTER_BANDS + band) * COUNT_OF(band_rows));
  published->type_count = TYPES;
  for (uint32_t type = 0; type < TYPES; type++) {
    snprintf(published->types[type].name, NAME_BYTES, "type%u", type);
    for (uint32_t level = 0; level < WORLD_LEVELS; level++)
      rows_fill(cost_rows, COUNT_OF(cost_rows), &published->types[type].costs[level],
                2000 + ((number * TYPES + type) * WORLD_LEVELS + level) * COUNT_OF(cost_rows));
  }
  snprintf(published->journal.why, sizeof published->journal.why, "why of %s", names[number]);
  snprintf(published->journal.lost.words, sizeof published->journal.lost.words, "lost by %s", names[number]);
  published->journal.sync = 1 + number;
  published->frame_end_ns = 1;
}

/* Seconds that are over, the last of them just now. */
static void fill_history(hosted_world *world) {
  uint64_t now = clock_system() / 1000000000u;
  for (uint32_t i = 0; i < SECONDS; i++) {
    history_second *second = &world->history.ring[i];
    rows_fill(second_rows, COUNT_OF(second_rows), second, 3000 + i * COUNT_OF(second_rows));
    second->second = now - SECONDS + i;
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
      second->band_completed[band] = 1u << band;
      second->band_agent_s[band] = (float)(i + 1);
    }
  }
  world->history.count = world->history.next = SECONDS;
}

static void end_mailbox(void) {
  frame_mailbox_close(&service.mailbox);
}

static void serve_mailbox(void *argument) {
  (void)argument;
  while (!stopping) frame_mailbox_serve(&service.mailbox, &service, clock_system() + 1000000000u, 1000000);
}

static void start(void) {
  settings_default(&service.settings);
  service.stage = SERVICE_RUNNING;
  service.world_count = WORLDS;
  for (uint32_t i = 0; i < WORLDS; i++) fill_world(i);
  fill_history(&service.worlds[1]);
  cr_assert_eq(uv_mutex_init(&service.snapshots.mutex), 0);
  own_server_prepare(&server);
  server.end = end_mailbox;
  service.loop = &server.loop;
  cr_assert_eq(frame_mailbox_open(&service.mailbox, &server.loop), MUSTER_OK);
  server.http = service.http = api_serve(&server.loop, &service.settings, server.descriptor, NULL, &service);
  own_server_begin(&server);
  cr_assert_eq(uv_thread_create(&frames_thread, serve_mailbox, NULL), 0);
}

static void stop(void) {
  stopping = true;
  frame_mailbox_wake(&service.mailbox);
  uv_thread_join(&frames_thread);
  own_server_stop(&server);
}

TestSuite(answers, .init = start, .fini = stop, .timeout = 120);

static json_t *ask(const char *path) {
  return control_get(&server.asked, path);
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void expect_bands(json_t *whole, const world_published *published) {
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    const char *within = formed("staleness_by_importance.%u.", band);
    rows_expect(whole, within, band_rows, COUNT_OF(band_rows), &published->statistics.bands[band]);
    rows_expect_value(whole, formed("%sfrom", within), ROW_FRACTION, band ? 0.25 * (band - 1) : 0);
    rows_expect_value(whole, formed("%sto", within), ROW_FRACTION, 0.25 * band);
  }
}

static void expect_world(json_t *whole, uint32_t number) {
  static const char *const syncs[] = {"none", "second", "frame"};
  static const char *const verdicts[] = {"code", "severity", "words", "next"};
  hosted_world *world = &service.worlds[number];
  const world_published *published = &world->published;
  rows_expect_text(whole, "world", world->name);
  rows_expect_text(whole, "module", world->settings.module);
  rows_expect(whole, "", world_rows, COUNT_OF(world_rows), published);
  rows_expect_value(whole, "hz", ROW_PRECISE, round(1e12 / (double)published->period_ns) / 1e3);
  rows_expect_text(whole, "journal.why", published->journal.why);
  rows_expect_text(whole, "journal.lost", published->journal.lost.words);
  rows_expect_text(whole, "journal.sync", syncs[published->journal.sync]);
  expect_bands(whole, published);
  for (size_t i = 0; i < COUNT_OF(verdicts); i++) { /* tests/service/verdict_test.c looks at them */
    json_decref(rows_take(whole, formed("verdict.%s", verdicts[i])));
  }
  rows_expect_nothing_left(whole, world->name);
}

Test(answers, of_a_world_have_each_number_once) {
  json_auto_t *west = ask("/v1/worlds/west"), *east = ask("/v1/worlds/east");
  expect_world(west, 0);
  expect_world(east, 1);
}

Test(answers, of_all_worlds_are_those_of_each) {
  json_auto_t *all = ask("/v1/worlds");
  cr_assert_eq(control_size(all, "worlds"), WORLDS);
  for (uint32_t i = 0; i < WORLDS; i++) expect_world(json_array_get(control_member(all, "worlds"), i), i);
  cr_expect_eq(control_size(all, "processes"), 0);
}

/* A switch has two values, so each is set alone. */
static void expect_switches(const shown_row *rows, size_t count, void *of, const char *path) {
  for (size_t i = 0; i < count; i++) {
    if (rows[i].kind != ROW_SWITCH) continue;
    row_put(&rows[i], of, 1);
    json_auto_t *whole = ask(path);
    for (size_t k = 0; k < count; k++)
      if (rows[k].kind == ROW_SWITCH) rows_expect_value(whole, rows[k].name, ROW_SWITCH, k == i);
    row_put(&rows[i], of, 0);
  }
}

Test(answers, switches_are_each_their_own) {
  expect_switches(world_rows, COUNT_OF(world_rows), &service.worlds[1].published, "/v1/worlds/east");
  expect_switches(saved_rows, COUNT_OF(saved_rows), &service.snapshots.status, "/v1/snapshot");
}

/* A world without a zone says nothing of one; without updates in a band nothing is known of intervals. */
Test(answers, what_is_not_there_is_left_out_or_null) {
  service.worlds[0].published.zone.number = 0;
  service.worlds[0].published.statistics.bands[3].completed = 0;
  json_auto_t *west = ask("/v1/worlds/west");
  cr_expect_null(json_object_get(west, "zone"));
  cr_expect(control_is_null(west, "staleness_by_importance.3.interval"));
  cr_expect(json_is_integer(control_member(west, "staleness_by_importance.2.interval")));
}

Test(answers, of_levels_have_each_number_once) {
  json_auto_t *levels = ask("/v1/worlds/east/levels");
  rows_expect(levels, "", levels_rows, COUNT_OF(levels_rows), &service.worlds[1].published);
  rows_expect_nothing_left(levels, "levels");
}

Test(answers, of_the_history_have_each_number_of_each_second_once) {
  hosted_world *world = &service.worlds[1];
  json_auto_t *history = ask("/v1/worlds/east/history");
  cr_assert_eq(control_size(history, "second"), SECONDS);
  for (uint32_t i = 0; i < SECONDS; i++) {
    const history_second *second = &world->history.ring[i];
    for (size_t k = 0; k < COUNT_OF(second_rows); k++) {
      shown_row row = second_rows[k];
      row.name = formed("%s.%u", second_rows[k].name, i);
      rows_expect(history, "", &row, 1, second);
    }
    rows_expect_value(history, formed("second.%u", i), ROW_WHOLE_64, (double)second->second);
    for (uint32_t band = 0; band < MUSTER_BANDS; band++)
      rows_expect_value(history, formed("got_ns_%u.%u", band, i), ROW_WHOLE_64, floor(1e9 * (i + 1) / (1u << band)));
  }
  rows_expect_text(history, "world", "east");
  rows_expect_value(history, "kept_s", ROW_WHOLE_32, HISTORY_SECONDS);
  json_auto_t *now = rows_take(history, "now_ns");
  cr_expect_geq((uint64_t)json_integer_value(now), world->history.ring[SECONDS - 1].second * 1000000000u);
  rows_expect_nothing_left(history, "history");
}

Test(answers, of_the_history_after_a_second_are_the_later_ones) {
  json_auto_t *history = ask(formed("/v1/worlds/east/history?after=%lu", service.worlds[1].history.ring[0].second));
  cr_expect_eq(control_size(history, "second"), SECONDS - 1);
  cr_expect_eq(control_count(history, "frames.0"), service.worlds[1].history.ring[1].frames);
}

Test(answers, of_snapshots_have_each_number_once) {
  snapshots_status *status = &service.snapshots.status;
  rows_fill(saved_rows, COUNT_OF(saved_rows), status, 4000);
  strcpy(status->failure, "a full disk");
  strcpy(status->restored, "an old file");
  json_auto_t *snapshot = ask("/v1/snapshot");
  rows_expect(snapshot, "", saved_rows, COUNT_OF(saved_rows), status);
  rows_expect_text(snapshot, "failure", "a full disk");
  rows_expect_text(snapshot, "restored", "an old file");
  rows_expect_nothing_left(snapshot, "snapshot");
}

/* ------------------------------------------------------------------------------------------------------------ types */

/* What overran is of a real world, in which nothing has; the costs are what was published. */
Test(answers, of_types_have_each_number_once) {
  static const muster_atom atom = {.run = nothing};
  SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
  service.worlds[1].world = little.world;
  for (uint32_t type = 0; type < TYPES; type++) {
    muster_type_def def = type_with(&atom, 1);
    def.name = service.worlds[1].published.types[type].name;
    def.period_ns = 100000000 + type;
    def.period_max_ns = 900000000 + type;
    register_type(&little, &def);
  }
  json_auto_t *types = ask("/v1/worlds/east/types");
  for (uint32_t type = 0; type < TYPES; type++) {
    rows_expect_text(types, formed("types.%u.type", type), service.worlds[1].published.types[type].name);
    rows_expect_value(types, formed("types.%u.period_ns", type), ROW_WHOLE_64, 100000000 + type);
    rows_expect_value(types, formed("types.%u.period_max_ns", type), ROW_WHOLE_64, 900000000 + type);
    for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
      const char *within = formed("types.%u.levels.%u.", type, level);
      rows_expect(types, within, cost_rows, COUNT_OF(cost_rows), &service.worlds[1].published.types[type].costs[level]);
      rows_expect_value(types, formed("%slevel", within), ROW_WHOLE_32, level);
    }
    /* tests/service/crash_test.c and module_parts_test.c look at them */
    json_decref(rows_take(types, formed("types.%u.overrun_counts", type)));
  }
  rows_expect_nothing_left(types, "types");
  service.worlds[1].world = NULL;
}

/* -------------------------------------------------------------------------------------------------------- processes */

static void start_later(uv_timer_t *timer) {
  (void)timer;
}

/* Of a supervisor, in GET /v1/worlds: two worlds, of which one runs and the other waits for its start. */
Test(process_answers, have_each_number_once) {
  enum { LATER_MS = 5000 };
  static const char *const texts[][2] = {
      {"processes.0.world", "west"},
      {"processes.0.state", "running"},
      {"processes.0.allow", "nothing"},
      {"processes.1.world", "east"},
      {"processes.1.state", "waiting"},
      {"processes.1.allow", "network"},
      {"processes.1.reason", "it was struck"},
      {"processes.1.words",
       "world east starts in 5 s, since it was struck; `muster ctl restart east` starts it at once"}};
  static struct settings settings;
  static struct processes processes = {.settings = &settings, .count = 2};
  world_process *runs = &processes.worlds[0], *waits = &processes.worlds[1];
  uv_loop_t loop;
  settings_default(&settings);
  settings.crash_window_ns = 7200000000000;
  settings_add_world(&settings, "west");
  settings_add_world(&settings, "east")->allow = ALLOW_NETWORK;
  cr_assert(uv_loop_init(&loop) == 0 && uv_timer_init(&loop, &waits->timer) == 0);
  uv_timer_start(&waits->timer, start_later, LATER_MS, 0);
  waits->all = &processes;
  strcpy(waits->name, "east");
  *runs = (world_process){.all = &processes, .name = "west", .state = PROCESS_RUNNING, .has_process = true};
  runs->starts = 11, runs->refused = 12, runs->refused_total = 13;
  runs->process.pid = 4242;
  runs->restarts.count = 3;
  waits->state = PROCESS_WAITING;
  waits->starts = 21, waits->refused = 22, waits->refused_total = 23;
  waits->restarts.count = 4;
  for (uint32_t i = 0; i < 4; i++) waits->restarts.ends[i].at_ns = runs->restarts.ends[i].at_ns = clock_system();
  strcpy(waits->reason, "it was struck");
  json_auto_t *whole = json_pack("{s:o}", "processes", states_list(&processes));
  for (uint32_t i = 0; i < 2; i++) {
    static const char *const names[] = {"starts", "ends", "window_ns", "refused_calls"};
    static const double values[2][4] = {{11, 3, 7200000000000, 12}, {21, 4, 7200000000000, 22}};
    for (uint32_t k = 0; k < 4; k++)
      rows_expect_value(whole, formed("processes.%u.%s", i, names[k]), ROW_WHOLE_64, values[i][k]);
  }
  for (size_t i = 0; i < COUNT_OF(texts); i++) rows_expect_text(whole, texts[i][0], texts[i][1]);
  rows_expect_value(whole, "processes.0.process", ROW_WHOLE_64, 4242);
  rows_expect_value(whole, "processes.1.next_start_ns", ROW_WHOLE_64, LATER_MS * 1e6);
  rows_expect_nothing_left(whole, "processes");
  cr_expect_eq(states_next_start_s(waits), LATER_MS / 1000 + 1, "rounded up");
  cr_expect_eq(states_next_start_s(runs), 0);
  uv_close((uv_handle_t *)&waits->timer, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(uv_loop_close(&loop), 0);
}

/* ----------------------------------------------------------------------------------------------------------- agents */

static json_t *write_agent(const little_world *little, const muster_agent_info *info) {
  char text[2048];
  json_writer writer;
  json_start(&writer, text, sizeof text);
  json_begin_object(&writer, NULL);
  api_write_agent(&writer, little->world, muster_agent_make(17, 4), info);
  json_end_object(&writer);
  cr_assert(json_finish(&writer));
  json_t *agent = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(agent, "%s", text);
  return agent;
}

/* Of GET /v1/worlds/W/agents and .../agents/A, and of the ranking. */
Test(agent_answers, have_each_number_once) {
  static const muster_atom atom = {.run = nothing};
  SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
  muster_type_def def = type_with(&atom, 1);
  def.name = "hen";
  register_type(&little, &def);
  muster_agent_info info = WITH(muster_agent_info, it.type = little.type);
  rows_fill(agent_rows, COUNT_OF(agent_rows), &info, 10);
  for (size_t set = 0; set < COUNT_OF(agent_rows); set++) {
    if (agent_rows[set].kind != ROW_SWITCH) continue;
    row_put(&agent_rows[set], &info, 1);
    json_auto_t *agent = write_agent(&little, &info);
    rows_expect(agent, "", agent_rows, COUNT_OF(agent_rows), &info);
    rows_expect_text(agent, "agent", "17.4");
    rows_expect_text(agent, "type", "hen");
    rows_expect_nothing_left(agent, "agent");
    row_put(&agent_rows[set], &info, 0);
  }
  info.wake_at_ns = 0;
  json_auto_t *agent = write_agent(&little, &info);
  cr_expect_null(json_object_get(agent, "wake_at_ns"), "it has asked for none");
}

/* ----------------------------------------------------------------------------------------------------------- stream */

static json_t *document_of(const stream_text *text) {
  json_error_t error;
  cr_assert(text && text->length > 0);
  const char *data = memmem(text->text, text->length, "data: ", 6);
  cr_assert_not_null(data);
  data += 6;
  json_t *document = json_loadb(data, text->length - (size_t)(data - text->text), JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(document, "%s", error.text);
  return document;
}

Test(answers, of_a_stream_have_each_number_of_a_frame_once) {
  stream_texts texts = {0};
  hosted_world *world = &service.worlds[1];
  json_auto_t *frame = document_of(stream_texts_frame(&texts, world, 1000));
  rows_expect_text(frame, "world", "east");
  rows_expect(frame, "", stream_rows, COUNT_OF(stream_rows), &world->published);
  rows_expect_value(frame, "hz", ROW_PRECISE, 1e9 / (double)world->published.period_ns);
  json_auto_t *age = rows_take(frame, "frame_age_ns");
  cr_expect_gt(json_integer_value(age), 0);
  rows_expect_nothing_left(frame, "frame");
  stream_texts_free(&texts);
}

Test(answers, of_a_stream_have_each_number_of_a_type_once) {
  static const char *const verdicts[] = {"code", "severity", "words", "next"};
  stream_texts texts = {0};
  hosted_world *world = &service.worlds[1];
  json_auto_t *types = document_of(stream_texts_types(&texts, world, 1000));
  rows_expect_text(types, "world", "east");
  rows_expect_value(types, "frame", ROW_WHOLE_64, (double)world->published.report.frame);
  for (uint32_t type = 0; type < TYPES; type++) {
    double agents = 0, mean = 0, high = 0;
    for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
      const muster_type_cost *cost = &world->published.types[type].costs[level];
      const double values[] = {cost->agents, (double)cost->mean_ns, (double)cost->high_ns, (double)cost->samples};
      static const char *const names[] = {"agents", "mean_ns", "high_ns", "samples"};
      for (uint32_t i = 0; i < 4; i++)
        rows_expect_value(types, formed("types.%u.levels.%u.%s", type, level, names[i]), ROW_WHOLE_64, values[i]);
      agents += values[0];
      mean += values[0] * values[1];
      high += values[0] * values[2];
    }
    rows_expect_value(types, formed("types.%u.type", type), ROW_WHOLE_32, type + 1);
    rows_expect_text(types, formed("types.%u.name", type), world->published.types[type].name);
    rows_expect_value(types, formed("types.%u.agents", type), ROW_WHOLE_64, agents);
    rows_expect_value(types, formed("types.%u.mean_ns", type), ROW_WHOLE_64, floor(mean / agents));
    rows_expect_value(types, formed("types.%u.high_ns", type), ROW_WHOLE_64, floor(high / agents));
  }
  expect_bands(types, &world->published);
  for (size_t i = 0; i < COUNT_OF(verdicts); i++) json_decref(rows_take(types, formed("verdict.%s", verdicts[i])));
  rows_expect_nothing_left(types, "types");
  stream_texts_free(&texts);
}

/* ----------------------------------------------------------------------------------------------------------- health */

/* One world that is not well is enough, whichever it is. */
Test(answers, readiness_is_that_of_all_worlds) {
  for (uint32_t i = 0; i < WORLDS; i++) {
    service.worlds[i].published.failed = false;
    service.worlds[i].published.frame_end_ns = clock_system() - 20000000000u; /* of an hour's period */
    service.worlds[i].published.period_ns = 3600000000000u;
  }
  json_decref(ask("/readyz"));
  for (uint32_t i = 0; i < WORLDS; i++) {
    service.worlds[i].published.failed = true;
    json_auto_t *readiness = control_ask(&server.asked, "GET", "/readyz", NULL, 503);
    const char *failed = "";
    CONTROL_EACH(reason, readiness, "reasons") {
      if (strcmp(control_text(reason, "code"), "failed") == 0) failed = control_text(reason, "world");
    }
    cr_expect(json_is_false(control_member(readiness, "ready")));
    cr_expect_str_eq(failed, service.worlds[i].name);
    service.worlds[i].published.failed = false;
  }
}

/* ------------------------------------------------------------------------------------------------------------ crash */

Test(answers, of_the_last_run_have_each_number_once) {
  flight_report *last = &service.flight.last;
  *last = (flight_report){.known = true,
                          .signal = 11,
                          .process = 4242,
                          .started_ns = 1700000000500000000u,
                          .call = {.world = "west", .module = "wildlife", .function = FLIGHT_SKIP},
                          .culprit_count = 1,
                          .inside_count = 2};
  for (uint32_t i = 0; i < last->inside_count; i++) {
    flight_inside *inside = &last->inside[i];
    snprintf(inside->world, NAME_BYTES, "world%u", i);
    snprintf(inside->module, NAME_BYTES, "module%u", i);
    inside->entry = (muster_flight_entry){.worker = 31 + i,
                                          .doing = MUSTER_FLIGHT_ATOM,
                                          .atom = 41 + i,
                                          .agent = muster_agent_make(51 + i, 61 + i),
                                          .frame = 71 + i};
    snprintf(inside->entry.type_name, sizeof inside->entry.type_name, "type%u", i);
  }
  service.settings.crash_limit = 7;
  json_auto_t *crash = ask("/v1/crash");
  rows_expect_value(crash, "recording", ROW_SWITCH, 0);
  rows_expect_value(crash, "crash_limit", ROW_WHOLE_32, 7);
  rows_expect_value(crash, "last_run.clean", ROW_SWITCH, 0);
  rows_expect_value(crash, "last_run.process", ROW_WHOLE_64, 4242);
  rows_expect_value(crash, "last_run.signal", ROW_WHOLE_32, 11);
  rows_expect_value(crash, "last_run.started", ROW_PRECISE, 1700000000.5);
  rows_expect_text(crash, "last_run.module_call.world", "west");
  rows_expect_text(crash, "last_run.module_call.module", "wildlife");
  rows_expect_text(crash, "last_run.module_call.in", "skip_ns");
  for (uint32_t i = 0; i < 2; i++) {
    static const char *const lists[] = {"last_run.culprits.0.", "last_run.also_running.0."},
                             *const texts[] = {"world", "module", "type"},
                             *const numbers[] = {"worker", "atom", "agent", "generation", "frame"};
    for (uint32_t k = 0; k < COUNT_OF(texts); k++)
      rows_expect_text(crash, formed("%s%s", lists[i], texts[k]), formed("%s%u", texts[k], i));
    for (uint32_t k = 0; k < COUNT_OF(numbers); k++)
      rows_expect_value(crash, formed("%s%s", lists[i], numbers[k]), ROW_WHOLE_64, 31 + 10 * k + i);
    rows_expect_text(crash, formed("%sin", lists[i]), muster_flight_doing_name(MUSTER_FLIGHT_ATOM));
  }
  rows_expect_nothing_left(crash, "crash");
}
