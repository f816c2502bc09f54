/* recorder.c - see recorder.h. */
#include "record/recorder.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void recorder_cannot(struct recorder *recorder, const char *why) {
  if (!recorder_records(recorder) || recorder->trouble[0]) return;
  snprintf(recorder->trouble, sizeof recorder->trouble, "%s", why);
}

bool recorder_diverges(struct recorder *recorder, const char *format, ...) {
  va_list arguments;
  if (recorder->trouble[0]) return false;
  va_start(arguments, format);
  vsnprintf(recorder->trouble, sizeof recorder->trouble, format, arguments);
  va_end(arguments);
  return false;
}

/* ------------------------------------------------------------------------------------------------------------- tags */

void recorder_put_tag(struct recorder *recorder, recorder_tag tag) {
  ASSERT(tag > TAG_NONE && tag <= TAG_WORKERS);
  unsigned char byte = (unsigned char)tag;
  tape_put(&recorder->tape, &byte, 1);
}

recorder_tag recorder_next_tag(struct recorder *recorder) {
  ASSERT(recorder->replays);
  while (!recorder->trouble[0]) {
    unsigned char tag;
    struct chunk section = {0};
    if (recorder->between && recorder->tape.at == recorder->tape.end && !tape_next(&recorder->tape, &section))
      recorder->between = section.kind == TAPE_BETWEEN;
    tape_take(&recorder->tape, &tag, 1);
    if (recorder->tape.failed) recorder_diverges(recorder, "its record ends before it does");
    if (tag == TAG_TYPES)
      recorder->asides.take_type(recorder->asides.world);
    else if (tag == TAG_SPAWN_LOG)
      recorder->asides.take_logged_spawn(recorder->asides.world);
    else if (!recorder->tape.failed)
      return (recorder_tag)tag;
  }
  return TAG_NONE;
}

bool recorder_mark(struct recorder *recorder, recorder_tag tag) {
  ASSERT(tag != TAG_TYPES && tag != TAG_SPAWN_LOG); /* they stand between other tags */
  if (recorder_records(recorder)) recorder_put_tag(recorder, tag);
  if (!recorder_replays(recorder)) return true;
  recorder_tag found = recorder_next_tag(recorder);
  if (found == tag) return true;
  return recorder_diverges(recorder, "it needs item %d where its record has %d", (int)tag, (int)found);
}

struct tape *recorder_item(struct recorder *recorder, recorder_tag tag) {
  return recorder_mark(recorder, tag) ? recorder_tape(recorder) : NULL;
}

void recorder_exchange_value(struct recorder *recorder, recorder_tag tag, void *value, size_t bytes) {
  ASSERT(bytes > 0);
  struct tape *tape = recorder_item(recorder, tag);
  if (tape) tape_exchange(tape, value, bytes);
}

bool recorder_exchange_choice(struct recorder *recorder, bool choice) {
  if (recorder_records(recorder)) recorder_put_tag(recorder, choice ? TAG_YES : TAG_NO);
  if (!recorder_replays(recorder)) return choice;
  recorder_tag found = recorder_next_tag(recorder);
  if (found == TAG_YES || found == TAG_NO) return found == TAG_YES;
  recorder_diverges(recorder, "it needs a choice where its record has item %d", (int)found);
  return choice;
}

/* ------------------------------------------------------------------------------------------------------------ lists */

bool recorder_exchange_one(struct recorder *recorder, recorder_tag tag, bool any, void *value, size_t bytes) {
  if (recorder_records(recorder)) recorder_put_tag(recorder, any ? tag : TAG_LIST_END);
  if (recorder_records(recorder) && any) tape_put(&recorder->tape, value, bytes);
  if (!recorder_replays(recorder)) return any;
  ASSERT(tag != TAG_LIST_END && bytes > 0);
  recorder_tag found = recorder_next_tag(recorder);
  if (found == TAG_LIST_END) return false;
  if (found != tag)
    return recorder_diverges(recorder, "it needs item %d where its record has %d", (int)tag, (int)found);
  tape_take(&recorder->tape, value, bytes);
  return !recorder->tape.failed;
}

/* -------------------------------------------------------------------------------------------------------- sections */

bool recorder_write_out(struct recorder *recorder, tape_kind kind, uint64_t number) {
  ASSERT(!recorder->replays);
  size_t count;
  const void *bytes = tape_close(&recorder->tape, kind, number, &count);
  if (bytes && !recorder->refused) recorder->refused = !recorder->def.write(bytes, count, recorder->def.user);
  if (bytes && !recorder->refused) recorder->bytes += count;
  return bytes && !recorder->refused;
}

bool recorder_write_between(struct recorder *recorder) {
  ASSERT(recorder->mode == RECORDER_RECORDS);
  return recorder_write_out(recorder, TAPE_BETWEEN, recorder->frames);
}

bool recorder_note(struct recorder *recorder, const void *bytes, size_t count) {
  enum { LENGTH_BYTES = 10 };
  recorder_journal *journal = &recorder->journal;
  ASSERT(recorder->mode == RECORDER_RECORDS && journal->on);
  journal->full = journal->full || count > journal->notes_max - LENGTH_BYTES ||
                  journal->notes_bytes > journal->notes_max - LENGTH_BYTES - count;
  if (journal->full) return false;
  for (size_t left = count;; left >>= 7) {
    journal->notes[journal->notes_bytes++] = (unsigned char)(left > 127 ? left | 128 : left);
    if (left <= 127) break;
  }
  if (count) memcpy(journal->notes + journal->notes_bytes, bytes, count);
  journal->notes_bytes += count;
  return true;
}

void recorder_put_times(struct recorder *recorder) {
  recorder_put_tag(recorder, TAG_TIMES);
  tape_put(&recorder->tape, &recorder->times, sizeof recorder->times);
}

bool recorder_finish(struct recorder *recorder) {
  ASSERT(recorder->mode == RECORDER_RECORDS);
  tape_drop(&recorder->tape);
  if (recorder->frames) recorder_put_times(recorder);
  recorder_write_out(recorder, TAPE_END, recorder->frames);
  recorder->mode = RECORDER_ENDED;
  spawn_log_close(&recorder->spawn_log);
  return !recorder->refused;
}
