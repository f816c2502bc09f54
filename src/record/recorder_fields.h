/* recorder_fields.h - what a record says of a world and of its types, field by field, and how it is compared. */
#ifndef RECORDER_FIELDS_H
#define RECORDER_FIELDS_H

#include "agents/types.h"
#include "base/tape.h"

#include <muster/muster.h>

/* Writes the fields of a world that a replay must have alike, or reads them. */
void fields_exchange_world(struct tape *tape, muster_world_def *def);

/* Null when the fields are alike; else the name of the first one that differs. Fields that the record
 * brings may differ; with `tuned` also those that can be tuned, which a snapshot brings. */
const char *fields_compare_worlds(const muster_world_def *recorded, const muster_world_def *given, bool tuned);

/* Writes a type: its name, its fields, its atoms, and which callbacks it has; or reads one. Null when `type` is alike,
 * else the name of what differs first. */
const char *fields_exchange_type(struct tape *tape, const agent_type *type);

#endif
