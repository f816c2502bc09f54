/* group.pml - a group's word { waited, count }, its waiters, and when its memory may go. No worker is idle: the waiters
 * have to run what is pushed.
 *
 * process   models
 * Runner 0  a worker inside job 0 of group G
 * Runner 1  a worker inside job 1 of group G, which submits job 2 to G
 * Owner     the job of group K: waits for G, then frees its memory, and ends
 * Helper    waits for K and may help with jobs of some lane, where there is never one
 *
 * inline        models                                                         in src/pool
 * complete_job  group_complete (load, compare-and-swap), then worker_ask       worker.c worker_complete, group.c
 * push, ask     publish; find waiters for that group or any, take out, wake    worker.c worker_push, worker_ask
 * await         ticket, what is awaited, enter the set, mark the group, a      worker.c sleep_for_group; group.c
 *               last look, park_wait                                           group_await
 *
 * Every statement or d_step is one atomic operation of the code together with the local steps after it. The Owner
 * waits plainly: it runs jobs of its own group only.
 *
 * Abstracted: the lane is a flag of job 2, taken in one step (claims.pml); a parking's count and the ticket drawn of
 * it are one bit (parking.pml); spinning.
 *
 * Checked: the word reaches zero once, when all jobs of the group ended; each job runs once; no process touches
 * a group's memory once another could know it complete; none is left waiting.
 *
 * -DHELP  with the Helper.
 *
 * Faults: TWO_STEPS (the count goes to zero first, the waited bit is taken after), MARK_FIRST (a waiter marks the group
 * before it enters the set), AWAITS_LATE (it says what it awaits after that), TICKET_LATE, SILENT_PUSH (a push asks
 * no waiter), HELPER_INSTEAD (when a waiter may take any job, none after it is asked). */

#define G 0
#define K 1

#define HELPER 0
#define OWNER  1
#define NONE   255
#define ANY    3

#define JOBS_OF_G 3

#define bit_of(index) (1 << (index))
#define lowest(bits)  ((bits & 1) -> 0 : 1)

byte count[2];
bool waited[2];
bool freed[2], complete[2];
byte waiting;
byte awaits[2] = NONE;      /* a group, or ANY */
bool woken_since[2];
bool in_lane;               /* job 2 */
bool ran;                   /* job 2 */
byte ended;                 /* jobs of G */

inline touch(group) { assert(!freed[group]) }

/* worker_ask: looks through the set at what each waiter awaits, takes out those that it concerns, and wakes them. */
inline ask(group) {
  seen = waiting;
  do
  :: seen == 0 -> break
  :: else ->
     d_step { index = lowest(seen); seen = seen & (seen - 1); marked = awaits[index] == ANY || awaits[index] == group };
     if
     :: marked ->
        d_step {
          if
          :: waiting & bit_of(index) -> waiting = waiting & ~bit_of(index)
          :: else -> marked = false
          fi
        };
        if
        :: marked -> d_step { woken_since[index] = true; marked = false }
#ifdef HELPER_INSTEAD
           if
           :: awaits[index] == ANY -> seen = 0
           :: else
           fi
#endif
        :: else
        fi
     :: else
     fi
  od;
  index = 0
}

inline push(group) {
  in_lane = true;
#ifndef SILENT_PUSH
  ask(group)
#endif
}

inline complete_job(group) {
  do
  :: d_step { touch(group); seen_count = count[group]; seen_waited = waited[group] };
#ifdef TWO_STEPS
     d_step {
       touch(group);
       count[group] = count[group] - 1; complete[group] = count[group] == 0; seen_count = count[group] + 1
     };
     if
     :: seen_count > 1 -> seen_waited = false; break
     :: else ->
        d_step {
          touch(group);
          seen_waited = waited[group]; waited[group] = false
        };
        break
     fi
#else
     d_step {
       touch(group);
       if
       :: count[group] == seen_count && waited[group] == seen_waited ->
          assert(seen_count > 0);
          count[group] = seen_count - 1;
          if
          :: seen_count == 1 ->
             waited[group] = false;
             assert(!complete[group] && (group != G || ended == JOBS_OF_G));
             complete[group] = true
          :: else -> seen_waited = false
          fi;
          seen_count = 0
       :: else -> seen_count = NONE
       fi
     };
     if
     :: seen_count != NONE -> break
     :: else
     fi
#endif
  od;
  seen_count = 0;
  if
  :: seen_waited -> seen_waited = false; ask(group)
  :: else
  fi
}

/* A job of the awaited group, from the lane. */
inline work_along(group) {
  if
  :: d_step { group == G && in_lane -> in_lane = false; found = true }
  :: else -> found = false
  fi
}

inline run_along(group) {
  d_step { assert(!ran); ran = true; ended++; found = false };
  complete_job(group)
}

inline enter(me, group) {
#ifndef AWAITS_LATE
  awaits[me] = (group == K -> ANY : group);
#endif
  waiting = waiting | bit_of(me)
}

inline mark(group) {
  if
  :: d_step { count[group] > 0 -> waited[group] = true }; marked = true
  :: else -> marked = false
  fi
}

inline await(me, group) {
  do
  :: count[group] == 0 -> break
  :: else ->
#ifndef TICKET_LATE
     woken_since[me] = false;
#endif
#ifdef MARK_FIRST
     mark(group);
     enter(me, group);
#else
     enter(me, group);
     mark(group);
#endif
#ifdef AWAITS_LATE
     awaits[me] = (group == K -> ANY : group);
#endif
     if
     :: !marked
     :: else ->
        work_along(group);
#ifdef TICKET_LATE
        woken_since[me] = false;
#endif
        if
        :: found -> run_along(group)
        :: else -> woken_since[me]
        fi
     fi;
     marked = false;
     waiting = waiting & ~bit_of(me)
  od;
  assert(complete[group]);
  freed[group] = true
}

proctype Runner(byte which) {
  byte seen, index, seen_count;
  bool seen_waited, marked;
  if
  :: which == 1 -> d_step { touch(G); assert(count[G] > 0); count[G] = count[G] + 1 }; push(G)
  :: else
  fi;
  ended++;
  complete_job(G)
}

proctype Owner() {
  byte seen, index, seen_count;
  bool seen_waited, marked, found;
  await(OWNER, G);
  assert(ran);
  complete_job(K)
}

proctype Helper() {
  byte seen, index, seen_count;
  bool seen_waited, marked, found;
  await(HELPER, K)
}

init {
  atomic {
    count[G] = 2;
    count[K] = 1;
    run Runner(0);
    run Runner(1);
    run Owner();
#ifdef HELP
    run Helper()
#endif
  }
}
