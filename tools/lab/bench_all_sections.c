/* The text of the sections of `muster bench all`. A line that begins with = is a pattern, and each that begins with +
 * behind it makes a line by it: $1 to $6 are its fields, which stand between @. */
#include "bench_all.h"

#include <stddef.h>

static const char *const machine[] = {NULL}; /* written from what is known of it */

/* What README.md begins with. */
static const char *const summary[] = {
    "- **It keeps the budget.** A million NPCs, 5,000 players, 10 ms at 30 Hz on two cores:\n",
    "  {fixed promise.kept_share|*100} % of the frames are on time, ",
    "and {fixed promise.budget_used_share|*100} % of the CPU given does their work.\n",
    "- **What players see stays alive.** When the budget holds half of the least that all NPCs want, one beside a\n",
    "  player runs every {sweep rows[rule=law,load=2.02].important.interval_ns|*1e-9} s, and a far one every ",
    "{sweep rows[rule=law,load=2.02].unimportant.interval_ns|*1e-9} s. By earlier rules both run every\n",
    "  {sweep rows[rule=papers,load=2.02].unimportant.interval_ns|*1e-9} to ",
    "{sweep rows[rule=papers,load=2.02].important.interval_ns|*1e-9} s.\n",
    "- **It answers at once.** When updates suddenly cost twice as much, frames are back at their target after\n",
    "  {=control responses.step_up.settle_frames} frames; the overshoot is ",
    "{=control responses.step_up.overshoot|*100|.1} %.\n",
    "- **It costs what runs, not what exists.** Scheduling an update takes {scale rows[agents=100000].ns_per_update} "
    "ns ",
    "among 100,000 NPCs;\n",
    "  a frame of a million in which nothing is due takes {scale rows[agents=1000000].idle_frame_ns|*1e-3} us.\n",
    "- **A herd far from everybody is one entry.** 1,073,741,824 animals take ",
    "{osborne scale[square=growing,agents=1073741824].one_worker_ms|large} ms of one core for a cycle.\n",
    NULL};

/* ----------------------------------------------------------------------------------------------------- virtual time */

static const char *const control[] = {
    "| what happens, at 2.5 times the budget | overshoot | frames to settle | frames depressed | swing |\n",
    "|---|---|---|---|---|\n",
    "=| $1 | {=control responses.$2.overshoot|*100|.1} % | {=control responses.$2.settle_frames} | "
    "{=control responses.$2.frames_depressed} | {=control responses.$2.swing|*100|.1} % |\n",
    "+every update costs twice as much@step_up",
    "+half as much@step_down",
    "+twice as much, where a frame has time for 30 updates@step_few",
    "+costs grow to three times within 60 frames@ramp",
    "+the host gives half of the budget@budget",
    "+one update takes 200 ms@spike",
    "+costs vary at random, by a factor of two and more@noise",
    NULL};

#define BUDGET_USED(contender)  "{=budget rows[shape=$2,contender=" contender "].used_share|*100|.1} % | "
#define BUDGET_RATIO(contender) "{=budget rows[shape=$2,contender=" contender "].ratio|.2} |"

static const char *const budget[] = {
    "| what updates cost | used: planner | library | sorted loop | staleness beside the sorted loop: planner | library "
    "| "
    "round robin |\n",
    "|---|---|---|---|---|---|---|\n",
    "=| $1 | " BUDGET_USED("plan") BUDGET_USED("library") BUDGET_USED("sorted")
        BUDGET_RATIO("plan") " " BUDGET_RATIO("library") " " BUDGET_RATIO("robin") "\n",
    "+all 20 us@equal",
    "+one in ten 155 us, by chance, others 5 us@chance",
    "+each tenth agent 150 us, others 5.6 us, of one type@members",
    "+log-normal, sigma 1.3@log-normal",
    "+one in 300 takes 20 ms, by chance, others 3 us@rare",
    "+each tenth agent 200 us, others 2 us, of one type@one-type",
    "+the same as two types@two-types",
    "+10 us, and 50 us for each second since the last update@elapsed",
    "+20 us, but the first update of all 20 ms@first-20",
    "+the same, 200 ms@first-200",
    "+20 us, while agents come@joining",
    "+20 us; the kernel takes two fifths of the processor@taken",
    NULL};

