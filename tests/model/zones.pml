/* zones.pml - three zones A, B, C and one agent that walks A, B, C, A ...: crossing, lease and takeover, while
 * processes and nodes die, an owner is paused and goes on after its zone was taken, and answers are lost.
 *
 * process, inline     models                                                 in src/service/zones
 * Owner 0, 1, 2       the newest owner of zone 0, 1, 2                       holder.c, zone.c
 * Owner 3             an owner that was paused: then its lease is another's  the same
 * take_lease          a new epoch for every start                            leases.c
 * restore, read_out   the files, then what was sent                          holder_files.c, holder_pairs.c, zone_out.c
 * arrive, depart      frames, with their records on the node's disk          zone_in.c, zone_out.c
 * put, answer         messages of a pair, in order                           holder_pairs.c, crossings.c
 * store               a version of the zone, and its note: what it covers    holder_files.c, holder_pairs.c
 * put_chunk, keep     the journal's stream (-DSTREAM)                        holder_journal.c, copies.c
 * give                a planned move to another node (-DMOVES)               holder_moves.c, holder_follow.c
 *
 * What crosses from a zone to the next stands in etcd in one order, with its sender's epoch and number; pair.h says
 * which of it counts, so all who read come to one answer. The model gives it when a message is stored, and keeps only
 * what counts: the agent's hop. A position is how many of these a zone knows. They are gone as soon as the noted
 * versions of both sides cover them: later would be no worse. etcd takes what crosses, and the note, in one transaction
 * with the question for the lease. Without -DSTREAM a zone comes back from its node's disk, or where that is lost from
 * the noted version; with it, also from the journal's chunks (zones_stored.pml).
 *
 * A paused owner goes on as if it had its lease: clocks make it stand still, but nothing here rests on that. An owner's
 * death with a message under way is the same as its death before or behind it, or as one that is paused and then only
 * lets that message go. A message that is lost is put again: so what can be lost here is an answer.
 *
 * Abstracted: names of nodes, since nothing rests on them: a second daemon of one name (holder_name.c) that had its
 * leases would be one more owner of a later epoch; which birth space ids are of (spaces.h); everything but the agent; frames whose record is not on the disk, which have had no effect; where the
 * bytes of a version are, and that those before it go; how long anything takes.
 *
 * Checked in every state: owners with the lease that run frames never have the agent in two zones; with -DSTREAM what
 * is kept, or may be found, never has it in two zones; with -DOWNERS nothing of an owner counts, in any medium, behind
 * something of a later one, and a departure counts once. Checked whenever all zones run and nothing is under way, and
 * that always comes: the agent is in one zone, where its walk ends, and nobody waits.
 *
 * -DBORN   the agent is born when the search begins: it may be lost until an owner with the lease has noted it, or has
 *          a chunk with it kept, or it has crossed.
 * -DDEATH  (with -DSTREAM) it dies at the end of its walk, and stays dead from the moment at which an owner with the
 *          lease has that noted or kept.
 * -DPACKS  (with -DSTREAM) a version is packed in one step, perhaps before what was sent is read, and noted in another.
 * -DLATE   the message without an answer comes once more at any time.
 * -DMOVES=1 that often a zone is given to a node that has not its disk: when all that its owner did is kept, or noted.
 *          Whoever gave it may go on as a paused owner does. What the other node had followed before is a part of what
 *          it reads with the lease, and adds nothing. Where nobody dies or is paused, a move loses nothing, heard of or
 *          not.
 * -DHOPS=4 -DCRASHES=2 -DPAUSES=1 -DLOST=1 say how far it walks, and how much goes wrong.
 *
 * Faults: NO_FENCE (what crosses counts whatever its epoch), ACCEPTS_TWO (etcd lets two have a lease at once, with one
 * epoch), COVERED_EARLY (gone before a noted version covers it), NOTE_UNASKED (noted without the question for the
 * lease), SAME_EPOCH (a start without a new epoch: numbers come again), READ_EARLY (what was sent is read before the
 * lease is taken), UNREAD (not at all), HOP_LEFT_OUT (arrivals are not compared with departures), NOT_AGAIN (departures
 * that were not stored are not put again), START_OLDER (from an older version than the note's).
 *
 * With -DSTREAM: EARLY_OUT (a new owner lets out before a version of its own is noted), MINORITY (safe as soon as one
 * server has it), OLD_VERSION (chunks of another version than the note's are read), RESTORED_EARLY (the note and chunks
 * are read before the lease is taken), SENT_OTHERWISE (a chunk is sent again with more frames), CHUNKS_BESIDE (chunks
 * go on while the next version is stored), CHUNKS_BEHIND (behind a note without an answer).
 *
 * With -DMOVES: GIVEN_UNKEPT (given before all that its owner did is kept), FOLLOWED_ALONE (the other node goes on from
 * what it had followed without the lease, and does not read the rest). */

#include "zones_state.pml"
#include "zones_stored.pml"

