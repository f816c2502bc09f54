/* Evaluates readings of the clocks, without a clock or threads. */
#include "machine.h"

const uint64_t machine_limits_ns[MACHINE_LIMITS] = {
    [MACHINE_GRACE] = MACHINE_GRACE_NS,
    [MACHINE_50_US] = 50000,
    [MACHINE_GRACE_AND_CLAIM] = MACHINE_GRACE_NS + MACHINE_CLAIM_NS,
    [MACHINE_100_US] = 100000,
};

static const double second_ns = 1e9;

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static void add_step(machine_stalls *stalls, uint64_t step_ns) {
  if (step_ns <= MACHINE_GRACE_NS) return;
  stalls->count++;
  stalls->total_ns += step_ns;
  stalls->longest_ns = larger(stalls->longest_ns, step_ns);
}

bool machine_watch_begin(machine_watch *watch, uint64_t deadline_ns, uint64_t now_ns, uint64_t cpu_ns) {
  watch->deadline_ns = deadline_ns;
  watch->mark_ns = now_ns;
  watch->mark_cpu_ns = watch->former_cpu_ns = cpu_ns;
  watch->late_own_ns = watch->late_wall_ns = watch->longest_own_ns = 0;
  watch->missed = now_ns >= deadline_ns;
  return !watch->missed;
}

/* The two clocks cannot be read at one moment. What comes between the readings is in the CPU time of one step and in
 * the wall time of the next, and with steps this short that is not rare: so the CPU time of both counts. */
bool machine_watch_step(machine_watch *watch, uint64_t now_ns, uint64_t cpu_ns) {
  uint64_t wall_step_ns = now_ns - watch->mark_ns, own_step_ns = cpu_ns - watch->mark_cpu_ns;
  uint64_t own_ns = cpu_ns - watch->former_cpu_ns;
  watch->mark_ns = now_ns;
  watch->former_cpu_ns = watch->mark_cpu_ns;
  watch->mark_cpu_ns = cpu_ns;
  watch->steps++;
  watch->watched_ns += wall_step_ns;
  add_step(&watch->wall, wall_step_ns);
  add_step(&watch->own, own_step_ns);
  if (now_ns < watch->deadline_ns) {
    watch->longest_own_ns = larger(watch->longest_own_ns, own_step_ns);
    return true;
  }
  watch->late_wall_ns = now_ns - watch->deadline_ns;
  watch->late_own_ns = own_ns < watch->late_wall_ns ? own_ns : watch->late_wall_ns;
  return false;
}

static void add_lateness(machine_lateness *lateness, uint64_t late_ns) {
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++) lateness->within[i] += late_ns <= machine_limits_ns[i];
  lateness->latest_ns = larger(lateness->latest_ns, late_ns);
}

void machine_add_frame(machine_report *report, const machine_watch *watches, uint32_t count) {
  uint64_t own_ns = 0, wall_ns = 0, longest_ns = 0;
  for (uint32_t i = 0; i < count; i++) {
    own_ns = larger(own_ns, watches[i].late_own_ns);
    wall_ns = larger(wall_ns, watches[i].late_wall_ns);
    longest_ns = larger(longest_ns, watches[i].longest_own_ns);
    report->missed += watches[i].missed;
  }
  add_lateness(&report->own_late, own_ns);
  add_lateness(&report->wall_late, wall_ns);
  report->as_audited += own_ns <= longest_ns + MACHINE_GRACE_NS;
  report->frames++;
}

static void add_stalls(machine_stalls *sum, const machine_stalls *stalls) {
  sum->count += stalls->count;
  sum->total_ns += stalls->total_ns;
  sum->longest_ns = larger(sum->longest_ns, stalls->longest_ns);
}

void machine_add_watch(machine_report *report, const machine_watch *watch) {
  report->steps += watch->steps;
  report->watched_ns += watch->watched_ns;
  add_stalls(&report->own, &watch->own);
  add_stalls(&report->wall, &watch->wall);
}

static double ratio(double value, uint64_t of) {
  return of ? value / (double)of : 0;
}

double machine_share(const machine_report *report, uint64_t frames) {
  return ratio((double)frames, report->frames);
}

double machine_stalls_per_second(const machine_report *report, const machine_stalls *stalls) {
  return ratio((double)stalls->count * second_ns, report->watched_ns);
}

double machine_stalled_share(const machine_report *report, const machine_stalls *stalls) {
  return ratio((double)stalls->total_ns, report->watched_ns);
}
