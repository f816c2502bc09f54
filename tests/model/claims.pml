/* claims.pml - a lane: pushing, claiming, starting, and taking out of turn, over several laps of a slot.
 *
 * process / inline   models                                                  in src/pool
 * Producer, push     lane_push, one atomic operation a step                  lane.c
 * Claimer            serves with claims of up to two jobs                    worker.c claim_from, run_claim; lane_look
 * start              lane_start                                              lane.c
 * take_out           lane_take_out                                           lane.c
 * take_from_...      where lookers look: the lane, then the announced claims worker.c run_out_of_turn
 * Thief              an idle worker, takes any job of a claim                worker.c worker_steal
 * Waiter, await      waits for job 1's group and may run nothing else        worker.c sleep_for_group, worker_help
 *
 * The lane has two slots and three jobs, so that a slot serves two laps; state = 4 x lap + FREE 0, FULL 1, TAKEN 2,
 * as in lane.h. Job j stands at whatever position its producer wins; a slot's words are one variable, read before
 * the compare-and-swap and written between reserving and publishing.
 *
 * A claim of several is announced before head moves, and lookers go through the lane first and the claims after it:
 * a job moves from the lane to a claim, never back. A claim of one is started at once.
 *
 * Abstracted: the group's word (group.pml): a job's group is complete when it ran, and marking and waking are one
 * step each; a full lane makes a producer wait; the bitmap and the idle set (parking.pml).
 *
 * Checked: each job runs once, with its own words; nothing is written to a slot that is not free; an outdated head
 * is never the present one; all slots are free in the end; no process is left waiting, although
 *   - job 0 does not end before the Waiter has what it waits for: job 1, which may stand behind job 0 in one claim;
 *   - an urgent job that runs between two jobs of a claim waits for job 1, too.
 *
 * -DURGENT  with the urgent job.
 * -DTHIEF   with the thief; one producer pushes all.
 *
 * Faults: CLAIM_LATE (announced after head moved), CLAIMS_FIRST (looked at before the lane), WAY_FIRST (the urgent
 * job runs before the first of the claim is started), TAKEN_FREES (taking out frees the slot at once), START_BLIND
 * (start does not look whether the job is still there). */

#define JOBS  3
#define SLOTS 2
#define NONE  255

#define slot(position)            ((position) & 1)
#define free(position)            (((position) >> 1) * 4)
#define published(position)       (free(position) + 1)
#define taken(position)           (free(position) + 2)
#define next_lap(position)        (free(position) + 4)

byte state[SLOTS], words[SLOTS];
byte tail, head;
byte claim_first, claim_count;
bool ran[JOBS];
bool awaited, waiter_done;
bool waiting[2], woken_since[2];

inline wake_waiting() {
  d_step {
    if :: waiting[0] -> waiting[0] = false; woken_since[0] = true :: else fi;
    if :: waiting[1] -> waiting[1] = false; woken_since[1] = true :: else fi
  }
}

inline run_job() {
  assert(!ran[job]);
  if
  :: job == 0 && !stolen -> waiter_done /* asleep, until the waiter has ended */
  :: else
  fi;
  ran[job] = true;
  if
  :: job == 1 && awaited -> wake_waiting()
  :: else
  fi;
  job = NONE
}

inline push(number) {
  position = tail;
  do
  :: d_step { seen = state[slot(position)] };
     if
     :: seen < free(position) -> state[slot(position)] >= free(position) /* full: something else first */
     :: seen == free(position) ->
        d_step {
          if
          :: tail == position -> tail = position + 1; seen = NONE
          :: else -> position = tail
          fi
        };
        if
        :: seen == NONE -> break
        :: else
        fi
     :: else -> position = tail
     fi
  od;
  atomic { assert(state[slot(position)] == free(position)); words[slot(position)] = number };
  d_step {
    assert(state[slot(position)] == free(position));
    state[slot(position)] = published(position); position = 0; seen = 0
  };
  if
  :: number == 1 && awaited -> wake_waiting()
  :: else
  fi
}

proctype Producer(byte first, step) {
  byte number = first, position, seen;
  do
  :: number >= JOBS -> break
  :: else -> push(number); number = number + step
  od
}

/* Takes the job at `position` out, if it is `only` (or that is NONE); into `job`. */
inline take_out(only, position) {
  if
  :: state[slot(position)] == published(position) ->
     job = words[slot(position)];
     if
     :: only != NONE && job != only -> job = NONE
     :: else ->
        d_step {
          if
          :: state[slot(position)] == published(position) ->
#ifdef TAKEN_FREES
             state[slot(position)] = next_lap(position)
#else
             state[slot(position)] = taken(position)
#endif
          :: else -> job = NONE
          fi
        }
     fi
  :: else
  fi
}

