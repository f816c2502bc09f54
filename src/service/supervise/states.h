/* service/supervise/states.h - what people are told of the processes of the worlds: as JSON for ctl, top and the page,
 * and as metrics. Loop's thread. */
#ifndef SERVICE_SUPERVISE_STATES_H
#define SERVICE_SUPERVISE_STATES_H

#include "service/http.h"
#include "service/supervise/processes.h"

#include <stdio.h>

struct json_t; /* <jansson.h>, whose names are not all compatible with those of base/json.h */

/* The member "processes" of GET /v1/worlds: all worlds of the settings, also those that do not run. */
struct json_t *states_list(const struct processes *processes);

/* Answers a request with the entry of one process. */
void states_answer(http_request *request, unsigned status, const world_process *process);

enum { STATES_WORDS_BYTES = 512 };

/* Why the world does not run, and what to do, or how far a start is that takes long: a sentence. "" = it runs or begins
 * to. */
const char *states_explain(const world_process *process, char text[STATES_WORDS_BYTES]);

/* In how many seconds it starts again by itself, at least 1; 0 = it does not. */
uint32_t states_next_start_s(const world_process *process);

/* Writes the families of metrics about processes. */
void states_write_metrics(const struct processes *processes, FILE *out);

#endif
