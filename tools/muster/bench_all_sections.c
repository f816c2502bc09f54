/* The text of the sections of `muster bench all`. */
#include "bench_all.h"

#include <stddef.h>

/* A line of a table: its title, then its cells. */
#define ROW(title, cells) "| " title " |" cells "\n"

static const char *const machine[] = {NULL}; /* written from what is known of it */

/* ----------------------------------------------------------------------------------------------------- virtual time */

#define RESPONSE(title, name)                                                                                          \
  ROW(title, " {=control responses." name ".overshoot|*100|.1} % | {=control responses." name                          \
             ".settle_frames} | {=control responses." name ".frames_depressed} | {=control responses." name            \
             ".swing|*100|.1} % |")

static const char *const control[] = {
    "| what happens, at 2.5 times the budget | overshoot | frames to settle | frames depressed | swing |\n",
    "|---|---|---|---|---|\n",
    RESPONSE("every update costs twice as much", "step_up"),
    RESPONSE("half as much", "step_down"),
    RESPONSE("twice as much, where a frame has time for 30 updates", "step_few"),
    RESPONSE("costs grow to three times within 60 frames", "ramp"),
    RESPONSE("the host gives half of the budget", "budget"),
    RESPONSE("one update takes 200 ms", "spike"),
    RESPONSE("costs vary at random, by a factor of two and more", "noise"),
    NULL};

static const char *const activation[] = {
    "67 agents with periods of 4, 6 and 8 frames: highest frame over the mean\n",
    "{=activation worlds.composite-67.plain.peak|.2} without and ",
    "{=activation worlds.composite-67.planned.peak|.2} with it; 5,000 agents\n",
    "{=activation worlds.composite.plain.peak|.2} and {=activation worlds.composite.planned.peak|.4}. Hanging an ",
    "agent back into its wheel takes\n{activation booking[].plain_ns} ns without and ",
    "{activation booking[].planned_ns} ns with it, from 1,000 agents to a million.\n",
    NULL};

#define VERSION(title, filter, theirs, overhead)                                                                       \
  ROW(title, " {=wright versions[" filter "].agents_before_degradation} | {=wright versions[" filter                   \
             "].agents_before_first_miss} | " theirs " | " overhead " |")
#define THEIRS(filter)   "{=wright versions[" filter "].published_agents}"
#define OVERHEAD(filter) "{wright versions[" filter "].overhead_share|*100} %"

static const char *const wright[] = {
    "| version | agents | before anything is missed | theirs | overhead (wall clock, of the update's work) |\n",
    "|---|---|---|---|---|\n",
    VERSION("everything in every frame", "name=naive", "", ""),
    VERSION("periods and delays, no manager (the AI time is chosen for this)", "name=unscheduled",
            THEIRS("name=unscheduled"), ""),
    VERSION("process manager", "name=scheduled", "", OVERHEAD("name=scheduled") " (theirs: about 20 %)"),
    VERSION("process manager with activation delays of up to 2 frames", "published_agents=169",
            THEIRS("published_agents=169"), OVERHEAD("published_agents=169")),
    VERSION("Muster (ours): elastic periods as well", "name=ours on 1 worker", "", OVERHEAD("name=ours on 1 worker")),
    VERSION("the same on two threads, each with as much time", "name=ours on 2 workers", "", ""),
    VERSION("the same on four", "name=ours on 4 workers", "", ""),
    NULL};

#define RATIO(step, crowd, octaves, cpu, rule, what)                                                                   \
  "{" step " rows[crowd=" crowd ",cpu=" cpu ",octaves=" octaves ",rule=" rule "]." what "|.2}"
#define RATIOS(step, crowd, octaves, rule, what)                                                                       \
  " " RATIO(step, crowd, octaves, "0.6", rule, what) ", " RATIO(step, crowd, octaves, "0.3", rule, what) ", " RATIO(   \
      step, crowd, octaves, "0.1", rule, what) ", " RATIO(step, crowd, octaves, "0.03", rule,                          \
                                                          what) ", " RATIO(step, crowd, octaves, "0.01", rule,         \
                                                                           what) " |"
