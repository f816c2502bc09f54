/* explain_words.c - an explanation as a designer reads it. */
#include "base/error.h"

#include <muster/explain.h>
#include <muster/herd.h>
#include <muster/muster.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct words {
  char *text;
  size_t bytes, length; /* room, and the length of the whole text */
};

__attribute__((format(printf, 2, 3))) static void put(struct words *words, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t left = words->length < words->bytes ? words->bytes - words->length : 0;
  int length = vsnprintf(left ? words->text + words->length : NULL, left, format, arguments);
  va_end(arguments);
  if (length > 0) words->length += (size_t)length;
}

/* A duration with three digits and the fitting unit. */
struct duration {
  char text[32];
};

static struct duration duration_of(uint64_t ns) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}};
  struct duration duration;
  uint32_t unit = 0;
  while (unit < 3 && (double)ns < units[unit].ns) unit++;
  double value = (double)ns / units[unit].ns;
  int decimals = value >= 99.95 || unit == 3 ? 0 : value >= 9.995 ? 1 : 2;
  if (fabs(value - round(value)) < 0.005) decimals = 0;
  snprintf(duration.text, sizeof duration.text, "%.*f %s", decimals, value, units[unit].name);
  return duration;
}

static bool has(const muster_agent_explanation *explanation, uint32_t reason) {
  return (explanation->reasons & reason) != 0;
}

static void put_headline(struct words *words, const muster_agent_explanation *explanation) {
  put(words, "%s %u ", explanation->type_name, muster_agent_index(explanation->agent));
  if (has(explanation, MUSTER_REASON_SPAWN_WAITING)) {
    put(words, "is spawned and waits to be taken in by a frame; spawns of many are spread over several.\n");
    return;
  }
  if (has(explanation, MUSTER_REASON_NO_PERIOD))
    put(words, "runs when it is woken, or at a time that was asked for");
  else
    put(words, "runs every %s", duration_of(explanation->period_ns).text);
  if (has(explanation, MUSTER_REASON_PERIOD_STRETCHED))
    put(words, " instead of every %s", duration_of(explanation->nominal_ns).text);
  if (has(explanation, MUSTER_REASON_OWN_PERIOD) && !has(explanation, MUSTER_REASON_NO_PERIOD))
    put(words, ", a period of its own");
  if (explanation->level_count > 1)
    put(words, ", at level %u of 0..%u", explanation->level, explanation->level_count - 1);
  put(words, ", with importance %.2f.\n", explanation->importance);
}

static void put_exempt(struct words *words, const muster_agent_explanation *explanation) {
  put(words, "it is exempt: its elasticity is 0%s, so its period ",
      has(explanation, MUSTER_REASON_ELASTICITY_SET) ? ", set for this agent" : "");
  if (has(explanation, MUSTER_REASON_PERIOD_STRETCHED))
    put(words, "gives way only because exempt agents want more than half of the time that there is");
  else
    put(words, "does not give way to others");
}

/* Why the agent's period is as long as it is. A longest period that is a wish may not be kept. */
static void put_stretch(struct words *words, const muster_agent_explanation *explanation) {
  double pressure = (double)explanation->pressure;
  struct duration longest = duration_of(explanation->longest_ns);
  const char *if_kept = explanation->longest_is_wish ? ", if that wish can be kept" : "";
  if (has(explanation, MUSTER_REASON_BEYOND_WISH))
    put(words, "longer than its type wishes, %s at most, because the pressure is %.2f", longest.text, pressure);
  else if (explanation->nominal_ns == explanation->longest_ns)
    put(words, "its type has no longer period than the one it wants");
  else if (has(explanation, MUSTER_REASON_PERIOD_LONGEST))
    put(words, "stretched as far as its type %s, because the pressure is %.2f",
        explanation->longest_is_wish ? "wishes" : "allows", pressure);
  else if (has(explanation, MUSTER_REASON_PERIOD_STRETCHED))
    put(words, "stretched because the pressure is %.2f; at most %s%s", pressure, longest.text, if_kept);
  else
    put(words, "as wanted; under load at most %s%s", longest.text, if_kept);
}

static void put_overload(struct words *words, const muster_agent_explanation *explanation) {
  if (explanation->by_importance)
    put(words,
        "  Overload: even with the longest periods that types wish for the work does not fit the budget; what matters "
        "least gives way most.\n");
  else
    put(words, "  Overload: even with the longest period of every agent the work does not fit the budget.\n");
}

static const char *origin_of_elasticity(const muster_agent_explanation *explanation) {
  if (explanation->elasticity_derived) return "from its type and importance";
  if (has(explanation, MUSTER_REASON_ELASTICITY_SET)) return "set for this agent";
  return "from what was set for this agent and its importance";
}

