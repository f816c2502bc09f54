/* zones.pml - three zones A, B, C and an agent that walks A, B, C, A ...: leases, crossing and takeover, while processes
 * and nodes die, an owner is paused and goes on when its zone is another's, and answers are lost.
 *
 * process, inline     models                                                 in src/service/zones
 * Owner 0, 1, 2       the owner of zone A, B, C, from one to the next        holder.c, zone.c
 * Owner PAUSED        one that has lost its lease and does not know          the same
 * take_lease          a new epoch, for every start                           leases.c
 * put_mark, record    the stream of a zone's journal (-DSTREAM)              holder_journal.c
 * restore, read_sent  the files, then what earlier owners have sent          holder_files.c, zone_out.c zone_take_sent
 * arrive, depart      between two frames, with their record                  zone_in.c, zone_out.c
 * put, answer         what crosses: a key of etcd, put with the lease alone  holder_pairs.c, crossings.c, pair.h
 * store               a stored snapshot, noted in etcd with the lease alone  holder_files.c
 *
 * The transactions of etcd and the records of the stream are single steps. A message is kept as the hop of its agent; a
 * place is the number of messages of the pair that have counted before. Whether a message counts (pair.h) is known as
 * soon as it is put, since all read the same order. It is gone when the stored states of both sides cover it. A put
 * whose answer is lost is made again; with -DLATE it may also be carried out once more at any later time.
 *
 * The journal of a zone is on the disk of its node, which outlives its process. When the node is gone, too, the zone
 * comes back from what is stored: its last snapshot, at any time behind it (S, as the model is); with -DSTREAM its last
 * record that counts, and each record does before anything of it goes out (J).
 *
 * Abstracted: the clocks by which an owner without a lease stands still (nothing here rests on them); others than the
 * agent; frames that did not end; the pieces of a snapshot; how long anything takes.
 *
 * Checked: owners with the lease that know what was sent never have the agent in two zones; nor have, with -DSTREAM, the
 * records that count; a departure counts once; with -DOWNERS nothing of an owner counts, in etcd or in the stream, once
 * something of a later one has. In the end all zones run, nothing is under way, and the agent is in one zone, where its
 * walk ends. With -DBORN it is born in the beginning, and may be lost (S) while no snapshot, record or crossing has it.
 * With -DSTREAM -DDEATH it dies where its walk ends, and stays dead.
 *
 * -DHOPS, -DCRASHES, -DPAUSES and -DLOST say how far it walks and how much goes wrong.
 *
 * Faults: NO_FENCE (what crosses counts, whoever put it and under whatever epoch), ACCEPTS_TWO (once, etcd takes a
 * message beside that of another owner), RECORDS_UNFENCED (records count without a look at the mark), COVERED_EARLY (a
 * message is gone when both sides have it, stored or not), NOTE_UNASKED (a snapshot is noted without the lease),
 * NUMBERS_AGAIN (messages of a new owner carry its predecessor's epoch), READ_EARLY (what was sent is read before the
 * lease is taken), UNREAD (not at all), MARK_LATE (the journal is read before its mark), HOP_LEFT_OUT (an arrival is not
 * compared with the last departure), NOT_AGAIN (departures that were not stored are not put again), OLDER (a zone comes
 * back from the snapshot before the one that is noted). */

#ifndef HOPS
#define HOPS 3
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
#define MESSAGES HOPS /* of a pair that count */

#define next_of(zone)         (((zone) + 1) % 3)
#define before(zone)          (((zone) + 2) % 3)
#define message(zone, at)     sent[(zone) * MESSAGES + (at)]
#define least(a, b)           ((a) < (b) -> (a) : (b))

typedef World {
  unsigned here : 3;               /* its hop + 1; 0 = the agent is not here */
  unsigned mark : 3;               /* the hop with which it left */
  unsigned waits : 3, waits_2 : 3; /* departures that are not stored, as hops */
  unsigned told : 3, taken : 3;    /* places: of the next message to the next zone, as far as it knows; from the last */
  bit died
}

mtype = { FREE, MARKS, RESTORES, READS, RUNS, OVER };

/* Of owners. */
World world[4]; /* with the journal on the node's disk */
mtype stage[4];
byte zone_of[4], epoch[4];
byte number[4];    /* of its last message that was answered */
bool asked[4];     /* a put has no answer yet */
bool unrecorded[4]; /* the stream does not have its last frame yet */
byte safe[4];      /* how many of its departures that wait are in the stream */

