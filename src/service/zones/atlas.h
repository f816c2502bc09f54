/* service/zones/atlas.h - the sheets of all zones of the cluster (sheet.h), for the page of any node. A browser asks
 * one node alone: the others may be where it cannot reach them, and their daemons refuse pages of other origins.
 *
 *     a page asks GET /v1/zones/map --> "wanted" to all nodes, twice a second, for as long as it asks
 *     a node that is wanted         --> a sheet of each zone whose lease it has, to those that listen
 *
 * So nobody draws or sends while nobody looks. Both go by core NATS, and may be lost. Loop's thread. */
#ifndef SERVICE_ZONES_ATLAS_H
#define SERVICE_ZONES_ATLAS_H

#include "service/zones/broker.h"
#include "service/zones/sheet.h"

struct holder;
struct holding;

struct atlas {
  uv_timer_t timer;                /* while somebody looks here */
  broker_listener *wanted;         /* null = there is no memory */
  broker_listener *sheets;         /* while somebody looks here */
  uint64_t since_ns, looked_ns;    /* somebody looks here, and looked last: CLOCK_BOOTTIME */
  uint64_t given_ns;               /* the sheets of this node's zones were last asked for */
  sheet_entry entries[WORLDS_MAX]; /* of the holder's zones, in its order */
};

/* Begins to listen for what is wanted. False: no memory. */
bool atlas_open(struct holder *holder);

/* Before the broker is closed. */
void atlas_close(struct holder *holder);

/* Somebody looks here: the entries are renewed from now on, for some seconds. */
void atlas_look(struct holder *holder);

/* The process of a zone has drawn it. */
void atlas_take_drawn(const struct holding *holding, const void *bytes, size_t count);

#endif