#define CROWD(title, step, crowd, octaves)                                                                             \
  ROW(title,                                                                                                           \
      RATIOS(step, crowd, octaves, "importance", "wish_ratio") RATIOS(step, crowd, octaves, "importance", "ratio")     \
          RATIOS(step, crowd, octaves, "importance-6", "ratio") RATIOS(step, crowd, octaves, "square-root", "ratio")   \
              RATIOS(step, crowd, octaves, "elastic", "ratio") RATIOS(step, crowd, octaves, "round-robin", "ratio")    \
                  RATIOS(step, crowd, octaves, "distance", "ratio"))
#define CROWDS(octaves)                                                                                                \
  CROWD("k = " octaves ": one cost", "=quality", "uniform", octaves),                                                  \
      CROWD("k = " octaves ": costs 1 : 4 : 16", "=quality", "mixed", octaves),                                        \
      CROWD("k = " octaves ": spawn file", "quality-spawns", "spawns", octaves),                                       \
      CROWD("k = " octaves ": one cost, an observer for each 125", "=quality", "dense", octaves),                      \
      CROWD("k = " octaves ": the same, wish_part a third", "=quality", "patient", octaves)

static const char *const quality[] = {
    "| judge and crowd; 60, 30, 10, 3, 1 % of the CPU | what the longest wait costs | importance, k = 12 (default) | "
    "importance, k = 6 | square root | elastic | round robin | every k-th frame by distance |\n",
    "|---|---|---|---|---|---|---|---|\n", CROWDS("12"), CROWDS("6"), NULL};

#define SECONDS(rule, load, path) " {sweep rows[rule=" rule ",load=" load "]." path "|*1e-9} s |"
#define AT_LOADS(title, rule, path)                                                                                    \
  ROW(title,                                                                                                           \
      SECONDS(rule, "0.3", path) SECONDS(rule, "0.48", path) SECONDS(rule, "1.04", path) SECONDS(rule, "2.02", path)   \
          SECONDS(rule, "3.93", path) SECONDS(rule, "7.66", path) SECONDS(rule, "12.34", path))

static const char *const sweep[] = {
    "| load | 0.3 | 0.48 | 1.04 | 2.02 | 3.93 | 7.66 | 12.34 |\n",
    "|---|---|---|---|---|---|---|---|\n",
    AT_LOADS("importance 0.9 and above, by the law (default): every", "law", "important.interval_ns"),
    AT_LOADS("its period", "law", "important.period_ns"),
    AT_LOADS("importance 0: every", "law", "unimportant.interval_ns"),
    AT_LOADS("importance 0.9 and above, by the papers' rules", "papers", "important.interval_ns"),
    AT_LOADS("importance 0", "papers", "unimportant.interval_ns"),
    "\nFrom one of the 40 loads to the next, a tenth above it, the first row grows by "
    "{sweep law.growth_most|*100|.0} % at most, and\n",
    "that of the papers' rules by {sweep papers.growth_most|*100|.0} %.\n",
    NULL};

/* -------------------------------------------------------------------------------------------------------- wall clock
 */

#define STORM(title, path) ROW(title, " {pathstorm " path " | {pathstorm-whole " path " |")

static const char *const slices[] = {
    "| | `muster run pathstorm` (sliced) | `muster run pathstorm-whole` (one atom) |\n",
    "|---|---|---|\n",
    STORM("frames within the promise", "promise.kept_share|*100} %"),
    STORM("wall time of a frame, p99", "wall_ns.p99|*1e-6} ms"),
    STORM("longest atom, own time", "longest_atom_ns|*1e-6} ms"),
    STORM("atoms over their limit of 0.5 ms", "runaways.offences}"),
    STORM("orders", "world.orders}"),
    STORM("orders without an answer at the end", "world.unanswered}"),
    STORM("longest wait for an answer", "world.longest_wait_s} s"),
    NULL};

