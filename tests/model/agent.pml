/* agent.pml - agents that something happens to while frames run: the word, the hints, the rests of updates.
 *
 * process / inline   models                                                  in src
 * Injector, push     muster_agent_wake from another thread                   run/wakes.c wakes_push
 * Caller             frame after frame: intake, batch, run, commit           frame.c
 * intake             the deferred wakes, then the hints                      intake.c apply, apply_wakes; lifecycle.c
 * Worker             a team's member, as the Caller is while the frame runs  pool/team.c
 * work, take_next    woken agents, rests, claims of the batch                run/runner.c work_off, take_next
 * take_woken         wakes_pop, then wakes_begin or a note for the intake    run/runner.c admit_woken
 * run_atoms          an update of two atoms; between them it looks around, and     run/runner.c run_atoms, leave_rest
 *                    leaves its rest to others when agents were woken
 * commit_agent       drains the rests, ends the runs of woken agents, settles  run/runner.c runner_close; frame/settle.c
 *                    entries, defers the notes                               adopt_woken, settle_entry, merge_logs
 *
 * Every read-modify-write of a word is one step, and so are the counter of hints and the two halves of a push to
 * their ring: setting a position aside, and publishing it.
 *
 * Abstracted: the team is a gate (frame.pml): a worker that is inside keeps the frame from ending, none enters after
 * the close; claims are single entries; the ring of rests is a set; logs are bits; rings have room. The deadline may
 * pass at any reading of the clock, but not in the last three frames, which begin when the injectors have ended.
 *
 * Checked: one runner per agent; an agent is in a frame's batch once; in the end every event was followed by an
 * update that began after it, all words are IDLE, no hint is left and no update is unfinished.
 *
 * -DEVENTS and -DRACING (frames with injections and a deadline) say how many.
 *
 * Faults: NO_NOTIFIED (a wake of a running agent leaves the word alone), NOT_AGAIN (the commit makes IDLE of
 * NOTIFIED), PUSH_FIRST (the hint is pushed before the word says QUEUED), LOST_AT_CLOSE (hints that are left at the
 * close are dropped), REST_LOST (a rest that is left is dropped, and its agent with it), BEGIN_BLIND (a worker that
 * pops a hint runs the agent), DEFER_DROPPED (a noted wake is dropped and the word stays QUEUED), ABSORBED (the rest of
 * an update that was preempted before counts as the run for a wake), SETTLE_LATE (the intake leaves the word QUEUED
 * until the commit). */

#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef RACING
#define RACING 1 /* frames with injections and a deadline */
#endif
#define FINAL  3
#define AGENTS 2
#define HINTS  3
#define NONE   255

/* Words. */
#define IDLE     0
#define QUEUED   1
#define RUNNING  2
#define NOTIFIED 3

/* Status of a row. */
#define WAITING  0
#define READY    1
#define ADMITTED 2

/* Outcomes. */
#define NOT_RUN   0
#define PREEMPTED 1
#define FINISHED  2

byte word[AGENTS];
byte hints[HINTS];          /* agent + 1; 0 = not published */
byte tail, head;            /* modulo HINTS */
byte hint_count;            /* wakes.count */

byte status[AGENTS], outcome[AGENTS];
byte atom_next[AGENTS];     /* of an update that was preempted in an earlier frame */
byte result[AGENTS];        /* the same of this frame */
bool in_batch[AGENTS];      /* has an entry, of the batch or behind it */
bool woken[AGENTS];         /* the entry is behind the batch */
bool unclaimed[AGENTS];     /* a claim of the batch that no worker took */
bool rest[AGENTS];
bool logged[AGENTS], deferred[AGENTS]; /* wakes */

byte happened[AGENTS], seen[AGENTS];
bool running[AGENTS];
bool gate, racing, late, end_of_world;
byte inside;
byte injected;

