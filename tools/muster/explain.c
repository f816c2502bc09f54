/* `muster explain`: why one agent of a population runs when and how it does. */
#include "base/nearest.h"
#include "commands.h"
#include "complaint.h"
#include "ctl.h"
#include "parse.h"
#include "run.h"

#include "base/columns.h"

#include <muster/explain.h>

#include <string.h>
#include <unistd.h>

enum choice { CHOICE_MOST_IMPORTANT = 0, CHOICE_MOST_DELAYED, CHOICES, CHOICE_INDEX = CHOICES };

static const char *const choices[CHOICES] = {"most-important", "most-delayed"};

/* Which agent --agent means. False after a complaint. */
static bool read_choice(const char *text, enum choice *choice, uint32_t *index) {
  if (*text >= '0' && *text <= '9') {
    *choice = CHOICE_INDEX;
    return parse_count32("--agent", text, 0, UINT32_MAX - 1, index);
  }
  for (uint32_t i = 0; i < CHOICES; i++)
    if (strcmp(text, choices[i]) == 0) {
      *choice = i;
      return true;
    }
  const char *nearest = nearest_name(text, choices, CHOICES);
  if (nearest)
    complain_usage("--agent is '%s'; did you mean '%s'?", text, nearest);
  else
    complain_usage("--agent is '%s'; give the number of an agent, most-important or most-delayed", text);
  return false;
}

/* The active agent with this index; null when there is none. */
static muster_agent agent_at(const muster_world *world, uint32_t index) {
  muster_agent before = muster_agent_make(index - 1, 1), none = {0};
  muster_agent agent = muster_agent_next(world, index ? before : none);
  return muster_agent_index(agent) == index ? agent : none;
}

/* What a choice looks at of an agent; the greatest is meant. */
static double worth_of(enum choice choice, const muster_agent_info *info) {
  if (choice == CHOICE_MOST_IMPORTANT) return (double)info->importance;
  /* Above all numbers of nanoseconds when it waits; later updates are worth less. */
  return (info->delays ? 1e19 : 0.0) - (double)info->last_update_ns;
}

static muster_agent agent_most(const muster_world *world, enum choice choice) {
  muster_agent agent = {0}, most = {0};
  double greatest = 0;
  while (!muster_agent_is_null(agent = muster_agent_next(world, agent))) {
    muster_agent_info info = muster_agent_info_default();
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    double worth = worth_of(choice, &info);
    if (!muster_agent_is_null(most) && worth <= greatest) continue;
    most = agent;
    greatest = worth;
  }
  return most;
}

static bool write_explanation(struct run *run, const muster_agent_explanation *explanation) {
  char text[16384];
  size_t length = muster_explanation_json(explanation, text, sizeof text);
  if (length) return output_commit(&run->json, text, length);
  complain_failure("the explanation does not fit %zu bytes", sizeof text);
  return false;
}

static int tell(struct run *run, const muster_agent_explanation *explanation) {
  char text[4096];
  if (run->options.json && !write_explanation(run, explanation)) return STATUS_FAILED;
  if (run_options_take_output(&run->options)) return STATUS_OK;
  muster_explanation_print(explanation, text, sizeof text);
  printf("After frame %lu, at %.3f s:\n\n", explanation->frame, (double)explanation->sim_now_ns * 1e-9);
  columns_print(stdout, text, columns_of(STDOUT_FILENO));
  return STATUS_OK;
}

static void note_problem(const muster_module_problem *problem, void *user) {
  muster_agent_explanation *explanation = user;
  snprintf(explanation->problem, sizeof explanation->problem, "%s has failed %lu times: %s", problem->where,
           problem->count, problem->what);
}

static int explain(struct run *run) {
  enum choice choice;
  uint32_t index = 0;
  const muster_world *world = run->host.world;
  if (!read_choice(run->options.agent, &choice, &index)) return STATUS_USAGE;
  muster_agent agent = choice == CHOICE_INDEX ? agent_at(world, index) : agent_most(world, choice);
  if (muster_agent_is_null(agent) && choice == CHOICE_INDEX)
    return complain_failure("there is no agent %u after the last frame; %u agents live", index,
                            run->record.last.agents);
  if (muster_agent_is_null(agent)) return complain_failure("there is no agent to explain after the last frame");
  muster_agent_explanation explanation = muster_agent_explanation_default();
  if (muster_agent_explain(world, agent, &explanation)) return complain_failure("%s", muster_last_error());
  const muster_module *module = run->host.module;
  if (module->problems) module->problems(run->host.instance, world, agent, note_problem, &explanation);
  return tell(run, &explanation);
}

int explain_command(int count, char **arguments) {
#ifdef MUSTER_HAS_CTL
  if (ctl_is_meant(count, arguments)) return ctl_explain_command(count, arguments, run_explain_help);
#endif
  struct run run = {0};
  int status;
  enum choice choice;
  uint32_t index;
  if (!run_options_read(&run.options, RUN_TO_EXPLAIN, count, arguments, &status)) return status;
  if (!run.options.agent) run.options.agent = choices[CHOICE_MOST_DELAYED];
  if (!read_choice(run.options.agent, &choice, &index)) return STATUS_USAGE;
  return run_and_report(&run, explain);
}
