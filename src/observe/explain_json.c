/* explain_json.c - an explanation for machines. */
#include "base/error.h"
#include "base/json.h"

#include <muster/muster.h>

#include <math.h>

static void write_reasons(json_writer *writer, uint32_t reasons) {
  static const struct {
    uint32_t reason;
    const char *name;
  } names[] = {{MUSTER_REASON_SPAWN_WAITING, "spawn_waiting"},
               {MUSTER_REASON_ASLEEP, "asleep"},
               {MUSTER_REASON_CARRIED, "carried"},
               {MUSTER_REASON_PREEMPTED, "preempted"},
               {MUSTER_REASON_WAITS_FOR_ACTION, "waits_for_action"},
               {MUSTER_REASON_WOKEN, "woken"},
               {MUSTER_REASON_HELD, "held"},
               {MUSTER_REASON_GUARANTEED, "guaranteed"},
               {MUSTER_REASON_NO_OBSERVER_NEAR, "no_observer_near"},
               {MUSTER_REASON_LOWERED, "lowered"},
               {MUSTER_REASON_MODELLED, "modelled"},
               {MUSTER_REASON_FLOOR, "floor"},
               {MUSTER_REASON_CHEAPER_LEVEL, "cheaper_level"},
               {MUSTER_REASON_PERIOD_STRETCHED, "period_stretched"},
               {MUSTER_REASON_PERIOD_LONGEST, "period_longest"},
               {MUSTER_REASON_EXEMPT, "exempt"},
               {MUSTER_REASON_ELASTICITY_SET, "elasticity_set"},
               {MUSTER_REASON_OVERLOAD, "overload"},
               {MUSTER_REASON_REMOVAL_WAITING, "removal_waiting"},
               {MUSTER_REASON_NO_PERIOD, "no_period"},
               {MUSTER_REASON_TIME_ASKED, "time_asked"},
               {MUSTER_REASON_WAKE_DELAYED, "wake_delayed"},
               {MUSTER_REASON_QUARANTINED, "quarantined"},
               {MUSTER_REASON_PENALTY, "penalty"},
               {MUSTER_REASON_EASED, "eased"},
               {MUSTER_REASON_REACTION, "reaction"},
               {MUSTER_REASON_COMPANY, "company"},
               {MUSTER_REASON_OWED, "owed"},
               {MUSTER_REASON_BEYOND_WISH, "beyond_wish"}};
  json_begin_array(writer, "reasons");
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    if (reasons & names[i].reason) json_string(writer, NULL, names[i].name);
  json_end_array(writer);
}

static void explain_json_write_observer(json_writer *writer, const muster_agent_explanation *explanation) {
  if (!isfinite(explanation->distance_m)) {
    json_null(writer, "observer");
    return;
  }
  json_begin_object(writer, "observer");
  json_uint(writer, "index", explanation->observer.index);
  json_bool(writer, "decides", explanation->observed);
  json_number(writer, "distance_m", (double)explanation->distance_m);
  json_number(writer, "near_m", (double)explanation->near_m);
  json_number(writer, "far_m", (double)explanation->far_m);
  json_end_object(writer);
}

static void write_importance(json_writer *writer, const muster_agent_explanation *explanation) {
  json_begin_object(writer, "importance");
  json_number(writer, "in_force", (double)explanation->importance);
  json_number(writer, "by_observer", (double)explanation->by_observer);
  json_number(writer, "visibility", (double)explanation->visibility);
  json_number(writer, "bulk", (double)explanation->bulk);
  json_number(writer, "interactivity", (double)explanation->interactivity);
  json_number(writer, "of_type", (double)explanation->of_type);
  json_bool(writer, "modelled", explanation->modelled);
  json_number(writer, "by_model", (double)explanation->by_model);
  json_number(writer, "floor", (double)explanation->floor);
  explain_json_write_observer(writer, explanation);
  json_end_object(writer);
}