/* Of zones. */
byte lease[3];                      /* epoch of its owner */
World stored[3];                    /* what the zone comes back from */
bool on_disk[3];                    /* its next owner has the disk of the last one */
byte pair_epoch[3], pair_number[3]; /* of the last message to the next zone that counted */
byte sent[3 * MESSAGES], count[3];
#ifdef STREAM
byte stream_epoch[3]; /* of the last mark */
#endif

byte crashes = CRASHES, pauses = PAUSES, lost = LOST;
#ifdef LATE
byte late, late_zone, late_epoch, late_number; /* a put that is carried out once more: its hop */
#endif
#ifdef OWNERS
byte counted[3]; /* the highest epoch of which anything has counted */
#endif
#ifdef ACCEPTS_TWO
bool erred;
#endif
#ifdef READ_EARLY
byte read_to[3];
#endif
#ifdef OLDER
World older[3];
#endif

#ifdef COVERED_EARLY
byte covered[3];
#define gone(zone) covered[zone]
#else
#define gone(zone) least(stored[zone].told, stored[next_of(zone)].taken)
#endif

#ifdef NUMBERS_AGAIN
#define epoch_of(i) 1
#else
#define epoch_of(i) epoch[i]
#endif

#ifdef STREAM
#define FIRST      MARKS
#define may_put(i) (safe[i] != 0)
#else
#define FIRST      RESTORES
#define may_put(i) (world[i].waits != 0)
#endif

#define is_owner(i, zone) (lease[zone] == epoch[i])
#define runs(i)           (stage[i] == RUNS)

hidden byte hop, end, z;
hidden byte departs_twice, in_two_zones, recorded_in_two, settled, in_one_zone; /* so that what fails has a name */

inline copy(to, from) {
  to.here = from.here; to.mark = from.mark; to.waits = from.waits; to.waits_2 = from.waits_2;
  to.told = from.told; to.taken = from.taken; to.died = from.died
}

inline clear(what) {
  what.here = 0; what.mark = 0; what.waits = 0; what.waits_2 = 0; what.told = 0; what.taken = 0; what.died = 0
}

inline note_counted(zone, which) {
#ifdef OWNERS
  assert(which >= counted[zone]); counted[zone] = which
#else
  skip
#endif
}

/* --------------------------------------------------------------------------------------------------------- takeover */

inline take_lease(i) {
  epoch[i]++; lease[i] = epoch[i];
#ifdef MARK_LATE
  stage[i] = RESTORES
#else
  stage[i] = FIRST
#endif
}

#ifdef STREAM
inline put_mark(i, zone) {
  if
  :: epoch[i] > stream_epoch[zone] -> stream_epoch[zone] = epoch[i]
  :: else
  fi;
#ifdef MARK_LATE
  stage[i] = READS
#else
  stage[i] = RESTORES
#endif
}
#endif

inline restore(i, zone) {
  if
  :: i != PAUSED && on_disk[zone]
#ifdef OLDER
  :: else -> copy(world[i], older[zone])
#else
  :: else -> copy(world[i], stored[zone])
#endif
  fi;
  if
  :: i != PAUSED -> on_disk[zone] = true
  :: else
  fi;
#ifdef NOT_AGAIN
  world[i].waits = 0; world[i].waits_2 = 0;
#endif
#if defined(MARK_LATE) && defined(STREAM)
  stage[i] = MARKS
#else
  stage[i] = READS
#endif
}

/* Who was sent is not here any more, and waits no more. */
inline read_sent(i, zone) {
#ifdef READ_EARLY
  end = (i == PAUSED -> count[zone] : read_to[zone]);
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
     :: world[i].here <= hop -> world[i].here = 0
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
  stage[i] = RUNS;
  frame_ends(i)
}

/* ----------------------------------------------------------------------------------------------------------- frames */

inline frame_ends(i) {
#ifdef STREAM
  unrecorded[i] = true
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
     fi
  fi;
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
  world[i].here = 0; world[i].died = 1;
  frame_ends(i)
}

/* Up to the last frame. Its owner does not learn whether that counts. */
inline record(i, zone) {
  if
#ifdef RECORDS_UNFENCED
  :: true ->
#else
  :: stream_epoch[zone] == epoch[i] ->
#endif
     note_counted(zone, epoch[i]);
     copy(stored[zone], world[i])
#ifndef RECORDS_UNFENCED
  :: else
#endif
  fi;
  safe[i] = (world[i].waits != 0) + (world[i].waits_2 != 0);
  unrecorded[i] = false
}