static const char *const activation[] = {
    "67 agents with periods of 4, 6 and 8 frames: highest frame over the mean\n",
    "{=activation worlds.composite-67.plain.peak|.2} without and ",
    "{=activation worlds.composite-67.planned.peak|.2} with it; 5,000 agents\n",
    "{=activation worlds.composite.plain.peak|.2} and {=activation worlds.composite.planned.peak|.4}. Letting an ",
    "agent wait again takes\n{activation reservations[].plain_ns} ns without and ",
    "{activation reservations[].planned_ns} ns with it, from 1,000 agents to a million.\n",
    NULL};

static const char *const wright[] = {
    "| version | agents | before anything is missed | theirs | overhead (wall clock, of the update's work) |\n",
    "|---|---|---|---|---|\n",
    "=| $1 | {=wright versions[$2].agents_before_degradation} | {=wright versions[$2].agents_before_first_miss} | $3 | "
    "$4 |\n",
    "+everything in every frame@name=naive@@",
    "+periods and delays, no manager (the AI time is chosen for this)@name=unscheduled@"
    "{=wright versions[name=unscheduled].published_agents}@",
    "+process manager@name=scheduled@@{wright versions[name=scheduled].overhead_share|*100} % (theirs: about 20 %)",
    "+process manager with activation delays of up to 2 frames@published_agents=169@"
    "{=wright versions[published_agents=169].published_agents}@"
    "{wright versions[published_agents=169].overhead_share|*100} %",
    "+Muster (ours): elastic periods as well@name=ours on 1 worker@@"
    "{wright versions[name=ours on 1 worker].overhead_share|*100} %",
    "+the same on two threads, each with as much time@name=ours on 2 workers@@",
    "+the same on four@name=ours on 4 workers@@",
    NULL};

#define RATIO(cpu, rule, what) "{$2 rows[crowd=$3,cpu=" cpu ",octaves=$4,rule=" rule "]." what "|.2}"
#define RATIOS(rule, what)                                                                                             \
  RATIO("0.6", rule, what)                                                                                             \
  ", " RATIO("0.3", rule, what) ", " RATIO("0.1", rule, what) ", " RATIO("0.03", rule, what) ", " RATIO("0.01", rule,  \
                                                                                                        what) " |"

static const char *const quality[] = {
    "| judge and crowd; 60, 30, 10, 3, 1 % of the CPU | what the longest wait costs | importance, k = 12 (default) | "
    "importance, k = 6 | square root | elastic | round robin | every k-th frame by distance |\n",
    "|---|---|---|---|---|---|---|---|\n",
    "=| k = $4: $1 | " RATIOS("importance", "wish_ratio") " " RATIOS("importance", "ratio") " " RATIOS(
        "importance-6", "ratio") " " RATIOS("square-root",
                                            "ratio") " " RATIOS("elastic",
                                                                "ratio") " " RATIOS("round-robin",
                                                                                    "ratio") " " RATIOS("distance",
                                                                                                        "ratio") "\n",
    "+one cost@=quality@uniform@12",
    "+costs 1 : 4 : 16@=quality@mixed@12",
    "+spawn file@quality-spawns@spawns@12",
    "+one cost, an observer for each 125@=quality@dense@12",
    "+the same, wish_part a third@=quality@patient@12",
    "+one cost@=quality@uniform@6",
    "+costs 1 : 4 : 16@=quality@mixed@6",
    "+spawn file@quality-spawns@spawns@6",
    "+one cost, an observer for each 125@=quality@dense@6",
    "+the same, wish_part a third@=quality@patient@6",
    NULL};

static const char *const sweep[] = {
    "| load | 0.3 | 0.48 | 1.04 | 2.02 | 3.93 | 7.66 | 12.34 |\n",
    "|---|---|---|---|---|---|---|---|\n",
    "=| $1 | {sweep rows[rule=$2,load=0.3].$3|*1e-9} s | {sweep rows[rule=$2,load=0.48].$3|*1e-9} s | "
    "{sweep rows[rule=$2,load=1.04].$3|*1e-9} s | {sweep rows[rule=$2,load=2.02].$3|*1e-9} s | "
    "{sweep rows[rule=$2,load=3.93].$3|*1e-9} s | {sweep rows[rule=$2,load=7.66].$3|*1e-9} s | "
    "{sweep rows[rule=$2,load=12.34].$3|*1e-9} s |\n",
    "+importance 0.9 and above, by the law (default): every@law@important.interval_ns",
    "+its period@law@important.period_ns",
    "+importance 0: every@law@unimportant.interval_ns",
    "+importance 0.9 and above, by the papers' rules@papers@important.interval_ns",
    "+importance 0@papers@unimportant.interval_ns",
    "\nFrom one of the 40 loads to the next, a tenth above it, the first row grows by "
    "{sweep law.growth_most|*100|.0} % at most, and\n",
    "that of the papers' rules by {sweep papers.growth_most|*100|.0} %.\n",
    NULL};

