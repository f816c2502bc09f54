/* group.pml - a group's word { waited, followers, count }, those who wait for it, what follows it, and when its memory
 * may go. No worker is idle: what is pushed has to be run by those who wait.
 *
 * process   models
 * Runner 0  a worker inside job 0 of group G, which lets F0 (of group H) follow G
 * Runner 1  a worker inside job 1 of group G, which submits job 2 to G
 * Owner     lets F1 (of H) follow G, waits for G, then frees its memory
 * Second    the job of group K: waits for H, frees its memory, ends
 * Helper    waits for K and may help with jobs of some lane, where there is never one
 *
 * inline        models                                                         in src/pool
 * complete_job  group_complete (load, compare-and-swap), then worker_ask       worker.c worker_complete, group.c
 * follow        group_follow; a push at once when it is too late               jobs.c muster_job_submit_after
 * push_followers   the list, the earliest first                                worker.c worker_complete
 * push, ask     publish; look who awaits that group or any, take out, wake     worker.c worker_push, worker_ask
 * await         ticket, what is awaited, enter the set, mark the group, a      worker.c sleep_for_group; group.c
 *               last look, park_wait                                           group_await
 *
 * Every statement or d_step is one atomic operation of the code together with the local steps after it. The Owner
 * and the Second wait plainly: they run jobs of their own group only.
 *
 * Abstracted: lanes are flags of the three jobs, taken in one step (claims.pml); a parking's count and the ticket
 * drawn of it are one bit (parking.pml); the table of free nodes; spinning; that a waiter also runs what its group's
 * followers wait for (it could only help).
 *
 * Checked: the word reaches zero once, when all jobs of the group ended; each follower runs once, after that; nobody
 * touches a group's memory once somebody could know it complete; nobody is left waiting.
 *
 * -DHELP  with the Helper, and without Runner 1 and F1.
 * -DRACE  without job 2, so that G may complete before F1 follows it.
 *
 * Faults: TWO_STEPS (the count goes to zero first, the waited bit and the followers are taken after), MARK_FIRST (a
 * waiter marks the group before it enters the set), AWAITS_LATE (it says what it awaits after that), TICKET_LATE,
 * SILENT_PUSH (a push asks nobody), HELPER_INSTEAD (when somebody may take any job, nobody after it is asked),
 * FOLLOW_BLIND (follow does not look at the count), OWNED_BY_NOBODY (a push looks at the word of a group that
 * nothing keeps from completing). */

#define G 0
#define H 1
#define K 2

#define HELPER 0
#define SECOND 1
#define OWNER  2
#define NONE   255
#define ANY    3

#ifdef HELP
#define JOBS_OF_G 1
#elif defined(RACE)
#define JOBS_OF_G 2
#else
#define JOBS_OF_G 3
#endif

#define bit_of(index) (1 << (index))
#define lowest(bits)  ((bits & 1) -> 0 : ((bits & 2) -> 1 : 2))

byte count[3];
bool waited[3];
byte list[3];               /* index + 1 of the latest follower */
bool freed[3], complete[3];
byte next[2];               /* of the followers F0 and F1 */
byte waiting;
byte awaits[3] = NONE;      /* a group, or ANY */
bool woken_since[3];
bool in_lane[3];            /* F0, F1, job 2 */
byte ran[3];
byte ended;                 /* jobs of G */

inline touch(group) { assert(!freed[group]) }

/* worker_ask: looks through the set, at what each awaits, takes out those whom it concerns, and wakes them. */
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

inline push(what, group) {
  in_lane[what] = true;
#ifdef OWNED_BY_NOBODY
  d_step { touch(group); marked = waited[group] };
  if
  :: marked -> marked = false; ask(group)
  :: else
  fi
#elif !defined(SILENT_PUSH)
  ask(group)
#endif
}

