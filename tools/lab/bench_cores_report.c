/* What `muster bench cores` found: tables, the document for machines, and the figure. */
#include "bench_cores.h"

#include "plots.h"
#include "text.h"

#include <math.h>

enum { STRETCHES_SHOWN = 12 };

static const uint32_t target = 6; /* 1 << 6 workers */
_Static_assert(CORES_TARGET_WORKERS == 1 << 6, "the target is one of the counts");

static bool is_checked(const cores_work *work, uint32_t count) {
  return count > 0 && 1u << count <= work->processors;
}

/* "before settle_some_lots", "to its end". */
static const char *text_stretch(const cores_stretch *stretch) {
  if (!stretch->name) return stretch->stage < MUSTER_STAGES ? "until its end" : "behind all stages";
  return stretch->before ? text_of("before %s", stretch->name) : stretch->name;
}

static const char *stretch_name(const cores_stretch *stretch) {
  return stretch->stage < MUSTER_STAGES ? text_stage((muster_stage)stretch->stage) : "report";
}

/* ---------------------------------------------------------------------------------------------------------- printed */

static void print_costs(const cores_work *work) {
  const cores_costs *costs = &work->costs;
  printf("A helper that sleeps: called in %s, begins %s later; one that looks for work: %s, %s. A claim is taken every "
         "%s, an empty team closed in %s.%s\n",
         text_duration(costs->call_sleeping_ns), text_duration(costs->wake_ns), text_duration(costs->call_ns),
         text_duration(costs->begin_ns), text_duration(costs->take_ns), text_duration(costs->barrier_ns),
         work->processors < 2 ? " That is assumed: one processor cannot tell." : "");
}

static void print_checks(const cores_work *work) {
  printf("\n%-14s %9s %8s %7s %10s %10s %10s   model and measured, by workers\n", "row", "agents", "updates", "frames",
         "1 worker", "recorded", "moved");
  for (uint32_t i = 0; i < CORES_ROWS; i++) {
    const cores_row *row = &work->rows[i];
    if (!row->measured) continue;
    printf("%-14s %9s %8s %7u %10s %+8.1f %%", cores_plans[i].name, text_count(row->agents),
           text_count((uint64_t)llround(row->updates)), row->frames, text_duration(row->wall[0] * row->updates),
           (row->recorded / row->wall[0] - 1) * 100);
    printf(" %10s", row->moved > 0 ? text_of("%+.1f %%", (row->moved / row->recorded - 1) * 100) : "");
    for (uint32_t count = 1; is_checked(work, count) && count < CORES_COUNTS; count++)
      printf("   %u: %s, %s, %+.1f %%", 1u << count, text_duration(row->model[count] * row->updates),
             text_duration(row->wall[count] * row->updates), row->off[count] * 100);
    putchar('\n');
  }
}

static void print_speedups(const cores_work *work) {
  printf("\ntimes as fast   ");
  for (uint32_t count = 1; count < CORES_COUNTS; count++) printf(" %12u", 1u << count);
  puts(" workers");
  for (uint32_t i = 0; i < CORES_ROWS; i++) {
    const cores_row *row = &work->rows[i];
    if (!row->measured) continue;
    printf("%-16s", cores_plans[i].name);
    for (uint32_t count = 1; count < CORES_COUNTS; count++)
      printf(" %12s", text_of("%.1f (%.1f)", row->speedup[count], row->slow_speedup[count]));
    putchar('\n');
  }
  puts("in parentheses: planning takes three times as long, 300 ns from one processor to another, 60 us to wake one\n"
       "not in the model: memory bandwidth, and that processors run slower when all are busy");
}

static void print_stages(const cores_work *work, const cores_row *row) {
  static const char *const views[CORES_VIEWS] = {"1 worker", "1, recorded", "2, model", "2, measured"};
  fputs("            ", stdout);
  for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++) printf(" %9s", text_stage((muster_stage)stage));
  putchar('\n');
  for (uint32_t view = 0; view < (work->processors > 1 ? CORES_VIEWS : CORES_TWO); view++) {
    printf("%-12s", views[view]);
    for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++) printf(" %9.1f", row->stages[view][stage] / 1e3);
    putchar('\n');
  }
}

static void print_stretch(const cores_stretch *stretch) {
  const char *how = stretch->shared ? text_of("by %.0f, in %.0f pieces", stretch->workers, stretch->pieces)
                                    : text_of("%.1f", stretch->alone / 1e3);
  printf("  %-8s %-32s %10.1f %10.1f   %s\n", stretch_name(stretch), text_stretch(stretch), stretch->recorded / 1e3,
         stretch->wall / 1e3, how);
}

