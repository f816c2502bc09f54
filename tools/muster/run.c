/* `muster run`: a population inside its budget. */
#include "run.h"

#include "commands.h"
#include "complaint.h"
#include "report_json.h"
#include "report_text.h"
#include "text.h"

#include <muster/trace.h>

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { JSON_BYTES = 65536 };

static host_setup setup_of(const run_options *options) {
  host_setup setup = host_default_setup(options->module);
  setup.workers = options->workers;
  setup.given = options->given;
  setup.given_count = options->given_count;
  setup.options.agents = options->agents;
  setup.options.observers = options->observers;
  setup.options.seed = options->seed;
  setup.options.path = options->path;
  setup.options.up_axis = options->up_axis;
  setup.options.cost_ns = options->cost_ns;
  setup.world.seed = options->seed;
  setup.world.clock.kind = options->virtual_clock ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL;
  setup.world.clock.capacity_ns = options->capacity_ns;
  setup.world.audit = options->audit;
  setup.world.shards = options->shards;
  setup.world.elastic = options->elastic;
  if (options->elastic != MUSTER_ELASTIC_IMPORTANCE) {
    setup.world.order = MUSTER_ORDER_PRIORITY;
    setup.world.levels.pressure = 0.0f;
  }
  setup.world.activation_delay = options->activation_delay;
  setup.world.trace.frames = options->trace ? options->trace_frames : 0;
  return setup;
}

/* Interruptions are not delivered but waited for between frames, so that the report of what was run can be written.
 * Threads inherit this, so it comes before the pool. */
static void hold_back_signals(struct run *run) {
  sigemptyset(&run->stop_signals);
  sigaddset(&run->stop_signals, SIGINT);
  sigaddset(&run->stop_signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &run->stop_signals, NULL);
}

/* Whether the run is to end after this frame. */
static bool is_last(struct run *run) {
  struct timespec at_once = {0};
  int signal = sigtimedwait(&run->stop_signals, NULL, &at_once);
  if (signal > 0) run->signal = signal;
  return signal > 0 || run->frame == run->last;
}

static void write_line(const char *text, void *user) {
  struct run *run = user;
  progress_end(&run->progress);
  puts(text);
}

/* Finds the agent to watch. Also true when none was named. */
static bool find_watched(struct run *run) {
  const struct host *host = &run->host;
  if (!run->options.watch) return true;
  return host->module->watch(host->instance, host->world, run->options.watch, write_line, run) == MUSTER_OK;
}

/* False when the frame failed. */
static bool run_frame(struct run *run, muster_frame_report *report) {
  struct host *host = &run->host;
  run->frame++;
  pacing_wait(&run->pacing, run->frame);
  if (run->options.record && run->frame > 1 && run->frame == run->options.record_from &&
      !recording_begin(&run->recording, host->world))
    return false;
  if (!host_run_frame(host, pacing_sim_time(&run->pacing, run->frame), run->options.budget_ns, report)) return false;
  if (run->options.watch) host->module->watched(host->instance, host->world, write_line, run);
  journaling_turn(&run->journaling, pacing_spare_ns(&run->pacing, run->frame + 1));
  return true;
}

static void show_warm_up(struct run *run, bool all_in, uint64_t rest, const muster_frame_report *report) {
  if (!progress_is_due(&run->progress)) return;
  const char *agents = text_count(report->agents);
  if (all_in)
    progress_put(&run->progress, "warming up, frame %lu of %lu: %s agents", run->options.warm_up - rest,
                 run->options.warm_up, agents);
  else
    progress_put(&run->progress, "letting agents in: %s of %s, frame %lu", agents, text_count(run->host.needs.agents),
                 run->frame);
}

static void show_frame(struct run *run, const muster_frame_report *report) {
  progress_put(&run->progress, "frame %lu of %lu: %s agents, pressure %s, frame time %s", run->record.frames,
               run->options.frames, text_count(report->agents), text_pressure((double)report->pressure),
               text_ns(report->wall_ns));
}

/* Runs until the population is in, which large ones take several frames for, and then for as long as was asked for, so
 * that estimates have settled. */
