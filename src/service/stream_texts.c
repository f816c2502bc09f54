#include "service/stream_texts.h"

#include "base/bands_json.h"
#include "base/clock.h"
#include "base/json.h"
#include "service/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_MS = 5, TYPES_MS = 900, FRAME_ROOM = 8192, TYPES_ROOM = 8192, TYPE_ROOM = 1024 };

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

/* ----------------------------------------------------------------------------------------------------------- frames */

static void make_frame(stream_text *text, const hosted_world *world, const world_published *published,
                       uint64_t now_ms) {
  json_writer writer = stream_texts_begin(text, "event: frame\ndata: ");
  const muster_frame_report *report = &published->report;
  uint64_t now_ns = clock_system(), end_ns = published->frame_end_ns;
  json_print(&writer,
             "world=%s frame=%lu frames=%lu frames_late=%lu sim_now_ns=%lu paused=%d failed=%d budget_ns=%lu "
             "period_ns=%lu hz=%g frame_age_ns=%lu wall_ns=%lu overrun_wall_ns=%lu debt_ns=%lu pressure=%g "
             "important_load=%g share=%g utilisation_desired=%g utilisation_fitted=%g released=%u completed=%u "
             "carried=%u preempted=%u woken=%u stage_ns[",
             world->name, report->frame, published->frames, published->frames_late, published->sim_now_ns,
             published->paused, published->failed, published->budget_ns, published->period_ns,
             published->period_ns ? 1e9 / (double)published->period_ns : 0.0,
             end_ns && now_ns > end_ns ? now_ns - end_ns : 0, report->wall_ns, report->overrun_wall_ns, report->debt_ns,
             report->pressure, report->important_load, report->share, report->utilisation_desired,
             report->utilisation_fitted, report->released, report->completed, report->carried, report->preempted,
             report->woken);
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) json_uint(&writer, NULL, report->stage_ns[i]);
  json_print(&writer, "] agents=%u spawns_waiting=%u levels[", report->agents, report->spawns_waiting);
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(&writer, NULL, report->levels[i]);
  json_print(&writer,
             "] agents_shed=%u agents_quarantined=%u types_quarantined=%u represented=%lu leaves=%u herds_folded=%u "
             "herds_unfolded=%u",
             report->agents_shed, report->agents_quarantined, report->types_quarantined, report->represented,
             report->leaves, report->herds_folded, report->herds_unfolded);
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

/* ------------------------------------------------------------------------------------------------------------ types */

static void write_type(json_writer *writer, uint32_t index, const published_type *type) {
  uint64_t agents = 0;
  double mean = 0, high = 0;
  for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
    const muster_type_cost *cost = &type->costs[level];
    agents += cost->agents;
    mean += (double)cost->mean_ns * cost->agents;
    high += (double)cost->high_ns * cost->agents;
  }
  json_print(writer, "{ type=%u name=%s agents=%lu mean_ns=%lu high_ns=%lu levels[", index, type->name, agents,
             agents ? (uint64_t)(mean / (double)agents) : type->costs[0].mean_ns,
             agents ? (uint64_t)(high / (double)agents) : type->costs[0].high_ns);
  for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
    const muster_type_cost *cost = &type->costs[level];
    json_print(writer, "{ agents=%u mean_ns=%lu high_ns=%lu samples=%lu }", cost->agents, cost->mean_ns, cost->high_ns,
               cost->samples);
  }
  json_print(writer, "] }");
}

const stream_text *stream_texts_types(stream_texts *texts, hosted_world *world, uint64_t now_ms) {
  stream_text *text = &texts->types;
  if (text->made_ms && now_ms < text->made_ms + TYPES_MS) return text;
  const world_published *published = read_published(world);
  if (!stream_texts_make_room(text, TYPES_ROOM + (size_t)published->type_count * TYPE_ROOM)) return NULL;
  json_writer writer = stream_texts_begin(text, "event: types\ndata: ");
  json_print(&writer, "world=%s frame=%lu", world->name, published->report.frame);
  json_begin_array(&writer, "types");
  for (uint32_t i = 0; i < published->type_count; i++) write_type(&writer, i + 1, &published->types[i]);
  json_end_array(&writer);
  bands_json(&writer, &published->statistics);
  verdict_json(&writer, world, published);
  stream_texts_finish(text, &writer, now_ms);
  return text;
}

void stream_texts_free(stream_texts *texts) {
  free(texts->frame.text);
  free(texts->types.text);
  *texts = (stream_texts){0};
}