/* The serial stretches come first. */
static void print_stretches(const cores_row *row) {
  uint32_t serial = 0;
  while (serial < row->stretch_count && !row->stretches[serial].shared) serial++;
  printf("  %-8s %-32s %10s %10s   serial\n", "alone", "", "recorded", text_of("%d", CORES_TARGET_WORKERS));
  for (uint32_t i = 0; i < serial && i < STRETCHES_SHOWN; i++) print_stretch(&row->stretches[i]);
  puts("  shared");
  for (uint32_t i = serial; i < row->stretch_count && i < serial + STRETCHES_SHOWN; i++)
    print_stretch(&row->stretches[i]);
}

static void print_row(const cores_work *work, uint32_t number) {
  const cores_row *row = &work->rows[number];
  printf("\n%s: where a frame's time goes, in us\n", cores_plans[number].name);
  print_stages(work, row);
  print_stretches(row);
}

static const char *reached(bool is) {
  return is ? "reached" : "not reached";
}

static void print_verdicts(const cores_work *work) {
  putchar('\n');
  for (uint32_t i = 0; i < CORES_ROWS; i++) {
    const cores_row *row = &work->rows[i];
    for (uint32_t count = 1; row->measured && is_checked(work, count) && count < CORES_COUNTS; count++)
      printf("%-14s %3u workers: the model is %+.1f %% off what was measured: %s %.0f %%\n", cores_plans[i].name,
             1u << count, row->off[count] * 100, fabs(row->off[count]) <= cores_tolerance ? "within" : "NOT within",
             cores_tolerance * 100);
  }
  for (uint32_t i = 0; i < CORES_ROWS; i++) {
    const cores_row *row = &work->rows[i];
    if (!row->measured) continue;
    printf("%-14s %3d workers: %.1f times as fast, target %.0f: %s; serial rest %.0f us, target %.0f: %s\n",
           cores_plans[i].name, CORES_TARGET_WORKERS, row->speedup[target], cores_plans[i].target,
           reached(row->speedup[target] >= cores_plans[i].target), row->alone_ns / 1e3, cores_alone_most_ns / 1e3,
           reached(row->alone_ns <= cores_alone_most_ns));
  }
}

static void print_hashes(const cores_work *work) {
  printf("muster bench cores: the same worlds in virtual time, by 1 worker and by %u on %u processors; no speed is "
         "measured\n\n",
         work->workers, work->processors);
  for (uint32_t i = 0; i < CORES_ROWS; i++)
    if (work->wanted >> i & 1)
      printf("%-14s %016lx %016lx  %s\n", cores_plans[i].name, work->hashes[i][0], work->hashes[i][1],
             work->hashes[i][0] == work->hashes[i][1] ? "the same" : "NOT THE SAME");
}

void cores_print(const void *user) {
  const cores_work *work = user;
  if (work->workers) {
    print_hashes(work);
    return;
  }
  printf("muster bench cores: frames recorded on one worker, list-scheduled for more; %u processor%s, medians of %u "
         "round%s%s\n",
         work->processors, work->processors == 1 ? "" : "s", work->common.rounds, work->common.rounds == 1 ? "" : "s",
         work->common.quick ? "; quick: figures mean little" : "");
  print_costs(work);
  print_checks(work);
  print_speedups(work);
  for (uint32_t i = 0; i < CORES_ROWS; i++)
    if (work->rows[i].measured) print_row(work, i);
  print_verdicts(work);
}

/* --------------------------------------------------------------------------------------------------------- for
 * machines
 */

static void write_counts(const cores_work *work, const cores_row *row, json_writer *writer) {
  json_print(writer, "workers[");
  for (uint32_t count = 0; count < CORES_COUNTS; count++) {
    json_print(writer, "{ workers=%u model_ns_per_update=%g speedup=%g pessimistic_speedup=%g", 1u << count,
               row->model[count], row->speedup[count], row->slow_speedup[count]);
    if (count == 0 || is_checked(work, count)) json_print(writer, "measured_ns_per_update=%g", row->wall[count]);
    if (is_checked(work, count))
      json_print(writer, "model_off_by=%g within=%d", row->off[count], fabs(row->off[count]) <= cores_tolerance);
    json_print(writer, "}");
  }
  json_end_array(writer);
}

