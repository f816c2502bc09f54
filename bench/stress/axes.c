/* The loads of each step of each axis. */
#include "stress.h"

#include <stddef.h>

static const char *const axis_names[STRESS_AXES] = {"agents", "observers", "messages", "spawns",
                                                    "wakes",  "workers",   "crowd",    "all"};

const uint32_t stress_order[STRESS_AXES] = {STRESS_AGENTS, STRESS_CROWD, STRESS_OBSERVERS, STRESS_MESSAGES,
                                            STRESS_SPAWNS, STRESS_WAKES, STRESS_WORKERS,   STRESS_ALL};

const char *stress_axis_name(uint32_t axis) {
  return axis < STRESS_AXES ? axis_names[axis] : NULL;
}

/* The knob by which an axis is told. */
static stress_knob leading_knob(uint32_t axis) {
  return axis < STRESS_KNOBS ? (stress_knob)axis : STRESS_AGENTS;
}

uint32_t stress_value(uint32_t axis, const stress_load *load) {
  return load->knobs[leading_knob(axis)];
}

static bool raises(uint32_t axis, uint32_t knob) {
  return axis == STRESS_ALL || knob == (uint32_t)leading_knob(axis);
}

static uint32_t doubled(uint32_t first, uint32_t step, uint32_t most) {
  uint64_t value = step < 32 ? (uint64_t)first << step : UINT64_MAX;
  return value < most ? (uint32_t)value : most;
}

static uint32_t first_of(uint32_t axis, const stress_load *baseline, uint32_t knob) {
  return axis == STRESS_WORKERS ? 1 : baseline->knobs[knob];
}

bool stress_load_of(uint32_t axis, const stress_load *baseline, const stress_load *most, uint32_t step,
                    stress_load *load) {
  bool raised = step == 0;
  *load = *baseline;
  load->crowd |= axis == STRESS_CROWD;
  for (uint32_t knob = 0; knob < STRESS_KNOBS; knob++) {
    if (!raises(axis, knob)) continue;
    uint32_t first = first_of(axis, baseline, knob);
    load->knobs[knob] = doubled(first, step, most->knobs[knob]);
    raised |= load->knobs[knob] != doubled(first, step - (step > 0), most->knobs[knob]);
  }
  return raised;
}

double stress_times(uint32_t axis, const stress_load *baseline, const stress_load *load) {
  double times = 0;
  for (uint32_t knob = 0; knob < STRESS_KNOBS; knob++) {
    uint32_t first = first_of(axis, baseline, knob);
    double of_knob = first ? (double)load->knobs[knob] / first : 0;
    if (raises(axis, knob) && of_knob > times) times = of_knob;
  }
  return times;
}
