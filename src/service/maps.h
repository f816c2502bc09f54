/* service/maps.h - the map of agents and the cells of the observer grid: GET /v1/worlds/W/map and /cells
 * (service/live.h). Loop's thread. */
#ifndef SERVICE_MAPS_H
#define SERVICE_MAPS_H

#include "service/api.h"

enum { MAPS_MAX = 16 };

/* Creates service->maps. MUSTER_E_MEMORY with a message. */
muster_result maps_open(struct service *service);

/* Frees it, after frame_mailbox_close, which answers the requests that wait. */
void maps_close(struct service *service);

extern const http_route map_routes[];

#endif
