/* explain_json.c - an explanation for machines. */
#include "base/error.h"
#include "base/json.h"

#include <muster/explain.h>
#include <muster/muster.h>

#include <math.h>

/* In the order of their bits. */
static const char *const reasons[] = {
    "spawn_waiting", "asleep",         "carried",       "preempted",        "waits_for_action",
    "woken",         "held",           "guaranteed",    "no_observer_near", "lowered",
    "modelled",      "floor",          "cheaper_level", "period_stretched", "period_longest",
    "exempt",        "elasticity_set", "overload",      "removal_waiting",  "no_period",
    "time_asked",    "wake_delayed",   "quarantined",   "penalty",          "shed",
    "reaction",      "company",        "owed",          "beyond_wish",      "own_period"};

static void write_importance(json_writer *writer, const muster_agent_explanation *whole) {
  json_print(writer,
             "importance{ in_force=%g by_observer=%g visibility=%g bulk=%g interactivity=%g of_type=%g modelled=%d "
             "by_model=%g floor=%g",
             whole->importance, whole->by_observer, whole->visibility, whole->bulk, whole->interactivity,
             whole->of_type, whole->modelled, whole->by_model, whole->floor);
  if (isfinite(whole->distance_m))
    json_print(writer, "observer{ index=%u decides=%d distance_m=%g near_m=%g far_m=%g }",
               muster_observer_index(whole->observer), whole->observed, whole->distance_m, whole->near_m, whole->far_m);
  else
    json_null(writer, "observer");
  json_end_object(writer);
}

static void write_whole(json_writer *writer, const muster_agent_explanation *whole) {
  char words[4096];
  muster_explanation_print(whole, words, sizeof words);
  json_print(writer, "{ agent=%u generation=%u type=%s frame=%lu sim_now_ns=%lu pressure=%g reasons[",
             muster_agent_index(whole->agent), muster_agent_generation(whole->agent), whole->type_name, whole->frame,
             whole->sim_now_ns, whole->pressure);
  for (uint32_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (whole->reasons >> i & 1u) json_string(writer, NULL, reasons[i]);
  json_end_array(writer);
  write_importance(writer, whole);
  json_print(writer,
             "level{ number=%u count=%u cheaper_below=%g better_from=%g } period{ in_force_ns=%lu nominal_ns=%lu "
             "longest_ns=%lu longest_is_wish=%d interval_of_band_ns=%lu elasticity=%g elasticity_of_type=%g "
             "elasticity_derived=%d class_members=%u }",
             whole->level, whole->level_count, whole->level_low, whole->level_high, whole->period_ns, whole->nominal_ns,
             whole->longest_ns, whole->longest_is_wish, whole->band_interval_ns, whole->elasticity,
             whole->elasticity_of_type, whole->elasticity_derived, whole->class_members);
  json_print(
      writer,
      "turn{ last_update_ns=%lu age_ns=%lu has_run=%d due_ns=%lu waited_ns=%lu delays=%u atoms_done=%u "
      "atoms=%u deadline_ns=%g priority_ns=%g priority_wait_ns=%g priority_importance_ns=%g "
      "priority_progress_ns=%g priority_runs_ns=%g } cost{ mean_ns=%lu high_ns=%lu samples=%lu } problem=%s words=%s }",
      whole->last_update_ns, whole->age_ns, whole->has_run, whole->due_ns, whole->waited_ns, whole->delays,
      whole->atoms_done, whole->atoms, (double)whole->deadline_ns, (double)whole->priority_ns,
      (double)whole->priority_wait_ns, (double)whole->priority_importance_ns, (double)whole->priority_progress_ns,
      (double)whole->priority_runs_ns, whole->cost_mean_ns, whole->cost_high_ns, whole->cost_samples, whole->problem,
      words);
}

size_t muster_explanation_json(const muster_agent_explanation *explanation, char *text, size_t bytes) {
  json_writer writer;
  if (!explanation || (bytes && !text)) return error_missing("JSON", "explanation and room for it"), 0;
  if (!bytes) return 0; /* not even the terminating zero fits */
  json_start(&writer, text, bytes);
  write_whole(&writer, explanation);
  return json_finish(&writer) ? writer.length : 0;
}
