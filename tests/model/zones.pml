/* zones.pml - three zones A, B, C and one agent that walks A, B, C, A ...: crossing, lease and takeover, while
 * processes and nodes die, an owner is paused and goes on after its zone was taken, and answers are lost.
 *
 * process, inline     models                                                 in src/service/zones
 * Owner 0, 1, 2       the newest owner of zone 0, 1, 2                       holder.c, zone.c
 * Owner 3             an owner that was paused: then its lease is another's  the same
 * take_lease          a new epoch for every start                            leases.c
 * restore, read_out   the files, then what was sent                          holder_files.c, holder_pairs.c, zone_out.c
 * arrive, depart      frames, with their records on the node's disk          zone_in.c, zone_out.c
 * record              the journal's stream (-DSTREAM)                        holder_journal.c
 * put, answer         messages of a pair, in order                           holder_pairs.c, crossings.c
 * store               a snapshot in the object store, and what it covers     holder_files.c, holder_pairs.c
 *
 * What crosses from a zone to the next stands in one order, with its sender's epoch and number; pair.h says which of it
 * counts, so all who read come to one answer. The model gives it when a message is stored, and keeps only what counts:
 * the agent's hop. A position is how many of these a zone knows. They are gone as soon as the stored states of both
 * sides cover them: later would be no worse.
 *
 *   as it is    etcd takes what crosses, and what a stored snapshot covers, in one transaction with the question for
 *               the lease
 *   -DMARKED    a subject takes what crosses from anybody, twice and late: the broker is asked for nothing. A new owner
 *               puts a mark (its epoch, 0) there before it reads
 *   -DSTREAM    records of the journal go to a stream with marks before anything of their frames goes out, and a zone
 *               comes back from there. Without: from its node's disk, or where that is lost from the last snapshot
 *
 * A paused owner goes on as if it had its lease: clocks make it stand still, but nothing here rests on that. An owner's
 * death with a message under way is the same as its death before or behind it, or as one that is paused and then only
 * lets that message go. A message that is lost is put again: so what can be lost here is an answer.
 *
 * Abstracted: everything but the agent; frames whose record is not on the disk, which have had no effect; where the
 * bytes of a snapshot are, and that the records before it go; how long anything takes.
 *
 * Checked in every state: owners with the lease that run frames never have the agent in two zones; with -DSTREAM the
 * records that count never have it in two zones; with -DOWNERS nothing of an owner counts, in any medium, behind
 * something of a later one, and a departure counts once. Checked whenever all zones run and nothing is under way, and
 * that always comes: the agent is in one zone, where its walk ends, and nobody waits.
 *
 * -DBORN   the agent is born when the search begins: it may be lost until a record that counts, a stored snapshot or a
 *          crossing has it.
 * -DDEATH  (with -DSTREAM) it dies at the end of its walk, and stays dead once a record that counts has that.
 * -DLATE   the message without an answer comes once more at any time.
 * -DHOPS=4 -DCRASHES=2 -DPAUSES=1 -DLOST=1 say how far it walks, and how much goes wrong.
 *
 * Faults: NO_FENCE (what crosses counts whatever its epoch), RECORDS_UNFENCED (records do), ACCEPTS_TWO (with EXPECTED:
 * no rule but the broker's, which takes what comes with the right last sequence, and once two of these), COVERED_EARLY
 * (gone before a stored state covers it), COVER_UNASKED (stored, and the cover told, without the question for the
 * lease), SAME_EPOCH (a start without a new epoch: numbers come again), READ_EARLY (what was sent is read before the
 * mark or the lease), UNREAD (not at all), HOP_LEFT_OUT (arrivals are not compared with departures), NOT_AGAIN
 * (departures that were not stored are not put again), START_OLDER (from an older snapshot than the one that covers),
 * JOURNAL_FIRST (the journal's mark before those of pairs). */

#include "zones_state.pml"

/* Of epochs only the order matters: where a zone has one owner its epoch is called 1, and those before it 0. */
inline rename_epochs(zone) {
#ifdef OWNERS
  if
  :: stage[PAUSED] == OVER || zone_of[PAUSED] != zone ->
     pair_number[zone] = pair_number[zone] * (pair_epoch[zone] == epoch[zone]);
     pair_epoch[zone] = (pair_epoch[zone] == epoch[zone]);
     journal_epoch[zone] = (journal_epoch[zone] == epoch[zone]);
     counted[zone] = (counted[zone] == epoch[zone]);
     lease[zone] = 1; epoch[zone] = 1
  :: else
  fi
#else
  skip
#endif
}

/* --------------------------------------------------------------------------------------------------------- takeover */

inline take_lease(i) {
#ifndef SAME_EPOCH
  epoch[i]++;
#endif
  lease[i] = epoch[i];
#if defined(READ_EARLY) && defined(MARKED)
  read_to[i] = count[i];
#endif
  stage[i] = BEHIND_LEASE;
  rename_epochs(i)
}