inline push(agent) {
  hint_count++;
#ifdef PUSH_FIRST
  push_hint(agent);
#endif
  d_step {
    before = word[agent];
    if
    :: before == IDLE -> word[agent] = QUEUED
#ifndef NO_NOTIFIED
    :: before == RUNNING -> word[agent] = NOTIFIED
#endif
    :: else
    fi
  };
#ifndef PUSH_FIRST
  if
  :: before == IDLE -> push_hint(agent)
  :: else -> hint_count--
  fi;
#endif
  before = 0
}

inline push_hint(agent) {
  d_step { position = tail; tail = (tail + 1) % HINTS; assert(hints[position] == 0) };
  d_step { hints[position] = agent + 1; position = 0 }
}

inline pop_hint() {
  if
  :: d_step { hints[head] != 0 -> agent = hints[head] - 1; hints[head] = 0; head = (head + 1) % HINTS }; hint_count--
  :: else
  fi
}

proctype Injector(byte first) {
  byte before, position, agent = first;
  do
  :: injected == EVENTS -> break
  :: d_step { injected < EVENTS -> injected++; happened[agent]++ }; push(agent)
  od
}

/* Into `agent`: one to run now. */
inline take_woken() {
  do
  :: hint_count == 0 -> break
  :: else ->
     pop_hint();
     if
     :: agent == NONE -> break /* a producer is still writing */
#ifdef ABSORBED
     :: agent != NONE && status[agent] == ADMITTED ->
#else
     :: agent != NONE && (status[agent] == ADMITTED || atom_next[agent] > 0) ->
#endif
        d_step { logged[agent] = true; agent = NONE }
     :: else ->
        d_step {
#ifdef BEGIN_BLIND
          if
          :: true ->
#else
          if
          :: word[agent] == QUEUED ->
#endif
             word[agent] = RUNNING;
             assert(!in_batch[agent]);
             in_batch[agent] = true; woken[agent] = true; outcome[agent] = NOT_RUN; result[agent] = atom_next[agent]
          :: else -> agent = NONE
          fi
        };
        if
        :: agent != NONE -> break
        :: else
        fi
     fi
  od
}

inline take_next() {
  if
  :: !late -> take_woken()
  :: else
  fi;
  if
  :: agent == NONE && !late ->
     if
     :: d_step { rest[0] -> rest[0] = false; agent = 0 }
     :: d_step { rest[1] -> rest[1] = false; agent = 1 }
     :: else
     fi
  :: else
  fi;
  if
  :: agent == NONE ->
     if
     :: d_step { !late && unclaimed[0] -> unclaimed[0] = false; agent = 0 }
     :: d_step { !late && unclaimed[1] -> unclaimed[1] = false; agent = 1 }
     :: else
     fi
  :: else
  fi
}

inline run_atoms() {
  do
  :: d_step {
       assert(!running[agent] && in_batch[agent] && outcome[agent] != FINISHED && status[agent] <= ADMITTED);
       running[agent] = true;
       if
       :: result[agent] == 0 -> seen[agent] = happened[agent]
       :: else
       fi
     };
     d_step {
       running[agent] = false;
       result[agent] = result[agent] + 1;
       outcome[agent] = (result[agent] == 2 -> FINISHED : PREEMPTED);
       called_away = hint_count > 0
     };
     if
     :: racing && !late -> late = true
     :: true
     fi;
     if
     :: outcome[agent] == FINISHED -> break
     :: outcome[agent] != FINISHED && late -> break
     :: outcome[agent] != FINISHED && !late && called_away -> rest[agent] = true; break
     :: else
     fi
  od;
  atomic { agent = NONE; called_away = false }
}

inline work() {
  do
  :: take_next();
     if
     :: agent == NONE -> break
     :: else -> run_atoms()
     fi
  od
}

proctype Worker() {
  byte agent = NONE;
  bool called_away;
  do
  :: d_step { gate -> inside++ };
     work();
     inside--
  :: end_of_world -> break
  od
}