static void put_period(struct words *words, const muster_agent_explanation *explanation) {
  if (has(explanation, MUSTER_REASON_NO_PERIOD)) return;
  put(words, "  Period: ");
  if (has(explanation, MUSTER_REASON_EXEMPT))
    put_exempt(words, explanation);
  else
    put_stretch(words, explanation);
  put(words, ".");
  if (!has(explanation, MUSTER_REASON_EXEMPT))
    put(words, " Elasticity %.3g, %s; %u of its kind stretch alike.", explanation->elasticity,
        origin_of_elasticity(explanation), explanation->class_members);
  put(words, "\n");
  if (has(explanation, MUSTER_REASON_OVERLOAD)) put_overload(words, explanation);
}

static void put_observer(struct words *words, const muster_agent_explanation *explanation) {
  if (explanation->observed)
    put(words, "observer %u, %.1f m away, gives it %.2f (1 within %g m, nothing from %g m on)",
        muster_observer_index(explanation->observer), explanation->distance_m, explanation->by_observer,
        explanation->near_m, explanation->far_m);
  else if (isfinite(explanation->distance_m))
    put(words, "no observer is near; the nearest, observer %u, is %.1f m away and sees %g m far",
        muster_observer_index(explanation->observer), explanation->distance_m, explanation->far_m);
  else
    put(words, "there is no observer in its partition");
}

static void put_factor(struct words *words, const char *name, float value) {
  if (value < 1.0f) put(words, ", times %.2f for %s", value, name);
}

static void put_importance(struct words *words, const muster_agent_explanation *explanation) {
  put(words, "  Importance: ");
  put_observer(words, explanation);
  if (explanation->observed) {
    put_factor(words, "visibility", explanation->visibility);
    put_factor(words, "bulk", explanation->bulk);
    put_factor(words, "interactivity", explanation->interactivity);
    put_factor(words, "its type", explanation->of_type);
  }
  if (explanation->designer + explanation->role + explanation->company > 0.0f)
    put(words, "; of the factors, designer %.2f, role %.2f and company %.2f", explanation->designer, explanation->role,
        explanation->company);
  if (explanation->modelled)
    put(words, "; its type's own model %s %.2f", has(explanation, MUSTER_REASON_MODELLED) ? "makes that" : "agrees on",
        explanation->by_model);
  if (has(explanation, MUSTER_REASON_FLOOR)) put(words, "; the designer's floor keeps it at %.2f", explanation->floor);
  put(words, ".\n");
}

static void put_level(struct words *words, const muster_agent_explanation *explanation) {
  if (explanation->level_count == 1) return;
  put(words, "  Level %u: ", explanation->level);
  if (explanation->level == 0) put(words, "full capability");
  if (has(explanation, MUSTER_REASON_SHED)) put(words, "lowered by %u for the pressure; ", explanation->shed);
  if (has(explanation, MUSTER_REASON_PENALTY)) put(words, "no better one, for its overruns or its type's; ");
  if (explanation->level > 0) put(words, "better from importance %.2f on", explanation->level_high);
  if (explanation->level + 1 < explanation->level_count)
    put(words, "%scheaper below importance %.2f", explanation->level > 0 ? ", " : "; ", explanation->level_low);
  put(words, ".\n");
}

static void put_wait(struct words *words, const muster_agent_explanation *explanation) {
  if (explanation->waited_ns)
    put(words, "due for %s, %u frames", duration_of(explanation->waited_ns).text, explanation->delays);
  else
    put(words, "due since that frame");
  if (has(explanation, MUSTER_REASON_WOKEN))
    put(words, "; it was woken, so it goes %s", explanation->deadline_ns ? "sooner" : "before all others");
  else if (has(explanation, MUSTER_REASON_GUARANTEED))
    put(words, "; it has waited longer than is guaranteed, so it goes before the ranked");
  if (has(explanation, MUSTER_REASON_HELD)) put(words, "; it leads the next frame");
  put(words, ".\n");
  int64_t left_ns = explanation->deadline_ns - (int64_t)explanation->sim_now_ns;
  if (explanation->deadline_ns && left_ns < 0)
    put(words, "  Rank: it should have run %s ago.\n", duration_of((uint64_t)-left_ns).text);
  else if (explanation->deadline_ns)
    put(words, "  Rank: it shall run within %s; agents with less time go first.\n",
        duration_of((uint64_t)left_ns).text);
  if (!explanation->priority_ns) return;
  put(words,
      "  Rank: as if it had waited %.1f ms: %.1f since its last update, %+.1f for importance, %+.1f for having "
      "begun, %+.1f for having run often.\n",
      (double)explanation->priority_ns * 1e-6, (double)explanation->priority_wait_ns * 1e-6,
      (double)explanation->priority_importance_ns * 1e-6, (double)explanation->priority_progress_ns * 1e-6,
      (double)explanation->priority_runs_ns * 1e-6);
  if (explanation->priority_reduction_ns || explanation->priority_reaction_ns)
    put(words, "  In it, too: %+.1f for its level, %+.1f for the time by which it must react.\n",
        (double)explanation->priority_reduction_ns * 1e-6, (double)explanation->priority_reaction_ns * 1e-6);
}

