/* frame.pml - a frame calls for help, its claims are taken by ticket, the deadline closes it.
 *
 * process / inline   models                                                  in src
 * Caller             the frames' thread: stages 7 and 8 of each frame        frame.c stage_run
 * open_team          team_open, and its calls                                pool/team.c
 * call               team_call by a member: count, push, look back at `open` pool/team.c
 * close              `open` is cleared, then the entries are taken out       pool/team.c team_close
 * wait               worker_wait, asleep                                     pool/team.c team_wait
 * complete           group_complete, and the wake of the caller              pool/worker.c worker_complete
 * work               a claim by ticket and its run, then the clock           run/runner.c take_next, work_off
 * Worker             claims an entry or another job, joins the team, sleeps  pool/worker.c worker_run
 * Outside            another thread, pushes jobs of no team at any time      pool/jobs.c submit
 *
 * Abstracted: waking one worker is one step, and there is no bitmap (parking.pml); a claim by ticket is one step,
 * run at once (ticket.pml); entries and other jobs are claimed in either order, since jobs may be more urgent or
 * less; a claimed entry is not visible to the close, which may therefore miss it; the clock may pass the deadline at
 * any reading.
 *
 * Checked: of each frame every claim runs at most once, and exactly once when the deadline did not pass; when wait
 * has returned no worker is inside, none comes, and the team's memory may be used again; the frame ends although the
 * other jobs are so long that they end only after all frames, so that there may be no free worker; all jobs run; a
 * stop ends every worker.
 *
 * -DEARLY     with an early team, as frame.c opens and closes the two.
 * -DINSIDER   a worker inside the team calls for one more.
 * -DPUSHED    the other jobs are there from the beginning.
 * -DWORKERS, -DFRAMES, -DCLAIMS, -DLONG_JOBS (the others), -DHELPERS (that the caller calls) say how many.
 *
 * Faults: CLOSE_KEEPS (close takes no entries out), CLOSE_LEAVES (no wait after close), CALL_UNCHECKED (no look
 * back), COUNT_LATE (an entry is counted after its push), WAIT_MARK_FIRST (the caller marks the group before it
 * enters the set of waiters), STOP_SILENT. */

#ifndef HELPERS
#define HELPERS WORKERS
#endif

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef CLAIMS
#define CLAIMS 2
#endif
#ifndef FRAMES
#define FRAMES 1
#endif
#define ENTRIES 6 /* positions of the lane of calls */
#ifndef LONG_JOBS
#define LONG_JOBS 1
#endif
#define NONE 255

/* Slots of the lane of calls. */
#define EMPTY 0
#define FULL  1
#define TAKEN 2

#define bit_of(index) (1 << (index))

/* Teams: 0 is the run team, 1 the early one. */
byte count[2];
bool waited[2], opened[2];
byte inside[2];
bool live[2];           /* from open until wait has returned */

byte slot[ENTRIES];
bool early[ENTRIES];    /* the team of the entry */
byte tail, head;
byte jobs;              /* others that wait */
byte jobs_pushed, jobs_ran;

/* Tickets, of the run team and of the early one: each one word. */
byte ticket_count, ticket_next;
bool planning;          /* workers of the early team take only now */
byte ran[CLAIMS];       /* of this frame */
bool late;              /* the clock reads more than the deadline */

byte idle;
bool waiting;           /* the caller is in the set */
bool woken_since[WORKERS + 1];
bool over, stopping;
byte left;

#define CALLER WORKERS

inline wake_one() {
  d_step {
    if
    :: idle & 1 -> idle = idle & ~1; woken_since[0] = true
    :: !(idle & 1) && (idle & 2) -> idle = idle & ~2; woken_since[1] = true
    :: else
    fi
  }
}

inline complete(team, ended) {
  d_step {
    assert(live[team] && count[team] >= ended);
    count[team] = count[team] - ended;
    marked = false;
    if
    :: count[team] == 0 -> marked = waited[team]; waited[team] = false
    :: else
    fi
  };
  if
  :: marked ->
     d_step { marked = waiting; waiting = false };
     if
     :: marked -> d_step { woken_since[CALLER] = true; marked = false }
     :: else
     fi
  :: else
  fi
}

inline call(team) {
  if
  :: count[team] < WORKERS && opened[team] ->
     d_step { assert(live[team] && count[team] > 0); count[team] = count[team] + 1 };
     d_step { position = tail; tail = tail + 1; early[position] = team };
     slot[position] = FULL;
     wake_one();
#ifndef CALL_UNCHECKED
     if
     :: opened[team] -> position = NONE
     :: else ->
        d_step {
          if
          :: slot[position] == FULL -> slot[position] = TAKEN
          :: else -> position = NONE
          fi
        };
        if
        :: position != NONE -> position = NONE; complete(team, 1)
        :: else
        fi
     fi
#else
     position = NONE
#endif
  :: else
  fi
}

/* One claim, at once run, by the early team only while the frame is planned; one that is not the first is run only
 * before the deadline. */
inline take_and_run(team) {
  d_step {
    if
    :: (team == 0 || planning) && ticket_next < ticket_count -> number = ticket_next; ticket_next = number + 1
    :: else
    fi;
    if
    :: number != NONE && number != 0 && late -> number = NONE
    :: number != NONE && !(number != 0 && late) -> assert(live[team] && ran[number] == 0); ran[number] = 1
    :: else
    fi
  }
}

inline work(team) {
  do
  :: take_and_run(team);
     if
     :: number == NONE -> break
     :: else ->
        number = NONE;
        if
        :: late -> break
        :: !late -> late = true; break
        :: !late
        fi
     fi
  od
}

