/* null_zones.h - the part of null_test.c about zones: in a world that is one, so that null is what is refused. */
#ifndef NULL_ZONES_H
#define NULL_ZONES_H

#include "misuse/misuse.h"

typedef struct null_zones {
  little_world little;
  muster_agent agent;
  muster_herd herd;
  muster_observer observer;
  muster_zone_def zone;
  muster_zone_status status;
  muster_zone_message message;
  muster_view view;
  muster_position place;
  uint32_t hop, cursor;
} null_zones;

static inline bool null_zone_put(const void *bytes, size_t count, void *user) {
  return bytes || !count || user;
}

static inline void null_zone_take(const muster_zone_message *message, void *user) {
  (void)message, (void)user;
}

static inline null_zones null_zones_open(void) {
  null_zones with = {.little = typed_world(1, WITH(virtual_world_def, it.zone.number = 1), type_running(nothing, 0)),
                     .status = muster_zone_status_default(),
                     .view = muster_view_default()};
  with.agent = spawn_at(&with.little, 0);
  run_frame(&with.little);
  return with;
}

#define OF_ZONES(X)                                                                                                    \
  X(muster_zone_read,                                                                                                  \
    REFUSES(muster_zone_read(NULL, &with.zone)) && REFUSES(muster_zone_read(with.little.world, NULL)))                 \
  X(muster_zone_message_follows, muster_zone_message_follows(NULL) == 0)                                               \
  X(muster_zone_set_offset, REFUSES(muster_zone_set_offset(NULL, 1)))                                                  \
  X(muster_zone_spaces,                                                                                                \
    REFUSES(!muster_zone_spaces(NULL, &with.hop, 1)) && REFUSES(!muster_zone_spaces(with.little.world, NULL, 1)))      \
  X(muster_zone_set_epoch, REFUSES(muster_zone_set_epoch(NULL, 1)))                                                    \
  X(muster_agent_hop, REFUSES(muster_agent_hop(NULL, with.agent, &with.hop)) &&                                        \
                          REFUSES(muster_agent_hop(with.little.world, with.agent, NULL)))                              \
  X(muster_zone_status_read,                                                                                           \
    REFUSES(muster_zone_status_read(NULL, &with.status)) && REFUSES(muster_zone_status_read(with.little.world, NULL))) \
  X(muster_agent_depart, REFUSES(muster_agent_depart(NULL, with.agent, 2, null_zone_put, NULL)) &&                     \
                             REFUSES(muster_agent_depart(with.little.world, with.agent, 2, NULL, NULL)))               \
  X(muster_agent_arrive, REFUSES(muster_agent_arrive(NULL, "a", 1, NULL)) &&                                           \
                             REFUSES(muster_agent_arrive(with.little.world, NULL, 1, NULL)))                           \
  X(muster_agent_packed, REFUSES(muster_agent_packed(NULL, 1, &with.agent, &with.hop)))                                \
  X(muster_agent_left, REFUSES(muster_agent_left(NULL, with.agent, 1, 2)))                                             \
  X(muster_observer_depart, REFUSES(muster_observer_depart(NULL, with.observer, 2, null_zone_put, NULL)) &&            \
                                REFUSES(muster_observer_depart(with.little.world, with.observer, 2, NULL, NULL)))      \
  X(muster_observer_arrive, REFUSES(muster_observer_arrive(NULL, "a", 1, NULL)) &&                                     \
                                REFUSES(muster_observer_arrive(with.little.world, NULL, 1, NULL)))                     \
  X(muster_observer_packed, REFUSES(muster_observer_packed(NULL, 1, &with.observer, &with.hop)))                       \
  X(muster_observer_left, REFUSES(muster_observer_left(NULL, with.observer, 1, 2)))                                    \
  X(muster_observer_zone, REFUSES(muster_observer_zone(NULL, with.observer, &with.hop)) &&                             \
                              REFUSES(muster_observer_zone(with.little.world, with.observer, NULL)))                   \
  X(muster_ghosts_pack, REFUSES(muster_ghosts_pack(NULL, &with.agent, 1, null_zone_put, NULL)) &&                      \
                            REFUSES(muster_ghosts_pack(with.little.world, NULL, 1, null_zone_put, NULL)) &&            \
                            REFUSES(muster_ghosts_pack(with.little.world, &with.agent, 1, NULL, NULL)))                \
  X(muster_ghosts_set, REFUSES(muster_ghosts_set(NULL, 2, "a", 1, true)) &&                                            \
                           REFUSES(muster_ghosts_set(with.little.world, 2, NULL, 1, true)))                            \
  X(muster_agents_outside,                                                                                             \
    REFUSES(!muster_agents_outside(NULL, &with.view, &with.agent, &with.place, NULL, 1, &with.cursor)) &&              \
        REFUSES(!muster_agents_outside(with.little.world, NULL, &with.agent, &with.place, NULL, 1, &with.cursor)) &&   \
        REFUSES(!muster_agents_outside(with.little.world, &with.view, NULL, &with.place, NULL, 1, &with.cursor)) &&    \
        REFUSES(!muster_agents_outside(with.little.world, &with.view, &with.agent, NULL, NULL, 1, &with.cursor)) &&    \
        REFUSES(!muster_agents_outside(with.little.world, &with.view, &with.agent, &with.place, NULL, 1, NULL)))       \
  X(muster_agent_is_ghost, !muster_agent_is_ghost(NULL, with.agent))                                                   \
  X(muster_zone_messages, REFUSES(!muster_zone_messages(NULL, null_zone_take, NULL)) &&                                \
                              REFUSES(!muster_zone_messages(with.little.world, NULL, NULL)))                           \
  X(muster_zone_deliver_after, REFUSES(muster_zone_deliver_after(NULL, &with.message, 0)) &&                           \
                                   REFUSES(muster_zone_deliver_after(with.little.world, NULL, 0)))                     \
  X(muster_zone_deliver,                                                                                               \
    REFUSES(muster_zone_deliver(NULL, &with.message)) && REFUSES(muster_zone_deliver(with.little.world, NULL)))        \
  X(muster_herd_depart, REFUSES(muster_herd_depart(NULL, with.herd, 2, null_zone_put, NULL)) &&                        \
                            REFUSES(muster_herd_depart(with.little.world, with.herd, 2, NULL, NULL)))                  \
  X(muster_herd_arrive, REFUSES(muster_herd_arrive(NULL, "a", 1, &with.herd)) &&                                       \
                            REFUSES(muster_herd_arrive(with.little.world, NULL, 1, &with.herd)))

#endif
