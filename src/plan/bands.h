/* plan/bands.h - what reports say of agents by bands of importance: muster_band, in muster/report.h.
 *
 * Classes, and all of them together, count their members by band as importance changes (plan/classes.h). A frame adds
 * these to sums, and looks at the ages of a few agents; nothing here walks over all of them. */
#ifndef PLAN_BANDS_H
#define PLAN_BANDS_H

#include "base/histogram.h"
#include "plan/classes.h"

/* How many agents a frame looks at: their rows are half a page of memory. */
enum { BANDS_LOOKS = 32 };

struct bands {
  double agent_time_ns[MUSTER_BANDS];
  struct histogram ages[MUSTER_BANDS];
};

/* A frame begins `elapsed_ns` after the one before. Fetches what its end will look at. */
void bands_begin_frame(struct bands *bands, const class_table *classes, const agent_store *store, uint64_t elapsed_ns,
                       uint64_t frame);

/* A frame ends: looks at the ages of some agents, other ones in each frame, so that all are looked at equally often. */
void bands_end_frame(struct bands *bands, const class_table *classes, const agent_store *store, uint64_t now_ns,
                     uint64_t frame);

/* Writes what classes know of a band: agents, wishes and periods. O(classes). */
void bands_count(const class_table *classes, uint32_t band, muster_band *counted);

#endif
