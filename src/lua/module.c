/* module.c - scripts as a module: muster/module.h. */
#include "lua/atoms.h"
#include "lua/collector.h"
#include "lua/host.h"
#include "lua/lines.h"
#include "lua/lua_module.h"
#include "lua/metrics.h"
#include "lua/problems.h"
#include "lua/scripts.h"
#include "lua/show.h"
#include "lua/snapshot.h"
#include "lua/types.h"

#include <muster/zone.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const muster_module_setting lua_settings[] = {
    {"scripts", MUSTER_MODULE_TEXT, 0, MUSTER_MODULE_TEXT_MAX, "", "the folder or the file NAME.lua with the scripts"},
    {"state_mb", MUSTER_MODULE_INTEGER, 1, 65536, "256", "the most that the Lua state of one strand may have, in MB"},
    {0},
};

static const muster_module_command lua_commands[] = {
    {"reload", "reads the scripts anew; agents have the new methods from their next update on"},
    {"show", "what the table of an agent holds; its body is the agent's id, INDEX.GENERATION"},
    {0}};

/* Few strands leave workers idle, many states take memory. */
static uint32_t strands_for(uint32_t agents_max) {
  uint32_t strands = agents_max < 256 ? 1 : 4;
  while (strands < 64 && agents_max / 2048 >= 2 * strands) strands *= 2;
  return strands;
}

static void scripts_close(void *instance) {
  script_world *scripts = instance;
  if (!scripts) return;
  problems_tell(scripts);
  problems_free(scripts->problems);
  for (uint32_t i = 0; i < SCRIPT_STRANDS_MAX; i++) state_destroy(scripts->states[i]);
  state_destroy(scripts->host);
  source_files_free(&scripts->files);
  free(scripts->owners);
  free(scripts);
}

static muster_result scripts_load(script_world *scripts) {
  muster_result result = source_files_read(scripts->path, &scripts->files);
  if (result) return result;
  scripts->version = 1;
  scripts->host = state_create(scripts, SCRIPT_STRANDS_MAX);
  if (!scripts->host) return muster_last_result();
  if (!scripts->type_count) return muster_module_fail(MUSTER_E_INPUT, "the scripts '%s' define no type", scripts->path);
  scripts->typed = true;
  scripts->strands = strands_for(scripts->needs.agents_max);
  return MUSTER_OK;
}

static muster_result scripts_open(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  const char *path = options->path ? options->path : muster_module_text(options, "scripts", "");
  if (!*path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "name the scripts: a folder or a file NAME.lua (setting 'scripts')");
  script_world *scripts = calloc(1, sizeof *scripts);
  if (!scripts) return muster_module_fail(MUSTER_E_MEMORY, "no memory for the scripts");
  snprintf(scripts->name, sizeof scripts->name, "%s", muster_module_instance(options));
  snprintf(scripts->world_name, sizeof scripts->world_name, "%s", options->world ? options->world : "");
  snprintf(scripts->path, sizeof scripts->path, "%s", path);
  scripts->seed = options->seed;
  scripts->state_bytes = (uint64_t)muster_module_number(options, "state_mb", 256) << 20;
  scripts->wanted_agents = options->agents;
  scripts->wanted_observers = options->observers;
  scripts->needs.agents = scripts->wanted_agents ? scripts->wanted_agents : 1000;
  scripts->needs.agents_max = 2 * scripts->needs.agents;
  muster_result result = scripts_load(scripts);
  if (result) {
    scripts_close(scripts);
    return result;
  }
  needs->agents = scripts->needs.agents;
  needs->agents_max = scripts->needs.agents_max + scripts->strands;
  needs->observers = scripts->needs.observers;
  needs->cell_m = scripts->needs.cell_m;
  *instance = scripts;
  return MUSTER_OK;
}