inline mark_journal(i, zone) {
  if
  :: epoch[i] > journal_epoch[zone] -> journal_epoch[zone] = epoch[i]
  :: else
  fi;
  stage[i] = BEHIND_JOURNAL
}

inline mark_pair(i, zone) {
  if
#ifdef EXPECTED
  :: epoch[i] < pair_epoch[zone] -> give_up(i) /* it sees a newer mark */
#endif
  :: epoch[i] > pair_epoch[zone] -> pair_epoch[zone] = epoch[i]; pair_number[zone] = 0
  :: else
  fi;
#ifdef EXPECTED
  if
  :: stage[i] == MARKS_PAIR -> sequence[zone]++; expected[i] = sequence[zone]; stage[i] = BEHIND_PAIR
  :: else
  fi
#else
  stage[i] = BEHIND_PAIR
#endif
}

inline restore(i, zone) {
#ifdef START_OLDER
  copy(world[i], older[zone]);
#else
  copy(world[i], stored[zone]);
#endif
  if
  :: i != PAUSED -> on_disk[zone] = true
  :: else
  fi;
  stage[i] = READS
}

/* What was sent is known: who left is here no more, and is not waited for. */
inline read_out(i, zone) {
#ifdef READ_EARLY
  end = read_to[i];
#else
  end = count[zone];
#endif
  if
  :: world[i].told < gone(zone) -> world[i].told = gone(zone)
  :: else
  fi;
  do
  :: world[i].told >= end -> break
  :: else ->
     hop = message(zone, world[i].told);
#ifndef UNREAD
     if
     :: world[i].here <= hop -> world[i].here = 0 /* its hop is below */
     :: else
     fi;
     if
     :: world[i].mark < hop -> world[i].mark = hop
     :: else
     fi;
#endif
     if
     :: world[i].waits == hop -> world[i].waits = world[i].waits_2; world[i].waits_2 = 0
     :: else
     fi;
     world[i].told++
  od;
#ifdef NOT_AGAIN
  world[i].waits = 0; world[i].waits_2 = 0;
#endif
  number[i] = 0; asked[i] = false;
#ifdef STREAM
  records[i] = true;
#endif
  stage[i] = RUNS; hop = 0; end = 0
}

/* ----------------------------------------------------------------------------------------------------------- frames */

inline frame_ends(i) {
#ifdef STREAM
  records[i] = true
#else
  skip
#endif
}

inline arrive(i, zone) {
  if
  :: world[i].taken < gone(before(zone)) -> world[i].taken = gone(before(zone))
  :: else ->
     hop = message(before(zone), world[i].taken);
     world[i].taken++;
     if
#ifdef HOP_LEFT_OUT
     :: world[i].here == 0 -> world[i].here = hop + 1; world[i].mark = 0
#else
     :: world[i].here == 0 && world[i].mark < hop -> world[i].here = hop + 1; world[i].mark = 0
#endif
     :: else
     fi;
     hop = 0
  fi;
#ifdef COVERED_EARLY
  told_in[zone] = world[i].taken;
#endif
  frame_ends(i)
}

inline depart(i) {
  if
  :: world[i].waits == 0 -> world[i].waits = world[i].here
  :: else -> world[i].waits_2 = world[i].here
  fi;
  world[i].mark = world[i].here; world[i].here = 0;
  frame_ends(i)
}

inline die(i) {
  world[i].here = 0; world[i].died = true;
  frame_ends(i)
}

/* The record, and so all before it. */
inline record(i, zone) {
  if
#ifdef RECORDS_UNFENCED
  :: true ->
#else
  :: journal_epoch[zone] == epoch[i] ->
#endif
     note_owner(zone, epoch[i]);
     copy(stored[zone], world[i])
#ifndef RECORDS_UNFENCED
  :: else
#endif
  fi;
#ifdef COVER_UNASKED
  told_in[zone] = world[i].taken; told_out[zone] = world[i].told;
#endif
  safe[i] = (world[i].waits != 0) + (world[i].waits_2 != 0);
  records[i] = false
}

/* Only who has the lease can. */
inline store(i, zone) {
  if
#ifdef COVER_UNASKED
  :: epoch[i] >= stored_epoch[zone] ->
     stored_epoch[zone] = epoch[i]; stored_own[i] = true;
#else
  :: lease[zone] == epoch[i] ->
#endif
     note_owner(zone, epoch[i]);
#ifdef START_OLDER
     copy(older[zone], stored[zone]);
#endif
     copy(stored[zone], world[i]);
#ifdef COVER_UNASKED
     told_in[zone] = world[i].taken; told_out[zone] = world[i].told
#endif
  :: else -> give_up(i)
  fi
}

