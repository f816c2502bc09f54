/* service/streams.h - what happens in a world as Server-sent events: GET /v1/worlds/W/stream (service/live.h). Loop's
 * thread. */
#ifndef SERVICE_STREAMS_H
#define SERVICE_STREAMS_H

#include "service/api.h"

enum { STREAMS_MAX = 64 };

/* Creates service->streams. MUSTER_E_MEMORY with a message. */
muster_result streams_open(struct service *service);

/* Frees it, after http_destroy, which ended all streams. The loop must turn once more. */
void streams_close(struct service *service);

extern const http_route stream_routes[];

#endif