#define STRESS(characters, level)                                                                                      \
  " {rankin stress[characters=" characters ",level=" level "].seconds_per_200_ticks|*1000} |"
#define CHARACTERS(count) ROW(count, STRESS(count, "0") STRESS(count, "2") STRESS(count, "3"))

static const char *const rankin[] = {"| characters | level 0, ms | level 2, ms | level 3, ms |\n",
                                     "|---|---|---|---|\n",
                                     CHARACTERS("100"),
                                     CHARACTERS("200"),
                                     CHARACTERS("800"),
                                     NULL};

#define SQUARE(square, agents, measure) " {osborne scale[square=" square ",agents=" agents "]." measure "|large} |"
#define SQUARES(agents, square)                                                                                        \
  SQUARE(square, agents, "leaves") SQUARE(square, agents, "one_worker_ms") SQUARE(square, agents, "all_workers_ms")
#define ON_BOTH(title, agents) ROW(title, SQUARES(agents, "same") SQUARES(agents, "growing"))
#define GROWING(title, agents) ROW(title, " | | |" SQUARES(agents, "growing"))

static const char *const osborne[] = {
    "| animals represented | 4 x 4 km (ours): leaves | ms, one worker | ms, all | where the ground grows with the "
    "herds ",
    "(ours): leaves | ms, one worker | ms, all |\n",
    "|---|---|---|---|---|---|---|\n",
    ON_BOTH("65,536", "65536"),
    ON_BOTH("1,048,576", "1048576"),
    ON_BOTH("33,554,432", "33554432"),
    GROWING("268,435,456", "268435456"),
    GROWING("1,073,741,824", "1073741824"),
    "\nWithout level of detail, and without any scheduler, 65,536 take {osborne compare.without_simd_ms} ms eight at a "
    "time\n",
    "and {osborne compare.without_scalar_ms} ms one by one. Like with like, eight at a time, level of detail leaves\n",
    "{osborne compare.share_of_simd|*100} % of the CPU; beside a crowd one by one, as the paper's was, it is\n",
    "{osborne compare.share_of_scalar|*100} % (the paper: < 1 %). A folded herd takes "
    "{osborne bytes_per_folded_herd} bytes, an unfolded\n",
    "one {osborne bytes_per_unfolded_herd} beside its agents.\n",
    NULL};

#define SCALE(title, agents)                                                                                           \
  ROW(title, " {scale rows[agents=" agents "].ns_per_update} ns | {scale rows[agents=" agents                          \
             "].idle_frame_ns|*1e-3} us | {scale rows[agents=" agents                                                  \
             ",observers=100].score_ns|*1e-3}, {scale rows[agents=" agents                                             \
             ",observers=5000].score_ns|*1e-3} us | {scale rows[agents=" agents "].bytes_per_agent} B |")

static const char *const scale[] = {
    "| agents | overhead per update | frame in which nothing is due | score stage, 100 and 5,000 observers walking | "
    "scheduling memory per agent |\n",
    "|---|---|---|---|---|\n",
    SCALE("1,000", "1000"),
    SCALE("10,000", "10000"),
    SCALE("100,000", "100000"),
    SCALE("1,000,000", "1000000"),
    "\nSpawning takes {scale spawning[].spawn_ns|*1e-3} us for each agent and removing ",
    "{scale spawning[].remove_ns|*1e-3} us, in shares of each frame's budget.\n",
    NULL};

#define PROMISE(title, step)                                                                                           \
  ROW(title,                                                                                                           \
      " {" step " promise.kept_share|*100} % | {" step " promise.budget_used_share|*100} % | {" step                   \
      " overhead.budget_share|*100} % | {" step " wait.longest_ns|*1e-9} s | {" step " wait.bound_ns|*1e-9} s |")

