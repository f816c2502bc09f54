/* A run with a journal, of a module that lets a second pass behind each frame: no scenario that does can be saved. */
#include "catalog.h"
#include "journaling.h"
#include "support/journals.h"

enum { STEP_NS = 50000000, SECOND_NS = 1000000000 };

static muster_atom_result stay(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_result open_leaper(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  (void)options;
  needs->agents = needs->agents_max = 1;
  *instance = malloc(1);
  return *instance ? MUSTER_OK : MUSTER_E_MEMORY;
}

static muster_result register_types(void *instance, muster_world *world) {
  static const muster_atom atoms[] = {{stay, MUSTER_ROLE_BEHAVIOUR, 1000}};
  const muster_type_def def = WITH(muster_type_def, it.name = "stone", it.atoms = atoms, it.atom_count = 1);
  (void)instance;
  return muster_type_register(world, &def).index ? MUSTER_OK : MUSTER_E_FULL;
}

static muster_result populate(void *instance, muster_world *world) {
  const muster_agent_def def = WITH(muster_agent_def, it.type = muster_type_find(world, "stone"));
  (void)instance;
  return muster_agent_is_null(muster_agent_spawn(world, &def)) ? MUSTER_E_FULL : MUSTER_OK;
}

static uint64_t leap(void *instance, uint64_t sim_now_ns) {
  (void)instance, (void)sim_now_ns;
  return SECOND_NS;
}

static const muster_module leaper = {.size = sizeof leaper,
                                     .abi = MUSTER_MODULE_ABI,
                                     .name = "leaper",
                                     .open = open_leaper,
                                     .register_types = register_types,
                                     .populate = populate,
                                     .skip_ns = leap,
                                     .close = free};

const muster_module *catalog_find(const char *argument, const char **path, int *status) {
  (void)path, (void)status;
  must(strcmp(argument, leaper.name) == 0, "%s is another module", argument);
  return &leaper;
}

const char *catalog_name(const muster_module *module) {
  return module->name;
}

/* Whether the journal, which has not ended by itself, has so many frames. */
static bool has_written(const struct journaling *journaling, uint64_t frames) {
  const muster_journal_status status = journal_status(journaling->journal);
  must(status.runs, "%s", status.ended_by);
  return status.frames_written == frames;
}

/* As many frames more, which the journal has then, and no snapshot behind them: this process ends without its end. */
static _Noreturn void run_and_fall(struct host *host, const char *path, uint64_t first, uint64_t frames) {
  struct journaling journaling;
  muster_frame_report report;
  const run_options options = {.module = &leaper, .journal = path, .workers = 1, .rate = 20000};
  must(journaling_begin(&journaling, &options, host), "the journal begins");
  for (uint64_t frame = first; frame < first + frames; frame++) {
    must(host_run_frame(host, (frame + 1) * STEP_NS, STEP_NS, &report), "a frame is later than the one before");
    must(host->skipped_ns == (frame + 1) * SECOND_NS, "a second behind each frame");
    journaling_turn(&journaling, 0);
  }
  AWAIT_WITH(journaling_turn(&journaling, SECOND_NS), has_written(&journaling, first + frames));
  die();
}

/* The world as it was, and so many frames of it after those that were lost with the last process. */
static _Noreturn void live(const char *path, uint64_t lost, uint64_t frames) {
  struct journal_found found;
  struct host host;
  host_setup setup = host_default_setup(&leaper);
  setup.world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  if (lost) {
    must(journal_found_open(&found, path) == MUSTER_OK, "the journal is found");
    must(found.info.frames == lost && found.info.snapshot_frames < lost, "its last frames are behind its snapshot");
    journal_found_prepare(&found, &setup);
    must(setup.skipped_ns == found.info.snapshot_frames * SECOND_NS, "time that had passed before the snapshot");
  }
  must(host_open(&host, &setup), "the world is made");
  must(!lost || journal_found_recover(&found, &host, NULL, NULL), "it is as it was");
  must(host.skipped_ns == lost * SECOND_NS, "time that had passed behind the snapshot, too");
  run_and_fall(&host, path, lost, frames);
}

/* By the snapshot that a journal begins with, and by each frame behind it. */
Test(journaling, time_that_a_module_has_let_pass_is_all_there_again) {
  enum { FRAMES = 10, LIVES = 3 };
  SCOPED(place_remove) journal_place place = place_make();
  for (uint64_t life = 0; life < LIVES; life++) {
    pid_t process = fork();
    cr_assert_neq(process, -1);
    if (process == 0) live(place.path, life * FRAMES, FRAMES);
    expect_killed(process);
  }
}
