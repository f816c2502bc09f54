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

World world[4];  /* of an owner, and on its node's disk */
World stored[3]; /* from which a zone comes back on another node */

mtype = { FREE, MARKS_PAIR, MARKS_JOURNAL, RESTORES, READS, RUNS, OVER };
mtype stage[4];
byte zone_of[4], epoch[4];
byte number[4];  /* of its epoch's last message that was answered */
bool asked[4];   /* the next one is put, and has no answer */
bool records[4]; /* the journal's stream does not have its last frame yet */
byte safe[4];    /* how many of the departures that wait are there */

bool on_disk[3];                    /* the zone's next owner has the node's disk */
byte lease[3];                      /* the epoch of who has it */
byte pair_epoch[3], pair_number[3]; /* how far messages to the next zone have counted */
byte journal_epoch[3];              /* of the mark in the journal's stream */
byte sent[3 * MESSAGES], count[3];  /* what crosses, and counts: hops */
byte crashes = CRASHES, pauses = PAUSES, lost = LOST;

hidden byte hop, end, z;

/* All 0: what an assertion says. */
hidden byte agent_runs_in_one_zone, agent_is_in_one_journal, agent_is_there, agent_stays_dead, nobody_waits,
  departure_counts_once, later_owner_only;

/* --------------------------------------------------------------------------------------------------------- variants */

/* The pairs first: where a departure counts, so does the record of its frame. */
#ifdef JOURNAL_FIRST
#define BEHIND_LEASE   MARKS_JOURNAL
#define BEHIND_JOURNAL MARKS_PAIR
#define BEHIND_PAIR    RESTORES
#else
#define BEHIND_JOURNAL RESTORES
#ifdef STREAM
#define BEHIND_PAIR MARKS_JOURNAL
#else
#define BEHIND_PAIR RESTORES
#endif
#ifdef MARKED
#define BEHIND_LEASE MARKS_PAIR
#else
#define BEHIND_LEASE BEHIND_PAIR
#endif
#endif

#ifdef OWNERS
byte counted[3]; /* the highest epoch of which something has counted */
#define note_owner(zone, which) assert((which) >= counted[zone] || later_owner_only); counted[zone] = which
#else
#define note_owner(zone, which) skip
#endif

#ifdef LATE
byte late, late_pair, late_epoch, late_number; /* comes once more at any time: its hop */
#endif

#define runs(i)     (stage[i] == RUNS)
#define has_disk(i) (i != PAUSED && on_disk[i])
#define changed(i, zone) (stored[zone].here != world[i].here || stored[zone].mark != world[i].mark || \
                          stored[zone].waits != world[i].waits || stored[zone].waits_2 != world[i].waits_2 || \
                          stored[zone].told != world[i].told || stored[zone].taken != world[i].taken || \
                          stored[zone].died != world[i].died)

/* ----------------------------------------------------------------------------------------------------------- faults */

#ifdef EXPECTED
byte sequence[3], expected[4];
bool accepted_two;
#endif

/* What is gone of a pair. */
#if defined(COVERED_EARLY) || defined(COVER_UNASKED)
byte told_out[3], told_in[3];
#define gone(pair) least(told_out[pair], told_in[next_of(pair)])
#else
#define gone(pair) least(stored[pair].told, stored[next_of(pair)].taken)
#endif

#if defined(COVER_UNASKED) && !defined(STREAM)
byte stored_epoch[3];
bool stored_own[4]; /* nothing goes out before its first snapshot is stored */
#define may_store(i, zone) (!stored_own[i] || changed(i, zone))
#define may_put(i)         (world[i].waits != 0 && stored_own[i])
#else
#define may_store(i, zone) changed(i, zone)
#ifdef STREAM
#define may_put(i) (safe[i] != 0)
#else
#define may_put(i) (world[i].waits != 0)
#endif
#endif

#ifdef START_OLDER
World older[3];
#endif

#ifdef READ_EARLY
byte read_to[4];
#endif