inline store(i, zone) {
  if
#ifdef NOTE_UNASKED
  :: true ->
#else
  :: is_owner(i, zone) ->
#endif
     note_counted(zone, epoch[i]);
#ifdef OLDER
     copy(older[zone], stored[zone]);
#endif
     copy(stored[zone], world[i])
#ifndef NOTE_UNASKED
  :: else -> give_up(i)
#endif
  fi
}

/* ---------------------------------------------------------------------------------------------------------- crossing */

/* etcd's transaction, and what pair.h makes of it. */
inline carry_out(zone, with_lease, of_epoch, of_number, of_hop) {
  if
#ifdef NO_FENCE
  :: of_epoch == pair_epoch[zone] && of_number <= pair_number[zone]
#else
  :: !(with_lease)
  :: (with_lease) && (of_epoch < pair_epoch[zone] || (of_epoch == pair_epoch[zone] && of_number != pair_number[zone] + 1))
#endif
  :: else ->
     note_counted(zone, of_epoch);
#ifdef OWNERS
     departs_twice = count[zone] != 0 && message(zone, count[zone] - 1) >= of_hop;
     assert(!departs_twice);
#endif
     pair_epoch[zone] = of_epoch; pair_number[zone] = of_number;
     message(zone, count[zone]) = of_hop;
     count[zone]++
  fi
}

inline put(i, zone) {
#ifdef NO_FENCE
  carry_out(zone, true, epoch_of(i), number[i] + 1, world[i].waits);
  asked[i] = true
#else
  if
  :: is_owner(i, zone) ->
     carry_out(zone, true, epoch_of(i), number[i] + 1, world[i].waits);
     asked[i] = true
#ifdef ACCEPTS_TWO
  :: !is_owner(i, zone) && !erred ->
     erred = true;
     carry_out(zone, true, epoch_of(i), number[i] + 1, world[i].waits);
     asked[i] = true
#endif
  :: else -> give_up(i)
  fi
#endif
}

inline answer(i, zone) {
  world[i].waits = world[i].waits_2; world[i].waits_2 = 0; world[i].told = count[zone];
#ifdef STREAM
  safe[i]--;
#endif
  number[i]++; asked[i] = false
}

/* ---------------------------------------------------------------------------------------------------------- trouble */

/* It has heard that the lease is another's, or has ended. */
inline give_up(i) {
  stage[i] = OVER; zone_of[i] = 0; epoch[i] = 0; forget(i); clear(world[i])
}

inline forget(i) {
  number[i] = 0; asked[i] = false; unrecorded[i] = false; safe[i] = 0
}

inline process_dies(i) {
  stage[i] = FREE; forget(i)
}

inline node_dies(i) {
  process_dies(i);
  on_disk[i] = false; clear(world[i])
}

/* Time without an owner is as good as time in which the next one does nothing, but for a paused one of that zone. */
inline begin_again(i) {
  if
  :: stage[PAUSED] == OVER || zone_of[PAUSED] != i -> take_lease(i)
  :: else
  fi
}

/* Its lease ends, and its zone goes to another node; or it goes on before. */
inline pause(i) {
  zone_of[PAUSED] = i; copy(world[PAUSED], world[i]); stage[PAUSED] = stage[i]; epoch[PAUSED] = epoch[i];
  number[PAUSED] = number[i]; asked[PAUSED] = asked[i]; unrecorded[PAUSED] = unrecorded[i]; safe[PAUSED] = safe[i];
  node_dies(i)
}

#define has_both(zone) least(world[zone].told, world[next_of(zone)].taken)
#define is_changed(i, zone)                                                                                            \
  (stored[zone].here != world[i].here || stored[zone].mark != world[i].mark || stored[zone].told != world[i].told ||   \
   stored[zone].taken != world[i].taken || stored[zone].waits != world[i].waits ||                                     \
   stored[zone].waits_2 != world[i].waits_2)