/* Of epochs only the order matters: where a zone has one owner its epoch is called 1, and those before it 0. */
inline rename_epochs(zone) {
#ifdef OWNERS
  if
  :: !pauses_in(zone) ->
     pair_number[zone] = pair_number[zone] * (pair_epoch[zone] == epoch[zone]);
     pair_epoch[zone] = (pair_epoch[zone] == epoch[zone]);
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
#if defined(ACCEPTS_TWO)
  if
  :: pauses_in(i) && !accepted_two -> accepted_two = true; epoch[i] = epoch[PAUSED]
  :: else -> epoch[i]++
  fi;
#elif !defined(SAME_EPOCH)
  epoch[i]++;
#endif
  lease[i] = epoch[i];
  stage[i] = (on_disk[i] -> READS : RESTORES);
#ifdef FOLLOWED_ALONE
  if
  :: is_followed[i] && !on_disk[i] -> restore(i, followed[i]); clear(followed[i]); is_followed[i] = false
  :: else
  fi;
#endif
#ifdef RESTORED_EARLY
  if
  :: restored[i] -> stage[i] = READS; on_disk[i] = true; restored[i] = false
  :: else
  fi;
#endif
  rename_epochs(i)
}

inline restore(i, what) {
  copy(world[i], what);
  if
  :: i != PAUSED -> on_disk[i] = true
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

/* --------------------------------------------------------------------------------------------------------- crossing */

/* A message is stored, or is not; it counts, or does not. */
inline deliver(pair, of_epoch, of_number, of_hop) {
#if defined(NO_FENCE)
  if
  :: of_epoch == pair_epoch[pair] && of_number <= pair_number[pair] /* once more */
  :: else ->
     pair_epoch[pair] = of_epoch; pair_number[pair] = of_number;
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
#ifdef BORN
  heard_of = true;
#endif
  message(pair, count[pair]) = of_hop;
  count[pair]++
}

inline put(i, zone) {
  deliver(zone, epoch[i], number[i] + 1, world[i].waits);
#ifdef NO_FENCE
  asked[i] = true
#else
  if
  :: lease[zone] == epoch[i] -> asked[i] = true
  :: else -> give_up(i)
  fi
#endif
}

inline answer(i, zone) {
  world[i].waits = world[i].waits_2; world[i].waits_2 = 0; world[i].told = count[zone];
  number[i]++; asked[i] = false;
#ifdef STREAM
  safe[i] = safe[i] - (safe[i] != 0);
#endif
#ifdef COVERED_EARLY
  told_out[zone] = world[i].told
#endif
}

/* ----------------------------------------------------------------------------------------------------------- owners */

inline forget(i) {
  number[i] = 0; asked[i] = false;
#ifdef STREAM
  records[i] = false; safe[i] = 0; version[i] = NO_VERSION;
#endif
#ifdef PACKS
  clear(packed[i]); is_packed[i] = false;
#endif
#ifdef READ_EARLY
  read_to[i] = 0;
#endif
  skip
}

/* It has heard that the lease is another's, or it has ended. */
inline give_up(i) {
  stage[i] = OVER; rename_epochs(zone_of[i]);
  zone_of[i] = 0; epoch[i] = 0; forget(i); clear(world[i])
}

/* A node or process is gone. */
inline end_tenure(i) {
  stage[i] = FREE; forget(i)
}

inline pause(z) {
  zone_of[PAUSED] = z; stage[PAUSED] = stage[z]; epoch[PAUSED] = epoch[z]; number[PAUSED] = number[z];
  asked[PAUSED] = asked[z]; copy(world[PAUSED], world[z]);
#ifdef STREAM
  records[PAUSED] = records[z]; safe[PAUSED] = safe[z]; version[PAUSED] = version[z];
#endif
#ifdef PACKS
  copy(packed[PAUSED], packed[z]); is_packed[PAUSED] = is_packed[z];
#endif
#ifdef READ_EARLY
  read_to[PAUSED] = read_to[z];
#endif
  end_tenure(z);
  on_disk[z] = false; clear(world[z])
}

#ifdef MOVES
/* Nobody has the lease until it is taken. */
inline give(i) {
  moves--; lease[i] = 0
}
#endif

/* Where no paused owner can use it, time without a lease is as good as time with a slow owner. */
inline begin_again(i) {
  if
  :: !pauses_in(i) -> take_lease(i)
  :: else
  fi
}

proctype Owner(byte i) {
end_owner:
  do
#ifdef READ_EARLY
  :: d_step { i != PAUSED && stage[i] == FREE && read_to[i] < count[i] -> read_to[i] = count[i] }
#endif
#ifdef RESTORED_EARLY
  :: d_step {
       i != PAUSED && stage[i] == FREE && !on_disk[i] && !restored[i] -> restored[i] = true; copy(world[i], stored[i])
     }
#endif
#ifdef FOLLOWED_ALONE
  :: d_step { i != PAUSED && runs(i) && moves > 0 && !is_followed[i] -> is_followed[i] = true; copy(followed[i], stored[i]) }
#endif
  :: d_step { i != PAUSED && stage[i] == FREE -> take_lease(i) }
#if defined(START_OLDER) || defined(OLD_VERSION)
  :: d_step { stage[i] == RESTORES -> restore(i, older[zone_of[i]]) }
#else
  :: d_step { stage[i] == RESTORES -> restore(i, stored[zone_of[i]]) }
#endif
#ifdef STREAM
  :: d_step { stage[i] == RESTORES && is_loose[zone_of[i]] -> restore(i, loose[zone_of[i]]) }
#endif
#ifdef SENT_OTHERWISE
  :: d_step { stage[i] == RESTORES && is_shorter[zone_of[i]] -> restore(i, shorter[zone_of[i]]) }
#endif
  :: d_step { stage[i] == READS -> read_out(i, zone_of[i]) }
  :: d_step { runs(i) && world[i].taken < count[before(zone_of[i])] -> arrive(i, zone_of[i]) }
  :: d_step { runs(i) && world[i].here != 0 && world[i].here <= HOPS && world[i].waits_2 == 0 -> depart(i) }
#ifdef DEATH
  :: d_step { runs(i) && world[i].here == HOPS + 1 -> die(i) }
#endif
#ifdef STREAM
  :: d_step { runs(i) && records[i] && may_put_chunk(i, zone_of[i]) -> put_chunk(i, zone_of[i]) }
  :: d_step { i != PAUSED && is_loose[i] -> keep(i) }
  :: d_step { lost > 0 && stores(i) -> lost--; store(i, zone_of[i], false) }
#endif
#ifdef PACKS
  :: d_step { (stage[i] == READS || runs(i)) && !is_packed[i] && may_store(i, zone_of[i]) -> pack(i) }
#endif
  :: d_step { stores(i) -> store(i, zone_of[i], true) }
  :: d_step { runs(i) && !asked[i] && may_put(i) -> put(i, zone_of[i]) }
  :: d_step { runs(i) && asked[i] -> answer(i, zone_of[i]) }
  :: d_step { runs(i) && asked[i] && lost > 0 -> lost--; asked[i] = false }
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
#ifdef MOVES
  :: d_step {
       moves > 0 && i != PAUSED && runs(i) && may_give(i) ->
       give(i); end_tenure(i); on_disk[i] = false; clear(world[i])
     }
  :: d_step { moves > 0 && pauses > 0 && i != PAUSED && runs(i) && may_give(i) -> pauses--; give(i); pause(i) }
#endif
#ifdef LATE
  :: d_step {
       late != 0 && late_pair == i ->
       deliver(i, late_epoch, late_number, late); late = 0; late_pair = 0; late_epoch = 0; late_number = 0
     }
#endif
  od
}

/* ---------------------------------------------------------------------------------------------------------- checked */

#define runs_here(z) (stage[z] == RUNS && world[z].here != 0)
#ifdef STREAM
#ifdef SENT_OTHERWISE
#define found_here(z) (stored[z].here != 0 || loose[z].here != 0 || shorter[z].here != 0)
#else
#define found_here(z) (stored[z].here != 0 || loose[z].here != 0)
#endif
#define is_recorded(z) (!records[z] && !is_loose[z] && version[z] == NOTED_VERSION)
#else
#define is_recorded(z) true
#endif
#ifdef DEATH
#define LAST (HOPS + 1)
#else
#define LAST HOPS
#endif
#define quiet_zone(z) (stage[z] == RUNS && is_recorded(z) && world[z].waits == 0 && !asked[z] && \
                       world[z].taken == count[before(z)] && (world[z].here == 0 || world[z].here > LAST))
