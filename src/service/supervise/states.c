#include "service/supervise/states.h"

#include "base/clock.h"

#include <jansson.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ words */

static uint32_t count_ends(const world_process *process) {
  return restarts_count(&process->restarts, process->all->settings->crash_window_ns, clock_system());
}

/* "10 min" or "90 s". */
static const char *words_of_time(uint64_t ns, char text[32]) {
  bool minutes = ns >= 120000000000u && ns % 60000000000u == 0;
  snprintf(text, 32, "%.4g %s", (double)ns / (minutes ? 60e9 : 1e9), minutes ? "min" : "s");
  return text;
}

const char *states_explain(const world_process *process, char text[STATES_WORDS_BYTES]) {
  const char *name = process->name;
  char window[32];
  *text = '\0';
  if (process->state == PROCESS_FAILED)
    snprintf(text, STATES_WORDS_BYTES,
             "world %s has failed: it ended %u times within %s, the last time because %.300s; `muster ctl restart %s` "
             "starts it again",
             name, count_ends(process), words_of_time(process->all->settings->crash_window_ns, window), process->reason,
             name);
  else if (process->state <= PROCESS_STARTING && *process->standby)
    snprintf(text, STATES_WORDS_BYTES, "world %s does not run here: %s", name, process->standby);
  else if (process->state == PROCESS_STARTING && *process->problem)
    snprintf(text, STATES_WORDS_BYTES, "world %s starts: %.300s", name, process->problem);
  else if (process->state == PROCESS_WAITING)
    snprintf(text, STATES_WORDS_BYTES, "world %s starts in %.3g s%s%.300s; `muster ctl restart %s` starts it at once",
             name, (double)uv_timer_get_due_in(&process->timer) / 1e3, *process->reason ? ", since " : "",
             process->reason, name);
  else if (process->state == PROCESS_STARTING && processes_is_down(process))
    snprintf(text, STATES_WORDS_BYTES, "world %s is tried once more, since %.300s", name, process->reason);
  else if (process->state == PROCESS_STOPPING)
    snprintf(text, STATES_WORDS_BYTES, "world %s is being stopped%s", name,
             process->again ? " and starts again then, as asked" : "");
  else if (process->state == PROCESS_ENDED)
    snprintf(text, STATES_WORDS_BYTES, "world %s has ended with the daemon", name);
  return text;
}

uint32_t states_next_start_s(const world_process *process) {
  if (process->state == PROCESS_WAITING) return (uint32_t)(uv_timer_get_due_in(&process->timer) / 1000) + 1;
  return process->state == PROCESS_STOPPING && process->again;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static const char *allowed_to(const world_process *process) {
  const world_settings *world = settings_find_world(process->all->settings, process->name);
  return world && world->allow == ALLOW_NETWORK ? "network" : "nothing";
}

/* Null stands for what there is not. (base/json.h has names of jansson's, too: values are made by json_pack alone.) */
static json_t *describe(const world_process *process) {
  char words[STATES_WORDS_BYTES];
  states_explain(process, words);
  json_t *entry =
      json_pack("{s:s, s:s, s:n, s:I, s:I, s:I, s:s?, s:s?, s:n, s:I, s:s}", "world", process->name, "state",
                process_state_name(process->state), "process", "starts", (json_int_t)process->starts, "ends",
                (json_int_t)count_ends(process), "window_ns", (json_int_t)process->all->settings->crash_window_ns,
                "reason", *process->reason ? process->reason : NULL, "words", *words ? words : NULL, "next_start_ns",
                "refused_calls", (json_int_t)process->refused, "allow", allowed_to(process));
  if (process->has_process) json_object_set_new(entry, "process", json_pack("I", (json_int_t)process->process.pid));
  if (process->state == PROCESS_WAITING)
    json_object_set_new(entry, "next_start_ns",
                        json_pack("I", (json_int_t)uv_timer_get_due_in(&process->timer) * 1000000));
  return entry;
}

json_t *states_list(const struct processes *processes) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < processes->count; i++) json_array_append_new(list, describe(&processes->worlds[i]));
  return list;
}

void states_answer(http_request *request, unsigned status, const world_process *process) {
  json_t *entry = describe(process);
  char *text = json_dumps(entry, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
  json_decref(entry);
  if (text)
    http_answer_owned(request, status, HTTP_JSON, text, strlen(text));
  else
    http_refuse(request, 429, "busy", NULL, "no memory for the answer: try again in a second");
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

static void write_head(FILE *out, const char *family, const char *type, const char *help) {
  fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", family, help, family, type);
}

static void write_sets(const struct processes *processes, FILE *out) {
  write_head(out, "muster_world_process_state", "gauge", "1 for the state that the world's process is in, else 0");
  for (uint32_t i = 0; i < processes->count; i++)
    for (uint32_t state = 0; state <= PROCESS_FAILED; state++)
      fprintf(out, "muster_world_process_state{world=\"%s\",state=\"%s\"} %d\n", processes->worlds[i].name,
              process_state_name((process_state)state), processes->worlds[i].state == (process_state)state);
  write_head(out, "muster_world_process_last_end", "gauge", "1 for how the world's process ended last, else 0");
  for (uint32_t i = 0; i < processes->count; i++)
    for (uint32_t end = 0; end < PROCESS_ENDS; end++)
      fprintf(out, "muster_world_process_last_end{world=\"%s\",kind=\"%s\"} %d\n", processes->worlds[i].name,
              process_end_name((process_end)end), processes->worlds[i].last_end == (process_end)end);
}

void states_write_metrics(const struct processes *processes, FILE *out) {
  write_sets(processes, out);
  write_head(out, "muster_world_process_starts_total", "counter", "starts of the world's process");
  for (uint32_t i = 0; i < processes->count; i++)
    fprintf(out, "muster_world_process_starts_total{world=\"%s\"} %lu\n", processes->worlds[i].name,
            processes->worlds[i].starts);
  write_head(out, "muster_world_process_ends", "gauge", "ends of the world's process within crash_window");
  for (uint32_t i = 0; i < processes->count; i++)
    fprintf(out, "muster_world_process_ends{world=\"%s\"} %u\n", processes->worlds[i].name,
            count_ends(&processes->worlds[i]));
  write_head(out, "muster_world_process_refused_calls_total", "counter",
             "system calls that the world's process was refused, in all of its lives");
  for (uint32_t i = 0; i < processes->count; i++)
    fprintf(out, "muster_world_process_refused_calls_total{world=\"%s\"} %lu\n", processes->worlds[i].name,
            processes->worlds[i].refused_total);
}
