/* The shapes of costs. */
#include "budget_run.h"

#define US 1000.0
#define MS 1000000u

const char *const budget_shapes[BUDGET_SHAPES][2] = {
    {"equal", "every update 20 us"},
    {"chance", "one update in ten 155 us, by chance, others 5 us"},
    {"members", "each tenth agent 150 us, others 5.6 us, all of one type"},
    {"log-normal", "log-normal with sigma 1.3, mean 20 us"},
    {"first-20", "20 us, but the first update of all 20 ms"},
    {"first-200", "20 us, but the first update of all 200 ms"},
    {"player-20", "2,000 agents at a tenth of the budget; a player comes, the first update at level 0 takes 20 ms"},
    {"player-200", "the same, and that update takes 200 ms"},
    {"short", "200 agents, 0.3 us, but the first update of all 200 ms"},
    {"rare", "one update in 300 takes 20 ms, by chance, others 3 us"},
    {"one-type", "each tenth agent 200 us, others 2 us, all of one type"},
    {"two-types", "the same, but cheap and dear agents have a type each"},
    {"elapsed", "10 us, and 50 us for each second since the last update"},
    {"joining", "every update 20 us; a tenth of the agents come at once in each of ten seconds"},
    {"step", "500 agents, 5 us, four frames a second: all are due in each"},
    {"taken", "every update 20 us; the kernel takes 4.4 ms of every 11 ms"},
    {"spawns",
     "the NPCs of --spawns with the periods of their kinds, and with costs of these means, log-normal with sigma "
     "1; what is important stands near the file's observers"},
    {"noise", "every update 20 us, beside a load that takes 4 ms of every 10 ms of each processor"},
};

const struct shape shape_costs[BUDGET_SHAPES] = {
    {.cost = COST_EQUAL, .cost_ns = 20 * US},
    {.cost = COST_CHANCE, .cost_ns = 5 * US, .dear_ns = 155 * US, .every = 10},
    {.cost = COST_MEMBERS, .cost_ns = 5.6 * US, .dear_ns = 150 * US, .every = 10},
    {.cost = COST_LOG, .cost_ns = 20 * US},
    {.cost_ns = 20 * US, .first_ns = 20 * MS, .seconds = 30, .from_start = true},
    {.cost_ns = 20 * US, .first_ns = 200 * MS, .seconds = 30, .from_start = true},
    {.cost_ns = 1 * US,
     .dear_ns = 20 * US,
     .first_ns = 20 * MS,
     .seconds = 30,
     .agents = 2000,
     .player = true,
     .groups = true,
     .told_only = true},
    {.cost_ns = 1 * US,
     .dear_ns = 20 * US,
     .first_ns = 200 * MS,
     .seconds = 30,
     .agents = 2000,
     .player = true,
     .groups = true,
     .told_only = true},
    {.cost_ns = 0.3 * US, .first_ns = 200 * MS, .seconds = 30, .agents = 200, .from_start = true},
    {.cost = COST_CHANCE, .cost_ns = 3 * US, .dear_ns = 20 * MS, .every = 300},
    {.cost = COST_MEMBERS, .cost_ns = 2 * US, .dear_ns = 200 * US, .every = 10, .groups = true},
    {.cost = COST_MEMBERS, .cost_ns = 2 * US, .dear_ns = 200 * US, .every = 10, .groups = true, .split = true},
    {.cost = COST_ELAPSED, .cost_ns = 10 * US, .dear_ns = 50 * US},
    {.cost_ns = 20 * US, .joining = true, .from_start = true, .told_only = true},
    {.cost_ns = 5 * US, .agents = 500, .hz = 4, .told_only = true},
    {.cost_ns = 20 * US, .taken_ns = 4400000, .taken_every_ns = 11 * MS, .told_only = true},
    {.cost = COST_KINDS, .told_only = true},
    {.cost_ns = 20 * US, .noise = true},
};