#define all(what)      (what(0) && what(1) && what(2))
#define any(what)      (what(0) || what(1) || what(2))
#define one(what)      (what(0) + what(1) + what(2) == 1)
#define two(what)      (what(0) + what(1) + what(2) > 1)

#if defined(DEATH)
#define is_well (dead && !any(runs_here))
#elif defined(BORN) && !(defined(MOVES) && CRASHES == 0 && PAUSES == 0)
#define is_well (one(runs_here) || !heard_of)
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
       version[z] = NOTED_VERSION;
#endif
       z++
    od;
    world[0].here = 1;
#ifndef BORN
    stored[0].here = 1;
#elif defined(STREAM)
    records[0] = true;
#endif
#if defined(START_OLDER) || defined(OLD_VERSION)
    older[0].here = stored[0].here;
#endif
    stage[PAUSED] = OVER; z = 0
  }
  atomic { run Owner(0); run Owner(1); run Owner(2); run Owner(PAUSED) }
end_init:
  do
  :: d_step { two(runs_here) -> assert(agent_runs_in_one_zone) }
#ifdef STREAM
  :: d_step { two(found_here) -> assert(agent_is_in_one_journal) }
#endif
#ifdef DEATH
  :: d_step { dead && any(runs_here) -> assert(agent_stays_dead) }
#endif
  :: d_step { all(quiet_zone) && !is_well -> assert(agent_is_there) }
  :: timeout -> assert(all(quiet_zone) || nobody_waits); break
  od
}