/* --------------------------------------------------------------------------------------------------------- crossing */

/* A message is stored, or is not; it counts, or does not. */
inline deliver(pair, of_epoch, of_number, of_hop) {
#if defined(NO_FENCE)
  if
  :: of_epoch == pair_epoch[pair] && of_number <= pair_number[pair] /* once more */
  :: else ->
     pair_epoch[pair] = of_epoch; pair_number[pair] = of_number;
#elif defined(MARKED)
  if
  :: of_epoch != pair_epoch[pair] || of_number != pair_number[pair] + 1
  :: else ->
     pair_number[pair] = of_number;
#else
  if
  :: lease[pair] != of_epoch || (of_epoch == pair_epoch[pair] && of_number != pair_number[pair] + 1)
  :: else ->
     assert(of_epoch == pair_epoch[pair] || of_number == 1);
     pair_epoch[pair] = of_epoch; pair_number[pair] = of_number;
#endif
     note_owner(pair, of_epoch);
     append(pair, of_hop)
  fi
}

inline append(pair, of_hop) {
  assert(count[pair] < MESSAGES);
#ifdef OWNERS
  if
  :: count[pair] != 0 && message(pair, count[pair] - 1) >= of_hop -> assert(departure_counts_once)
  :: else
  fi;
#endif
  message(pair, count[pair]) = of_hop;
  count[pair]++
}

inline put(i, zone) {
#ifdef EXPECTED
  if
  :: expected[i] == sequence[zone] -> append(zone, world[i].waits); sequence[zone]++; asked[i] = true
#ifdef ACCEPTS_TWO
  :: expected[i] + 1 == sequence[zone] && !accepted_two ->
     accepted_two = true; append(zone, world[i].waits); sequence[zone]++; asked[i] = true
#endif
  :: else ->
     if
     :: i == PAUSED -> give_up(i)
     :: else -> end_tenure(i); begin_again(i)
     fi
  fi
#else
  deliver(zone, epoch[i], number[i] + 1, world[i].waits);
#ifdef MARKED
  asked[i] = true
#else
  if
  :: lease[zone] == epoch[i] -> asked[i] = true
  :: else -> give_up(i)
  fi
#endif
#endif
}

inline answer(i, zone) {
  world[i].waits = world[i].waits_2; world[i].waits_2 = 0; world[i].told = count[zone];
  number[i]++; asked[i] = false;
#ifdef STREAM
  safe[i]--;
#endif
#ifdef EXPECTED
  expected[i] = sequence[zone];
#endif
#ifdef COVERED_EARLY
  told_out[zone] = world[i].told
#endif
}

/* ----------------------------------------------------------------------------------------------------------- owners */

/* It has heard that the lease is another's, or it has ended. */
inline give_up(i) {
  stage[i] = OVER; rename_epochs(zone_of[i]);
  zone_of[i] = 0; epoch[i] = 0; number[i] = 0; asked[i] = false; records[i] = false; safe[i] = 0; clear(world[i])
}

/* A node or process is gone. */
inline end_tenure(i) {
  stage[i] = FREE; number[i] = 0; asked[i] = false; records[i] = false; safe[i] = 0;
#if defined(COVER_UNASKED) && !defined(STREAM)
  stored_own[i] = false;
#endif
#ifdef READ_EARLY
  read_to[i] = 0;
#endif
  skip
}

inline pause(z) {
  zone_of[PAUSED] = z; stage[PAUSED] = stage[z]; epoch[PAUSED] = epoch[z]; number[PAUSED] = number[z];
  asked[PAUSED] = asked[z]; records[PAUSED] = records[z]; safe[PAUSED] = safe[z]; copy(world[PAUSED], world[z]);
#ifdef EXPECTED
  expected[PAUSED] = expected[z];
#endif
#if defined(COVER_UNASKED) && !defined(STREAM)
  stored_own[PAUSED] = stored_own[z];
#endif
#ifdef READ_EARLY
  read_to[PAUSED] = read_to[z];
#endif
  end_tenure(z);
  on_disk[z] = false; clear(world[z])
}

/* Where no paused owner can use it, time without a lease is as good as time with a slow owner. */
inline begin_again(i) {
  if
  :: stage[PAUSED] == OVER || zone_of[PAUSED] != i -> take_lease(i)
  :: else
  fi
}