proctype Owner(byte i) {
end_owner:
  do
#ifdef READ_EARLY
  :: d_step { i != PAUSED && stage[i] == FREE && read_to[i] < count[i] -> read_to[i] = count[i] }
#endif
#ifdef COVERED_EARLY
  :: d_step { i != PAUSED && covered[i] < has_both(i) -> covered[i] = has_both(i) }
#endif
  :: d_step { i != PAUSED && stage[i] == FREE -> take_lease(i) }
#ifdef STREAM
  :: d_step { stage[i] == MARKS -> put_mark(i, zone_of[i]) }
#endif
  :: d_step { stage[i] == RESTORES -> restore(i, zone_of[i]) }
  :: d_step { stage[i] == READS -> read_sent(i, zone_of[i]) }
  :: d_step { runs(i) && world[i].taken < count[before(zone_of[i])] -> arrive(i, zone_of[i]) }
  :: d_step { runs(i) && world[i].here != 0 && world[i].here <= HOPS && world[i].waits_2 == 0 -> depart(i) }
#ifdef DEATH
  :: d_step { runs(i) && world[i].here == HOPS + 1 -> die(i) }
#endif
#ifdef STREAM
  :: d_step { runs(i) && unrecorded[i] -> record(i, zone_of[i]) }
#else
  :: d_step { runs(i) && is_changed(i, zone_of[i]) -> store(i, zone_of[i]) }
#endif
  :: d_step { runs(i) && !asked[i] && may_put(i) -> put(i, zone_of[i]) }
  :: d_step { runs(i) && asked[i] -> answer(i, zone_of[i]) }
  :: d_step { runs(i) && asked[i] && lost > 0 -> lost--; asked[i] = false }
#ifdef LATE
  :: d_step {
       runs(i) && asked[i] && lost > 0 ->
       lost--; late = world[i].waits; late_zone = zone_of[i]; late_epoch = epoch[i]; late_number = number[i] + 1
     }
  :: d_step {
       late != 0 && late_zone == i ->
       carry_out(i, lease[i] == late_epoch, late_epoch, late_number, late);
       late = 0; late_zone = 0; late_epoch = 0; late_number = 0
     }
#endif
  :: d_step { i == PAUSED && stage[i] != OVER -> give_up(i) }
  :: d_step { i != PAUSED && stage[i] != FREE && crashes > 0 -> crashes--; process_dies(i); begin_again(i) }
  :: d_step { i != PAUSED && stage[i] != FREE && crashes > 0 -> crashes--; node_dies(i); begin_again(i) }
  :: d_step { i != PAUSED && stage[i] != FREE && pauses > 0 -> pauses--; pause(i) }
  od
}

/* ---------------------------------------------------------------------------------------------------------- checked */

#define has_agent(zone)      (stage[zone] == RUNS && world[zone].here != 0)
#define has_stored(zone)     (stored[zone].here != 0)
#define has_died(zone)       (stored[zone].died)
#define is_known(zone)       (has_stored(zone) || stored[zone].mark != 0 || count[zone] != 0)
#define is_quiet(zone)                                                                                                 \
  (stage[zone] == RUNS && !unrecorded[zone] && world[zone].waits == 0 && !asked[zone] &&                               \
   world[zone].taken == count[before(zone)] && (world[zone].here == 0 || world[zone].here > HOPS))
#define number_of(what) (what(0) + what(1) + what(2))

#if defined(DEATH)
#define is_well (number_of(has_agent) == 0 && number_of(has_died) > 0)
#elif defined(BORN)
#define is_well (number_of(has_agent) == 1 || number_of(is_known) == 0)
#else
#define is_well (number_of(has_agent) == 1)
#endif

init {
  d_step {
    z = 0;
    do
    :: z > 2 -> break
    :: else ->
       zone_of[z] = z; stage[z] = RUNS; epoch[z] = 1; lease[z] = 1; on_disk[z] = true; pair_epoch[z] = 1;
#ifdef STREAM
       stream_epoch[z] = 1;
#endif
       z++
    od;
    world[0].here = 1;
#if !defined(BORN)
    stored[0].here = 1;
#elif defined(STREAM)
    unrecorded[0] = true;
#endif
#ifdef OLDER
    older[0].here = stored[0].here;
#endif
    stage[PAUSED] = OVER
  }
  atomic { run Owner(0); run Owner(1); run Owner(2); run Owner(PAUSED) }
end_init:
  do
  :: d_step { number_of(has_agent) > 1 -> in_two_zones = true; assert(!in_two_zones) }
#ifdef STREAM
  :: d_step { number_of(has_stored) > 1 -> recorded_in_two = true; assert(!recorded_in_two) }
#endif
  :: d_step { timeout -> settled = number_of(is_quiet) == 3; assert(settled); in_one_zone = is_well; assert(in_one_zone) };
     break
  od
}
