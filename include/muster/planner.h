/* muster/planner.h - planner mode: Muster decides which agents run, the host runs them. Not part of muster/muster.h.
 *
 * For hosts that cannot let a library call into them: scripts on one thread, a virtual machine with a heap of its own,
 * a job system that exists already. A frame is the same as in muster_frame_run(), but for its stage 7, run, which the
 * host does; nothing is called back, no thread is started, and everything that goes in or out is an array of structs
 * without pointers, laid out the same for every language.
 *
 *     muster_world_def def = muster_world_def_default();
 *     def.planner_workers = 1;                                  // the host runs updates on one thread
 *     ...                                                       // a type needs no atoms: name, period, levels
 *
 *     each frame of the host's loop:
 *       muster_plan_summary plan = muster_plan_summary_default();
 *       muster_plan(world, &(muster_frame){now_ns, budget_ns}, entries, CAPACITY, &plan);
 *       for (i = 0; i < plan.count && there is time: plan.run_ns since the call; i++) {  // the clock ends it
 *         bot *bot = bots[entries[i].user];                     // whatever the agent was spawned with
 *         run_script(bot, entries[i].elapsed_ns, entries[i].level);
 *         results[done++] = (muster_plan_result){.agent = entries[i].agent, .outcome = MUSTER_PLAN_FINISHED,
 *                                                .cost_ns = what it took, .moved = 1, .position = bot->position};
 *       }
 *       muster_plan_report(world, results, done);
 *
 * The host runs the entries in the order given or in any other, on as many threads as it likes, and as many of them as
 * it finds time for. It need not run any: an agent that is not reported stays due, keeps its age, and is planned again.
 *
 * A world is made for one of the two modes: with planner_workers its frames are planned and muster_frame_run() is
 * refused (MUSTER_E_STATE); without it, muster_plan() is refused. In a planner world
 *   - a type may leave atoms and atom_count out; then an update has muster_type_def.parts.count equal parts (default
 * 1), each of which is first assumed to cost part_ns. A type that has atoms has a part for each, whatever its role:
 * they are counted and their model_ns is charged, but they are never called;
 *   - sets have no atoms either: see `several rates` below;
 *   - published_bytes, messages.waiting_max, sends_max and spawns_max must be 0: they are for atoms. Messages between
 * bots are up to the host, and it spawns with muster_agent_spawn(). state_bytes may be used through
 * muster_agent_read();
 *   - the type's other callbacks, on_spawned, on_removed, models.cost_ns and models.importance, are called as in other
 *     worlds, on the thread of the frames when the world has no pool. A host that wants no calls at all leaves them
 *     null;
 *   - audit has nothing to measure and is ignored.
 *
 * Budget: the frame's budget_ns is wall time from the call of muster_plan() to the return of muster_plan_report(). The
 * host's clock ends the frame: it stops when run_ns have passed since muster_plan() returned. The plan names as many
 * entries as are believed to fit into what is left of the budget, times planner_workers: the sum of their mean costs
 * fills it (the first entry is named whatever it costs, so that even the longest update runs some time). Where costs
 * vary, such a sum is too small in half of all frames. A world with muster_world_def.planner.by_clock is for hosts that
 * look at a clock after each update: its plans name more than that, until the sum of the means passes the budget by
 * three standard deviations of it, and at least 64 entries while there is time; muster_plan_summary.fits says how many
 * are believed to fit. What was named and not run keeps its turn. Under the virtual clock run_ns is the capacity,
 * whatever planner_workers is, costs come from the types' models, what fits is named, and the same reports give the
 * same plans, bit for bit; a host that reports the models' costs, and finishes all entries, gets the schedule that
 * muster_frame_run() would have run.
 *
 * A host that is done early may plan once more at the same sim_now_ns with the rest of its budget: agents that did not
 * fit come then, and no agent runs twice. The report is of all plans of that time: counts and times are their sums,
 * pressure, utilisation and budget those of the first. In sums over time (muster_statistics) each plan counts as a
 * frame. A rest of less than 10 us plans nothing, and is no error: the plan is empty, and is reported like any other.
 *
 * Costs are best measured by muster_clock_thread_ns(), which leaves out what the kernel gave to other threads. A host
 * that has only a clock of the time that passes says so: muster_world_def.planner.by_wall.
 *
 * Several rates: a type whose agents do several things, each at a rate of its own, has sets (muster_type_def.sets) and
 * no atoms: each a name, a period_ns and a part_ns; all else of muster_set_def is as by default, but for
 * period_updates, which is 0. The type's period_ns is the shortest of theirs.
 *
 *     muster_set_def sets[] = {...};   // move 50 ms, look 200 ms, think 1 s; the type's period_ns is 50 ms
 *
 *       muster_plan(world, &frame, entries, CAPACITY, &plan);
 *       muster_plan_parts(world, entries, plan.count, parts, PARTS, &part_count);
 *       for (i = 0; i < part_count; i++)
 *         run_set(bots[entries[parts[i].entry].user], parts[i].set, parts[i].elapsed_ns);
 *
 * An agent is planned when the first of its sets is due, in one entry that says nothing of sets; muster_plan_parts()
 * does. Sets that will be due within a quarter of their period run along, so that the others seldom need an entry of
 * their own. Each set keeps its phase: its next due time is its last due time and a period, early or late as it ran,
 * and periods that it missed are skipped. What it is told of the time that passed adds up exactly. Sets of one agent
 * begin at random parts of their periods. Under load all periods of an agent stretch by the same factor, from period_ns
 * to period_max_ns of the type; other periods (muster_type_set_periods(), muster_agent_set_periods()) change those of
 * all sets in proportion, and muster_set_tune() changes one set's period_ns, which is the type's at least. An agent
 * that is woken, or asked for a time, runs all its sets, and those that were not due keep their due times.
 *
 * An update of such a type runs all parts of its entry or none: it is reported as finished, with what all of them cost,
 * or as not run, and cannot be continued. elapsed_ns of its entry is the time since any of its sets ran. Estimates are
 * of the whole entries of a type and level. Under the virtual clock the sets that are due are charged: each part_ns, or
 * what models.cost_ns says of the atom with the set's number and the set's elapsed_ns.
 *
 * Between the two calls any thread may spawn, remove, move, wake and tune as always; this is queued for the next plan.
 * A removed agent is gone at once, and no later plan names it; entries of the open plan are the host's, and a result
 * for a removed agent is accepted (see muster_agent_remove()). Calls that take effect at once (such as
 * muster_agents_move()) are refused with MUSTER_E_STATE; calls that only read, such as muster_agent_read(), are allowed
 * between the two calls, except for muster_agent_explain(), muster_trace_write() and muster/view.h. */
