#include "service/zones/orders.h"

#include <stdio.h>
#include <string.h>

#define OVERDUE_NS 120000000000u

void orders_add(move_orders *read, const move_orders *known, uint32_t zone, const char *node, uint64_t now_ns) {
  if (read->count == BALANCE_ZONES_MAX) return;
  const move_order *before = orders_find(known, zone);
  move_order *added = &read->rows[read->count++];
  *added = (move_order){.zone = zone, .since_ns = now_ns};
  snprintf(added->node, sizeof added->node, "%s", node);
  if (before && strcmp(before->node, node) == 0) added->since_ns = before->since_ns;
}

const move_order *orders_find(const move_orders *known, uint32_t zone) {
  for (uint32_t i = 0; i < known->count; i++)
    if (known->rows[i].zone == zone) return &known->rows[i];
  return NULL;
}

const move_order *orders_take_overdue(move_orders *known, uint64_t now_ns) {
  for (uint32_t i = 0; i < known->count; i++) {
    move_order *overdue = &known->rows[i];
    if (now_ns - overdue->since_ns < OVERDUE_NS) continue;
    overdue->since_ns = now_ns;
    return overdue;
  }
  return NULL;
}