static void put_turn(struct words *words, const muster_agent_explanation *explanation) {
  put(words, "  Now: ");
  if (has(explanation, MUSTER_REASON_QUARANTINED)) {
    put(words,
        "in quarantine: its atoms, or those of its type, took too long too often; reinstating it brings it back.\n");
    return;
  }
  if (has(explanation, MUSTER_REASON_ASLEEP)) {
    uint64_t due_ns = explanation->due_ns, now_ns = explanation->sim_now_ns;
    if (has(explanation, MUSTER_REASON_WOKEN))
      put(words, "asleep, but it was woken and runs in the next frame.\n");
    else if (due_ns == 0)
      put(words, "asleep until it is woken.\n");
    else
      put(words, "asleep; due in %s%s%s.\n", duration_of(due_ns > now_ns ? due_ns - now_ns : 0).text,
          due_ns == explanation->wake_at_ns ? ", as was asked for" : "",
          has(explanation, MUSTER_REASON_WAKE_DELAYED) ? "; it was woken, and waits for time to pass" : "");
    return;
  }
  if (has(explanation, MUSTER_REASON_WAITS_FOR_ACTION)) {
    put(words, "it has thought; what it wants to do found no time and leads the next commit.\n");
    return;
  }
  if (has(explanation, MUSTER_REASON_PREEMPTED))
    put(words, "its update was stopped after %u of %u atoms and goes on there; ", explanation->atoms_done,
        explanation->atoms);
  else if (has(explanation, MUSTER_REASON_OWED))
    put(words, "its set '%s' is owed time and goes on without waiting for its period; ", explanation->set_owed);
  else
    put(words, "it found no time in the last frame; ");
  put_wait(words, explanation);
}

static void put_reaction(struct words *words, const muster_agent_explanation *explanation) {
  uint64_t now_ns = explanation->sim_now_ns, by_ns = explanation->react_by_ns;
  if (by_ns >= now_ns)
    put(words, "  It must react within %s.\n", duration_of(by_ns - now_ns).text);
  else
    put(words, "  It should have reacted %s ago.\n", duration_of(now_ns - by_ns).text);
}

/* What the agent gets, beside what the rule says. */
static void put_age(struct words *words, const muster_agent_explanation *explanation) {
  struct duration age = duration_of(explanation->age_ns);
  put(words, "  Last update: ");
  if (!explanation->has_run)
    put(words, "none yet, %s after its spawn", age.text);
  else if (explanation->age_ns)
    put(words, "%s ago", age.text);
  else
    put(words, "in the last frame");
  if (has(explanation, MUSTER_REASON_NO_PERIOD)) {
    put(words, ".\n");
    return;
  }
  put(words, "; by the rule it comes every %s", duration_of(explanation->period_ns).text);
  if (explanation->age_ns > explanation->period_ns + explanation->period_ns / 2)
    put(words, ", so it is late by %s", duration_of(explanation->age_ns - explanation->period_ns).text);
  put(words, ".");
  if (explanation->band_interval_ns)
    put(words, " Agents that matter as much got one every %s.", duration_of(explanation->band_interval_ns).text);
  put(words, "\n");
}

static void put_cost(struct words *words, const muster_agent_explanation *explanation) {
  put(words, "  Cost: an update takes %s on average, %s at most in 19 of 20 cases",
      duration_of(explanation->cost_mean_ns).text, duration_of(explanation->cost_high_ns).text);
  if (explanation->cost_samples)
    put(words, " (%lu measured).\n", explanation->cost_samples);
  else
    put(words, " (a guess: none was measured yet).\n");
}

static void put_herd(struct words *words, const muster_agent_explanation *explanation) {
  if (explanation->block_herds)
    put(words, "  It brings a block of %u herds forward, those of them that are folded.\n", explanation->block_herds);
  else if (explanation->herd_members)
    put(words, "  It stands for %u of herd %u.\n", explanation->herd_members, muster_herd_index(explanation->herd));
  else if (!muster_herd_is_null(explanation->herd))
    put(words, "  It is a member of herd %u, with a name.\n", muster_herd_index(explanation->herd));
}

size_t muster_explanation_print(const muster_agent_explanation *explanation, char *text, size_t bytes) {
  struct words words = {.text = text, .bytes = bytes};
  if (!explanation || (bytes && !text)) return error_missing("print", "explanation and room for its words"), 0;
  if (bytes) text[0] = '\0';
  put_headline(&words, explanation);
  put_herd(&words, explanation);
  if (*explanation->problem) put(&words, "  Its code fails: %s.\n", explanation->problem);
  if (!has(explanation, MUSTER_REASON_SPAWN_WAITING)) {
    put_period(&words, explanation);
    put_importance(&words, explanation);
    put_level(&words, explanation);
    put_turn(&words, explanation);
    put_age(&words, explanation);
    put_cost(&words, explanation);
  }
  if (has(explanation, MUSTER_REASON_REACTION)) put_reaction(&words, explanation);
  if (has(explanation, MUSTER_REASON_REMOVAL_WAITING)) put(&words, "  It is about to be removed.\n");
  return words.length;
}