static const char *const promise[] = {
    "| `muster run`, two workers | frames within the promise | CPU given that was used while work waited | ",
    "overhead, of the budget | longest wait from release to start | its bound |\n",
    "|---|---|---|---|---|---|\n",
    PROMISE("`fixed`: a million agents, updates of 5 us, 5,000 observers walking; 10 ms at 30 Hz", "fixed"),
    PROMISE("a real spawn file, {spawns agents} NPCs; 4 ms at 20 Hz", "spawns"),
    PROMISE("the same; 10 ms at 30 Hz", "spawns-10ms"),
    PROMISE("`hostile` 20,000; 10 ms at 30 Hz", "hostile"),
    PROMISE("`flashcrowd` 30,000; 10 ms at 30 Hz", "flashcrowd"),
    PROMISE("`wildlife` 50,000; 10 ms at 30 Hz", "wildlife"),
    PROMISE("`townsfolk` 100,000; 10 ms at 30 Hz", "townsfolk"),
    PROMISE("`herd`, 1,048,576 deer, 50 observers; 5 ms at 30 Hz", "herd"),
    NULL};

static const char *const costs[] = {
    "| what | figure |\n",
    "|---|---|\n",
    "| `fixed` as above with 10 observers, frames back to back, no audit: overhead, of the budget | ",
    "{fixed-alone overhead.budget_share|*100} % |\n",
    "| `wildlife` 100,000, 5 ms at 30 Hz, no audit: overhead per update, as the report estimates it | ",
    "{wildlife-alone overhead.ns_per_update} ns |\n",
    "| `muster bench machine`: threads that only read the clocks, late by at most 20 us; as an audit counts | ",
    "{machine within[limit_ns=20000].own_share|*100} %; {machine as_audited_share|*100} % |\n",
    "| `muster bench sets`: what sets cost over a list, per atom: 1 set of 1, 2 of 2, 4 of 4 | ",
    "{sets over_list[sets=1,atoms=1].over_list_ns_per_atom}, {sets over_list[sets=2,atoms=2].over_list_ns_per_atom}, ",
    "{sets over_list[sets=4,atoms=4].over_list_ns_per_atom} ns |\n",
    "| the same: a process manager over a plain loop that honours the same periods, atoms of 1, 3 us | ",
    "{sets scheduled[atom_ns=1000].overhead|*100}, {sets scheduled[atom_ns=3000].overhead|*100} % |\n",
    NULL};

/* ------------------------------------------------------------------------------------------------------------- peers
 */

#define CELL(step, system, measure, unit, factor)                                                                      \
  " {" step " rows[system=" system ",measure=" measure ",unit=" unit "].p50" factor "} |"
#define BOTH(step, system, ...) CELL(step, system, __VA_ARGS__) CELL(step, system "-best", __VA_ARGS__)
#define NEITHER                 " | |"
#define VERDICT(step, measure)  " {" step " rows[system=muster,measure=" measure "].against_best|verdict} |"

#define WITH_JOBS_AS(title, shown, measure, ...)                                                                       \
  ROW(title,                                                                                                           \
      " " shown " |" CELL("dispatch", "muster", measure, __VA_ARGS__) BOTH("dispatch", "tbb", measure, __VA_ARGS__)    \
          BOTH("dispatch", "openmp", measure, __VA_ARGS__) BOTH("dispatch", "glib", measure, __VA_ARGS__)              \
              BOTH("dispatch", "libuv", measure, __VA_ARGS__) VERDICT("dispatch", measure))
#define WITH_JOBS(title, measure, unit) WITH_JOBS_AS(title, unit, measure, unit, "")
#define WITH_STARTS(title, measure)     WITH_JOBS_AS(title, "us", measure, "ns", "|*1e-3")
#define WITH_RANGES(title, measure, unit)                                                                              \
  ROW(title, " " unit " |" CELL("dispatch", "muster", measure, unit, "") BOTH("dispatch", "tbb", measure, unit, "")    \
                 BOTH("dispatch", "openmp", measure, unit, "") NEITHER NEITHER VERDICT("dispatch", measure))