static void write_level(json_writer *writer, const muster_agent_explanation *explanation) {
  json_begin_object(writer, "level");
  json_uint(writer, "number", explanation->level);
  json_uint(writer, "count", explanation->level_count);
  json_number(writer, "cheaper_below", (double)explanation->level_low);
  json_number(writer, "better_from", (double)explanation->level_high);
  json_end_object(writer);
}

static void explain_json_write_period(json_writer *writer, const muster_agent_explanation *explanation) {
  json_begin_object(writer, "period");
  json_uint(writer, "in_force_ns", explanation->period_ns);
  json_uint(writer, "nominal_ns", explanation->nominal_ns);
  json_uint(writer, "longest_ns", explanation->longest_ns);
  json_bool(writer, "longest_is_wish", explanation->longest_is_wish);
  json_uint(writer, "interval_of_band_ns", explanation->band_interval_ns);
  json_number(writer, "elasticity", (double)explanation->elasticity);
  json_number(writer, "elasticity_of_type", (double)explanation->elasticity_of_type);
  json_bool(writer, "elasticity_derived", explanation->elasticity_derived);
  json_uint(writer, "class_members", explanation->class_members);
  json_end_object(writer);
}

static void write_turn(json_writer *writer, const muster_agent_explanation *explanation) {
  json_begin_object(writer, "turn");
  json_uint(writer, "last_update_ns", explanation->last_update_ns);
  json_uint(writer, "age_ns", explanation->age_ns);
  json_bool(writer, "has_run", explanation->has_run);
  json_uint(writer, "due_ns", explanation->due_ns);
  json_uint(writer, "waited_ns", explanation->waited_ns);
  json_uint(writer, "delays", explanation->delays);
  json_uint(writer, "atoms_done", explanation->atoms_done);
  json_uint(writer, "atoms", explanation->atoms);
  json_number(writer, "deadline_ns", (double)explanation->deadline_ns);
  json_number(writer, "priority_ns", (double)explanation->priority_ns);
  json_number(writer, "priority_wait_ns", (double)explanation->priority_wait_ns);
  json_number(writer, "priority_importance_ns", (double)explanation->priority_importance_ns);
  json_number(writer, "priority_progress_ns", (double)explanation->priority_progress_ns);
  json_number(writer, "priority_runs_ns", (double)explanation->priority_runs_ns);
  json_end_object(writer);
}

static void explain_json_write_cost(json_writer *writer, const muster_agent_explanation *explanation) {
  json_begin_object(writer, "cost");
  json_uint(writer, "mean_ns", explanation->cost_mean_ns);
  json_uint(writer, "high_ns", explanation->cost_high_ns);
  json_uint(writer, "samples", explanation->cost_samples);
  json_end_object(writer);
}

static void write_whole(json_writer *writer, const muster_agent_explanation *explanation) {
  char words[4096];
  muster_explanation_print(explanation, words, sizeof words);
  json_begin_object(writer, NULL);
  json_uint(writer, "agent", explanation->agent.index);
  json_uint(writer, "generation", explanation->agent.generation);
  json_string(writer, "type", explanation->type_name);
  json_uint(writer, "frame", explanation->frame);
  json_uint(writer, "sim_now_ns", explanation->sim_now_ns);
  json_number(writer, "pressure", (double)explanation->pressure);
  write_reasons(writer, explanation->reasons);
  write_importance(writer, explanation);
  write_level(writer, explanation);
  explain_json_write_period(writer, explanation);
  write_turn(writer, explanation);
  explain_json_write_cost(writer, explanation);
  json_string(writer, "words", words);
  json_end_object(writer);
}

size_t muster_explanation_json(const muster_agent_explanation *explanation, char *text, size_t bytes) {
  json_writer writer;
  if (!explanation || (bytes && !text)) return error_missing("JSON", "explanation and room for it"), 0;
  json_start(&writer, text, bytes);
  write_whole(&writer, explanation);
  return json_finish(&writer) ? writer.length : 0;
}
