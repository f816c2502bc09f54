/* muster/zone.h - worlds that are parts of a larger one: agents that cross from one into another as bytes, under the
 * same id; ghosts, by which a zone perceives agents that its neighbours run; and messages from zone to zone. Not part
 * of muster/muster.h.
 *
 * A larger world is cut into zones, each of which is a world of its own with muster_world_def.zone.number: in another
 * process, on another machine, or beside this one. Muster runs each of them as any other world and carries nothing
 * between them: the host takes an agent out of one world as bytes and puts it into the next one, and does the same with
 * ghosts and messages. All zones have the same types in the same order, the same cell_m and importance_model, and one
 * simulation time: only then are bytes of one accepted by another.
 *
 *     A: muster_agent_depart(a, agent, B, put, &bytes)     B: muster_agent_arrive(b, bytes, count, &agent)
 *     A: muster_observer_depart(a, observer, B, ...)       B: muster_observer_arrive(b, bytes, count, &observer)
 *     A: muster_zone_messages(a, take, &out)               B: muster_zone_deliver_after(b, &message, follows)
 *     A: muster_ghosts_pack(a, near_b, count, put, &bytes) B: muster_ghosts_set(b, A, bytes, count, true)
 *
 * Ids. An agent's id is valid in all zones for as long as the agent lives, and an observer's until it is removed: it is
 * made of the zone in which the agent was born, the epoch in which that was, and what tells apart the agents that were
 * born there. Zone and epoch are the birth space of an id, its upper 28 bits. An owner that has only an older state of
 * the zone than the one before it goes on in another epoch (muster_zone_set_epoch), so that it gives no id that its
 * predecessor gave to another agent; one that has the very state goes on in the same. The index of a zone's agent
 * serves for 65,536 agents of one epoch, and rests until the next one after that (ids_resting in muster_zone_status).
 * Epochs need not rise, and one may come again: when nothing in any zone names its birth space, nor anything on its way
 * between two (muster_zone_spaces). So ids do not end.
 *
 * Crossings. An agent counts its crossings: its hop. Whoever carries agents between worlds may come twice, or late,
 * when a machine failed; the hop tells which of two packed agents is the newer one. A world that an agent has left
 * keeps a mark: which zone it went to, and with which hop. By the marks messages follow the agent, and an agent that
 * comes back with a hop that is not higher is refused. A world keeps the marks of its last agents_max departures (at
 * least 1,024); older ones are dropped, and counted (muster_zone_status.marks_dropped). A host that restores a
 * world, and gives it once more what came meanwhile, keeps for itself who left meanwhile, if that may be more. All of
 * this holds for observers as well, with marks of their own, of the last observers_max departures.
 *
 * Ghosts. A ghost has the place, the type and the published state of an agent that another zone runs. Atoms perceive it
 * as any agent: muster_update_nearby(), muster_update_published_of() and muster_update_position_of() find it, so do
 * muster_agents_nearby(), muster_agents_read() and muster_agents_view(). It is never run, has no state and no
 * callbacks, counts neither in reports nor for the budget, and is not among muster_agent_next() and
 * muster_frame_changes(). Calls that would change it find it stale. Ghosts and agents together are at most agents_max.
 *
 * Messages. muster_update_send() and muster_agent_send() to a ghost, or to an agent that left, put the message into a
 * queue of this world, from which the host takes it (muster_zone_messages) and delivers it in the zone to which it
 * goes. There each is delivered once, however often it comes: the last 65,536 messages from other zones are known by
 * sender and sequence, each for MUSTER_ZONE_KNOWN_FRAMES of this world's frames. Messages of one sender reach one
 * receiver in the order in which they were sent, while either of them crosses and by whatever way the host carries
 * them: each tells which one it follows, and a receiver's world holds back what comes before that one, for
 * MUSTER_ZONE_ORDER_FRAMES of its frames at most. What comes later than that, as the way was longer, is delivered then,
 * behind those that it should have come before. A zone knows the last 65,536 pairs of a sender and a receiver, at
 * either end, of the last MUSTER_ZONE_ORDER_FRAMES; and holds back limits.sends_per_frame messages: when there are
 * more, those that have waited longest wait no more. What finds the receiver's box full is held back as well, until
 * there is room: messages come in bursts when a zone goes on that stood still. Of one sender MUSTER_ZONE_WAITING_MAX
 * wait for one receiver; beyond that, those that have waited longest are dropped.
 *
 * Records, snapshots and journals hold all of this: a world that is recovered from a journal repeats the crossings as
 * they were. While a world replays, calls of the host succeed and change nothing, and call nothing back.
 *
 * Where a comment says so a call belongs to the thread of the frames, between two frames. */