static void write_stretches(const cores_row *row, json_writer *writer) {
  json_print(writer, "stretches[");
  for (uint32_t i = 0; i < row->stretch_count; i++) {
    const cores_stretch *stretch = &row->stretches[i];
    json_print(writer, "{ stage=%s what=%s shared=%d recorded_ns=%g wall_ns=%g serial_ns=%g pieces=%g workers=%g }",
               stretch_name(stretch), text_stretch(stretch), stretch->shared, stretch->recorded, stretch->wall,
               stretch->alone, stretch->pieces, stretch->workers);
  }
  json_end_array(writer);
}

static void write_row(const cores_work *work, uint32_t number, json_writer *writer) {
  const cores_row *row = &work->rows[number];
  const cores_plan *plan = &cores_plans[number];
  json_print(writer,
             "{ name=%s agents=%u updates_per_frame=%g frames_per_round=%u recorded_ns_per_update=%g target_workers=%u "
             "target_speedup=%g target_reached=%d serial_ns=%g serial_target_ns=%g serial_reached=%d",
             plan->name, row->agents, row->updates, row->frames, row->recorded, CORES_TARGET_WORKERS, plan->target,
             row->speedup[target] >= plan->target, row->alone_ns, cores_alone_most_ns,
             row->alone_ns <= cores_alone_most_ns);
  if (row->moved > 0) json_print(writer, "moved_ns_per_update=%g", row->moved);
  write_counts(work, row, writer);
  json_print(writer, "stages[");
  for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++) {
    json_print(writer, "{ stage=%s one_worker_ns=%g recorded_ns=%g two_predicted_ns=%g",
               text_stage((muster_stage)stage), row->stages[CORES_ONE][stage], row->stages[CORES_RECORDED][stage],
               row->stages[CORES_MODEL][stage]);
    if (work->processors > 1) json_print(writer, "two_measured_ns=%g", row->stages[CORES_TWO][stage]);
    json_print(writer, "}");
  }
  json_end_array(writer);
  write_stretches(row, writer);
  json_print(writer, "}");
}

void cores_write(const void *user, json_writer *writer) {
  const cores_work *work = user;
  const cores_costs *costs = &work->costs;
  json_print(writer, "processors=%u rounds=%u seed=%lu quick=%d", work->processors, work->common.rounds,
             work->common.seed, work->common.quick);
  if (work->workers)
    json_print(writer, "workers=%u", work->workers);
  else
    json_print(writer,
               "tolerance=%g costs{ call_ns=%g begin_ns=%g call_sleeping_ns=%g wake_ns=%g take_ns=%g barrier_ns=%g }",
               cores_tolerance, costs->call_ns, costs->begin_ns, costs->call_sleeping_ns, costs->wake_ns,
               costs->take_ns, costs->barrier_ns);
  json_print(writer, "rows[");
  for (uint32_t i = 0; i < CORES_ROWS; i++) {
    if (work->rows[i].measured) write_row(work, i, writer);
    if (work->workers && work->wanted >> i & 1)
      json_print(writer, "{ name=%s same=%d }", cores_plans[i].name, work->hashes[i][0] == work->hashes[i][1]);
  }
  json_end_array(writer);
}

/* ------------------------------------------------------------------------------------------------------------ drawn */

bool cores_plot(const void *user, const char *folder) {
  const cores_work *work = user;
  FILE *script = plot_begin(folder, "cores", 1000, 700);
  if (!script) return false;
  for (uint32_t i = 0; i < CORES_ROWS; i++) {
    const cores_row *row = &work->rows[i];
    if (!row->measured) continue;
    fprintf(script, "$row%u << END\n", i);
    for (uint32_t count = 0; count < CORES_COUNTS; count++)
      fprintf(script, "%u %g %g %g\n", 1u << count, row->speedup[count], row->slow_speedup[count],
              count == 0 || is_checked(work, count) ? row->wall[0] / row->wall[count] : (double)NAN);
    fprintf(script, "END\n");
  }
  fprintf(script,
          "set title 'How much faster frames are with more workers: lines predicted, thin ones pessimistic, points "
          "measured'\nset logscale xy 2\nset xrange [1:256]\nset yrange [1:256]\nset grid\nset key top left\n"
          "set xlabel 'workers'\nset ylabel 'times as fast as one'\n"
          "plot x with lines dt 3 lc rgb '#999999' title 'as many times'");
  for (uint32_t i = 0; i < CORES_ROWS; i++)
    if (work->rows[i].measured)
      fprintf(script,
              ", $row%u using 1:2 with lines lw 2 lc %u title '%s', $row%u using 1:3 with lines lw 1 lc %u notitle, "
              "$row%u using 1:4 with points pt 7 lc %u notitle",
              i, i + 1, cores_plans[i].name, i, i + 1, i, i + 1);
  fputc('\n', script);
  return plot_end(script);
}