inline make_ready(which) {
#ifdef ABSORBED
  if
  :: status[which] == WAITING -> status[which] = READY
  :: else
  fi
#else
  if
  :: atom_next[which] > 0 -> deferred[which] = true
  :: atom_next[which] == 0 && status[which] == WAITING -> status[which] = READY
  :: else
  fi
#endif
}

#ifdef SETTLE_LATE
#define settle(which) before = word[which]
#else
#define settle(which) d_step { before = word[which]; word[which] = IDLE }
#endif

inline apply_deferred(which) {
  if
  :: deferred[which] -> settle(which); d_step { deferred[which] = false; before = 0; make_ready(which) }
  :: else
  fi
}

inline intake() {
  apply_deferred(0);
  apply_deferred(1);
  left = hint_count;
  do
  :: left == 0 -> break
  :: else ->
     left--;
     pop_hint();
     if
     :: agent == NONE -> left = 0
     :: else ->
        settle(agent);
        d_step {
          if
          :: before != IDLE -> make_ready(agent)
          :: else
          fi;
          before = 0; agent = NONE
        }
     fi
  od
}

/* A ready agent is admitted, and one that waits for its period may be released. */
inline admit(which) {
  if
  :: status[which] == READY || atom_next[which] > 0 || (racing && which == 0) ->
     d_step {
       status[which] = ADMITTED; in_batch[which] = true; outcome[which] = NOT_RUN; result[which] = atom_next[which];
       unclaimed[which] = true
     }
  :: racing || (status[which] == WAITING && atom_next[which] == 0)
  fi
}

inline commit_agent(which) {
#ifdef REST_LOST
  if
  :: rest[which] -> in_batch[which] = false
  :: else
  fi;
#endif
  rest[which] = false;
  if
  :: woken[which] ->
     status[which] = ADMITTED;
     d_step { before = word[which]; word[which] = IDLE; assert(before == RUNNING || before == NOTIFIED) };
     if
#ifndef NOT_AGAIN
     :: before == NOTIFIED -> push(which)
#endif
     :: else -> before = 0
     fi;
     woken[which] = false
  :: else
  fi;
#ifdef SETTLE_LATE
  d_step { if :: word[which] == QUEUED && in_batch[which] -> word[which] = IDLE :: else fi };
#endif
  d_step {
    if
    :: in_batch[which] && outcome[which] == FINISHED -> status[which] = WAITING; atom_next[which] = 0
    :: in_batch[which] && outcome[which] != FINISHED -> status[which] = READY; atom_next[which] = result[which]
    :: else
    fi;
    in_batch[which] = false; unclaimed[which] = false; outcome[which] = NOT_RUN; result[which] = 0;
#ifdef DEFER_DROPPED
    logged[which] = false
#else
    deferred[which] = deferred[which] || logged[which]; logged[which] = false
#endif
  }
}

proctype Caller() {
  byte frame, left, agent = NONE, before, position;
  bool called_away;
  do
  :: frame == RACING + FINAL -> break
  :: else ->
     if
     :: frame < RACING -> racing = true
     :: else -> racing = false; injected == EVENTS && _nr_pr == 3 /* the injectors have ended */
     fi;
     intake();
     admit(0);
     admit(1);
     d_step { late = false; gate = true };
     work();
     gate = false;
     inside == 0;
#ifdef LOST_AT_CLOSE
     do
     :: pop_hint();
        if
        :: agent == NONE -> break
        :: else -> word[agent] = IDLE; agent = NONE
        fi
     od;
#endif
     commit_agent(0);
     commit_agent(1);
     frame++
  od;
  end_of_world = true;
  assert(seen[0] == happened[0] && seen[1] == happened[1]);
  assert(word[0] == IDLE && word[1] == IDLE && hint_count == 0);
  assert(atom_next[0] == 0 && atom_next[1] == 0 && !deferred[0] && !deferred[1])
}

init {
  atomic {
    happened[0] = 1; /* an action atom of the frame before woke agent 0 */
    deferred[0] = true;
    run Caller();
    run Worker();
    run Injector(0);
    run Injector(1)
  }
}