#ifndef MUSTER_ZONE_H
#define MUSTER_ZONE_H

#include <muster/herd.h>
#include <muster/muster.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------ zones */

/* The zone that a world is, with the epoch in force. MUSTER_E_STATE when it is none. Any thread. O(1). */
MUSTER_API muster_result muster_zone_read(const muster_world *world, muster_zone_def *zone);

/* Ids that are given from here on carry another epoch, indices that rested can be taken again, and messages to other
 * zones have sequences that no older owner can have given. The caller answers for it that nothing names the birth
 * space. MUSTER_E_ARGUMENT when the epoch is the one in force, or beyond MUSTER_EPOCHS_MAX; MUSTER_E_STATE when the
 * world is no zone. Thread of the frames, between frames; recorded. O(agents_max). */
MUSTER_API muster_result muster_zone_set_epoch(muster_world *world, uint32_t epoch);

/* So many birth spaces muster_zone_spaces() tells apart. */
enum { MUSTER_ZONE_SPACES_MAX = 4096 };

/* The birth spaces that something in this world names, or has named since the last call: agents, ghosts and observers
 * that are here, that came, or that left and are known by a mark; their companions; senders and receivers of messages
 * that wait, or are known for a while; and the epochs in force. Each is zone << 14 | epoch. Returns how many there are,
 * of which `room` are written at most, in no order; UINT32_MAX when they are more than MUSTER_ZONE_SPACES_MAX: then
 * each may be named. Ids that modules keep in their own states are not looked at. 0 with a message when the world is no
 * zone. Thread of the frames, between frames. O(agents and messages). */
MUSTER_API uint32_t muster_zone_spaces(muster_world *world, uint32_t *spaces, uint32_t room);

/* So far ahead of the receiver a zone is taken for a moment early: hosts hold what comes from it back until the
 * receiver is there, so that nobody lives through any time twice. */
#define MUSTER_ZONE_EARLY_NS 1000000000u

/* Says how far this zone's simulation time is ahead of that of all zones together (behind: below zero); 0 at first.
 * What crosses carries ages: whoever arrives has lived since as long as has passed for all zones, whatever the clocks
 * of the two worlds say; nothing, where it comes from a zone that is more than MUSTER_ZONE_EARLY_NS ahead even so. A
 * zone that was restored too far ahead keeps its offset, so that nobody waits for the others.
 * Records, snapshots and journals hold it. Texts and states in which a module keeps simulation times are its own
 * matter. MUSTER_E_ARGUMENT beyond 2^61 either way; MUSTER_E_STATE when the world is no zone. Thread of the frames,
 * between frames; recorded. O(1). */
MUSTER_API muster_result muster_zone_set_offset(muster_world *world, int64_t offset_ns);

/* The zone in which an agent was born, and the epoch in which that was: from its id alone. 0 for ids of worlds that are
 * no zones, as far as their generations are below 2^18 and 16. Any thread. O(1). */
static inline uint32_t muster_agent_zone(muster_agent agent) {
  return (uint32_t)(agent.value >> 50);
}
static inline uint32_t muster_agent_epoch(muster_agent agent) {
  return (uint32_t)(agent.value >> 36) & MUSTER_EPOCHS_MAX;
}

/* How often an agent of this world has crossed from one zone to another. MUSTER_E_STALE when it is gone, or a ghost;
 * MUSTER_E_STATE when the world is no zone. Thread of the frames, between frames. O(1). */
MUSTER_API muster_result muster_agent_hop(const muster_world *world, muster_agent agent, uint32_t *hop);

/* How many frames a message is held back, at most, for one of the same sender that was sent before it and has not come:
 * about a minute at 30 frames a second. So long a zone may stand still, or a message be on its way, and the order
 * holds. */
enum { MUSTER_ZONE_ORDER_FRAMES = 2048 };

/* For how many frames of its world a message that came from another zone is known, so that it is not delivered again:
 * some four minutes at 30 frames a second. While a world stands still, or is restored, none of them passes. */
enum { MUSTER_ZONE_KNOWN_FRAMES = 4 * MUSTER_ZONE_ORDER_FRAMES };

/* How often a message goes on behind a receiver who has moved on: one who crosses in each frame may well be missed some
 * twenty times. Without an end, zones that each take the other for where an agent is, as after its loss, would send
 * what is for it to and fro for ever. */
enum { MUSTER_ZONE_HOPS_MAX = 64 };

/* How many messages of one sender from another zone wait for room in the box of one receiver, at most. */
enum { MUSTER_ZONE_WAITING_MAX = 256 };