static bool warm_up(struct run *run, bool *stopped) {
  muster_frame_report report;
  uint64_t rest = run->options.warm_up;
  uint32_t calm = 0;
  bool all_in = rest == 0;
  for (uint64_t i = 0; !*stopped && (!all_in || rest > 0); i++) {
    if (!run_frame(run, &report)) return false;
    if (all_in) rest--;
    all_in = all_in || host_is_in(&run->host, &report, &calm) || i == HOST_INTAKE_FRAMES_MAX;
    show_warm_up(run, all_in, rest, &report);
    *stopped = is_last(run);
  }
  muster_statistics_clear(run->host.world);
  run->noise = noise_begin();
  return true;
}

static bool run_frames(struct run *run, bool *stopped) {
  muster_frame_report report;
  while (!*stopped && run->record.frames < run->options.frames) {
    if (!run_frame(run, &report)) return false;
    record_add(&run->record, &report);
    if (run->machine && !machine_crew_watch(run->machine, run->options.budget_ns, &run->seen)) return false;
    if (progress_is_due(&run->progress)) show_frame(run, &report);
    *stopped = is_last(run);
  }
  return true;
}

static bool write_json(struct run *run, const run_summary *summary) {
  char text[JSON_BYTES];
  json_writer writer;
  json_start(&writer, text, sizeof text);
  report_json(&writer, summary);
  return output_commit_json(&run->json, &writer);
}

static bool write_trace_part(const char *text, size_t length, void *user) {
  return output_write(user, text, length);
}

/* The output complains when it cannot be written. */
static bool write_trace(struct run *run) {
  muster_result result = muster_trace_write(run->host.world, write_trace_part, &run->trace);
  if (result && result != MUSTER_E_SYSTEM) complain_failure("--trace: %s", muster_last_error());
  return !result && output_commit(&run->trace, "", 0);
}

struct run_errors {
  uint64_t count, most; /* of all places; of the worst one */
  uint32_t places;
  char worst[512];
};

static void note_error(const muster_module_problem *problem, void *user) {
  struct run_errors *errors = user;
  errors->count += problem->count;
  if (errors->places++) return;
  errors->most = problem->count;
  snprintf(errors->worst, sizeof errors->worst, "%s: %s", problem->where, problem->what);
}

/* What went wrong in the module's own code, such as a script, is no success. Returns the exit status. */
static int tell_errors(const struct host *host) {
  struct run_errors errors = {0};
  if (host->module->problems)
    host->module->problems(host->instance, host->world, (muster_agent){0}, note_error, &errors);
  if (!errors.places) return STATUS_OK;
  return complain_failure("%lu error%s in %u place%s, of which %lu: %s", errors.count, errors.count == 1 ? "" : "s",
                          errors.places, errors.places == 1 ? "" : "s", errors.most, errors.worst);
}

static int report(struct run *run) {
  run_summary summary;
  summarise(&summary, &run->options, &run->host, &run->record);
  summary.signal = run->signal;
  summary.interrupted = run->signal || (run->whole && run->record.frames < run->options.frames);
  if (!run->options.virtual_clock && !run->host.replays)
    summary.noise_known = noise_end(&run->noise, &summary.others_share, &summary.stolen_share);
  if (run->machine) {
    summary.machine_kept_share = machine_share(&run->seen, run->seen.as_audited);
    summary.machine_frames = run->seen.frames;
    summary.machine_missed = run->seen.missed;
  }
  if (run->options.json && !write_json(run, &summary)) return STATUS_FAILED;
  if (!run_options_take_output(&run->options) && !report_print(&summary, &run->host))
    return complain_failure("out of memory for the report");
  return run->host.replays ? STATUS_OK : tell_errors(&run->host);
}

static int tell(struct run *run, int (*write_report)(struct run *run)) {
  if (run->record.frames == 0 && run->host.replays) return STATUS_OK; /* ended in the warm-up */
  if (run->record.frames == 0)
    return complain_failure("interrupted in frame %lu, before the first counted one: there is nothing to report",
                            run->frame);
  if (run->options.trace && !write_trace(run)) return STATUS_FAILED;
  return write_report(run);
}

static void say_replayed(const struct run *run) {
  const char *json = run->options.json;
  fprintf(json && strcmp(json, "-") == 0 ? stderr : stdout, "replayed %lu frames bit for bit\n",
          (run->frame - run->first));
}

/* Opens the world, and the threads that watch the machine beside it. False after a complaint, with nothing left
 * behind. */
static bool open_world(struct run *run) {
  const char *wrong = NULL;
  progress_step(&run->progress, "making the world of '%s'", run->options.scenario);
  bool opened = host_open(&run->host, &run->setup);
  progress_end(&run->progress);
  if (!opened) {
    complain_failure("%s", muster_last_error());
    return false;
  }
  if (run->options.machine) run->machine = machine_crew_create(run->options.workers, &wrong);
  if (!run->options.machine || run->machine) return true;
  complain_failure("--machine: %s", wrong);
  host_close(&run->host);
  return false;
}

