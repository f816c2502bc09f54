/* base/sized.h - structs of the public interface that begin with their size: how the library reads each from a host and
 * writes it for one, whatever header the host was built with. muster/common.h says what hosts may expect. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <muster/common.h>

/* What is known of one of these structs. */
typedef struct sized {
  const char *name; /* without muster_ */
  uint32_t first;   /* bytes of the struct as it was first published */
  uint32_t whole;   /* bytes as this library knows it */
} sized;

/* SIZED(world_def) is a pointer to what is known of muster_world_def. */
#define SIZED(name)            (&(const sized){#name, SIZED_FIRST(name, FIRST_##name), sizeof(muster_##name)})
#define SIZED_FIRST(name, end) (offsetof(muster_##name, end) + sizeof((muster_##name *)NULL)->end)

/* The last field that each had when it was first published. Fields are only added behind it, so this stays. */
#define FIRST_agent_columns       found
#define FIRST_agent_def           user
#define FIRST_agent_explanation   priority_runs_ns
#define FIRST_agent_info          state
#define FIRST_agent_tuning        derive_elasticity
#define FIRST_overrun_counts      stuck
#define FIRST_frame_report        levels
#define FIRST_herd_info           last_update_ns
#define FIRST_herd_type_def       user
#define FIRST_load_def            user
#define FIRST_module              close
#define FIRST_nearby_query        bands_m
#define FIRST_observer_def        far_m
#define FIRST_journal_def         user
#define FIRST_journal_info        damage
#define FIRST_journal_look_def    user
#define FIRST_journal_recover_def user
#define FIRST_journal_status      ended_by
#define FIRST_plan_summary        slices_ns
#define FIRST_pool_def            log
#define FIRST_pool_statistics     idle_looks
#define FIRST_record_def          name_user
#define FIRST_record_info         note_bytes
#define FIRST_record_status       ended_by
#define FIRST_replay_def          user
#define FIRST_save_def            name_user
#define FIRST_set_def             asks
#define FIRST_set_info            owed
#define FIRST_set_tuning          mode
#define FIRST_snapshot_info       hash
#define FIRST_statistics          bytes_scheduling
#define FIRST_type_cost           samples
#define FIRST_type_def            sets
#define FIRST_view                looks_max
#define FIRST_zone_status         messages_twice
#define FIRST_world_def           watch
#define FIRST_world_tuning        levels

/* Whether any version of the struct has this size. */
bool sized_is_published(const sized *kind, uint32_t size);

/* Refuses, as not initialised, a struct that is null or has a size that none of its versions has. */
muster_result sized_check(const sized *kind, const void *given);

/* Reads a definition over its defaults, with which the caller has filled `def`: fields that the host's header did not
 * know stay as they are. Also refuses values that the host set behind the part that this library knows. */
muster_result sized_read(const sized *kind, const void *given, void *def);

/* Writes as much of a struct as the host's header knows; its size stays the host's. */
muster_result sized_write(const sized *kind, const void *from, void *out);

#endif
