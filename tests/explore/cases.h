/* cases.h - the programs that the explorer runs, by structure. To add some: write cases/NAME.c with a table of them,
 * declare it here and list it in cases.c. */
#ifndef EXPLORE_CASES_H
#define EXPLORE_CASES_H

#include "explorer.h"

extern const explore_case lane_cases[];
extern const explore_case queue_cases[];
extern const explore_case sleep_cases[];
extern const explore_case group_cases[];
extern const explore_case worker_cases[];
extern const explore_case jobs_cases[];
extern const explore_case team_cases[];
extern const explore_case range_cases[];
extern const explore_case ticket_cases[];
extern const explore_case partitions_cases[];
extern const explore_case spawn_queue_cases[];
extern const explore_case ring_cases[];
extern const explore_case identity_cases[];
extern const explore_case wakes_cases[];
extern const explore_case strands_cases[];
extern const explore_case removals_cases[];

/* All tables; each ends with a case without a name. */
extern const explore_case *const all_cases[];

#endif
