/* The results of `muster stress` as a document, which --compare reads. */
#include "stress_report.h"

#include "processor.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>

double stress_loudest(const stress_work *work, bool stolen) {
  double most = 0;
  for (uint32_t axis = 0; axis < STRESS_AXES; axis++)
    for (uint32_t i = 0; i < work->climbs[axis].count; i++) {
      const stress_figures *figures = &work->climbs[axis].steps[i].figures;
      most = fmax(most, stolen ? figures->stolen_share : figures->others_share);
    }
  return most;
}

static void fill_cell(uint32_t axis, const stress_climb *climb, stress_cell *cell) {
  cell->measured = climb->count > 0;
  if (!cell->measured) return;
  cell->most = climb->fell < 0;
  snprintf(cell->cause, sizeof cell->cause, "%s",
           stress_cause_name(cell->most ? STRESS_BY_NOTHING : climb->steps[climb->fell].verdict.cause));
  if (climb->limit < 0) return;
  const stress_figures *figures = &climb->steps[climb->limit].figures;
  cell->limit = stress_value(axis, &figures->load);
  cell->updates_per_frame = figures->updates_per_frame;
  cell->overhead_per_update_ns = figures->overhead_per_update_ns;
  cell->serial_share = figures->serial_share;
  cell->budget_used_share = figures->budget_used_share;
  cell->bytes = (double)figures->bytes;
}

void stress_fill_column(const stress_work *work, stress_column *column) {
  *column = (stress_column){.processors = muster_available_processors(),
                            .budget_ns = (double)work->budget_ns,
                            .frame_ns = (double)work->frame_ns,
                            .cost_ns = (double)work->cost_ns,
                            .planner_cost_ns = (double)work->planner_cost_ns,
                            .frames = (double)work->frames,
                            .crowd = work->baseline.crowd,
                            .others_share = stress_loudest(work, false)};
  snprintf(column->name, sizeof column->name, "this run");
  snprintf(column->version, sizeof column->version, "%s", muster_version());
  processor_model(column->processor);
  memcpy(column->baseline, work->baseline.knobs, sizeof column->baseline);
  for (uint32_t axis = 0; axis < STRESS_AXES; axis++) fill_cell(axis, &work->climbs[axis], &column->axes[axis]);
}

/* --------------------------------------------------------------------------------------------------------- document */

static double known(bool measured, double value) {
  return measured ? value : (double)NAN;
}

static void write_knobs(json_writer *writer, const char *name, const stress_load *load) {
  const uint32_t *knobs = load->knobs;
  json_print(writer, "%s{ agents=%u observers=%u messages=%u spawns=%u wakes=%u workers=%u crowd=%d }", name,
             knobs[STRESS_AGENTS], knobs[STRESS_OBSERVERS], knobs[STRESS_MESSAGES], knobs[STRESS_SPAWNS],
             knobs[STRESS_WAKES], knobs[STRESS_WORKERS], load->crowd);
}

static void write_bits(json_writer *writer, const char *name, uint32_t bits, const char *(*name_of)(uint32_t number)) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < 32; i++)
    if (bits & 1u << i) json_string(writer, NULL, name_of(i));
  json_end_array(writer);
}

static void write_types(json_writer *writer, const stress_figures *figures) {
  json_begin_array(writer, "types");
  for (const stress_type_figures *type = figures->types; type < figures->types + STRESS_TYPES; type++)
    if (type->name)
      json_print(writer, "{ name=%s agents=%u mean_ns=%g updates_share=%g time_share=%g }", type->name, type->agents,
                 type->mean_ns, type->updates_share, type->time_share);
  json_end_array(writer);
}

static void write_frames(json_writer *writer, const stress_figures *figures) {
  bool waiting = figures->waiting_share > 0;
  json_print(writer,
             "frames=%lu kept=%lu excused=%lu kept_share=%g wall_ns{ p50=%lu p99=%lu max=%lu } overrun_own_p99_ns=%lu "
             "longest_atom_ns=%lu budget_used_share=%g waiting{ used_share=%g frames_share=%g }",
             figures->frames, figures->kept, figures->excused, known(figures->frames > 0, stress_kept_share(figures)),
             figures->wall_p50_ns, figures->wall_p99_ns, figures->wall_max_ns, figures->overrun_own_p99_ns,
             figures->longest_atom_ns, figures->budget_used_share, known(waiting, figures->waiting_used_share),
             figures->waiting_share);
}

static void write_work(json_writer *writer, const stress_figures *figures) {
  bool important = figures->important_wanted_ns > 0;
  json_print(writer,
             "updates_per_frame=%g carried_per_frame=%g longest_wait_ns=%lu pressure{ mean=%g max=%g } important{ "
             "agents=%u load=%g wanted_ns=%g interval_ns=%g stretch=%g } overhead_ns_per_update=%g serial_share=%g "
             "serial_ns_per_frame=%g serial_idle_share=%g bytes=%lu memory_refused=%d",
             figures->updates_per_frame, figures->carried_per_frame, figures->longest_wait_ns, figures->pressure,
             figures->pressure_max, figures->important_agents, figures->important_load,
             known(important, figures->important_wanted_ns), known(important, figures->important_interval_ns),
             known(important, stress_stretch(figures)), figures->overhead_per_update_ns, figures->serial_share,
             figures->serial_per_frame_ns, stress_serial_idle(figures), figures->bytes, figures->memory_refused);
}

