#include "service/stream_texts.h"

#include "base/bands_json.h"
#include "base/clock.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_MS = 5, TYPES_MS = 900, FRAME_ROOM = 8192, TYPES_ROOM = 6144, TYPE_ROOM = 1024 };

bool stream_states_equal(const stream_state *a, const stream_state *b) {
  return a->frames == b->frames && a->budget_ns == b->budget_ns && a->period_ns == b->period_ns &&
         a->paused == b->paused && a->failed == b->failed;
}

/* Copies the published data into a static buffer, as it is large; valid until the next call. Loop's thread only. */
static world_published *read_published(hosted_world *world) {
  static world_published published;
  world_read_published(world, &published);
  return &published;
}

/* ----------------------------------------------------------------------------------------------------------- events */

static bool stream_texts_make_room(stream_text *text, size_t room) {
  if (room <= text->room) return true;
  char *more = realloc(text->text, room);
  if (!more) return false;
  text->text = more;
  text->room = room;
  return true;
}

/* Joins the lines of a document into one, for a `data:` line, and returns its length. Texts inside have no line ends:
 * these are escaped. */
static size_t flatten(char *text) {
  char *to = text;
  for (const char *from = text; *from;) {
    if (*from != '\n')
      *to++ = *from++;
    else
      from += strspn(from, "\n ");
  }
  return (size_t)(to - text);
}

static json_writer stream_texts_begin(stream_text *text, const char *head) {
  json_writer writer;
  size_t length = strlen(head);
  memcpy(text->text, head, length);
  text->length = length;
  json_start(&writer, text->text + length, text->room - length - 2); /* leaves room for the empty line at the end */
  json_begin_object(&writer, NULL);
  return writer;
}

static void stream_texts_finish(stream_text *text, json_writer *writer, uint64_t now_ms) {
  json_end_object(writer);
  if (!json_finish(writer)) {
    text->length = 0; /* this event is left out */
    return;
  }
  text->length += flatten(text->text + text->length);
  memcpy(text->text + text->length, "\n\n", 2);
  text->length += 2;
  text->made_ms = now_ms;
}

/* ------------------------------------------------------------------------------------------------------------ frames
 */

static void stream_texts_write_pace(json_writer *writer, const hosted_world *world, const world_published *published) {
  uint64_t now_ns = clock_system(), end_ns = published->frame_end_ns;
  json_string(writer, "world", world->name);
  json_uint(writer, "frame", published->report.frame);
  json_uint(writer, "frames", published->frames);
  json_uint(writer, "frames_late", published->frames_late);
  json_uint(writer, "sim_now_ns", published->sim_now_ns);
  json_bool(writer, "paused", published->paused);
  json_bool(writer, "failed", published->failed);
  json_uint(writer, "budget_ns", published->budget_ns);
  json_uint(writer, "period_ns", published->period_ns);
  json_number(writer, "hz", published->period_ns ? 1e9 / (double)published->period_ns : 0.0);
  json_uint(writer, "frame_age_ns", end_ns && now_ns > end_ns ? now_ns - end_ns : 0);
}

static void write_work(json_writer *writer, const muster_frame_report *report) {
  json_uint(writer, "wall_ns", report->wall_ns);
  json_uint(writer, "overrun_wall_ns", report->overrun_wall_ns);
  json_uint(writer, "debt_ns", report->debt_ns);
  json_number(writer, "pressure", (double)report->pressure);
  json_number(writer, "important_load", (double)report->important_load);
  json_number(writer, "share", (double)report->share);
  json_number(writer, "utilisation_desired", (double)report->utilisation_desired);
  json_number(writer, "utilisation_fitted", (double)report->utilisation_fitted);
  json_uint(writer, "released", report->released);
  json_uint(writer, "completed", report->completed);
  json_uint(writer, "carried", report->carried);
  json_uint(writer, "preempted", report->preempted);
  json_uint(writer, "woken", report->woken);
  json_begin_array(writer, "stage_ns");
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) json_uint(writer, NULL, report->stage_ns[i]);
  json_end_array(writer);
}