#ifndef MUSTER_PLANNER_H
#define MUSTER_PLANNER_H

#include <muster/muster.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_PLANNER_WORKERS_MAX 1024u

/* One update that is to be run. Fixed for good: hosts keep arrays of it. 64 bytes without gaps. */
typedef struct muster_plan_entry {
  muster_agent agent;
  uint64_t user;       /* the agent definition's user, as a number */
  uint64_t now_ns;     /* simulation time that this update brings its agent to; for a continued update, the time when it
                          began */
  uint64_t elapsed_ns; /* exactly the simulation time since the agent's last finished update (or its spawn) */
  uint64_t slice_ns;   /* the 95th percentile of what updates of its type and level cost, times what the agent costs
                          beside others where that is more; virtual clock: the model's cost. A host that can stop a
                          script in the middle stops it here */
  muster_type type;
  uint32_t level;      /* capability level: 0 = full decision-making, higher = cheaper */
  float importance;    /* 0..1 */
  uint32_t part_first; /* above 0: the entry continues an update that was stopped before this part */
  uint32_t part_end;   /* stop before this part: below the type's parts when no more fit (virtual clock only) */
  uint32_t delays;     /* frames in which the agent was due and did not run, modulo 256 */
} muster_plan_entry;

typedef enum muster_plan_outcome {
  MUSTER_PLAN_NOT_RUN = 0, /* as if not reported; its other fields are not looked at */
  MUSTER_PLAN_FINISHED,    /* the update is complete: its next one is a period away */
  MUSTER_PLAN_CONTINUED    /* stopped before part_next: it comes again, more urgent the further it got */
} muster_plan_outcome;

/* The result of one entry. Fixed for good, as above: 56 bytes without gaps. */
typedef struct muster_plan_result {
  muster_agent agent; /* as in the entry */
  uint64_t cost_ns;   /* time that this run took on one thread; at most 10 s. Plans learn from it, so 0 means that it
                         took no time */
  muster_position position; /* where it is now; counts when `moved` is not 0 */
  uint32_t outcome;         /* muster_plan_outcome */
  uint32_t part_next;       /* when continued: 1 .. the type's parts - 1, and not below the entry's part_first */
  uint32_t moved;  /* 0 or 1. When a world's first results give other positions and never 1, a warning is logged once */
  uint32_t unused; /* 0 */
} muster_plan_result;