static void write_events(json_writer *writer, const stress_figures *figures) {
  bool noise = figures->noise_known;
  json_print(writer,
             "events_share=%g wakes_answered=%lu messages{ sent=%lu refused=%lu dropped=%lu } spawns_refused=%lu "
             "commands_refused=%lu intake{ waiting=%g waiting_frames=%g } queries_cut=%lu queries_cut_share=%g "
             "crowd_rounds=%lu fullest_cell_share=%g others_cpu_share=%g stolen_cpu_share=%g",
             known(figures->frames > 0, stress_events_share(figures)), figures->wakes_answered, figures->messages_sent,
             figures->messages_refused, figures->messages_dropped, figures->spawns_refused, figures->commands_refused,
             figures->waiting, stress_waiting_frames(figures), figures->queries_cut, stress_cut_share(figures),
             figures->crowd_rounds, figures->cell_share, known(noise, figures->others_share),
             known(noise, figures->stolen_share));
}

static void write_step(json_writer *writer, const stress_work *work, uint32_t axis, const stress_step *step) {
  const stress_figures *figures = &step->figures;
  json_print(writer, "{ value=%u times=%g holds=%d attempts=%u gave_way=%s", stress_value(axis, &figures->load),
             stress_times(axis, &work->baseline, &figures->load), step->verdict.holds, figures->attempts,
             stress_cause_name(step->verdict.cause));
  write_bits(writer, "not_met", step->verdict.broken, stress_criterion_name);
  write_bits(writer, "shown", step->verdict.shown, stress_cause_name);
  write_knobs(writer, "load", &figures->load);
  write_frames(writer, figures);
  write_work(writer, figures);
  write_events(writer, figures);
  write_types(writer, figures);
  json_end_object(writer);
}

static void write_axis(json_writer *writer, const stress_work *work, uint32_t axis) {
  const stress_climb *climb = &work->climbs[axis];
  if (climb->count == 0) return;
  const stress_step *fell = climb->fell >= 0 ? &climb->steps[climb->fell] : NULL;
  json_print(writer, "{ axis=%s", stress_axis_name(axis));
  if (climb->limit >= 0)
    json_print(writer, "limit=%u limit_step=%u", stress_value(axis, &climb->steps[climb->limit].figures.load),
               (uint32_t)climb->limit);
  else
    json_null(writer, "limit"), json_null(writer, "limit_step");
  json_string(writer, "gave_way", stress_cause_name(fell ? fell->verdict.cause : STRESS_BY_NOTHING));
  json_print(writer, "because=%s", fell ? stress_cause_text(fell->verdict.cause, fell, &work->limits) : NULL);
  json_begin_array(writer, "steps");
  for (uint32_t i = 0; i < climb->count; i++) write_step(writer, work, axis, &climb->steps[i]);
  json_print(writer, "] }");
}

static void write_limits(json_writer *writer, const stress_work *work) {
  const stress_limits *limits = &work->limits;
  json_print(writer,
             "criteria{ kept_share_least=%g important_stretch_most=%g events_share_least=%g waiting_frames_most=%g "
             "queries_cut_share_most=%g memory_bytes_most=%lu }",
             limits->kept_least, limits->stretch_most, limits->events_least, limits->waiting_most, limits->cut_most,
             limits->memory_bytes);
  json_print(writer,
             "shown_from{ pressure=%g important_load=%g waiting_used_share=%g waiting_frames_share=%g "
             "fullest_cell_share=%g serial_idle_share=%g type_time_share=%g type_updates_share_most=%g "
             "others_cpu_share=%g stolen_cpu_share=%g }",
             1.0, 1.0, STRESS_USED_PERCENT / 100.0, STRESS_WAITING_PERCENT / 100.0, STRESS_CELL_PERCENT / 100.0,
             STRESS_SERIAL_IDLE_PERCENT / 100.0, STRESS_TYPE_TIME_PERCENT / 100.0, STRESS_TYPE_UPDATES_PERCENT / 100.0,
             STRESS_OTHERS_PERCENT / 100.0, STRESS_STOLEN_PERCENT / 100.0);
}

void stress_write(const void *user, json_writer *writer) {
  const stress_work *work = user;
  const stress_column *own = &work->columns[0];
  struct utsname system = {0};
  uname(&system);
  json_print(writer,
             "bench=%s format=%u machine{ processor=%s processors=%u kernel=%s version=%s } quick=%d "
             "interrupted=%d seed=%lu budget_ns=%lu frame_period_ns=%lu frames=%lu warm_up=%lu cost_ns=%lu "
             "planner_cost_ns=%lu others_cpu_share_most=%g",
             "stress", STRESS_VERSION, own->processor, own->processors, system.release, own->version,
             work->common.quick, work->signal != 0, work->common.seed, work->budget_ns, work->frame_ns, work->frames,
             work->warm_up, work->cost_ns, work->planner_cost_ns, own->others_share);
  write_knobs(writer, "baseline", &work->baseline);
  write_knobs(writer, "most", &work->most);
  write_limits(writer, work);
  json_begin_array(writer, "axes");
  for (uint32_t i = 0; i < STRESS_AXES; i++) write_axis(writer, work, stress_order[i]);
  json_end_array(writer);
}
