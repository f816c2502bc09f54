/* service/herds.h - herds and their membranes: GET /v1/worlds/W/herds (service/live.h). */
#ifndef SERVICE_HERDS_H
#define SERVICE_HERDS_H

#include "service/http.h"

extern const http_route herd_routes[];

#endif
