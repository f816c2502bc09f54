#include "cases.h"

const explore_case *const all_cases[] = {
    lane_cases,       queue_cases,       sleep_cases,   group_cases,    worker_cases,   jobs_cases,
    team_cases,       range_cases,       ring_cases,    ticket_cases,   identity_cases, wakes_cases,
    partitions_cases, spawn_queue_cases, strands_cases, removals_cases, NULL,
};