/* Whoever was told of a frame behind the damage was told of what is no more. */
static void say_what_is_lost(const muster_journal_info *info) {
  if (!*info->damage) return;
  if (info->lost_frames)
    fprintf(stderr, "%lu frames behind it are lost, since the journal is damaged: %s\n", info->lost_frames,
            info->damage);
  else
    fprintf(stderr, "%lu bytes behind it are lost, since the journal is damaged: %s\n", info->lost_bytes, info->damage);
}

/* Brings the world to where the journal ends that it goes on from, and begins the one that it keeps. False after a
 * complaint. */
static bool open_journal(struct run *run) {
  if (run->found.state) {
    progress_step(&run->progress, "recovering %lu frames", run->found.info.frames - run->found.info.snapshot_frames);
    bool recovered = journal_found_recover(&run->found, &run->host, NULL, NULL);
    progress_end(&run->progress);
    if (!recovered) {
      complain_failure("%s", muster_last_error());
      return false;
    }
    run->frame = run->found.info.frames;
    fprintf(stderr, "goes on from frame %lu, hash %016lx\n", run->frame, muster_world_hash(run->host.world));
    say_what_is_lost(&run->found.info);
  }
  if (!run->options.journal || journaling_begin(&run->journaling, &run->options, &run->host)) return true;
  complain_failure("%s", muster_last_error());
  return false;
}

static void close_world(struct run *run) {
  machine_crew_destroy(run->machine, NULL);
  host_close(&run->host);
}

static int run_world(struct run *run, int (*write_report)(struct run *run)) {
  bool stopped = false;
  run->progress = progress_begin();
  if (!open_world(run)) return STATUS_FAILED;
  if (!open_journal(run)) {
    close_world(run);
    return STATUS_FAILED;
  }
  bool found = find_watched(run);
  bool paced = !run->options.virtual_clock && !run->options.no_pace && !run->host.replays;
  run->pacing = pacing_begin(run->options.rate, paced);
  run->pacing.start_ns -= pacing_sim_time(&run->pacing, run->frame); /* the frames before are over */
  bool ran = found && warm_up(run, &stopped) && run_frames(run, &stopped);
  progress_end(&run->progress);
  int status = STATUS_USAGE;
  if (!found)
    complain_usage("%s", muster_last_error());
  else
    status = ran ? tell(run, write_report) : complain_failure("frame %lu: %s", run->frame, muster_last_error());
  if (ran && run->signal) status = 128 + run->signal;
  if (ran && run->host.replays) say_replayed(run);
  if (!recording_end(&run->recording, run->host.world)) status = STATUS_FAILED;
  if (!journaling_end(&run->journaling)) status = STATUS_FAILED;
  close_world(run);
  return status;
}

/* All results, before the run. */
static bool open_outputs(struct run *run) {
  run->json.descriptor = run->trace.descriptor = run->recording.descriptor = -1;
  return (!run->options.json || output_open(&run->json, run->options.json)) &&
         (!run->options.trace || output_open(&run->trace, run->options.trace)) &&
         (!run->options.record || recording_open(&run->recording, &run->options, &run->host));
}

/* Runs with the options and the setup. */
static int run_prepared(struct run *run, int (*write_report)(struct run *run)) {
  int status = STATUS_FAILED;
  hold_back_signals(run);
  if (open_outputs(run)) {
    if (record_create(&run->record, run->options.frames))
      status = run_world(run, write_report);
    else
      complain_failure("out of memory for %lu frames; lower --frames", run->options.frames);
  }
  record_destroy(&run->record);
  output_discard(&run->json);
  output_discard(&run->trace);
  return status;
}

int run_and_report(struct run *run, int (*write_report)(struct run *run)) {
  run->setup = setup_of(&run->options);
  run->last = UINT64_MAX;
  if (run->found.state) journal_found_prepare(&run->found, &run->setup);
  if (run->options.record && run->options.record_from <= 1) {
    run->setup.prepare = recording_begin;
    run->setup.prepare_user = &run->recording;
  }
  return run_prepared(run, write_report);
}

