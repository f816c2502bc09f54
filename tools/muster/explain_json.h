/* explain_json.h - an explanation for machines. */
#ifndef TOOLS_EXPLAIN_JSON_H
#define TOOLS_EXPLAIN_JSON_H

#include "base/json.h"

#include <muster/muster.h>

enum { EXPLAIN_JSON_BYTES = 16384 };

/* Writes an explanation as one object, with its reasons by name and its words. */
void explain_json(json_writer *writer, const muster_agent_explanation *explanation);

#endif
