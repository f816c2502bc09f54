/* zone_catch_up.c - who left in earlier lives of a zone, while the zone catches up with what came to it meanwhile.
 *
 * A restored zone is given what came behind its stored state once more. Whoever is in that, and went on in an earlier
 * life, must not come again: its departure is among what that life sent, with a higher hop. A world keeps the marks of
 * its last departures only, so all that were read are kept here, until everything has come that had crossed before this
 * life. A life that ends earlier leaves no stored state that needs them: until then what is stored says of the messages
 * that were sent what the restored state said, and the next life reads them again. */
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
  const zone_gone *found = &zone->left.gone[low];
  return low < zone->left.count && found->id == coming.id && found->kind == coming.kind;
}

void zone_gone_free(struct zone *zone) {
  free(zone->left.gone);
  free(zone->gone);
  zone->left = (zone_gone_list){0};
  zone->gone = NULL;
  zone->gone_count = zone->gone_room = 0;
}

void zone_note_all_came(struct zone *zone) {
  for (uint32_t i = 0; i < zone->link_count; i++) zone->links[i].until = zone->links[i].given;
  zone->all_came = true;
}

void zone_catch_up(hosted_world *world) {
  struct zone *zone = world->zone;
  if (!zone->all_came || zone->caught_up) return;
  for (uint32_t i = 0; i < zone->link_count; i++)
    if (zone->links[i].in.sequence < zone->links[i].until) return;
  zone->caught_up = true;
  zone_gone_free(zone);
  for (uint32_t i = 0; i < zone->link_count; i++) zone_note_stored(world, &zone->links[i]);
}