/* An agent crosses to another zone as the bytes that Muster keeps of it: its table would stay behind. */
static muster_result refuse_zone(const muster_world *world) {
  muster_zone_def zone = {0};
  if (muster_zone_read(world, &zone) != MUSTER_OK) return MUSTER_OK;
  return muster_module_fail(MUSTER_E_STATE,
                            "scripts cannot run in zone %u of a larger world: the tables of their agents cannot cross "
                            "to another zone yet. Give them a world that is no zone",
                            zone.number);
}

static muster_result scripts_register(void *instance, muster_world *world) {
  script_world *scripts = instance;
  scripts->world = world;
  muster_result result = refuse_zone(world);
  if (!result) result = types_register_all(scripts);
  return result ? result : collector_register(scripts);
}

static muster_result scripts_populate(void *instance, muster_world *world) {
  script_world *scripts = instance;
  (void)world;
  muster_result result = collector_spawn(scripts);
  return result ? result : host_start(scripts);
}

/* New texts for all: none when they fail in a state of their own. */
static muster_result scripts_reload(script_world *scripts) {
  script_files before = scripts->files;
  muster_result result = source_files_read(scripts->path, &scripts->files);
  if (result) {
    scripts->files = before;
    return result;
  }
  script_state *trial = state_create(scripts, SCRIPT_STRANDS_MAX);
  if (!trial) {
    source_files_free(&scripts->files);
    scripts->files = before;
    return muster_last_result();
  }
  state_destroy(trial);
  source_files_free(&before);
  scripts->version++;
  problems_clear(scripts);
  state_renew(scripts->host);
  return MUSTER_OK;
}

static muster_result command_reload(script_world *scripts, muster_module_answer answer, void *answer_user) {
  char text[128];
  muster_result result = scripts_reload(scripts);
  scripts->reloads += !result;
  scripts->reloads_refused += result != MUSTER_OK;
  if (result) return result;
  int length = snprintf(text, sizeof text, "%u scripts were loaded anew: version %llu\n", scripts->files.count,
                        (unsigned long long)scripts->version);
  answer(200, false, text, (size_t)length, answer_user);
  return MUSTER_OK;
}

static muster_result scripts_command(void *instance, muster_world *world, const muster_module_call *call,
                                     muster_module_answer answer, void *answer_user) {
  (void)world;
  bool shows = strcmp(call->command, "show") == 0;
  return shows ? show_agent(instance, call->body, answer, answer_user) : command_reload(instance, answer, answer_user);
}

/* An agent that a host spawns begins like one that a script spawns without fields. */
static muster_result scripts_complete(void *instance, const muster_world *world, muster_agent_def *def) {
  const script_world *scripts = instance;
  (void)world;
  if (def->type.index == scripts->collector.index)
    return muster_module_fail(MUSTER_E_ARGUMENT, "collectors of garbage are the module's own");
  return MUSTER_OK;
}

static muster_result scripts_save(void *instance, const muster_world *world, muster_module_write write,
                                  void *write_user) {
  return snapshot_save_tables(instance, world, write, write_user);
}

static muster_result scripts_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  (void)world;
  return snapshot_resume_tables(instance, bytes, count);
}

static void scripts_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  script_world *scripts = instance;
  (void)world;
  scripts->now_ns = sim_now_ns;
  lines_begin_second(scripts);
  problems_tell(scripts);
  atoms_judge(scripts);
  host_frame(scripts);
}

const muster_module *muster_module_lua(void) {
  static const muster_module module = {.size = sizeof(muster_module),
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "lua",
                                       .summary = "behaviours in Lua: agents whose types are written in scripts",
                                       .open = scripts_open,
                                       .register_types = scripts_register,
                                       .populate = scripts_populate,
                                       .before_frame = scripts_before_frame,
                                       .report = metrics_report,
                                       .close = scripts_close,
                                       .complete = scripts_complete,
                                       .save = scripts_save,
                                       .resume = scripts_resume,
                                       .shares_world = true,
                                       .settings = lua_settings,
                                       .commands = lua_commands,
                                       .command = scripts_command,
                                       .metrics = metrics_table,
                                       .read_metrics = metrics_read,
                                       .problems = problems_list};
  return &module;
}
