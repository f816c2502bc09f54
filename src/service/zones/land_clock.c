#include "service/zones/land_clock.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* SLEW_OVER: in so long a difference would be made up for, were the slew not bounded; questions come twice as often.
 * QUIET: without an answer for so long nobody leads, and the clock goes as its machine's does. WANDER: so many
 * millionths two machines' clocks may differ: an answer is worth less the older it is. */
static const int64_t slew_over_ns = 1000000000, million = 1000000;
static const uint64_t quiet_ns = 2000000000, wander = 200, slowest_ns = 2000000000;

uint64_t land_reading_at(const land_reading *reading, uint64_t now_ns) {
  if (now_ns <= reading->boot_ns) return reading->land_ns;
  uint64_t gone_ns = now_ns - reading->boot_ns;
  return reading->land_ns + gone_ns + (uint64_t)((int64_t)(gone_ns / (uint64_t)million) * reading->slew);
}

void land_clock_open(land_clock *clock, const char *node) {
  *clock = (land_clock){.known = false};
  snprintf(clock->node, sizeof clock->node, "%s", node);
}

uint64_t land_clock_at(const land_clock *clock, uint64_t now_ns) {
  return land_reading_at(&clock->reading, now_ns);
}

/* From here on it goes so much faster; back, it never goes. */
static void go_on_at(land_clock *clock, uint64_t now_ns, int64_t slew) {
  ASSERT(slew >= -LAND_SLEW_MOST && slew <= LAND_SLEW_MOST);
  uint64_t land_ns = land_clock_at(clock, now_ns);
  ASSERT(land_ns >= clock->reading.land_ns);
  if (now_ns < clock->reading.boot_ns) now_ns = clock->reading.boot_ns;
  clock->reading = (land_reading){.boot_ns = now_ns, .land_ns = land_ns, .slew = slew};
}

static void begin_at(land_clock *clock, uint64_t now_ns, uint64_t land_ns) {
  ASSERT(!clock->known || land_ns >= land_clock_at(clock, now_ns));
  clock->reading = (land_reading){.boot_ns = now_ns, .land_ns = land_ns};
  clock->known = true;
}

/* ----------------------------------------------------------------------------------------------------------- turns */

land_turn land_clock_turn(land_clock *clock, uint64_t now_ns, bool leads, const char *boot) {
  land_turn turn = {.asks = !leads, .reads = !clock->known};
  snprintf(turn.ask.node, sizeof turn.ask.node, "%s", clock->node);
  turn.ask.sent_ns = now_ns;
  turn.ask.knows = clock->known;
  if (!clock->known) return turn;
  bool quiet = now_ns - clock->heard_ns > quiet_ns;
  if (leads || quiet) {
    go_on_at(clock, now_ns, 0);
    clock->sample_count = clock->next = 0;
  }
  turn.notes = leads && (!clock->noted_ns || now_ns - clock->noted_ns >= (uint64_t)LAND_NOTE_MS * (uint64_t)million);
  if (!turn.notes) return turn;
  clock->noted_ns = now_ns;
  turn.note.land_ns = land_clock_at(clock, now_ns);
  turn.note.boot_ns = now_ns;
  snprintf(turn.note.boot, sizeof turn.note.boot, "%s", boot);
  return turn;
}

/* Another one than half a second before: it was put meanwhile, by a leader that lives. */
static void see_note(land_clock *clock, uint64_t now_ns, const land_note *note) {
  uint64_t gap_ns = now_ns - clock->seen_ns;
  bool fresh = clock->seen_ns && note->land_ns > clock->seen_land_ns && gap_ns < slowest_ns;
  if (fresh) begin_at(clock, now_ns, note->land_ns + gap_ns / 2);
  clock->seen_ns = now_ns;
  clock->seen_land_ns = note->land_ns;
}

void land_clock_noted(land_clock *clock, uint64_t now_ns, bool leads, const char *boot, const land_note *note) {
  if (clock->known) return;
  if (!leads) {
    if (note) see_note(clock, now_ns, note);
    return;
  }
  uint64_t land_ns = note ? note->land_ns : 0;
  bool same = note && *boot && strcmp(boot, note->boot) == 0 && now_ns >= note->boot_ns;
  begin_at(clock, now_ns, same ? land_ns + (now_ns - note->boot_ns) : land_ns);
}

/* --------------------------------------------------------------------------------------------------------- answers */

bool land_clock_asked(const land_clock *clock, uint64_t now_ns, bool leads, const land_question *ask,
                      land_answer *answer) {
  bool own = strcmp(ask->node, clock->node) == 0;
  *answer = (land_answer){.sent_ns = ask->sent_ns, .land_ns = land_clock_at(clock, now_ns), .leads = leads};
  snprintf(answer->node, sizeof answer->node, "%s", clock->node);
  return clock->known && !own && (leads || !ask->knows);
}

