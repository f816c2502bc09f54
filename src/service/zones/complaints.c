#include "service/zones/complaints.h"

#include "service/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUIET_MS = 60 * 1000, WORDS_BYTES = 512 };

static uint32_t index_of_cause(const struct complaints *complaints, const char *cause) {
  uint32_t i = 0;
  while (i < complaints->count && strcmp(complaints->known[i].cause, cause) != 0) i++;
  return i;
}

/* The place of a cause: its own, a new one, or that of the cause that was written longest ago. */
static uint32_t place_of_cause(struct complaints *complaints, const char *cause) {
  uint32_t place = index_of_cause(complaints, cause);
  if (place < complaints->count) return place;
  if (complaints->count < COMPLAINTS_MAX) {
    place = complaints->count++;
  } else {
    place = 0;
    for (uint32_t i = 1; i < COMPLAINTS_MAX; i++)
      if (complaints->known[i].at_ms < complaints->known[place].at_ms) place = i;
  }
  snprintf(complaints->known[place].cause, sizeof complaints->known[place].cause, "%s", cause);
  complaints->known[place].at_ms = 0;
  complaints->known[place].unwritten = 0;
  return place;
}

void complaints_add(struct complaints *complaints, const char *cause, const char *format, ...) {
  char shown[COMPLAINT_CAUSE_BYTES], words[WORDS_BYTES];
  snprintf(shown, sizeof shown, "%s", cause);
  uint32_t place = place_of_cause(complaints, shown);
  uint64_t now_ms = uv_now(complaints->loop);
  if (complaints->known[place].at_ms && now_ms - complaints->known[place].at_ms < QUIET_MS) {
    complaints->known[place].unwritten++;
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  if (complaints->known[place].unwritten)
    log_line(MUSTER_LOG_WARNING, "%s: %s (and %u times since this was last written)", shown, words,
             complaints->known[place].unwritten);
  else
    log_line(MUSTER_LOG_WARNING, "%s: %s", shown, words);
  complaints->known[place].at_ms = now_ms ? now_ms : 1;
  complaints->known[place].unwritten = 0;
}

void complaints_forget(struct complaints *complaints, const char *cause) {
  char shown[COMPLAINT_CAUSE_BYTES];
  snprintf(shown, sizeof shown, "%s", cause);
  uint32_t place = index_of_cause(complaints, shown);
  if (place < complaints->count) complaints->known[place] = complaints->known[--complaints->count];
}