static const char *const zones[] = {
    "{=zones agents|.0} agents in each zone, on {=zones side_m|.0} x {=zones side_m|.0} m, walking at {=zones speed_m} "
    "m/s, ",
    "{=zones hz|.0} frames a second, the journals streamed;\n",
    "{=zones leaving} leave a zone in a second, a neighbour sees {=zones seen|.0}, and a snapshot is stored every ",
    "{=zones store_s} s.\n\n",
    "| zones | nodes | each server of NATS: messages a second | MB/s | of that ghosts | journals | snapshots | ",
    "what nodes tell, kB/s in and out | etcd: requests a second that change nothing | of that orders | changes | ",
    "MB/s in and out | keys of what crosses |\n",
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    "=| $1 | {=zones rows[zones=$2].nodes|.0} | {=zones rows[zones=$2].nats_messages|.0} | {=zones "
    "rows[zones=$2].nats_bytes|*1e-6} | "
    "{=zones rows[zones=$2].ghosts_bytes|*1e-6} | {=zones rows[zones=$2].journal_bytes|*1e-6} | "
    "{=zones rows[zones=$2].snapshot_bytes|*1e-6} | {=zones rows[zones=$2].nodes_bytes|*1e-3}, "
    "{=zones rows[zones=$2].nodes_out_bytes|*1e-3} | "
    "{=zones rows[zones=$2].etcd_reads|.0} | {=zones rows[zones=$2].orders|.0} | "
    "{=zones rows[zones=$2].etcd_changes|.0} | {=zones rows[zones=$2].etcd_bytes|*1e-6}, "
    "{=zones rows[zones=$2].etcd_out_bytes|*1e-6} | {=zones rows[zones=$2].keys_standing|.0} |\n",
    "+3@3",
    "+16@16",
    "+100@100",
    "+1,000@1000",
    "+10,000@10000",
    "\n| what there is only so much of | how much | lasts for zones |\n",
    "|---|---|---|\n",
    "=| $1 | {=zones ends[resource=$2].most|*$3|.0} $4 | {=zones ends[resource=$2].zones|.0} |\n",
    "+zones that a node's settings name@settings@1@",
    "+zones in the table of each node@table@1@",
    "+requests of etcd, measured here@etcd_requests@1@a second",
    "+bytes given to each server of NATS, measured here@nats_bytes@1e-6@MB/s",
    "+nodes in the table of each node@nodes@1@",
    "+messages given to each server of NATS, measured here@nats_messages@1@a second",
    "+files of each server of NATS, on a disk of so much@nats_kept@1e-9@GB",
    "+what etcd keeps of changes, as shipped@etcd_history@1e-6@MB/s",
    "+zones in an answer of `ctl zones`@list@1@",
    "+zones that ids can have@ids@1@",
    NULL};

/* ------------------------------------------------------------------------------------------------------- wall clock */

static const char *const slices[] = {
    "| | `muster run pathstorm` (sliced) | `muster run pathstorm-whole` (one atom) |\n",
    "|---|---|---|\n",
    "=| $1 | {pathstorm $2} $3 | {pathstorm-whole $2} $3 |\n",
    "+frames within the promise@promise.kept_share|*100@%",
    "+wall time of a frame, p99@wall_ns.p99|*1e-6@ms",
    "+longest atom, own time@longest_atom_ns|*1e-6@ms",
    "=| $1 | {pathstorm $2} | {pathstorm-whole $2} |\n",
    "+atoms over their limit of 0.5 ms@runaways.overruns",
    "+orders@world.orders",
    "+orders without an answer at the end@world.unanswered",
    "=| $1 | {pathstorm $2} s | {pathstorm-whole $2} s |\n",
    "+longest wait for an answer@world.longest_wait_s",
    NULL};