/* What a zone counts since its world was created. */
typedef struct muster_zone_status {
  uint32_t size;
  uint32_t ghosts;             /* that it has now */
  uint32_t marks;              /* agents that left and whose mark it has now */
  uint32_t messages;           /* messages to other zones that wait for muster_zone_messages() */
  uint32_t ids_resting;        /* indices of agents that rest until another epoch */
  uint64_t departed;           /* agents that left, herds' members not counted */
  uint64_t arrived;            /* agents that came */
  uint64_t marks_dropped;      /* marks that were dropped for newer ones */
  uint64_t messages_out;       /* messages that were put into the queue to other zones, */
  uint64_t messages_forwarded; /* and how many of them came from another zone, and followed an agent that moved on */
  uint64_t messages_dropped;   /* messages to other zones that found no room in the queue */
  uint64_t messages_in;        /* messages from other zones that were delivered, or dropped as the box was full */
  uint64_t messages_twice;     /* messages from other zones that had been delivered already */
  uint64_t messages_unordered; /* messages that were delivered before, or behind, others of their sender */
  uint64_t observers_departed; /* observers that left, */
  uint64_t observers_arrived;  /* and that came */
  uint32_t messages_held;      /* messages that wait now for one that was sent before them, or behind it for room */
  uint32_t reserved;
  int64_t offset_ns;             /* muster_zone_set_offset() */
  uint32_t ids_free;             /* indices of agents that can be taken now, about */
  uint32_t observer_ids_resting; /* as ids_resting and ids_free, */
  uint32_t observer_ids_free;    /* of observers */
  uint32_t reserved_again;
} muster_zone_status;

MUSTER_DEFAULTS(muster_zone_status);

/* Reads what a zone counts. MUSTER_E_STATE when the world is no zone. Thread of the frames, between frames. O(1). */
MUSTER_API muster_result muster_zone_status_read(const muster_world *world, muster_zone_status *status);

/* -------------------------------------------------------------------------------------------------------- crossing */

/* Takes bytes; false when it cannot. As muster_journal_put. */
typedef bool (*muster_zone_put)(const void *bytes, size_t count, void *user);

/* Takes an agent out of the world as bytes, which it hands to `put` in order, in one call or several: its type, state
 * and published state, its place, what the host or its designer set (floor, elasticity, factors), its importance and
 * level, the time of its last update and when the next is due, times that were asked for, runs, messages that wait,
 * company, demotion for overruns, the progress of its sets, and its hop, one higher than before. on_removed is not
 * called. From here on the id names an agent that is elsewhere: messages to it go out with zone `to`, and all other
 * calls find it stale. A wake that it has not answered goes along.
 *
 * MUSTER_E_STATE, and nothing has changed, when the world is no zone; when the agent waits for its first intake, an
 * update of it is under way (preempted, or with action atoms that wait), or a command about it waits for the next
 * intake: try again after the next frame; when it is a herd's (a leaf, a block, or a named member, which crosses with
 * its herd); and when it has a user pointer, which no other process could read: types whose agents cross keep what they
 * need in state_bytes. MUSTER_E_STALE when it is gone or a ghost; MUSTER_E_ARGUMENT when `to` is no other zone;
 * MUSTER_E_SYSTEM when `put` returned false: nothing has changed then either. Thread of the frames, between frames;
 * recorded. O(bytes and commands that wait). */
MUSTER_API muster_result muster_agent_depart(muster_world *world, muster_agent agent, uint32_t to, muster_zone_put put,
                                             void *user);

/* Puts an agent that departed elsewhere into this world: it is active at once, under its own id, which is written to
 * `agent` (may be null); on_spawned is not called. A ghost of it is replaced, and a mark that it left is gone. The time
 * of its last update is its own, or that of this world's last frame if that is earlier, so that its next update is told
 * all time that passed; what was due meanwhile is due in the next frame.
 *
 * MUSTER_E_STALE when this world has the agent, or it left from here with a hop that is not lower than the one that it
 * has now; MUSTER_E_FULL when agents_max agents and ghosts exist; MUSTER_E_INPUT when the bytes are damaged, of another
 * version, or of a world with other types; MUSTER_E_STATE when the world is no zone. Nothing has changed then. Thread
 * of the frames, between frames; recorded. O(bytes). */
MUSTER_API muster_result muster_agent_arrive(muster_world *world, const void *bytes, size_t count, muster_agent *agent);

/* The id and the hop of a packed agent; either may be null. MUSTER_E_INPUT when the bytes are damaged, of another
 * version, or of something else. Any thread. O(bytes). */
MUSTER_API muster_result muster_agent_packed(const void *bytes, size_t count, muster_agent *agent, uint32_t *hop);