/* Followers are fired the earliest first; there are two at most. */
inline complete_job(group) {
  do
  :: d_step { touch(group); seen_count = count[group]; seen_waited = waited[group]; seen_list = list[group] };
#ifdef TWO_STEPS
     d_step {
       touch(group);
       count[group] = count[group] - 1; complete[group] = count[group] == 0; seen_count = count[group] + 1
     };
     if
     :: seen_count > 1 -> d_step { seen_waited = false; seen_list = 0 }; break
     :: else ->
        d_step {
          touch(group);
          seen_waited = waited[group]; seen_list = list[group]; waited[group] = false; list[group] = 0
        };
        break
     fi
#else
     d_step {
       touch(group);
       if
       :: count[group] == seen_count && waited[group] == seen_waited && list[group] == seen_list ->
          assert(seen_count > 0);
          count[group] = seen_count - 1;
          if
          :: seen_count == 1 ->
             waited[group] = false; list[group] = 0;
             assert(!complete[group] && (group != G || ended == JOBS_OF_G));
             complete[group] = true
          :: else -> seen_waited = false; seen_list = 0
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

inline push_followers() {
  if
  :: seen_list && next[seen_list - 1] -> /* the other one is the earlier */
     assert(next[2 - seen_list] == 0);
     node = 2 - seen_list;
     push(node, H)
  :: else
  fi;
  if
  :: seen_list -> d_step { node = seen_list - 1; seen_list = 0 }; push(node, H)
  :: else
  fi;
  node = 0
}

/* When `after` is complete already, the job is pushed at once. Its group counts it from the beginning. */
inline follow(what) {
  d_step { touch(G); seen_count = count[G]; seen_waited = waited[G]; seen_list = list[G] };
  do
#ifndef FOLLOW_BLIND
  :: seen_count == 0 -> d_step { seen_waited = false; seen_list = 0 }; push(what, H); break
  :: seen_count != 0 ->
#else
  :: true ->
#endif
     next[what] = seen_list;
     d_step {
       touch(G);
       if
       :: count[G] == seen_count && waited[G] == seen_waited && list[G] == seen_list -> list[G] = what + 1; node = 1
       :: else -> seen_count = count[G]; seen_waited = waited[G]; seen_list = list[G]
       fi
     };
     if
     :: node == 1 -> atomic { node = 0; seen_count = 0; seen_waited = false; seen_list = 0 }; break
     :: else
     fi
  od
}

/* A job of the awaited group, from the lane. */
inline work_along(group) {
  if
  :: d_step { group == G && in_lane[2] -> in_lane[2] = false; node = 2 }
  :: d_step { group == H && in_lane[0] -> in_lane[0] = false; node = 0 }
  :: d_step { group == H && in_lane[1] -> in_lane[1] = false; node = 1 }
  :: else -> node = NONE
  fi
}

inline run_along(group) {
  d_step {
    assert(ran[node] == 0 && (group == G || complete[G]));
    ran[node] = 1;
    if :: group == G -> ended++ :: else fi;
    node = 0
  };
  complete_job(group);
  if
  :: group == G -> push_followers()
  :: else
  fi
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
        :: node != NONE -> run_along(group)
        :: else -> node = 0; woken_since[me]
        fi
     fi;
     marked = false;
     waiting = waiting & ~bit_of(me)
  od;
  assert(complete[group]);
  freed[group] = true
}

proctype Runner(byte which) {
  byte seen, index, seen_count, seen_list, node;
  bool seen_waited, marked;
  if
  :: which == 0 -> follow(0)
#ifdef RACE
  :: else
#else
  :: else -> d_step { touch(G); assert(count[G] > 0); count[G] = count[G] + 1 }; push(2, G)
#endif
  fi;
  ended++;
  complete_job(G);
  push_followers()
}

proctype Owner() {
  byte seen, index, seen_count, seen_list, node;
  bool seen_waited, marked;
#ifndef HELP
  follow(1);
#endif
  await(OWNER, G)
}

proctype Second() {
  byte seen, index, seen_count, seen_list, node;
  bool seen_waited, marked;
  await(SECOND, H);
  assert(ran[0] == 1 && (ran[1] == 1 || JOBS_OF_G == 1));
  complete_job(K)
}

proctype Helper() {
  byte seen, index, seen_count, seen_list, node;
  bool seen_waited, marked;
  await(HELPER, K)
}

init {
  atomic {
    count[K] = 1;
    run Runner(0);
    run Owner();
    run Second();
#ifdef HELP
    count[G] = 1;
    count[H] = 1;
    run Helper()
#else
    count[G] = 2;
    count[H] = 2;
    run Runner(1)
#endif
  }
}