#define WITH_LEVELS(title, measure, unit)                                                                              \
  ROW(title, " " unit " |" CELL("priority", "muster", measure, unit, "") BOTH("priority", "tbb", measure, unit, "")    \
                 NEITHER BOTH("priority", "glib", measure, unit, "") NEITHER VERDICT("priority", measure))
#define WITH_TBB(title, measure, unit)                                                                                 \
  ROW(title, " " unit " |" CELL("priority", "muster", measure, unit, "") BOTH("priority", "tbb", measure, unit, "")    \
                 NEITHER NEITHER NEITHER VERDICT("priority", measure))
#define WITHOUT(title, measure, unit)                                                                                  \
  ROW(title, " " unit " |" CELL("dispatch", "muster", measure, unit, "") NEITHER NEITHER NEITHER NEITHER " |")

static const char *const dispatch[] = {
    "| measure, p50 | unit | Muster | oneTBB | at its best | OpenMP (GNU) | at its best | GLib | at its best | libuv "
    "| ",
    "at its best | Muster beside the best of all |\n",
    "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    WITH_JOBS("submit and run an empty job, of 100,000", "submit", "ns per job"),
    WITH_RANGES("parallel-for, grain 1, empty body", "parallel-for", "ns per index"),
    WITHOUT("claim an update from the batch, chunk 8", "claim", "ns per update"),
    WITH_STARTS("submit until the second worker runs, 10 us apart", "start-warm"),
    WITH_STARTS("the same after 16 ms idle", "start-parked"),
    WITH_JOBS("frame test: 400 jobs of 5 us every 16 ms", "efficiency-frame", "efficiency"),
    WITH_JOBS("the same: CPU beyond the work", "frame-cpu", "us per frame"),
    WITH_JOBS("the same: CPU from its end to the next", "frame-idle-cpu", "us per frame"),
    WITH_JOBS("CPU while idle", "idle-cpu", "percent"),
    WITH_JOBS("20,000 jobs of 1 us one by one", "efficiency-1us-jobs", "efficiency"),
    WITH_RANGES("1 of 100 costs 100 times more, grain 16", "efficiency-skewed", "efficiency"),
    WITH_LEVELS("urgent job behind 100,000 of 5 us, from outside", "urgent-from-outside", "us"),
    WITH_LEVELS("the same from inside a job", "urgent-from-inside", "us"),
    WITH_TBB("the same behind one large range", "urgent-behind-range", "us"),
    "\nThe machine itself: after 16 ms idle a bare futex takes ",
    "{dispatch rows[system=futex,measure=start-parked].p50|*1e-3} us, and\n",
    "{dispatch rows[system=futex-pin,measure=start-parked].p50|*1e-3} us between two processors. The frame test "
    "gives\n",
    "{dispatch rows[system=split,measure=efficiency-frame].p50} by a static split over threads that never sleep, and\n",
    "{dispatch rows[system=unpinned,measure=efficiency-frame].p50} with Muster's workers unpinned ",
    "(`MUSTER_AFFINITY_NONE`). The caller alone\n",
    "uses {dispatch rows[system=alone,measure=frame-idle-cpu].p50} us of CPU between two frames.\n",
    NULL};

const all_section all_sections[] = {
    {"machine", "Machine", machine, NULL},
    {"control", "How frames answer", control, "control"},
    {"activation", "Frames without peaks", activation, NULL},
    {"wright", "Wright & Marshall's process manager", wright, NULL},
    {"quality", "Whose updates are fresh", quality, "quality"},
    {"sweep", "No cliff", sweep, "sweep"},
    {"slices", "Slices", slices, NULL},
    {"rankin", "Rankin, Acton & Katchabaw: CPU of 200 ticks of 4 characters", rankin, NULL},
    {"osborne", "Osborne & Dickinson's herds", osborne, NULL},
    {"scale", "What scheduling costs", scale, "scale"},
    {"promise", "The promise", promise, NULL},
    {"costs", "What else costs", costs, NULL},
    {"dispatch", "The worker pool beside others", dispatch, NULL},
    {NULL, NULL, NULL, NULL},
};
