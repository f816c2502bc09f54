/* service/zones/zone.h - a zone, in the process that runs it: a world that is a part of a larger one, for which its
 * supervisor holds a lease (service/zones/keeper.h).
 *
 *     between two frames   arrivals, ghosts and messages of the neighbours are taken in
 *     frame
 *     behind it            who has left its ground goes, when the frame with the departure is safe in the journal
 *
 * What came in and who left is in the world's record; how far the messages of each pair have been taken, and those that
 * are not stored yet, are a piece of its journal. So a zone that comes back, here or elsewhere, goes on where its
 * journal or its snapshot ends; the messages of the pairs (pair.h) tell what has happened since.
 *
 * A zone that is to be moved stops behind a frame, for good or until it is said to go on. The process that goes on with
 * it elsewhere has followed its record by then: all that was safe, and so all that anybody may know of.
 *
 * A zone without a lease stands still: two thirds of the lease's time after the last renewal was sent, by
 * CLOCK_BOOTTIME, which goes on while the machine sleeps. Frames' thread. */
#ifndef SERVICE_ZONES_ZONE_H
#define SERVICE_ZONES_ZONE_H

#include "service/zones/ground.h"

#include <muster/journal.h>
#include <muster/muster.h>

struct service;
struct hosted_world;
struct zone;

/* What others may know of a zone at any time. */
typedef struct zone_published {
  uint32_t number; /* 0 = the world is no zone */
  uint64_t epoch;
  uint32_t space;             /* of births, in which its ids are given */
  uint32_t spaces_used;       /* birth spaces that something may name, of SPACES_MAX */
  uint32_t ids_resting;       /* indices of agents that wait for another one */
  uint32_t ghosts;            /* that it perceives */
  uint64_t departed, arrived; /* agents, since the process began */
  uint64_t refused;           /* arrivals that were not taken: duplicates, or no room */
  uint64_t sent, delivered;   /* messages of agents to and from neighbours */
  uint64_t lost;              /* of these, how many found no receiver */
  uint32_t waiting;           /* parcels that are not stored yet */
  bool frozen;                /* its lease was not renewed in time, or it is being moved */
} zone_published;

/* A world that is a zone: waits for the word of its supervisor that it is this process's. Before the world is created;
 * of another world a no-op. MUSTER_E_SYSTEM when the supervisor is gone. */
muster_result zone_open(struct service *service, struct hosted_world *world);
void zone_close(struct hosted_world *world);

/* Whether it must go on from its files: to begin anew would be to lose who was in it. */
bool zone_must_restore(const struct hosted_world *world);

/* The zone's part of the world's definition. */
void zone_define(const struct zone *zone, muster_world_def *def);

/* Once the world is restored, or populated: learns what has left it and come to it since, under the new epoch. Before
 * its journal begins. MUSTER_E_SYSTEM when the supervisor is gone, MUSTER_E_INPUT with the message that cannot be
 * read. */
muster_result zone_take_over(struct hosted_world *world);

/* Whether the record that its world is restored from still grows, since the zone is another node's; and whether that
 * was so at its begin. */
bool zone_follows(const struct hosted_world *world);
bool zone_has_followed(const struct hosted_world *world);

/* Tells that a frame of that record was run again, and waits: returns how many bytes the record has now, or 0 when the
 * zone is this process's from there on (it follows no more), or the supervisor is gone. */
uint64_t zone_follow_on(struct hosted_world *world, uint64_t frame);

/* Why it may not run a frame, in words; null = it may: its lease is good, and it is not being moved. */
const char *zone_standstill(const struct hosted_world *world);
static inline bool zone_may_run(const struct hosted_world *world) {
  return !zone_standstill(world);
}

/* Whether what this frame has may go out: the lease is good, and the frame is in the stream of the journal, where there
 * is one. True of a world that is no zone. */
bool zone_is_safe(const struct hosted_world *world, uint64_t frame);

/* The same of what a snapshot of its journal has: that is stored, which is one behind so many. */
bool zone_is_stored(const struct hosted_world *world, uint64_t snapshots);

/* Takes what has come since the last frame. Between two frames. When the supervisor is gone, nothing comes, and the
 * lease ends. */
void zone_take_in(struct hosted_world *world);

/* Behind a frame: finds who has left, tells the neighbours, and sends what is safe. */
void zone_send_out(struct hosted_world *world);

/* Until when the thread may sleep that has nothing to do before `until_ns` (CLOCK_MONOTONIC): a zone that runs no
 * frames looks whether it is to go on, and gives signs of life. */
uint64_t zone_next_look_ns(const struct hosted_world *world, uint64_t until_ns);

/* How far simulation time moves on with the next frame: it follows land time (land_clock.h) and its offset to that,
 * never backwards, and catches up in few frames. A zone that is ahead runs at half the pace until it is level; one that
 * goes on more than ten seconds ahead keeps that as its offset, which its journal has. */
uint64_t zone_step_ns(const struct hosted_world *world);

/* The zone's piece of the journal (journals.h), and what comes back of it. */
bool zone_save(struct hosted_world *world, muster_journal_put put, void *put_user);
void zone_take(struct hosted_world *world, const void *bytes, size_t count);

/* Copies what others may know. */
void zone_publish(const struct hosted_world *world, zone_published *published);

#endif