/* A restored world learns that an agent left for zone `to` with that hop: the agent is taken out without callbacks when
 * it is here with a lower hop, and the mark stays. MUSTER_OK also when it is not here. MUSTER_E_STATE when the world is
 * no zone; MUSTER_E_ARGUMENT when `to` is no other zone, or the id is none of a zone. Thread of the frames, between
 * frames; recorded. O(1). */
MUSTER_API muster_result muster_agent_left(muster_world *world, muster_agent agent, uint32_t hop, uint32_t to);

/* ------------------------------------------------------------------------------------------------------- observers */

/* Takes an observer out of the world as bytes, handed to `put` in order, in one call or several: its id, its place, how
 * far it sees, its partition and its hop, one higher than before. What it made important is so no more. From here on
 * muster_observer_move() and all other calls with its id are refused with MUSTER_E_STALE, and the message names the
 * zone `to`; muster_observer_zone() tells it as a number.
 *
 * MUSTER_E_STATE, and nothing has changed, when the world is no zone, or the observer waits for its first intake or
 * a command about it for the next one: try again after the next frame. MUSTER_E_STALE when it is gone;
 * MUSTER_E_ARGUMENT when `to` is no other zone; MUSTER_E_SYSTEM when `put` returned false. Thread of the frames,
 * between frames; recorded. O(commands that wait). */
MUSTER_API muster_result muster_observer_depart(muster_world *world, muster_observer observer, uint32_t to,
                                                muster_zone_put put, void *user);

/* Puts an observer that departed elsewhere into this world, under its own id, which is written to `observer` (may be
 * null): it is there from the next frame on, and is found, read and moved as one that was added here. MUSTER_E_STALE
 * when this world has it, or it left from here with a hop that is not lower than the one that it has now; MUSTER_E_FULL
 * when observers_max observers exist; MUSTER_E_INPUT when the bytes are damaged, of another version, or of something
 * else; MUSTER_E_STATE when the world is no zone. Nothing has changed then. Thread of the frames, between frames;
 * recorded. O(1). */
MUSTER_API muster_result muster_observer_arrive(muster_world *world, const void *bytes, size_t count,
                                                muster_observer *observer);

/* The id and the hop of a packed observer; either may be null. MUSTER_E_INPUT when the bytes are damaged, of another
 * version, or of something else. Any thread. O(1). */
MUSTER_API muster_result muster_observer_packed(const void *bytes, size_t count, muster_observer *observer,
                                                uint32_t *hop);

/* A restored world learns that an observer left for zone `to` with that hop, as by muster_agent_left(). MUSTER_E_STATE
 * when the world is no zone; MUSTER_E_ARGUMENT when `to` is no other zone, or the id is none of a zone. Thread of the
 * frames, between frames; recorded. O(1). */
MUSTER_API muster_result muster_observer_left(muster_world *world, muster_observer observer, uint32_t hop, uint32_t to);

/* The zone in which an observer is, as far as this world knows: its own number when it is here, also before its first
 * intake; or the zone for which it left from here, from where it may have moved on. MUSTER_E_STALE when it is gone, or
 * was never here; MUSTER_E_STATE when the world is no zone. Any thread. O(1). */
MUSTER_API muster_result muster_observer_zone(const muster_world *world, muster_observer observer, uint32_t *zone);

/* ---------------------------------------------------------------------------------------------------------- ghosts */

/* Packs what a neighbour perceives of some agents, and hands it to `put` in order, in one call or several. Ids that are
 * gone or waiting for their intake, and ghosts, are passed over. MUSTER_E_STATE when the world is no zone;
 * MUSTER_E_SYSTEM when `put` returned false. Changes nothing. Thread of the frames, between frames. O(bytes). */
MUSTER_API muster_result muster_ghosts_pack(const muster_world *world, const muster_agent *agents, uint32_t count,
                                            muster_zone_put put, void *user);

/* Takes the ghosts that zone `from` has packed: those that are known are moved and published anew, others appear. With
 * `whole` the ghosts of that zone which are not named are gone; null `bytes` with a count of 0 name none. A ghost of an
 * agent that is here is passed over; so is a ghost that finds no room, and MUSTER_E_FULL is returned when that
 * happened: all others are there. A ghost that another zone had named belongs to `from` now. MUSTER_E_INPUT when the
 * bytes are damaged or of a world with other types, MUSTER_E_ARGUMENT when `from` is no other zone, MUSTER_E_STATE when
 * the world is no zone: nothing has changed then. Thread of the frames, between frames; recorded. O(bytes and, with
 * `whole`, ghosts). */
