/* zone_journal.c - what a zone keeps in its journal beside the world. */
#include "service/journals.h"
#include "service/log.h"
#include "service/service.h"
#include "service/zones/format.h"
#include "service/zones/zone_parts.h"

#include <stdlib.h>
#include <string.h>

typedef enum zone_record_kind {
  RECORD_EPOCH = 1,
  RECORD_TAKEN,
  RECORD_STORED,
  RECORD_WAITING,
  RECORD_WATCHER,
  RECORD_HERD,
  RECORD_PART
} zone_record_kind;

typedef struct zone_record {
  uint32_t kind, zone;
  uint64_t epoch, number; /* of the pair; or of the parcel, which follows; of a part the bytes that were taken */
  zone_place place;       /* up to which was seen; or of the part */
  uint64_t bytes;
} zone_record;

FORMAT_HAS(zone_record, 48);
FORMAT_HAS(zone_watcher, 48);
FORMAT_HAS(zone_herd, 32);

static zone_record record_of_pair(zone_record_kind kind, uint32_t zone, const zone_pair *pair) {
  return (zone_record){.kind = kind, .zone = zone, .epoch = pair->epoch, .number = pair->number, .place = pair->seen};
}

static zone_record record_of_part(const zone_link *link) {
  return (zone_record){.kind = RECORD_PART, .zone = link->zone, .number = link->part.at, .place = link->part.place};
}

static zone_record record_of_waiting(const zone_waiting *waiting) {
  return (zone_record){.kind = RECORD_WAITING, .zone = waiting->to, .number = waiting->number, .bytes = waiting->bytes};
}

/* ----------------------------------------------------------------------------------------------------------- notes */

void zone_note_taken(hosted_world *world, const zone_link *link) {
  const zone_record record = record_of_pair(RECORD_TAKEN, link->zone, &link->in);
  journals_note(world, JOURNAL_ZONE, &record, sizeof record);
}

void zone_note_part(hosted_world *world, const zone_link *link) {
  const zone_record record = record_of_part(link);
  journals_note(world, JOURNAL_ZONE, &record, sizeof record);
}

void zone_note_stored(hosted_world *world, zone_link *link) {
  link->kept = link->out;
  const zone_record record = record_of_pair(RECORD_STORED, link->zone, &link->out);
  journals_note(world, JOURNAL_ZONE, &record, sizeof record);
}

/* `number` 0: it is gone. */
static zone_record record_of_watcher(uint32_t zone, uint32_t number) {
  return (zone_record){.kind = RECORD_WATCHER, .zone = zone, .number = number, .bytes = sizeof(zone_watcher)};
}

void zone_note_watcher(hosted_world *world, const zone_link *link, const zone_watcher *watcher, bool comes) {
  const zone_record record = record_of_watcher(link->zone, comes);
  unsigned char note[sizeof record + sizeof *watcher];
  memcpy(note, &record, sizeof record);
  memcpy(note + sizeof record, watcher, sizeof *watcher);
  journals_note(world, JOURNAL_ZONE, note, sizeof note);
}

/* `number` 0: it is gone. */
static zone_record record_of_herd(uint32_t number) {
  return (zone_record){.kind = RECORD_HERD, .number = number, .bytes = sizeof(zone_herd)};
}

void zone_note_herd(hosted_world *world, const zone_herd *herd, bool comes) {
  const zone_record record = record_of_herd(comes);
  unsigned char note[sizeof record + sizeof *herd];
  memcpy(note, &record, sizeof record);
  memcpy(note + sizeof record, herd, sizeof *herd);
  journals_note(world, JOURNAL_ZONE, note, sizeof note);
}

bool zone_note_waiting(hosted_world *world, const zone_waiting *waiting) {
  const zone_record record = record_of_waiting(waiting);
  unsigned char *note = malloc(sizeof record + waiting->bytes);
  if (!note) return false;
  memcpy(note, &record, sizeof record);
  memcpy(note + sizeof record, waiting->parcel, waiting->bytes);
  bool good = journals_note(world, JOURNAL_ZONE, note, sizeof record + waiting->bytes) == MUSTER_OK;
  free(note);
  return good;
}

/* ----------------------------------------------------------------------------------------------------------- piece */

static bool save_record(muster_journal_put put, void *put_user, zone_record record, const void *bytes) {
  return put(&record, sizeof record, put_user) && (!record.bytes || put(bytes, record.bytes, put_user));
}

