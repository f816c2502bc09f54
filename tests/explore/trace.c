#include "trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace_event {
  uint32_t fibre;
  const explore_site *site; /* null: a note */
  uint64_t before, after;
  char note[88];
} trace_event;

static trace_event *events;
static uint32_t event_count, event_room;
static const void *pending_word; /* of the last event */

void trace_begin(void) {
  event_count = 0;
  pending_word = NULL;
}

static uint64_t read_word(const explore_site *site, const void *word) {
  uint64_t value = 0;
  memcpy(&value, word, (size_t)site->bytes); /* little-endian, or the figures read oddly */
  return value;
}

static trace_event *add_event(uint32_t fibre) {
  if (pending_word) events[event_count - 1].after = read_word(events[event_count - 1].site, pending_word);
  pending_word = NULL;
  if (event_count == event_room) {
    event_room = event_room ? 2 * event_room : 1024;
    events = realloc(events, event_room * sizeof *events);
    if (!events) abort();
  }
  events[event_count] = (trace_event){.fibre = fibre};
  return &events[event_count++];
}

void trace_operation(uint32_t fibre, const explore_site *site, const void *word) {
  trace_event *event = add_event(fibre);
  event->site = site;
  if (!site->bytes) return;
  event->before = event->after = read_word(site, word);
  pending_word = word;
}

void trace_note(uint32_t fibre, const char *format, ...) {
  trace_event *event = add_event(fibre);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(event->note, sizeof event->note, format, arguments);
  va_end(arguments);
}

static void print_value(uint64_t value) {
  printf(value < 1000000 ? "%" PRIu64 : "0x%" PRIx64, value);
}

static void print_event(const trace_event *event) {
  const explore_site *site = event->site;
  printf("%*s%u  ", (int)(3 * event->fibre), "", event->fibre);
  if (!site) {
    printf("-- %s\n", event->note);
    return;
  }
  printf("%s:%d %s: %s(%s)", explore_base_name(site->file), site->line, site->function, site->operation, site->operand);
  if (site->bytes) {
    printf("  ");
    print_value(event->before);
    if (event->after != event->before) {
      printf(" -> ");
      print_value(event->after);
    }
  }
  printf("\n");
}

void trace_print(uint32_t events_max) {
  uint32_t first = event_count > events_max ? event_count - events_max : 0;
  if (pending_word) events[event_count - 1].after = read_word(events[event_count - 1].site, pending_word);
  if (first) printf("... %u events before\n", first);
  for (uint32_t i = first; i < event_count; i++) print_event(&events[i]);
}
