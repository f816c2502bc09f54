/* service/zones/orders.h - orders: the moves of zones that etcd says are wanted, and for how long already. Each reading
 * of etcd is a new table; an order that the table before has, too, keeps its age. Pure: the time is given. */
#ifndef SERVICE_ZONES_ORDERS_H
#define SERVICE_ZONES_ORDERS_H

#include "service/zones/balance.h"

#include "service/settings.h"

/* A move that etcd says is wanted. */
typedef struct move_order {
  uint32_t zone;
  char node[NAME_BYTES];
  uint64_t since_ns; /* as far as this node has seen */
} move_order;

typedef struct move_orders {
  uint32_t count;
  move_order rows[BALANCE_ZONES_MAX];
} move_orders;

/* Adds what was read at `now_ns`: it is as old as in `known`, where the zone is wanted on the same node there. A table
 * that is full stays as it is. */
void orders_add(move_orders *read, const move_orders *known, uint32_t zone, const char *node, uint64_t now_ns);

/* Null: the zone is to stay where it is. */
const move_order *orders_find(const move_orders *known, uint32_t zone);

/* One that is 120 s old, since its zone has no owner that could give it up; its age begins anew. Null: there is none.
 */
const move_order *orders_take_overdue(move_orders *known, uint64_t now_ns);

#endif