/* An answer of a leader: the one with the least error says how it is. */
static const land_sample *best_sample(const land_clock *clock, uint64_t now_ns) {
  const land_sample *best = &clock->samples[0];
  uint64_t least_ns = UINT64_MAX;
  for (uint32_t i = 0; i < clock->sample_count; i++) {
    const land_sample *sample = &clock->samples[i];
    uint64_t error_ns = sample->error_ns + (now_ns - sample->came_ns) / (uint64_t)million * wander;
    if (error_ns < least_ns) best = sample;
    if (error_ns < least_ns) least_ns = error_ns;
  }
  return best;
}

static void add_sample(land_clock *clock, land_sample sample) {
  clock->samples[clock->next] = sample;
  clock->next = (clock->next + 1) % LAND_SAMPLES;
  if (clock->sample_count < LAND_SAMPLES) clock->sample_count++;
}

void land_clock_answered(land_clock *clock, uint64_t now_ns, bool leads, const land_answer *answer) {
  uint64_t trip_ns = now_ns - answer->sent_ns;
  if (leads || now_ns < answer->sent_ns || trip_ns > slowest_ns) return;
  uint64_t then_ns = answer->land_ns + trip_ns / 2;
  if (!clock->known) begin_at(clock, now_ns, then_ns);
  if (!answer->leads) return;
  if (strcmp(clock->leader, answer->node) != 0) clock->sample_count = clock->next = 0;
  snprintf(clock->leader, sizeof clock->leader, "%s", answer->node);
  clock->heard_ns = now_ns;
  add_sample(clock, (land_sample){
                        .came_ns = now_ns, .error_ns = trip_ns / 2, .offset_ns = (int64_t)then_ns - (int64_t)now_ns});
  int64_t right_ns = (int64_t)now_ns + best_sample(clock, now_ns)->offset_ns,
          behind_ns = right_ns - (int64_t)land_clock_at(clock, now_ns);
  if (behind_ns > LAND_STEP_NS) {
    begin_at(clock, now_ns, (uint64_t)right_ns);
    return;
  }
  int64_t slew = behind_ns / (slew_over_ns / million);
  go_on_at(clock, now_ns, slew > LAND_SLEW_MOST ? LAND_SLEW_MOST : slew < -LAND_SLEW_MOST ? -LAND_SLEW_MOST : slew);
}

/* ----------------------------------------------------------------------------------------------------------- texts */

static bool land_text(const void *bytes, size_t count, char text[LAND_TEXT_BYTES]) {
  bool fits = count > 0 && count < LAND_TEXT_BYTES;
  snprintf(text, LAND_TEXT_BYTES, "%.*s", (int)(fits ? count : 0), (const char *)bytes);
  return fits;
}

void land_question_write(const land_question *ask, char text[LAND_TEXT_BYTES]) {
  snprintf(text, LAND_TEXT_BYTES, "%s %" PRIu64 " %d", ask->node, ask->sent_ns, ask->knows);
}

bool land_question_read(const void *bytes, size_t count, land_question *ask) {
  char text[LAND_TEXT_BYTES], gap[2], rest;
  int knows = 0;
  if (!land_text(bytes, count, text)) return false;
  int found = sscanf(text, "%31[A-Za-z0-9_-]%1[ ]%20" SCNu64 " %1d%c", ask->node, gap, &ask->sent_ns, &knows, &rest);
  ask->knows = knows != 0;
  return found == 4;
}

void land_answer_write(const land_answer *answer, char text[LAND_TEXT_BYTES]) {
  snprintf(text, LAND_TEXT_BYTES, "%s %" PRIu64 " %" PRIu64 " %d", answer->node, answer->sent_ns, answer->land_ns,
           answer->leads);
}

/* No land is 146 years old. */
bool land_answer_read(const void *bytes, size_t count, land_answer *answer) {
  char text[LAND_TEXT_BYTES], gap[2], rest;
  int leads = 0;
  if (!land_text(bytes, count, text)) return false;
  int found = sscanf(text, "%31[A-Za-z0-9_-]%1[ ]%20" SCNu64 " %20" SCNu64 " %1d%c", answer->node, gap,
                     &answer->sent_ns, &answer->land_ns, &leads, &rest);
  answer->leads = leads != 0;
  return found == 5 && answer->land_ns <= (uint64_t)INT64_MAX / 2;
}

void land_note_write(const land_note *note, char text[LAND_TEXT_BYTES]) {
  snprintf(text, LAND_TEXT_BYTES, "%" PRIu64 " %" PRIu64 " %s", note->land_ns, note->boot_ns,
           *note->boot ? note->boot : "-");
}

bool land_note_read(const char *text, land_note *note) {
  char rest;
  int found = sscanf(text, "%20" SCNu64 " %20" SCNu64 " %39s%c", &note->land_ns, &note->boot_ns, note->boot, &rest);
  if (found == 3 && strcmp(note->boot, "-") == 0) note->boot[0] = '\0';
  return found == 3 && note->land_ns <= (uint64_t)INT64_MAX / 2;
}