static const char *const rankin[] = {"| characters | level 0, ms | level 2, ms | level 3, ms |\n",
                                     "|---|---|---|---|\n",
                                     "=| $1 | {rankin stress[characters=$1,level=0].seconds_per_200_ticks|*1000} | "
                                     "{rankin stress[characters=$1,level=2].seconds_per_200_ticks|*1000} | "
                                     "{rankin stress[characters=$1,level=3].seconds_per_200_ticks|*1000} |\n",
                                     "+100",
                                     "+200",
                                     "+800",
                                     NULL};

#define SQUARES(square)                                                                                                \
  " {osborne scale[square=" square ",agents=$2].leaves|large} | {osborne scale[square=" square                         \
  ",agents=$2].one_worker_ms|large} | {osborne scale[square=" square ",agents=$2].all_workers_ms|large} |"

static const char *const osborne[] = {
    "| animals represented | 4 x 4 km (ours): leaves | ms, one worker | ms, all | where the ground grows with the "
    "herds ",
    "(ours): leaves | ms, one worker | ms, all |\n",
    "|---|---|---|---|---|---|---|\n",
    "=| $1 |" SQUARES("same") SQUARES("growing") "\n",
    "+65,536@65536",
    "+1,048,576@1048576",
    "+33,554,432@33554432",
    "=| $1 | | | |" SQUARES("growing") "\n",
    "+268,435,456@268435456",
    "+1,073,741,824@1073741824",
    "\nWithout level of detail, and without any scheduler, 65,536 take {osborne compare.without_simd_ms} ms eight at a "
    "time\n",
    "and {osborne compare.without_scalar_ms} ms one by one. Like with like, eight at a time, level of detail leaves\n",
    "{osborne compare.share_of_simd|*100} % of the CPU; beside a crowd one by one, as the paper's was, it is\n",
    "{osborne compare.share_of_scalar|*100} % (the paper: < 1 %). A folded herd takes "
    "{osborne bytes_per_folded_herd} bytes, an unfolded\n",
    "one {osborne bytes_per_unfolded_herd} beside its agents.\n",
    NULL};

static const char *const scale[] = {
    "| agents | overhead per update | frame in which nothing is due | score stage, 100 and 5,000 observers walking | "
    "scheduling memory per agent |\n",
    "|---|---|---|---|---|\n",
    "=| $1 | {scale rows[agents=$2].ns_per_update} ns | {scale rows[agents=$2].idle_frame_ns|*1e-3} us | "
    "{scale rows[agents=$2,observers=100].score_ns|*1e-3}, {scale rows[agents=$2,observers=5000].score_ns|*1e-3} us | "
    "{scale rows[agents=$2].bytes_per_agent} B |\n",
    "+1,000@1000",
    "+10,000@10000",
    "+100,000@100000",
    "+1,000,000@1000000",
    "\nSpawning takes {scale spawning[].spawn_ns|*1e-3} us for each agent, in shares of each frame's budget. Removing "
    "takes\n{scale spawning[].remove_ns|*1e-3} us, in the next frame.\n",
    NULL};

#define CORES(what)          " {cores rows[name=$2]." what "}"
#define WORKERS(count, what) CORES("workers[workers=" count "]." what) " |"
#define MODEL_OFF            CORES("workers[workers=2].model_off_by|*100|.1|large") " % |"
#define SPEEDUPS             WORKERS("8", "speedup|.1") WORKERS("64", "speedup|.1") WORKERS("256", "speedup|.1")
#define PESSIMISTIC          WORKERS("64", "pessimistic_speedup|.1")
#define MEASURED             WORKERS("1", "measured_ns_per_update") WORKERS("2", "measured_ns_per_update|large")

static const char *const cores[] = {
    "| a frame of | one worker, ns per update | two, measured | the model is off by | times as fast with 8 workers | ",
    "64 | 256 | 64, pessimistic | serial with 64, us |\n",
    "|---|---|---|---|---|---|---|---|---|\n",
    "=| $1 |" MEASURED MODEL_OFF SPEEDUPS PESSIMISTIC CORES("serial_ns|*1e-3|.0") " |\n",
    "+`fixed`, 7,000 updates of 1 us@fixed-1us-7k",
    "+`fixed`, 60,000 of 1 us@fixed-1us-60k",
    "+`fixed`, 7,000 of 5 us@fixed-5us-7k",
    "+`fixed`, 60,000 of 5 us@fixed-5us-60k",
    "+`wildlife`, 7,000@wildlife-7k",
    "+`wildlife`, 60,000@wildlife-60k",
    NULL};

