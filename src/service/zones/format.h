/* service/zones/format.h - the format of all that one node leaves for another: what crosses, what neighbours are told,
 * notes, snapshots, journals and their chunks. A cluster has one format, which stands in etcd (muster/W/format, put
 * with its clock): each node works by that, or runs no zone.
 *
 * A build knows formats FORMAT_LEAST to FORMAT_MOST. With a change of anything above, FORMAT_MOST is raised, and the
 * build writes the older format, too, and reads it, wherever the cluster has that: so old and new daemons run side by
 * side, and the old ones may come back. Once all are new, a person raises the cluster's (tools/docs/clusters.md); a
 * node that does not know it takes no zone from then on. A cluster without that key has not begun.
 * Format 1 was that of 0.9.0, whose journals say less of a frame than is needed to repeat it now. A test (zones/format)
 * fails when something of this changes and FORMAT_MOST does not. Loop's thread. */
#ifndef SERVICE_ZONES_FORMAT_H
#define SERVICE_ZONES_FORMAT_H

#include <muster/common.h>

#ifndef FORMAT_MOST
#define FORMAT_LEAST 2u
#define FORMAT_MOST  2u
#endif

/* Stands beside what is kept or told as it is in memory. */
#define FORMAT_HAS(type, count) _Static_assert(sizeof(type) == (count), "the format has changed: raise FORMAT_MOST")

/* Those that this build knows. Any thread. */
uint32_t format_least(void);

/* The one that a cluster begins with here. Any thread. */
uint32_t format_most(void);

/* Checks what stands in etcd; null = nothing does. MUSTER_E_INPUT, with what to do, when this build does not know it.
 */
muster_result format_check(const char *text);

#endif