proctype Owner(byte i) {
end_owner:
  do
#if defined(READ_EARLY) && !defined(MARKED)
  :: d_step { i != PAUSED && stage[i] == FREE && read_to[i] < count[i] -> read_to[i] = count[i] }
#endif
  :: d_step { i != PAUSED && stage[i] == FREE -> take_lease(i) }
  :: d_step { stage[i] == MARKS_PAIR -> mark_pair(i, zone_of[i]) }
  :: d_step { stage[i] == MARKS_JOURNAL -> mark_journal(i, zone_of[i]) }
  :: d_step { stage[i] == RESTORES && !has_disk(i) -> restore(i, zone_of[i]) }
  :: d_step { stage[i] == READS || stage[i] == RESTORES && has_disk(i) -> read_out(i, zone_of[i]) }
  :: d_step { runs(i) && world[i].taken < count[before(zone_of[i])] -> arrive(i, zone_of[i]) }
  :: d_step { runs(i) && world[i].here != 0 && world[i].here <= HOPS && world[i].waits_2 == 0 -> depart(i) }
#ifdef DEATH
  :: d_step { runs(i) && world[i].here == HOPS + 1 -> die(i) }
#endif
#ifdef STREAM
  :: d_step { runs(i) && records[i] -> record(i, zone_of[i]) }
#else
  :: d_step { runs(i) && may_store(i, zone_of[i]) -> store(i, zone_of[i]) }
#endif
  :: d_step { runs(i) && !asked[i] && may_put(i) -> put(i, zone_of[i]) }
  :: d_step { runs(i) && asked[i] -> answer(i, zone_of[i]) }
#ifndef EXPECTED
  :: d_step { runs(i) && asked[i] && lost > 0 -> lost--; asked[i] = false }
#endif
#ifdef LATE
  :: d_step { /* as well, and behind whatever comes between */
       runs(i) && asked[i] && lost > 0 ->
       lost--; late = world[i].waits; late_pair = zone_of[i]; late_epoch = epoch[i]; late_number = number[i] + 1
     }
#endif
  :: d_step { i == PAUSED && stage[i] != OVER -> give_up(i) }
  :: d_step { crashes > 0 && i != PAUSED && stage[i] != FREE -> crashes--; end_tenure(i); begin_again(i) }
  :: d_step {
       crashes > 0 && i != PAUSED && stage[i] != FREE ->
       crashes--; end_tenure(i); on_disk[i] = false; clear(world[i]); begin_again(i) /* the node, too */
     }
  :: d_step { pauses > 0 && i != PAUSED && stage[i] != FREE -> pauses--; pause(i) }
#ifdef LATE
  :: d_step {
       late != 0 && late_pair == i ->
       deliver(i, late_epoch, late_number, late); late = 0; late_pair = 0; late_epoch = 0; late_number = 0
     }
#endif
  od
}

/* ---------------------------------------------------------------------------------------------------------- checked */

#define runs_here(z)   (stage[z] == RUNS && world[z].here != 0)
#define stored_here(z) (stored[z].here != 0)
#ifdef DEATH
#define LAST (HOPS + 1)
#else
#define LAST HOPS
#endif
#define quiet_zone(z) (stage[z] == RUNS && !records[z] && world[z].waits == 0 && !asked[z] && \
                       world[z].taken == count[before(z)] && (world[z].here == 0 || world[z].here > LAST))
#define all(what)      (what(0) && what(1) && what(2))
#define any(what)      (what(0) || what(1) || what(2))
#define one(what)      (what(0) + what(1) + what(2) == 1)
#define two(what)      (what(0) + what(1) + what(2) > 1)
#define known(z)       (stored_here(z) || stored[z].mark != 0 || count[z] != 0)
#define dead(z)        stored[z].died

#if defined(DEATH)
#define is_well (any(dead) && !any(runs_here))
#elif defined(BORN)
#define is_well (one(runs_here) || !any(known))
#else
#define is_well one(runs_here)
#endif

init {
  d_step {
    z = 0;
    do
    :: z > 2 -> break
    :: else ->
       zone_of[z] = z; stage[z] = RUNS; epoch[z] = 1; lease[z] = 1; on_disk[z] = true; pair_epoch[z] = 1;
#ifdef STREAM
       journal_epoch[z] = 1;
#endif
#if defined(COVER_UNASKED) && !defined(STREAM)
       stored_own[z] = true; stored_epoch[z] = 1;
#endif
       z++
    od;
    world[0].here = 1;
#ifndef BORN
    stored[0].here = 1;
#elif defined(STREAM)
    records[0] = true;
#endif
#ifdef START_OLDER
    older[0].here = stored[0].here;
#endif
    stage[PAUSED] = OVER; z = 0
  }
  atomic { run Owner(0); run Owner(1); run Owner(2); run Owner(PAUSED) }
end_init:
  do
  :: d_step { two(runs_here) -> assert(agent_runs_in_one_zone) }
#ifdef STREAM
  :: d_step { two(stored_here) -> assert(agent_is_in_one_journal) }
#endif
#ifdef DEATH
  :: d_step { any(dead) && any(runs_here) -> assert(agent_stays_dead) }
#endif
  :: d_step { all(quiet_zone) && !is_well -> assert(agent_is_there) }
  :: timeout -> assert(all(quiet_zone) || nobody_waits); break
  od
}
