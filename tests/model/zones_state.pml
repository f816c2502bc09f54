/* zones_state.pml - the state of zones.pml, and what changes it for its variants and faults. */

#ifndef HOPS
#define HOPS 4
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef PAUSES
#define PAUSES 1
#endif
#ifndef LOST
#define LOST 1
#endif

#define PAUSED   3
#define MESSAGES 5 /* of a pair, that count */

#define next_of(zone)     (((zone) + 1) % 3)
#define before(zone)      (((zone) + 2) % 3)
#define message(pair, at) sent[(pair) * MESSAGES + (at)]
#define least(a, b)       ((a) < (b) -> (a) : (b))

typedef World {
  unsigned here : 3;               /* 0 = the agent is not here, else its hop + 1 */
  unsigned mark : 3;               /* the hop with which it left */
  unsigned waits : 3, waits_2 : 3; /* departures without an answer, as hops */
  unsigned told : 3, taken : 3;    /* positions: of what was sent, as far as it knows; of what it has taken */
  bit died
};

#define copy(to, from) \
  to.here = from.here; to.mark = from.mark; to.waits = from.waits; to.waits_2 = from.waits_2; \
  to.told = from.told; to.taken = from.taken; to.died = from.died
#define clear(of) \
  of.here = 0; of.mark = 0; of.waits = 0; of.waits_2 = 0; of.told = 0; of.taken = 0; of.died = false
#define differ(a, b) (a.here != b.here || a.mark != b.mark || a.waits != b.waits || a.waits_2 != b.waits_2 || \
                      a.told != b.told || a.taken != b.taken || a.died != b.died)

World world[4];  /* of an owner, and on its node's disk */
World stored[3]; /* from which a zone comes back on another node: the noted version, and its chunks that are kept */

mtype = { FREE, RESTORES, READS, RUNS, OVER };
mtype stage[4];
byte zone_of[4], epoch[4];
byte number[4]; /* of its epoch's last message that was answered */
bool asked[4];  /* the next one is put, and has no answer */

bool on_disk[3];                    /* the zone's next owner has the node's disk */
byte lease[3];                      /* the epoch of who has it */
byte pair_epoch[3], pair_number[3]; /* how far messages to the next zone have counted */
byte sent[3 * MESSAGES], count[3];  /* what crosses, and counts: hops */
byte crashes = CRASHES, pauses = PAUSES, lost = LOST;
#ifdef MOVES
byte moves = MOVES;
#endif

hidden byte hop, end, z;

/* All 0: what an assertion says. */
hidden byte agent_runs_in_one_zone, agent_is_in_one_journal, agent_is_there, agent_stays_dead, nobody_waits,
  departure_counts_once, later_owner_only;

#define runs(i)         (stage[i] == RUNS)
#define pauses_in(zone) (stage[PAUSED] != OVER && zone_of[PAUSED] == (zone))

/* --------------------------------------------------------------------------------------------- the journal's stream */

#ifdef STREAM
World loose[3];                     /* with the next chunk, which one server has */
bool is_loose[3];                   /* there is one */
byte covered_out[3], covered_in[3]; /* the positions that the note tells */
bool records[4];                    /* its last frame is in no chunk yet */
byte safe[4];                       /* so many of the departures that wait are in kept chunks, or in the version */

/* Of the versions that an owner has stored. */
#define NO_VERSION    0 /* none is noted, as far as it knows */
#define NOTED_VERSION 1 /* the last is the note's */
#define PAST_VERSION  2 /* it was, and the owner does not know that there is a later one */
byte version[4];

#define is_kept(departure, by) ((departure) != 0 && ((departure) == by.waits || (departure) == by.waits_2))
#define kept_departures(i, zone) (is_kept(world[i].waits, stored[zone]) + is_kept(world[i].waits_2, stored[zone]))
#define covers_out(zone) covered_out[zone]
#define covers_in(zone)  covered_in[zone]
#else
#define covers_out(zone) stored[zone].told
#define covers_in(zone)  stored[zone].taken
#endif

#ifndef STREAM
#define may_store(i, zone) differ(stored[zone], world[i])
#define may_put(i)         (world[i].waits != 0)
#else
#define may_store(i, zone) \
  (version[i] != NOTED_VERSION || is_loose[zone] || differ(stored[zone], world[i]) || \
   covered_out[zone] != world[i].told || covered_in[zone] != world[i].taken)
#ifdef EARLY_OUT
#define may_put(i) (world[i].waits != 0 && (safe[i] != 0 || version[i] == NO_VERSION))
#else
#define may_put(i) (safe[i] != 0)
#endif
#endif

/* --------------------------------------------------------------------------------------------------------- variants */

#ifdef OWNERS
byte counted[3]; /* the highest epoch of which something has counted */
#define note_owner(zone, which) assert((which) >= counted[zone] || later_owner_only); counted[zone] = which
#else
#define note_owner(zone, which) skip
#endif

#ifdef CHUNKS_BESIDE
#define PACKS
#endif
#ifdef PACKS
World packed[4]; /* the next version */
bool is_packed[4];
#define stores(i) (runs(i) && is_packed[i])
#else
#define stores(i) (runs(i) && may_store(i, zone_of[i]))
#endif

/* One chunk after the other. */
#if defined(SENT_OTHERWISE)
#define may_put_chunk(i, zone) (version[i] != NO_VERSION)
#elif defined(PACKS) && !defined(CHUNKS_BESIDE)
#define may_put_chunk(i, zone) (!is_packed[i] && (version[i] == PAST_VERSION || is_next_chunk(i, zone)))
#else
#define may_put_chunk(i, zone) (version[i] == PAST_VERSION || is_next_chunk(i, zone))
#endif
#define is_next_chunk(i, zone) (version[i] == NOTED_VERSION && !is_loose[zone])

/* A zone is given away when all that it did is kept, and nothing is under way. */
#if defined(GIVEN_UNKEPT)
#define may_give(i) true
#elif defined(STREAM)
#define may_give(i) (version[i] == NOTED_VERSION && !records[i] && !is_loose[i] && !asked[i])
#else
#define may_give(i) (!may_store(i, i) && !asked[i])
#endif

#ifdef LATE
byte late, late_pair, late_epoch, late_number; /* comes once more at any time: its hop */
#endif

/* What somebody may have heard of: a birth, and a death. */
#ifdef BORN
bool heard_of;
#define tell_birth(what) heard_of = heard_of || what.here != 0 || what.mark != 0
#else
#define tell_birth(what) skip
#endif
#ifdef DEATH
bool dead;
#define tell_death(what) dead = dead || what.died
#else
#define tell_death(what) skip
#endif

/* ----------------------------------------------------------------------------------------------------------- faults */

/* What is gone of a pair. */
#if defined(COVERED_EARLY) || defined(NOTE_UNASKED)
byte told_out[3], told_in[3];
#define gone(pair) least(told_out[pair], told_in[next_of(pair)])
#else
#define gone(pair) least(covers_out(pair), covers_in(next_of(pair)))
#endif

#ifdef ACCEPTS_TWO
bool accepted_two;
#endif

#if defined(START_OLDER) || defined(OLD_VERSION)
World older[3]; /* the version before, and its chunks */
#endif

#ifdef READ_EARLY
byte read_to[4];
#endif

#ifdef RESTORED_EARLY
bool restored[3];
#endif

#ifdef FOLLOWED_ALONE
World followed[3]; /* by the node that is to have the zone, before it has the lease */
bool is_followed[3];
#endif

#ifdef SENT_OTHERWISE
World shorter[3]; /* what a server has of a chunk that was sent again with more frames */
bool is_shorter[3];
#endif
