/* parking.pml - which workers sleep, which are woken, and the bitmap of lanes that have something.
 *
 * process / inline   models                                                  in src/pool
 * Producer           a thread that submits jobs                              jobs.c submit
 * push               lane_push: reserve a position, publish it; the bitmap   worker.c worker_push, queue.c queue_push
 * wake_one           idle_take (a load, a fetch-and for each try), park_wake worker.c worker_wake_one, idle.h, park.h
 * Worker             a worker thread's life                                  worker.c worker_run, worker_sleep
 * serve              the lanes whose bits are set, a claim from one of them  worker.c worker_serve, claim
 * has_work           whether to pass on the wake (the second one that is
 *                    passed on is left out: it only wakes more)              worker.c pass_on_wake, queue_has_work
 * settle             clear a lane's bit, look at the lane, set the bit       queue.c queue_settle
 * Monitor            wakes all, drops what waits, joins, drops again         pool.c muster_pool_stop
 *
 * Every statement or d_step is one atomic operation of the code together with the local steps after it.
 *
 * Abstracted: a parking's count and the ticket drawn of it are one bit, "woken since the ticket was drawn" (the
 * count does not come round in between); a lane is a bounded queue whose head is looked at and claimed in one step,
 * one job at a time (claims.pml has its slots, laps and longer claims, and taking out); the futex; time: whether a
 * worker spins or sleeps is a matter of speed only.
 *
 * Checked: each job runs once, or is dropped by a stop; whenever nothing can move any more all jobs have run
 * (Monitor's timeout), so no wake is lost; a stop ends every worker, wherever it is.
 *
 * -DGANG   the job that starts first does not end before all others have run: no worker may sleep beside visible work.
 * -DSTOP   the pool is stopped at any moment.
 * -DAPART  each of two jobs has a lane of its own; else they share one.
 * -DQUIET  one producer wakes once behind all jobs, as a call of several workers does (team.c team_call).
 * -DYIELD  a worker may settle just before it runs a job, as a worker that yields does (worker.c note_fruitless).
 *
 * Faults: NO_SECOND_LOOK, TICKET_LATE (drawn after the last look), WAKE_EARLY (before publishing), IDLE_LATE (enters
 * the set after the last look), STOP_SILENT, STOP_UNSEEN (a worker does not look at `stopping` before it sleeps),
 * QUIET_ALL (no wake follows), PUSH_UNCHECKED (a push does not look at `stopping` after publishing), WAKE_KEPT (a worker that leaves the set by
 * itself does not pass on the wake that it may have got), SETTLE_MARKED with SETTLE_SILENT (a settling worker
 * looks only at lanes whose bits are set, and one that goes on with a job wakes none for what it found). */

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef JOBS
#define JOBS 3
#endif
#ifdef APART
#define LANES 2
#define lane_of(job) (job)
#else
#define LANES ((JOBS + 1) / 2)
#define lane_of(job) ((job) >> 1)
#endif
#define NONE  255
#ifdef QUIET
#define PRODUCERS 1
#else
#define PRODUCERS 2
#endif

#define at(lane, position)    ((lane) * JOBS + (position))
#define bit_of(index)         (1 << (index))
#define has(lane)             (head[lane] < JOBS && published[at(lane, head[lane])])
#define lowest(bits)          ((bits & 1) -> 0 : ((bits & 2) -> 1 : 2))

bool published[LANES * JOBS]; /* slots */
byte tail[LANES], head[LANES];
byte occupied, idle;
bool woken_since[WORKERS]; /* since the parking ticket was drawn */
bool stopping;
byte ran, dropped, left;   /* jobs, jobs, workers */

inline wake_one() {
  seen = idle;
  do
  :: seen == 0 -> break
  :: else ->
     d_step {
       index = lowest(seen);
       seen = seen & ~bit_of(index);
       if
       :: idle & bit_of(index) -> idle = idle & ~bit_of(index); seen = 0
       :: else -> index = NONE
       fi
     }
     if
     :: index != NONE -> d_step { woken_since[index] = true; index = NONE }; break
     :: else
     fi
  od
}

inline set_bit(lane) {
  if
  :: occupied & bit_of(lane)
  :: else -> occupied = occupied | bit_of(lane)
  fi
}

/* worker_drop of all lanes. */
inline drop() {
  do
  :: position == LANES -> break
  :: position < LANES && has(position) ->
     d_step {
       if
       :: has(position) -> head[position] = head[position] + 1; dropped++
       :: else
       fi
     }
  :: else -> position++
  od;
  position = 0
}

/* With QUIET, only the last push of a producer is followed by a wake. */
inline wake(job) {
#if defined(QUIET_ALL)
  skip
#elif defined(QUIET)
  if
  :: job + PRODUCERS >= JOBS -> wake_one()
  :: else
  fi
#else
  wake_one()
#endif
}

