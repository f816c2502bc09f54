/* service/supervise/joins.h - answers that concern all worlds, made of what each world's process answers. */
#ifndef SERVICE_SUPERVISE_JOINS_H
#define SERVICE_SUPERVISE_JOINS_H

#include "service/supervise/front.h"
#include "service/supervise/processes.h"

/* Answers a request whose path names no world. False: it is not of this kind, and still open. Loop's thread. */
bool joins_handle(http_request *request, struct front *front, struct processes *processes);

#endif
