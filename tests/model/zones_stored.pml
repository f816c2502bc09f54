/* zones_stored.pml - what zones.pml keeps of a zone: versions, which etcd notes, and chunks of the journal.
 *
 * With -DSTREAM the journal goes to three servers in chunks, which belong to the version that is noted. A chunk has all
 * frames so far, is put when the one before is kept, and never with other contents. It is kept when two servers have
 * it. Until then it may come to a second one at any time, also when its owner is dead; whoever reads then asks two or
 * three servers: finds it, or not, and the next reader otherwise. A server keeps what it has acknowledged.
 *
 * A new owner restores the version of the note and its chunks, runs frames at once, and lets nothing out before it has
 * noted a version of its own. Until then the chunks of an earlier owner still count, which may put more of them,
 * without the lease.
 *
 * A version is packed and noted in one step, unless -DPACKS. In truth that takes long. Meanwhile no chunk makes safe
 * what the version does not have; behind a note without an answer none either, until a later note is answered: else
 * what had gone out would not be in the version that the next owner reads. */

/* What an owner with the lease has kept, somebody may hear of: answers go out. */
inline tell(zone, what, of_epoch) {
  note_owner(zone, of_epoch);
  if
  :: lease[zone] == of_epoch -> tell_birth(what); tell_death(what)
  :: else
  fi
}

#ifdef STREAM
/* One server has it. One of a version that is not the note's is read by nobody. */
inline put_chunk(i, zone) {
#ifdef OLD_VERSION
  if
  :: version[i] == PAST_VERSION -> copy(older[zone], world[i])
  :: else
  fi;
#endif
  if
  :: version[i] == PAST_VERSION -> safe[i] = (world[i].waits != 0) + (world[i].waits_2 != 0)
  :: else ->
#ifdef SENT_OTHERWISE
     if
     :: is_loose[zone] && !is_shorter[zone] -> is_shorter[zone] = true; copy(shorter[zone], loose[zone])
     :: else
     fi;
#endif
     copy(loose[zone], world[i]); is_loose[zone] = true
#ifdef MINORITY
     ; safe[i] = (world[i].waits != 0) + (world[i].waits_2 != 0)
#endif
  fi;
  records[i] = false
}

inline make_safe(owner, at) {
  if
  :: version[owner] == NOTED_VERSION && runs(owner) ->
     safe[owner] = kept_departures(owner, at);
     tell(at, stored[at], epoch[owner])
  :: else
  fi
}

/* A second server has it, and its owner hears of that, if there is one. */
inline keep(zone) {
  copy(stored[zone], loose[zone]); clear(loose[zone]); is_loose[zone] = false;
  make_safe(zone, zone);
  if
  :: pauses_in(zone) -> make_safe(PAUSED, zone)
  :: else
  fi
}

/* The note tells of a version of this owner: what there was of another is past. */
inline note_version(i, zone) {
  covered_out[zone] = stored[zone].told; covered_in[zone] = stored[zone].taken;
  clear(loose[zone]); is_loose[zone] = false;
#ifdef SENT_OTHERWISE
  is_shorter[zone] = false; clear(shorter[zone]);
#endif
  if
  :: i != PAUSED && pauses_in(zone) && version[PAUSED] == NOTED_VERSION -> version[PAUSED] = PAST_VERSION
  :: i == PAUSED && version[zone] == NOTED_VERSION -> version[zone] = PAST_VERSION
  :: else
  fi
}
#endif

#ifdef PACKS
inline pack(i) {
  copy(packed[i], world[i]); is_packed[i] = true
}
#endif

/* Only who has the lease can. */
inline store(i, zone, answered) {
  if
#ifdef NOTE_UNASKED
  :: true ->
#else
  :: lease[zone] == epoch[i] ->
#endif
#if defined(START_OLDER) || defined(OLD_VERSION)
     copy(older[zone], stored[zone]);
#endif
#ifdef PACKS
     copy(stored[zone], packed[i]); clear(packed[i]); is_packed[i] = false;
#else
     copy(stored[zone], world[i]);
#endif
#ifdef NOTE_UNASKED
     if
     :: told_in[zone] < world[i].taken -> told_in[zone] = world[i].taken
     :: else
     fi;
     if
     :: told_out[zone] < world[i].told -> told_out[zone] = world[i].told
     :: else
     fi;
#endif
     tell(zone, stored[zone], epoch[i]);
#ifdef STREAM
     note_version(i, zone);
     if
     :: answered ->
        version[i] = NOTED_VERSION;
        records[i] = differ(stored[zone], world[i]);
        if
        :: safe[i] < kept_departures(i, zone) -> safe[i] = kept_departures(i, zone)
        :: else
        fi
     :: else ->
#ifdef CHUNKS_BEHIND
        if
        :: version[i] == NOTED_VERSION -> version[i] = PAST_VERSION
        :: else
        fi
#else
        version[i] = NO_VERSION
#endif
     fi
#endif
  :: else -> give_up(i)
  fi
}
