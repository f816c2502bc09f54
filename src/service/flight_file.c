#include "service/flight_file.h"

#include "base/assert.h"
#include "base/error.h"

#include <muster/flight.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t page_bytes = 4096;
static const size_t section_bytes = offsetof(flight_head, after) - offsetof(flight_head, process);

static uint64_t round_up(uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

void flight_head_begin(flight_head *head, uint64_t process, uint64_t started_ns, const flight_counts *counts,
                       const flight_poisons *poisons) {
  *head = (flight_head){.process = process, .started_ns = started_ns, .counts = *counts, .poisons = *poisons};
  flight_head_renew_check(head);
}

uint64_t flight_head_next_offset(const flight_head *head) {
  const flight_part *last = head->part_count ? &head->parts[head->part_count - 1] : NULL;
  return round_up(last ? last->offset + last->bytes : sizeof *head);
}

void flight_head_add_part(flight_head *head, const char *world, const char *module, uint64_t bytes) {
  ASSERT(head->part_count < WORLDS_MAX);
  flight_part *part = &head->parts[head->part_count];
  *part = (flight_part){.offset = flight_head_next_offset(head), .bytes = bytes};
  snprintf(part->world, sizeof part->world, "%s", world);
  snprintf(part->module, sizeof part->module, "%s", module);
  head->part_count++;
  flight_head_renew_check(head);
}

void flight_head_renew_check(flight_head *head) {
  chunks_seal(&flight_format, FLIGHT_OF_SERVICE, head, section_bytes);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Printable, and ended within its room. */
static bool is_name(const char *name, size_t room) {
  size_t length = strnlen(name, room);
  for (size_t i = 0; i < length; i++)
    if (name[i] < ' ' || name[i] > '~') return false;
  return length > 0 && length < room;
}

static muster_result flight_file_check_head(const flight_head *head, size_t size) {
  chunk_reader reader;
  size_t length;
  muster_result result = chunks_read_front(&reader, &flight_format, head, sizeof *head, &length);
  if (result) return result;
  if (length != offsetof(flight_head, clean) || !chunks_enter(&reader, FLIGHT_OF_SERVICE))
    return error_set(MUSTER_E_INPUT, "this is no flight recorder's file of this service");
  bool possible = head->part_count <= WORLDS_MAX && head->counts.count <= FLIGHT_COUNTS_MAX &&
                  head->poisons.count <= FLIGHT_POISONS_MAX;
  for (uint32_t i = 0; possible && i < head->part_count; i++) {
    const flight_part *part = &head->parts[i];
    possible = is_name(part->world, NAME_BYTES) && is_name(part->module, NAME_BYTES) && part->offset <= size &&
               part->bytes <= size - part->offset;
  }
  for (uint32_t i = 0; possible && i < head->counts.count; i++) {
    const flight_count *count = &head->counts.counts[i];
    possible = is_name(count->world, sizeof count->world) && is_name(count->type, sizeof count->type);
  }
  for (uint32_t i = 0; possible && i < head->poisons.count; i++)
    possible = is_name(head->poisons.poisons[i].world, NAME_BYTES) && keys_is_key(head->poisons.poisons[i].key);
  if (!possible) return error_set(MUSTER_E_INPUT, "it is damaged or cut off: its head says what cannot be");
  return MUSTER_OK;
}

static void flight_file_add_inside(flight_report *report, const flight_part *part, const muster_flight_entry *entry) {
  if (report->inside_count == FLIGHT_INSIDE_MAX) return;
  flight_inside *inside = &report->inside[report->inside_count++];
  *inside = (flight_inside){.entry = *entry};
  memcpy(inside->world, part->world, sizeof inside->world);
  memcpy(inside->module, part->module, sizeof inside->module);
}

/* Collects the culprits of a part, or the other workers. */
static void read_part(const flight_part *part, const unsigned char *bytes, bool culprits, flight_report *report) {
  muster_flight_entry entries[FLIGHT_INSIDE_MAX];
  uint32_t count = 0;
  if (muster_flight_read(bytes + part->offset, part->bytes, entries, FLIGHT_INSIDE_MAX, &count)) {
    report->damaged_parts += culprits;
    return;
  }
  if (count > FLIGHT_INSIDE_MAX) count = FLIGHT_INSIDE_MAX;
  for (uint32_t i = 0; i < count; i++) {
    if ((entries[i].signal != 0) != culprits) continue;
    flight_file_add_inside(report, part, &entries[i]);
    if (culprits) report->signal = entries[i].signal;
  }
}

const char *flight_function_name(uint32_t function) {
  static const char *const names[FLIGHT_FUNCTIONS] = {"nothing",      "open",    "populate", "resume",
                                                      "before_frame", "skip_ns", "command",  "read_metrics"};
  return names[function < FLIGHT_FUNCTIONS ? function : FLIGHT_NO_FUNCTION];
}

/* The call is not covered by the check: an impossible one is treated as none. */
static flight_call read_call(const flight_head *head) {
  const flight_call *call = &head->call;
  bool possible = call->hit == 1 && call->function < FLIGHT_FUNCTIONS && is_name(call->world, NAME_BYTES) &&
                  is_name(call->module, NAME_BYTES);
  return possible ? *call : (flight_call){0};
}

/* Nor is the request. */
static flight_request read_request(const flight_head *head) {
  const flight_request *request = &head->request;
  bool possible =
      request->under_way == 1 && request->hit <= 1 && is_name(request->world, NAME_BYTES) && keys_is_key(request->key);
  return possible ? *request : (flight_request){0};
}

muster_result flight_file_read(const void *bytes, size_t size, flight_report *report, flight_counts *counts,
                               flight_poisons *poisons) {
  flight_head head;
  if (size < sizeof head) return error_set(MUSTER_E_INPUT, "it is cut off: %zu bytes are less than its head", size);
  memcpy(&head, bytes, sizeof head);
  muster_result result = flight_file_check_head(&head, size);
  if (result) return result;
  *counts = head.counts;
  if (poisons) *poisons = head.poisons;
  *report = (flight_report){.known = true,
                            .clean = head.clean == 1,
                            .signal = head.signal < 128 ? head.signal : 0,
                            .call = read_call(&head),
                            .request = read_request(&head),
                            .process = head.process,
                            .started_ns = head.started_ns};
  if (report->clean) return MUSTER_OK;
  for (uint32_t i = 0; i < head.part_count; i++) read_part(&head.parts[i], bytes, true, report);
  report->culprit_count = report->inside_count;
  for (uint32_t i = 0; i < head.part_count; i++) read_part(&head.parts[i], bytes, false, report);
  return MUSTER_OK;
}

void *flight_file_load(int descriptor, size_t *size) {
  struct stat status;
  if (fstat(descriptor, &status)) return error_set(MUSTER_E_SYSTEM, "%s", strerror(errno)), NULL;
  if (status.st_size > FLIGHT_FILE_BYTES_MAX)
    return error_set(MUSTER_E_INPUT, "it has %lld bytes, which no flight recorder writes", (long long)status.st_size),
           NULL;
  *size = (size_t)status.st_size;
  unsigned char *bytes = malloc(*size + 1);
  if (!bytes) return error_set(MUSTER_E_MEMORY, "no memory to read it"), NULL;
  for (size_t done = 0; done < *size;) {
    ssize_t got = pread(descriptor, bytes + done, *size - done, (off_t)done);
    if (got > 0) done += (size_t)got;
    if (got == 0) *size = done;
    if (got < 0 && errno != EINTR) {
      free(bytes);
      return error_set(MUSTER_E_SYSTEM, "%s", strerror(errno)), NULL;
    }
  }
  return bytes;
}

/* The lines of a part that are inside a callback: they stand at its end. */
static uint32_t places_of_part(const flight_part *part, const unsigned char *bytes, flight_place *places,
                               uint32_t capacity) {
  muster_flight_header header;
  uint32_t found, count = 0;
  if (muster_flight_read(bytes + part->offset, part->bytes, NULL, 0, &found)) return 0;
  memcpy(&header, bytes + part->offset, sizeof header);
  uint64_t first = part->offset + part->bytes - header.lines * sizeof(muster_flight_line);
  for (uint32_t i = 0; i < header.lines && count < capacity; i++) {
    flight_place *place = &places[count];
    place->offset = first + i * sizeof place->line;
    memcpy(&place->line, bytes + place->offset, sizeof place->line);
    count += place->line.place != 0;
  }
  return count;
}

uint32_t flight_file_places(const void *bytes, size_t size, flight_place *places, uint32_t capacity) {
  flight_head head;
  uint32_t count = 0;
  if (size < sizeof head) return 0;
  memcpy(&head, bytes, sizeof head);
  if (flight_file_check_head(&head, size)) return 0;
  for (uint32_t i = 0; i < head.part_count; i++)
    count += places_of_part(&head.parts[i], bytes, places + count, capacity - count);
  return count;
}

/* ------------------------------------------------------------------------------------------------------------ words */

void flight_describe(const flight_inside *inside, char *text, size_t bytes) {
  const muster_flight_entry *entry = &inside->entry;
  bool numbered = entry->doing == MUSTER_FLIGHT_ATOM || entry->doing == MUSTER_FLIGHT_ACTION;
  char atom[32] = "";
  if (numbered) snprintf(atom, sizeof atom, " %u", entry->atom);
  snprintf(text, bytes, "world %s (module %s): agent %u (generation %u) of type '%s', in %s%s, frame %lu, worker %u",
           inside->world, inside->module, muster_agent_index(entry->agent), muster_agent_generation(entry->agent),
           entry->type_name, muster_flight_doing_name(entry->doing), atom, entry->frame, entry->worker);
}

const char *flight_describe_end(uint32_t signal, char *text, size_t bytes) {
  const char *name = sigabbrev_np((int)signal);
  if (!signal)
    snprintf(text, bytes, "was killed, or ended without a trace");
  else if (signal == FLIGHT_EXITED)
    snprintf(text, bytes, "was ended by a call of exit()");
  else if (signal == SIGKILL)
    snprintf(text, bytes, "was stuck, and was killed");
  else
    snprintf(text, bytes, "died of SIG%s", name ? name : "?");
  return text;
}

/* ----------------------------------------------------------------------------------------------------------- counts */

flight_count *flight_counts_find(flight_counts *counts, const char *world, const char *type) {
  for (uint32_t i = 0; i < counts->count; i++)
    if (strcmp(counts->counts[i].world, world) == 0 && strcmp(counts->counts[i].type, type) == 0)
      return &counts->counts[i];
  return NULL;
}

static bool is_counted_before(const flight_report *report, uint32_t number) {
  const flight_inside *inside = &report->inside[number];
  for (uint32_t i = 0; i < number; i++)
    if (strcmp(report->inside[i].world, inside->world) == 0 &&
        strcmp(report->inside[i].entry.type_name, inside->entry.type_name) == 0)
      return true;
  return false;
}

bool flight_counts_add(flight_counts *counts, const flight_report *report) {
  bool fits = true;
  for (uint32_t i = 0; i < report->culprit_count; i++) {
    const flight_inside *culprit = &report->inside[i];
    if (is_counted_before(report, i)) continue;
    flight_count *count = flight_counts_find(counts, culprit->world, culprit->entry.type_name);
    if (!count && counts->count == FLIGHT_COUNTS_MAX) {
      fits = false;
      continue;
    }
    if (!count) {
      count = &counts->counts[counts->count++];
      *count = (flight_count){0};
      memcpy(count->world, culprit->world, sizeof count->world);
      memcpy(count->type, culprit->entry.type_name, sizeof count->type);
    }
    count->crashes++;
  }
  return fits;
}

uint64_t flight_counts_forget(flight_counts *counts, const char *world, const char *type) {
  flight_count *count = flight_counts_find(counts, world, type);
  uint64_t crashes = count ? count->crashes : 0;
  if (!count) return 0;
  *count = counts->counts[--counts->count];
  counts->counts[counts->count] = (flight_count){0};
  return crashes;
}

/* ------------------------------------------------------------------------------------------------ poisoned requests */

static flight_poison *find_poison(flight_poisons *poisons, const char *world, const char *key) {
  for (uint32_t i = 0; i < poisons->count; i++)
    if (strcmp(poisons->poisons[i].world, world) == 0 && strcmp(poisons->poisons[i].key, key) == 0)
      return &poisons->poisons[i];
  return NULL;
}

static void forget_poison(flight_poisons *poisons, uint64_t index) {
  flight_poison *all = poisons->poisons;
  poisons->count--;
  memmove(all + index, all + index + 1, (poisons->count - index) * sizeof *all);
  all[poisons->count] = (flight_poison){0};
}

const flight_poison *flight_poisons_add(flight_poisons *poisons, const flight_report *report) {
  const flight_request *request = &report->request;
  if (report->clean || !*request->key) return NULL;
  flight_poison *poison = find_poison(poisons, request->world, request->key);
  if (!poison) {
    if (poisons->count == FLIGHT_POISONS_MAX) forget_poison(poisons, 0);
    poison = &poisons->poisons[poisons->count++];
    memcpy(poison->world, request->world, sizeof poison->world);
    memcpy(poison->key, request->key, sizeof poison->key);
  }
  if (memcmp(poison->digest, request->digest, sizeof poison->digest) != 0) poison->deaths = 0;
  memcpy(poison->digest, request->digest, sizeof poison->digest);
  poison->deaths += request->hit ? FLIGHT_DEATHS : 1;
  poison->signal = report->signal;
  poison->process = report->process;
  return poison;
}

bool flight_poisons_forget(flight_poisons *poisons, const char *world, const char *key) {
  const flight_poison *poison = find_poison(poisons, world, key);
  if (poison) forget_poison(poisons, (uint64_t)(poison - poisons->poisons));
  return poison;
}