MUSTER_API muster_result muster_ghosts_set(muster_world *world, uint32_t from, const void *bytes, size_t count,
                                           bool whole);

/* Whether an id is that of a ghost. False in a world that is no zone. Any thread. O(1). */
MUSTER_API bool muster_agent_is_ghost(const muster_world *world, muster_agent agent);

/* -------------------------------------------------------------------------------------------------------- messages */

/* A message to an agent in another zone. Fixed for good. */
typedef struct muster_zone_message {
  muster_agent from; /* null: the host, by muster_agent_send() */
  muster_agent to;
  uint64_t sequence; /* of the sender's messages to other zones, ascending; of the host's those of this zone */
  uint64_t sent_ns;  /* simulation time of the frame in which it was sent, less the zone's offset */
  uint32_t zone;     /* where `to` is, as far as this world knows */
  uint32_t size;     /* bytes; at most MUSTER_MESSAGE_BYTES_MAX */
  const void *bytes; /* null when there are none */
} muster_zone_message;

/* Hands over the messages to other zones that came up since the last call, in the order in which they were sent;
 * returns how many. The queue takes limits.sends_per_frame messages: further ones are dropped, counted, and told to
 * their senders (muster_update_messages_lost). A message, with its bytes, is valid until `take` returns; `take` may not
 * call into the world. 0 with a message when the world is no zone. Thread of the frames, between frames; recorded.
 * O(messages). */
MUSTER_API uint32_t muster_zone_messages(muster_world *world,
                                         void (*take)(const muster_zone_message *message, void *user), void *user);

/* Which message a message follows: the sequence of the one before it that its sender sent to the same receiver, while
 * that may be on its way; 0 = none. In its first eight bits stands, too, how often the message has gone on. It goes
 * with the message to muster_zone_deliver_after(), as it is. Asked within the `take` of muster_zone_messages(), for its
 * message alone; 0 for null. Any thread. O(1). */
MUSTER_API uint64_t muster_zone_message_follows(const muster_zone_message *message);

/* Delivers a message that came from another zone: into the receiver's box, from which its next update reads it, once
 * the message that it follows has come and there is room; or, when the receiver has moved on or is a ghost, into the
 * queue to other zones again. A type without boxes drops it, and MUSTER_OK is returned. `zone` is not looked at.
 * MUSTER_E_STALE when it came before, the receiver is gone, or it has gone on MUSTER_ZONE_HOPS_MAX times and should
 * once more: passed over; MUSTER_E_FULL when it should go out again and the queue is full; MUSTER_E_ARGUMENT when it is
 * too long, its sequence is not above the one that it follows, or its sender is no agent and no host of a zone;
 * MUSTER_E_STATE when the world is no zone. Thread of the frames, between frames; recorded. O(1). */
MUSTER_API muster_result muster_zone_deliver_after(muster_world *world, const muster_zone_message *message,
                                                   uint64_t follows);

/* The same of a message that follows none: it waits for no other, may come before those that were sent earlier, and
 * goes on as if for the first time. Thread of the frames, between frames; recorded. O(1). */
MUSTER_API muster_result muster_zone_deliver(muster_world *world, const muster_zone_message *message);

/* ----------------------------------------------------------------------------------------------------------- herds */

/* Takes a folded herd out of the world as bytes, handed to `put` in order, in one call or several: its centre,
 * velocity, members and totals, the time to which it was brought, and its named members, who cross with it under their
 * ids as muster_agent_depart() would take them. A herd's own id is of one world: it is stale from here on.
 * MUSTER_E_STATE, and nothing has changed, when the world is no zone, the herd is unfolded or retained, or a named
 * member cannot leave now; MUSTER_E_STALE when it is gone; MUSTER_E_ARGUMENT, MUSTER_E_SYSTEM as above. Thread of the
 * frames, between frames; recorded, also in a journal. O(bytes). */
MUSTER_API muster_result muster_herd_depart(muster_world *world, muster_herd herd, uint32_t to, muster_zone_put put,
                                            void *user);

/* Puts a herd that departed elsewhere into this world, folded, with its named members, and writes its new id to `herd`
 * (may be null). A named member that this world must refuse (muster_agent_arrive) lets the whole herd be refused.
 * MUSTER_E_FULL also when herds_max herds exist, or unfolded_max are unfolded. Errors as of muster_agent_arrive();
 * nothing has changed then. Thread of the frames, between frames; recorded, also in a journal. O(bytes). */
MUSTER_API muster_result muster_herd_arrive(muster_world *world, const void *bytes, size_t count, muster_herd *herd);

#ifdef __cplusplus
}
#endif

#endif