inline has_work() {
  found = jobs > 0 || (head < ENTRIES && (slot[head] == FULL || slot[head] == TAKEN))
}

proctype Worker(byte me) {
  byte position = NONE, number = NONE, entry = NONE;
  bool marked, found, pass_on, job, team;
#ifdef INSIDER
  bool called;
#endif
  do
  :: stopping -> break
  :: else ->
     if
     :: d_step { head < ENTRIES && (slot[head] == FULL || slot[head] == TAKEN) -> entry = head; head = head + 1 }
     :: d_step { jobs > 0 -> jobs--; job = true }
     :: else
     fi;
     if
     :: entry != NONE || job ->
        if
        :: pass_on -> pass_on = false; has_work();
           if
           :: found -> found = false; wake_one()
           :: else
           fi
        :: else
        fi
     :: else
     fi;
     if
     :: entry != NONE ->
        d_step { /* lane_start */
          if
          :: slot[entry] == FULL -> slot[entry] = EMPTY; team = early[entry]; early[entry] = false
          :: else -> slot[entry] = EMPTY; early[entry] = false; entry = NONE
          fi
        };
        if
        :: entry != NONE ->
           d_step { entry = NONE; assert(live[team]); inside[team] = inside[team] + 1 };
           work(team);
#ifdef INSIDER
           if
           :: me == 0 && !called && tail < ENTRIES -> called = true; call(team)
           :: true
           fi;
#endif
           inside[team] = inside[team] - 1;
           complete(team, 1);
           team = 0
        :: else
        fi
     :: job ->
        over; /* long: until all frames have ended */
        d_step { job = false; jobs_ran++ }
     :: else ->
        woken_since[me] = false;
        idle = idle | bit_of(me);
        has_work();
        if
        :: found || stopping
        :: else ->
end_asleep:
           d_step { woken_since[me] -> woken_since[me] = false }
        fi;
        atomic { found = false; pass_on = true };
        idle = idle & ~bit_of(me)
     fi
  od;
  left++
}

/* The caller's own calls need no look back. */
inline open_team(team) {
  d_step {
    assert(!live[team] && inside[team] == 0 && count[team] == 0 && !waited[team]); /* group_prepare overwrites it */
    live[team] = true; opened[team] = true
  }
  do
  :: end == HELPERS -> break
  :: else ->
#ifdef COUNT_LATE
     d_step { end++; early[tail] = team; slot[tail] = FULL; tail = tail + 1 };
     wake_one();
     count[team] = count[team] + 1
#else
     count[team] = count[team] + 1;
     d_step { end++; early[tail] = team; slot[tail] = FULL; tail = tail + 1 };
     wake_one()
#endif
  od;
  end = 0
}

inline close(team) {
  opened[team] = false;
#ifndef CLOSE_KEEPS
  if
  :: count[team] == 0
  :: else ->
     position = head;
     end = tail;
     do
     :: position >= end -> break
     :: else ->
        if
        :: d_step { slot[position] == FULL && early[position] == team -> slot[position] = TAKEN }; entries++
        :: else
        fi;
        position++
     od;
     atomic { position = NONE; end = 0 };
     if
     :: entries > 0 -> complete(team, entries); entries = 0
     :: else
     fi
  fi
#endif
}

inline wait(team) {
#ifndef CLOSE_LEAVES
  do
  :: count[team] == 0 -> break
  :: else ->
     woken_since[CALLER] = false;
#ifndef WAIT_MARK_FIRST
     waiting = true;
#endif
     if
     :: d_step { count[team] > 0 -> waited[team] = true }; marked = true
     :: else
     fi;
#ifdef WAIT_MARK_FIRST
     waiting = true;
#endif
     if
     :: marked -> d_step { woken_since[CALLER] -> woken_since[CALLER] = false; marked = false }
     :: else
     fi;
     waiting = false
  od;
#endif
  atomic { assert(inside[team] == 0 && count[team] == 0); live[team] = false }
}

proctype Caller() {
  byte position = NONE, number = NONE, entries, end, frames;
  bool marked;
  do
  :: frames == FRAMES -> break
  :: else ->
     d_step { late = false; ticket_next = 0; ticket_count = 0 };
#ifdef EARLY
     planning = true;
     ticket_count = 1;
     open_team(1);
     /* plans, and publishes */
     ticket_count = CLAIMS;
     planning = false;
     close(1);
#else
     ticket_count = CLAIMS;
#endif
     open_team(0);
     work(0);
     close(0);
     wait(0);
#ifdef EARLY
     wait(1);
#endif
     atomic { /* commit */
       assert(inside[0] + inside[1] == 0);
       assert(late || (ran[0] == 1 && ran[CLAIMS - 1] == 1));
       ran[0] = 0; ran[CLAIMS - 1] = 0
     };
     frames++
  od;
  atomic { over = true; frames = 0 };
  timeout; /* nothing moves any more */
  assert(jobs_ran == jobs_pushed && jobs == 0 && head == tail);
  stopping = true;
#ifndef STOP_SILENT
  d_step { woken_since[0] = true; woken_since[1] = true };
#endif
  left == WORKERS
}

proctype Outside() {
  do
  :: jobs_pushed == LONG_JOBS -> break
  :: else -> d_step { jobs_pushed++; jobs++ }; wake_one()
  od
}

init {
  atomic {
    run Caller();
    run Worker(0);
#if WORKERS == 2
    run Worker(1);
#endif
#ifdef PUSHED
    jobs = LONG_JOBS;
    jobs_pushed = LONG_JOBS
#else
    run Outside()
#endif
  }
}
