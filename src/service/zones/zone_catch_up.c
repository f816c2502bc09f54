/* zone_catch_up.c - who left in earlier lives of a zone, while the zone catches up with what came to it meanwhile.
 *
 * A restored zone is given what came behind its stored state once more. Whoever is in that, and went on in an earlier
 * life, must not come again: its departure is among what that life sent, with a higher hop. A world keeps the marks of
 * its last departures only, so all that were read are kept here, until everything has come that had crossed before this
 * life. A life that ends earlier leaves no stored state that needs them: until then what is stored says of the messages
 * that were sent what the restored state said, and the next life reads them again.
 *
 * What comes once more is in order of each neighbour, and in none between them. An agent may have come from one, and
 * its neighbours may have been told of it, before the frame in which it came was safe: then a message that another sent
 * to it can be given before it is. So until all has come, a message waits whose receiver is not known, with what is
 * behind it; and after that, while its receiver is among those that were given and wait. */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include <stdlib.h>

static int compare_gone(const void *left, const void *right) {
  const zone_gone *a = left, *b = right;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return (a->hop > b->hop) - (a->hop < b->hop);
}

void zone_gone_add(struct zone *zone, zone_gone gone) {
  zone_gone_list *list = &zone->left;
  if (list->count == list->room) {
    list->room = 2 * list->room + 1024;
    list->gone = realloc(list->gone, list->room * sizeof *list->gone);
    if (!list->gone) abort(); /* the next process reads it again */
  }
  list->gone[list->count++] = gone;
}

void zone_gone_sort(struct zone *zone) {
  if (zone->left.count) qsort(zone->left.gone, zone->left.count, sizeof *zone->left.gone, compare_gone);
}

/* Whether it went on: the list has it with this hop, or a higher one. */
bool zone_gone_has(const struct zone *zone, zone_gone coming) {
  size_t low = 0, high = zone->left.count;
  while (low < high) { /* the first that is not below */
    size_t middle = low + (high - low) / 2;
    if (compare_gone(&zone->left.gone[middle], &coming) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == zone->left.count) return false;
  const zone_gone *found = &zone->left.gone[low];
  return found->id == coming.id && found->kind == coming.kind;
}

void zone_gone_free(struct zone *zone) {
  free(zone->left.gone);
  free(zone->gone);
  free(zone->coming);
  zone->left = (zone_gone_list){0};
  zone->gone = NULL;
  zone->coming = NULL;
  zone->gone_count = zone->gone_room = 0;
  zone->coming_count = 0;
}

/* ---------------------------------------------------------------------------------------------------- who will come */

static int compare_coming(const void *left, const void *right) {
  const zone_coming *a = left, *b = right;
  return (a->id > b->id) - (a->id < b->id);
}

/* Lists those of a parcel that were not taken; without `coming` they are only counted. */
static size_t list_held(const struct zone *zone, uint32_t link, const zone_held *held, zone_coming *coming) {
  parcel_item item;
  const unsigned char *bytes;
  bool damaged = false;
  size_t count = 0;
  size_t at = zone_part_taken(&zone->links[link], held->place);
  while (parcel_next(held->parcel, held->bytes, &at, &item, &bytes, &damaged)) {
    muster_agent agent = {0};
    uint32_t hop;
    if (item.kind != PARCEL_AGENT && item.kind != PARCEL_HERD) continue;
    if (item.kind == PARCEL_AGENT && muster_agent_packed(bytes, item.bytes, &agent, &hop)) continue;
    if (coming) coming[count] = (zone_coming){.id = agent.value, .place = held->place, .link = link};
    count++;
  }
  return count;
}

static size_t list_coming(const struct zone *zone, zone_coming *coming) {
  size_t count = 0;
  for (uint32_t i = 0; i < zone->link_count; i++) {
    const zone_held *held;
    STAILQ_FOREACH(held, &zone->links[i].held, link)
    count += list_held(zone, i, held, coming ? coming + count : NULL);
  }
  return count;
}

void zone_note_all_came(struct zone *zone) {
  for (uint32_t i = 0; i < zone->link_count; i++) zone->links[i].until = zone->links[i].given;
  zone->all_came = true;
  size_t count = list_coming(zone, NULL);
  zone->coming = realloc(zone->coming, (count + 1) * sizeof *zone->coming);
  if (!zone->coming) abort(); /* the next process reads it again */
  zone->coming_count = list_coming(zone, zone->coming);
  qsort(zone->coming, count, sizeof *zone->coming, compare_coming);
}

static bool is_coming(const struct zone *zone, const zone_link *but, uint64_t id) {
  size_t low = 0, high = zone->coming_count;
  while (low < high) { /* the first that is not below */
    size_t middle = low + (high - low) / 2;
    if (zone->coming[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < zone->coming_count && zone->coming[low].id == id; low++) {
    const zone_link *link = &zone->links[zone->coming[low].link];
    if (link != but && place_is_before(link->in.seen, zone->coming[low].place)) return true;
  }
  return false;
}

bool zone_may_come(const struct zone *zone, const zone_link *but, muster_agent agent) {
  if (zone->caught_up) return false;
  return !zone->all_came || is_coming(zone, but, agent.value) || is_coming(zone, but, 0);
}

/* -------------------------------------------------------------------------------------------------------- caught up */

void zone_catch_up(hosted_world *world) {
  struct zone *zone = world->zone;
  if (!zone->all_came || zone->caught_up) return;
  for (uint32_t i = 0; i < zone->link_count; i++)
    if (place_is_before(zone->links[i].in.seen, zone->links[i].until)) return;
  zone->caught_up = true;
  zone_gone_free(zone);
  for (uint32_t i = 0; i < zone->link_count; i++) zone_note_stored(world, &zone->links[i]);
}