inline take_from_lane(only) {
  position = head;
  end = tail;
  do
  :: position >= end -> break
  :: else ->
     take_out(only, position);
     if
     :: job != NONE -> break
     :: else -> position++
     fi
  od
}

/* The last first: its claimer comes to it last. */
inline take_from_claim(only) {
  d_step { position = claim_first; end = claim_first + claim_count };
  do
  :: end <= position -> break
  :: else ->
     end--;
     take_out(only, end);
     if
     :: job != NONE -> break
     :: else
     fi
  od
}

/* lane_start, into `job`. */
inline start(position) {
  job = words[slot(position)];
  d_step {
#ifdef START_BLIND
    state[slot(position)] = next_lap(position)
#else
    if
    :: state[slot(position)] == published(position) -> state[slot(position)] = next_lap(position)
    :: else -> seen = state[slot(position)]; job = NONE
    fi
#endif
  };
  if
  :: job == NONE -> assert(seen == taken(position)); state[slot(position)] = next_lap(position)
  :: else
  fi;
  seen = 0
}

/* worker_help begins by claiming: it moves head if what stands there is job 1, and starts it at once. */
inline claim_own() {
  position = head;
  if
  :: state[slot(position)] == published(position) && words[slot(position)] == 1 ->
     d_step {
       if
       :: head == position -> head = position + 1
       :: else -> position = NONE
       fi
     };
     if
     :: position != NONE -> start(position)
     :: else
     fi
  :: else
  fi;
  position = 0
}

inline await(me) {
  do
  :: ran[1] -> break
  :: else ->
     woken_since[me] = false;
     waiting[me] = true;
     awaited = true;
     if
     :: ran[1]
     :: else ->
        claim_own();
#ifdef CLAIMS_FIRST
        if :: job == NONE -> take_from_claim(1) :: else fi;
        if :: job == NONE -> take_from_lane(1) :: else fi;
#else
        if :: job == NONE -> take_from_lane(1) :: else fi;
        if :: job == NONE -> take_from_claim(1) :: else fi;
#endif
        atomic { position = 0; end = 0 };
        if
        :: job != NONE -> run_job()
        :: else -> woken_since[me]
        fi
     fi;
     waiting[me] = false
  od
}

proctype Waiter() {
  byte position, end, seen, job = NONE;
  bool stolen;
  await(1);
  waiter_done = true
}

proctype Thief() {
  byte position, end, job = NONE;
  bool stolen = true; /* on a thread of its own: nothing stands behind what it runs */
  take_from_claim(NONE);
  if
  :: job != NONE -> run_job()
  :: else
  fi
}

inline announce() {
  if
  :: count > 1 -> d_step { claim_first = first; claim_count = count }
  :: else
  fi
}

proctype Claimer() {
  byte position, end, job = NONE, first, count, i, seen;
  bool stolen, urgent = true;
  do
  :: true ->
again:
     /* lane_claim */
     first = head;
     count = 0;
     do
     :: count == 2 -> break
     :: else ->
        seen = state[slot(first + count)];
        if
        :: seen >= published(first + count) && seen <= taken(first + count) -> count++;
           if
           :: count == 1 -> break /* a fair part */
           :: true
           fi
        :: seen > taken(first + count) && count == 0 -> /* head was outdated */
           d_step { assert(head != first); first = head }
        :: else -> break
        fi
     od;
     seen = 0;
     if
     :: count == 0 ->
        first = 0;
end_idle:
        state[slot(head)] >= published(head) /* when to look again is the idle set's matter */
     :: else ->
#ifndef CLAIM_LATE
        announce();
#endif
        d_step {
          if
          :: head == first -> head = first + count; i = 0
          :: else -> i = NONE
          fi
        };
        if
        :: i == NONE -> d_step { claim_first = 0; claim_count = 0; count = 0; first = 0; i = 0 }; goto again
        :: else
        fi;
#ifdef CLAIM_LATE
        announce();
#endif
        do
        :: i == count -> break
        :: else ->
#ifdef URGENT
           if
#ifdef WAY_FIRST
           :: urgent -> urgent = false; await(0)
#else
           :: urgent && i > 0 -> urgent = false; await(0)
#endif
           :: true
           fi;
#endif
           start(first + i);
           if
           :: job != NONE -> run_job()
           :: else
           fi;
           i++
        od;
        atomic { claim_first = 0; claim_count = 0; count = 0; first = 0; i = 0 }
     fi
  od
}

proctype Monitor() {
  timeout;
  assert(ran[0] && ran[1] && ran[2] && waiter_done);
  assert(head == JOBS && tail == JOBS);
  assert(state[slot(3)] == free(3) && state[slot(4)] == free(4))
}

init {
  atomic {
#ifdef THIEF
    run Producer(0, 1);
#else
    run Producer(0, 2);
    run Producer(1, 2);
#endif
    run Waiter();
    run Claimer();
#ifdef THIEF
    run Thief();
#endif
    run Monitor()
  }
}