static const char *const promise[] = {
    "| `muster run`, two workers | frames within the promise | CPU given that was used while work waited | ",
    "overhead, of the budget | longest wait from release to start | its bound |\n",
    "|---|---|---|---|---|---|\n",
    "=| $1 | {$2 promise.kept_share|*100} % | {$2 promise.budget_used_share|*100} % | "
    "{$2 overhead.budget_share|*100} % | {$2 wait.longest_ns|*1e-9} s | {$2 wait.bound_ns|*1e-9} s |\n",
    "+`fixed`: a million agents, updates of 5 us, 5,000 observers walking; 10 ms at 30 Hz@fixed",
    "+a real spawn file, {spawns agents} NPCs; 4 ms at 20 Hz@spawns",
    "+the same; 10 ms at 30 Hz@spawns-10ms",
    "+`hostile` 20,000; 10 ms at 30 Hz@hostile",
    "+`flashcrowd` 30,000; 10 ms at 30 Hz@flashcrowd",
    "+`wildlife` 50,000; 10 ms at 30 Hz@wildlife",
    "+`wildlife.lua` 100,000; 10 ms at 30 Hz@wildlife-lua",
    "+`townsfolk` 100,000; 10 ms at 30 Hz@townsfolk",
    "+`herd`, 1,048,576 deer, 50 observers; 5 ms at 30 Hz@herd",
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

static const char *const scripts[] = {
    "| 20,000 animals, each updated in each frame | an update: wall time, us | CPU, us | Muster's wall time is | and "
    "by CPU |\n",
    "|---|---|---|---|---|\n",
    "=| $1 | {scripts ways[way=$2].wall_ns|*1e-3} | {scripts ways[way=$2].cpu_ns|*1e-3} | "
    "{scripts ways[way=$2].muster_wall_share} | {scripts ways[way=$2].muster_cpu_share} of it |\n",
    "+`wildlife.lua` in Muster, two workers@muster",
    "+the scenario `wildlife` in Muster, two workers@c",
    "+`wildlife.lua` in one state on one thread, without limits of time; with Muster's pairs and caps@guarded",
    "+the same in raw Lua@raw",
    "\nAn empty update takes {scripts idle_c_ns} ns of CPU in C and {scripts idle_ns} ns in Lua.\n",
    NULL};

/* ------------------------------------------------------------------------------------------------------------ peers */

#define CELL(system) " {$2 rows[system=" system ",measure=$4,unit=$5].p50$6} |"
#define BOTH(system) CELL(system) CELL(system "-best")
#define NEITHER      " | |"
static const char *const replication[] = {
    "| how the host finds what a frame changed | us | times muster_frame_changes() |\n",
    "|---|---|---|\n",
    "=| $1 | {replication readers[way=$2].ns|*1e-3} | $3 |\n",
    "+muster_frame_changes(), and the positions of what it names@changes@1",
    "+a loop over the columns of all agents@columns@{replication readers[way=columns].times_changes}",
    "+a loop over all agents one by one@one-by-one@{replication readers[way=one-by-one].times_changes}",
    "\nKeeping the changes takes {replication added_ns|*1e-3} us of a frame of {replication frame_cpu_ns|*1e-3} us. "
    "Which of\n",
    "5,000 players is to be sent which of them takes {replication senders[way=grid].ns|*1e-3} us by a grid of the "
    "changes, and\n",
    "{replication senders[way=nearby].ns|*1e-3} us by a query around each player.\n",
    NULL};

static const char *const journal[] = {
    "| `wildlife` 100,000, two workers, 10 ms at 30 Hz | completed updates, of those without | bytes a frame | "
    "the fork's pause, p50 and max |\n",
    "|---|---|---|---|\n",
    "=| $1 | {journal rows[journal=$2].ratio|*100} % | {journal rows[journal=$2].bytes_per_frame|large} | "
    "{journal rows[journal=$2].pause_ns|*1e-6}, {journal rows[journal=$2].pause_max_ns|*1e-6} ms |\n",
    "+never synced@none",
    "+synced each second@second",
    "+synced each frame@frame",
    "\nA recovery of {journal recovery.frames|large} frames was predicted to take {journal "
    "recovery.predicted_ns|*1e-6} "
    "ms and took\n",
    "{journal recovery.took_ns|*1e-6} ms.\n",
    NULL};

#define VERDICT " {$2 rows[system=muster,measure=$4].against_best|verdict} |\n"

/* By the pool's whole jobs, and by its ranges. */
#define JOBS   "=| $1 | $3 |" CELL("muster") BOTH("tbb") BOTH("openmp") BOTH("glib") BOTH("libuv") VERDICT
#define RANGES "=| $1 | $3 |" CELL("muster") BOTH("tbb") BOTH("openmp") NEITHER NEITHER VERDICT

static const char *const dispatch[] = {
    "| measure, p50 | unit | Muster | oneTBB | at its best | OpenMP (GNU) | at its best | GLib | at its best | libuv "
    "| ",
    "at its best | Muster beside the best of all |\n",
    "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    JOBS,
    "+submit and run an empty job, of 100,000@dispatch@ns per job@submit@ns per job@",
    RANGES,
    "+parallel-for, grain 1, empty body@dispatch@ns per index@parallel-for@ns per index@",
    "=| $1 | $3 |" CELL("muster") NEITHER NEITHER NEITHER NEITHER " |\n",
    "+claim an update from the batch, chunk 8@dispatch@ns per update@claim@ns per update@",
    JOBS,
    "+submit until the second worker runs, 10 us apart@dispatch@us@start-warm@ns@|*1e-3",
    "+the same after 16 ms idle@dispatch@us@start-parked@ns@|*1e-3",
    "+frame test: 400 jobs of 5 us every 16 ms@dispatch@efficiency@efficiency-frame@efficiency@",
    "+the same: CPU beyond the work@dispatch@us per frame@frame-cpu@us per frame@",
    "+the same: CPU from its end to the next@dispatch@us per frame@frame-idle-cpu@us per frame@",
    "+CPU while idle@dispatch@percent@idle-cpu@percent@",
    "+20,000 jobs of 1 us one by one@dispatch@efficiency@efficiency-1us-jobs@efficiency@",
    RANGES,
    "+1 of 100 costs 100 times more, grain 16@dispatch@efficiency@efficiency-skewed@efficiency@",
    "=| $1 | $3 |" CELL("muster") BOTH("tbb") NEITHER BOTH("glib") NEITHER VERDICT,
    "+urgent job behind 100,000 of 5 us, from outside@priority@us@urgent-from-outside@us@",
    "+the same from inside a job@priority@us@urgent-from-inside@us@",
    "=| $1 | $3 |" CELL("muster") BOTH("tbb") NEITHER NEITHER NEITHER VERDICT,
    "+the same behind one large range@priority@us@urgent-behind-range@us@",
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
    {"summary", "In short", summary, NULL},
    {"control", "How frames answer", control, "control"},
    {"budget", "How much of its budget a frame uses", budget, NULL},
    {"activation", "Frames without peaks", activation, NULL},
    {"wright", "Wright & Marshall's process manager", wright, NULL},
    {"quality", "Whose updates are fresh", quality, "quality"},
    {"sweep", "No cliff", sweep, "sweep"},
    {"zones", "Zones on several machines", zones, "zones"},
    {"slices", "Slices", slices, NULL},
    {"rankin", "Rankin, Acton & Katchabaw: CPU of 200 ticks of 4 characters", rankin, NULL},
    {"osborne", "Osborne & Dickinson's herds", osborne, NULL},
    {"scale", "What scheduling costs", scale, "scale"},
    {"replication", "What clients must be told", replication, NULL},
    {"journal", "No frame lost", journal, NULL},
    {"cores", "More processors than there are", cores, "cores"},
    {"scripts", "Behaviours in Lua", scripts, NULL},
    {"promise", "The promise", promise, NULL},
    {"costs", "What else costs", costs, NULL},
    {"dispatch", "The worker pool beside others", dispatch, NULL},
    {NULL, NULL, NULL, NULL},
};