/* One set of an entry that is to run. Fixed for good, as above: 16 bytes without gaps. */
typedef struct muster_plan_part {
  uint32_t entry;      /* its number in the array that was given */
  uint32_t set;        /* counted from 0 in the order of the type's definition */
  uint64_t elapsed_ns; /* exactly the simulation time since this set last ran (or the agent's spawn) */
} muster_plan_part;

/* The plan as a whole. */
typedef struct muster_plan_summary {
  uint32_t size;
  uint32_t count;  /* entries written */
  uint64_t run_ns; /* wall time from the return of muster_plan() in which the host should be done running, so that there
                      is time for the report as well. Virtual clock: total cost that it may run */
  uint64_t slices_ns; /* sum of slice_ns over the entries; where costs vary it is far more than they will take */
  uint32_t fits;      /* so many entries, from the first on, are believed to fit into run_ns; at most count */
} muster_plan_summary;

MUSTER_DEFAULTS(muster_plan_summary);

/* Plans one frame: intake, score, fold, fit, release and rank. Writes at most `capacity` entries (1 or more; the rest
 * stays due), in the order in which they are best run, and opens the frame, which lasts until muster_plan_report().
 * Errors change nothing: MUSTER_E_TIME and MUSTER_E_ARGUMENT as for muster_frame_run(), also when an array or the
 * summary is null; MUSTER_E_NOT_INITIALISED for a summary without size; MUSTER_E_STATE when the last plan was not
 * reported yet, or without planner_workers. When agents wait for nothing but room in the array, plan after plan, a
 * warning is logged once. Thread of the frames. O(agents that changed + released + entries). */
MUSTER_API muster_result muster_plan(muster_world *world, const muster_frame *frame, muster_plan_entry *entries,
                                     uint32_t capacity, muster_plan_summary *summary);

/* Writes which sets of each of these entries are to run: in the order of the entries, and of the definition within one.
 * `entries` are any of the open plan, in any order, such as those that the host is about to run; an entry of a type
 * without sets has no parts, each other one has at least one and at most as many as its type has sets. *count is how
 * many parts there are. MUSTER_E_FULL when these are more than `capacity`: nothing is written but *count.
 * MUSTER_E_ARGUMENT for an entry whose agent is not in the plan, or a null that is not an array of 0; MUSTER_E_STATE
 * without a plan. Reads only, and may be called any number of times between muster_plan() and muster_plan_report().
 * Thread of the frames, or any other that takes its place. O(entry_count + parts). */
MUSTER_API muster_result muster_plan_parts(const muster_world *world, const muster_plan_entry *entries,
                                           uint32_t entry_count, muster_plan_part *parts, uint32_t capacity,
                                           uint32_t *count);

/* Reports the results of the entries of the last plan, in any order, and ends its frame: takes positions, learns costs,
 * sets the next releases and fills the report that muster_frame_report_read() copies (there, update_cpu_ns is the sum
 * of the costs, longest_claim_ns the largest, and the stage run took as long as the host did between the calls). An
 * agent that is not among the results did not run and is carried; a count of 0 (results may be null then) means that no
 * agent ran; a warning is logged once when that is so plan after plan. Order makes no difference. Errors name the index
 * and the field, and change nothing; the frame stays open for a better report: MUSTER_E_ARGUMENT for an agent that is
 * not in the plan or comes twice, an outcome or a part out of range, more than 10 s, a position that is not finite or
 * out of range; MUSTER_E_STATE without a plan. Between plan and report only one thread at a time may call either, but
 * it need not be the same. O(count + entries). Thread of the frames, or any other that takes its place. */
MUSTER_API muster_result muster_plan_report(muster_world *world, const muster_plan_result *results, uint32_t count);

/* The clocks by which hosts time updates: the time that passes (CLOCK_MONOTONIC), by which frames end; and the CPU time
 * that the calling thread has used, which leaves out what the kernel gave to other threads. In nanoseconds since any
 * moment; some 0.03 and 0.4 us. Any thread. */
MUSTER_API uint64_t muster_clock_ns(void);
MUSTER_API uint64_t muster_clock_thread_ns(void);

#ifdef __cplusplus
}
#endif

#endif