int run_replayed(struct replaying *replaying, uint32_t workers, uint64_t last) {
  uint64_t first = replaying->info.frames_before;
  struct run run = {.options = replaying->options, .first = first, .frame = first, .last = last};
  run.whole = last == first + replaying->info.frames;
  run.options.record_from = 0;
  if (replaying->state) { /* it reports what was recorded */
    run.options.warm_up = 0;
    run.options.frames = replaying->info.frames;
  }
  run.setup = setup_of(&run.options);
  run.setup.workers = workers;
  run.setup.world.audit = false; /* what was measured then is in the record */
  run.setup.prepare = replaying_begin;
  run.setup.prepare_user = replaying;
  run.setup.replays = true;
  run.setup.state = replaying->state;
  run.setup.state_bytes = replaying->state_bytes;
  run.setup.skipped_ns = replaying->skipped_ns;
  return run_prepared(&run, report);
}

/* What makes the world is as in the journal's run; what is done with it is as was asked for now. */
static void take_found_options(run_options *options, const run_options *found) {
  run_options whole = *found;
  whole.json = options->json;
  whole.trace = options->trace;
  whole.trace_frames = options->trace_frames;
  whole.watch = options->watch;
  whole.journal = options->journal;
  whole.journal_sync = options->journal_sync;
  whole.workers = options->workers;
  whole.budget_ns = options->budget_ns;
  whole.frames = options->frames;
  whole.warm_up = options->warm_up;
  whole.audit = options->audit;
  whole.machine = options->machine;
  whole.no_pace = options->no_pace;
  whole.record_from = 0;
  *options = whole;
}

/* Looks for the journal to go on from. Returns the exit status. */
static int find_journal(struct run *run) {
  run_options *options = &run->options;
  if (!options->recover) return STATUS_OK;
  muster_result result = journal_found_open(&run->found, options->journal);
  if (result == MUSTER_E_STALE) return STATUS_OK;
  if (result) return complain_failure("%s", muster_last_error());
  if (options->scenario_given && options->module != run->found.options.module)
    return complain_usage("the journal '%s' is of '%s', not of '%s'; leave that out to go on with it", options->journal,
                          run->found.options.scenario, options->scenario);
  take_found_options(options, &run->found.options);
  return STATUS_OK;
}

/* A frame of a journal has been run again. */
static void add_replayed(void *user) {
  struct run *run = user;
  muster_frame_report report = muster_frame_report_default();
  run->frame++;
  if (muster_frame_report_read(run->host.world, &report) == MUSTER_OK) record_add(&run->record, &report);
}

static int report_replayed(struct run *run) {
  run->progress = progress_begin();
  if (!open_world(run)) return STATUS_FAILED;
  progress_step(&run->progress, "replaying %lu frames", run->options.frames);
  bool same = journal_found_recover(&run->found, &run->host, add_replayed, run);
  progress_end(&run->progress);
  int status = same ? tell(run, report) : complain_failure("%s", muster_last_error());
  if (same) say_replayed(run);
  if (same) say_what_is_lost(&run->found.info);
  close_world(run);
  return status;
}

int run_journal_replayed(const char *path, const char *json, uint32_t workers) {
  struct run run = {0};
  if (journal_found_open(&run.found, path) != MUSTER_OK) return complain_failure("%s", muster_last_error());
  const muster_journal_info *info = &run.found.info;
  int status = STATUS_FAILED;
  run.options = run.found.options;
  run.options.json = json;
  run.options.frames = info->frames - info->snapshot_frames;
  run.first = run.frame = info->snapshot_frames;
  run.setup = setup_of(&run.options);
  run.setup.workers = workers;
  run.setup.world.audit = false; /* what was measured then is in the journal */
  run.setup.replays = true;
  journal_found_prepare(&run.found, &run.setup);
  run.json.descriptor = run.trace.descriptor = run.recording.descriptor = -1;
  if (!json || output_open(&run.json, json)) {
    if (record_create(&run.record, run.options.frames ? run.options.frames : 1))
      status = report_replayed(&run);
    else
      complain_failure("out of memory for %lu frames", run.options.frames);
  }
  record_destroy(&run.record);
  output_discard(&run.json);
  journal_found_close(&run.found);
  return status;
}

int run_command(int count, char **arguments) {
  struct run run = {0};
  int status;
  if (!run_options_read(&run.options, RUN_TO_REPORT, count, arguments, &status)) return status;
  status = find_journal(&run);
  if (status == STATUS_OK) status = run_and_report(&run, report);
  journal_found_close(&run.found);
  return status;
}