bool zone_save(hosted_world *world, muster_journal_put put, void *put_user) {
  const struct zone *zone = world->zone;
  if (!zone) return true;
  bool good = save_record(put, put_user, (zone_record){.kind = RECORD_EPOCH, .epoch = zone->lease.epoch}, NULL);
  for (uint32_t i = 0; good && i < zone->link_count; i++) {
    const zone_link *link = &zone->links[i];
    good = save_record(put, put_user, record_of_pair(RECORD_TAKEN, link->zone, &link->in), NULL) &&
           save_record(put, put_user, record_of_pair(RECORD_STORED, link->zone, &link->kept), NULL) &&
           save_record(put, put_user, record_of_part(link), NULL);
    for (uint32_t j = 0; good && j < link->watcher_count; j++)
      good = save_record(put, put_user, record_of_watcher(link->zone, 1), &link->watchers[j]);
  }
  for (uint32_t i = 0; good && i < zone->herd_count; i++)
    good = save_record(put, put_user, record_of_herd(1), &zone->herds[i]);
  const zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link)
  good = good && save_record(put, put_user, record_of_waiting(waiting), waiting->parcel);
  return good;
}

/* ------------------------------------------------------------------------------------------------------------ back */

/* What a pair has stored is not waited for any more. */
void zone_drop_stored(struct zone *zone, const zone_link *link) {
  zone_waiting *waiting = TAILQ_FIRST(&zone->waiting), *next;
  for (; waiting; waiting = next) {
    parcel_head head;
    next = TAILQ_NEXT(waiting, link);
    memcpy(&head, waiting->parcel, sizeof head);
    if (waiting->to != link->zone || head.epoch != link->out.epoch || head.number > link->out.number) continue;
    TAILQ_REMOVE(&zone->waiting, waiting, link);
    free(waiting);
  }
}

/* A note that waits while a journal begins anew stands behind the state that has what it says. */
static bool is_waiting(const struct zone *zone, const zone_record *record, const parcel_head *head) {
  const zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link) {
    parcel_head own;
    memcpy(&own, waiting->parcel, sizeof own);
    if (waiting->to == record->zone && own.epoch == head->epoch && own.number == head->number) return true;
  }
  return false;
}

static bool take_waiting_parcel(struct zone *zone, const zone_record *record, const void *bytes) {
  parcel_head head;
  if (record->bytes < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  if (is_waiting(zone, record, &head)) return true;
  zone_waiting *waiting = malloc(sizeof *waiting + record->bytes);
  if (!waiting) return false;
  *waiting = (zone_waiting){
      .to = record->zone, .number = record->number, .noted = true, .looks = ZONE_LOOKS, .bytes = record->bytes};
  memcpy(waiting->parcel, bytes, record->bytes);
  TAILQ_INSERT_TAIL(&zone->waiting, waiting, link);
  return true;
}

static void take_watcher(zone_link *link, const zone_record *record, const void *bytes) {
  zone_watcher watcher;
  if (record->bytes != sizeof watcher) return;
  memcpy(&watcher, bytes, sizeof watcher);
  if (record->number) zone_keep_watcher(link, watcher);
  for (uint32_t i = link->watcher_count; !record->number && i-- > 0;)
    if (muster_observer_equal(link->watchers[i].own, watcher.own))
      link->watchers[i] = link->watchers[--link->watcher_count];
}

static bool take_known_herd(struct zone *zone, const zone_record *record, const void *bytes) {
  zone_herd herd;
  if (record->bytes != sizeof herd) return false;
  memcpy(&herd, bytes, sizeof herd);
  if (record->number) return zone_keep_herd(zone, herd);
  zone_forget_herd(zone, herd.own);
  return true;
}

static bool take_record(struct zone *zone, const zone_record *record, const void *bytes) {
  zone_link *link = zone_link_of(zone, record->zone);
  const zone_pair pair = {.epoch = record->epoch, .number = record->number, .seen = record->place};
  if (record->kind == RECORD_WAITING) return take_waiting_parcel(zone, record, bytes);
  if (record->kind == RECORD_HERD) return take_known_herd(zone, record, bytes);
  if (link && record->kind == RECORD_WATCHER) take_watcher(link, record, bytes);
  if (link && record->kind == RECORD_TAKEN) link->in = pair;
  if (link && record->kind == RECORD_PART) link->part = (zone_part){record->place, record->number};
  if (link && record->kind == RECORD_STORED) {
    link->out = link->kept = pair;
    zone_drop_stored(zone, link);
  }
  return true;
}

void zone_take(hosted_world *world, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  zone_record record;
  bool good = true;
  if (!world->zone) return;
  while (good && count) {
    good = count >= sizeof record;
    if (good) memcpy(&record, next, sizeof record);
    good = good && record.bytes <= count - sizeof record && take_record(world->zone, &record, next + sizeof record);
    if (!good) break;
    next += sizeof record + record.bytes;
    count -= sizeof record + record.bytes;
  }
  if (!good) log_line(MUSTER_LOG_ERROR, "world %s: what its journal keeps of the zone cannot be read", world->name);
}