inline push(job) {
  d_step { position = tail[lane_of(job)]; tail[lane_of(job)] = position + 1 };
#ifdef WAKE_EARLY
  wake_one();
#endif
  published[at(lane_of(job), position)] = true;
  set_bit(lane_of(job));
#ifdef STOP
#ifndef PUSH_UNCHECKED
  if
  :: stopping -> position = 0; drop()
  :: else -> wake(job)
  fi
#endif
#elif !defined(WAKE_EARLY)
  wake(job)
#endif
}

/* One pushes jobs 0 and 2, the other job 1; with QUIET, one pushes all. */
proctype Producer(byte first) {
  byte job = first, position, seen, index = NONE;
  do
  :: job >= JOBS -> break
  :: else -> push(job); job = job + PRODUCERS
  od
}

inline settle() {
  atomic { settled = false; lane = 0 }
  do
  :: lane == LANES -> break
#ifdef SETTLE_MARKED
  :: lane < LANES && !(occupied & bit_of(lane)) -> lane++
  :: lane < LANES && (occupied & bit_of(lane)) ->
     occupied = occupied & ~bit_of(lane);
#else
  :: else ->
     if
     :: occupied & bit_of(lane) -> occupied = occupied & ~bit_of(lane)
     :: else
     fi;
#endif
#ifndef NO_SECOND_LOOK
     if
     :: has(lane) -> d_step { occupied = occupied | bit_of(lane); settled = true }
     :: else
     fi;
#endif
     lane++
  od;
  lane = 0
}

inline has_work() {
  atomic { bits = occupied; found = false };
  lane = 0;
  do
  :: lane == LANES -> break
  :: lane < LANES && !(bits & bit_of(lane)) -> lane++
  :: lane < LANES && (bits & bit_of(lane)) ->
     if
     :: has(lane) -> found = true; break
     :: else -> lane++
     fi
  od;
  atomic { lane = 0; bits = 0 }
}

inline serve() {
  atomic { bits = occupied; job = NONE };
  lane = 0;
  do
  :: lane == LANES -> break
  :: lane < LANES && !(bits & bit_of(lane)) -> lane++
  :: lane < LANES && (bits & bit_of(lane)) ->
     if
     :: d_step {
          has(lane) -> job = head[lane]; head[lane] = job + 1;
#ifndef GANG
          ran++
#endif
        };
        break
     :: else -> lane++
     fi
  od;
  atomic { lane = 0; bits = 0 }
}

inline run_job() {
#ifdef GANG
  d_step { gang = (ran == 0); ran++; job = NONE };
  if
  :: gang -> ran == JOBS; gang = false /* asleep, until the others have run */
  :: else
  fi
#else
  job = NONE
#endif
}

proctype Worker(byte me) {
  byte seen, index = NONE, bits, lane, job = NONE;
  bool found, settled, pass_on;
#ifdef GANG
  bool gang;
#endif
  do
  :: stopping -> break
  :: else ->
     serve();
     if
     :: job != NONE ->
        if
        :: pass_on -> pass_on = false; has_work();
           if
           :: found -> found = false; wake_one()
           :: else
           fi
        :: else
        fi;
#ifdef YIELD
        if
        :: true
        :: settle();
           if
#ifndef SETTLE_SILENT
           :: settled -> settled = false; wake_one()
#endif
           :: else -> settled = false
           fi
        fi;
#endif
        run_job()
     :: else ->
#ifndef TICKET_LATE
        woken_since[me] = false;
#endif
#ifndef IDLE_LATE
        idle = idle | bit_of(me);
#endif
        settle();
#ifdef TICKET_LATE
        woken_since[me] = false;
#endif
#ifdef IDLE_LATE
        idle = idle | bit_of(me);
#endif
        if
#ifdef STOP_UNSEEN
        :: settled -> skip
#else
        :: settled || stopping -> skip
#endif
        :: else ->
end_asleep:
           woken_since[me];
           pass_on = true
        fi;
#ifndef WAKE_KEPT
        pass_on = true;
#endif
        settled = false;
        idle = idle & ~bit_of(me)
     fi
  od;
  left++
}

proctype Monitor() {
  byte index, position;
  if
  :: timeout -> assert(ran == JOBS)
#ifdef STOP
  :: true
#endif
  fi;
  stopping = true;
#ifndef STOP_SILENT
  do
  :: index == WORKERS -> break
  :: else -> woken_since[index] = true; index++
  od;
#endif
  drop();
  left == WORKERS; /* threads_join */
  drop();
  timeout; /* the producers have ended */
  assert(ran + dropped == JOBS)
}

init {
  byte i;
  atomic {
    do
    :: i == WORKERS -> break
    :: else -> run Worker(i); i++
    od;
    i = 0;
    do
    :: i == PRODUCERS -> break
    :: else -> run Producer(i); i++
    od;
    run Monitor();
    i = 0
  }
}