static void write_population(json_writer *writer, const muster_frame_report *report) {
  json_uint(writer, "agents", report->agents);
  json_uint(writer, "spawns_waiting", report->spawns_waiting);
  json_begin_array(writer, "levels");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(writer, NULL, report->levels[i]);
  json_end_array(writer);
  json_uint(writer, "agents_eased", report->agents_eased);
  json_uint(writer, "agents_quarantined", report->agents_quarantined);
  json_uint(writer, "types_quarantined", report->types_quarantined);
  json_uint(writer, "represented", report->represented);
  json_uint(writer, "leaves", report->leaves);
  json_uint(writer, "herds_folded", report->herds_folded);
  json_uint(writer, "herds_unfolded", report->herds_unfolded);
}

static void make_frame(stream_text *text, const hosted_world *world, const world_published *published,
                       uint64_t now_ms) {
  json_writer writer = stream_texts_begin(text, "event: frame\ndata: ");
  stream_texts_write_pace(&writer, world, published);
  write_work(&writer, &published->report);
  write_population(&writer, &published->report);
  stream_texts_finish(text, &writer, now_ms);
}

const stream_state *stream_texts_look(stream_texts *texts, hosted_world *world, uint64_t now_ms) {
  if (texts->read_ms && now_ms < texts->read_ms + FRAME_MS) return &texts->state;
  const world_published *published = read_published(world);
  stream_state state = {published->frames, published->budget_ns, published->period_ns, published->paused,
                        published->failed};
  if (!stream_states_equal(&state, &texts->state)) texts->frame.made_ms = 0;
  texts->state = state;
  texts->read_ms = now_ms;
  return &texts->state;
}

const stream_text *stream_texts_frame(stream_texts *texts, hosted_world *world, uint64_t now_ms) {
  if (texts->frame.made_ms && now_ms < texts->frame.made_ms + FRAME_MS) return &texts->frame;
  if (!stream_texts_make_room(&texts->frame, FRAME_ROOM)) return NULL;
  make_frame(&texts->frame, world, read_published(world), now_ms);
  return &texts->frame;
}

/* ------------------------------------------------------------------------------------------------------------- types
 */

static void stream_texts_write_cost(json_writer *writer, const muster_type_cost *cost) {
  json_begin_object(writer, NULL);
  json_uint(writer, "agents", cost->agents);
  json_uint(writer, "mean_ns", cost->mean_ns);
  json_uint(writer, "high_ns", cost->high_ns);
  json_uint(writer, "samples", cost->samples);
  json_end_object(writer);
}

static void write_type(json_writer *writer, uint32_t index, const published_type *type) {
  uint64_t agents = 0;
  double mean = 0, high = 0;
  for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
    const muster_type_cost *cost = &type->costs[level];
    agents += cost->agents;
    mean += (double)cost->mean_ns * cost->agents;
    high += (double)cost->high_ns * cost->agents;
  }
  json_begin_object(writer, NULL);
  json_uint(writer, "type", index);
  json_string(writer, "name", type->name);
  json_uint(writer, "agents", agents);
  json_uint(writer, "mean_ns", agents ? (uint64_t)(mean / (double)agents) : type->costs[0].mean_ns);
  json_uint(writer, "high_ns", agents ? (uint64_t)(high / (double)agents) : type->costs[0].high_ns);
  json_begin_array(writer, "levels");
  for (uint32_t level = 0; level < WORLD_LEVELS; level++) stream_texts_write_cost(writer, &type->costs[level]);
  json_end_array(writer);
  json_end_object(writer);
}

const stream_text *stream_texts_types(stream_texts *texts, hosted_world *world, uint64_t now_ms) {
  stream_text *text = &texts->types;
  if (text->made_ms && now_ms < text->made_ms + TYPES_MS) return text;
  const world_published *published = read_published(world);
  if (!stream_texts_make_room(text, TYPES_ROOM + (size_t)published->type_count * TYPE_ROOM)) return NULL;
  json_writer writer = stream_texts_begin(text, "event: types\ndata: ");
  json_string(&writer, "world", world->name);
  json_begin_array(&writer, "types");
  for (uint32_t i = 0; i < published->type_count; i++) write_type(&writer, i + 1, &published->types[i]);
  json_end_array(&writer);
  bands_json(&writer, &published->statistics);
  stream_texts_finish(text, &writer, now_ms);
  return text;
}

void stream_texts_free(stream_texts *texts) {
  free(texts->frame.text);
  free(texts->types.text);
  *texts = (stream_texts){0};
}
