/* Every struct that begins with its size, through the call that takes it: which sizes are refused, which part of a
 * longer struct is read or written, and that a call which returns no result leaves it in muster_last_result(). */
#include "base/sized.h"
#include "world/fixture.h"

#include <muster/planner.h>
#include <muster/replicate.h>
#include <muster/view.h>

enum { TAIL_BYTES = 64, BYTES_MAX = 4096 };

/* What the calls need: a world with an agent, an observer, a herd and a type with a set; a new world; a planner's
 * world; and the bytes of a record and a snapshot of a new world. */
struct scene {
  little_world little;
  muster_world *fresh, *planned;
  muster_agent agent;
  muster_observer observer;
  muster_herd_type herds;
  muster_herd herd;
  struct recorded record, snapshot;
};

static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};

static muster_world *new_world(uint32_t planner_workers) {
  muster_world_def def = WITH(muster_world_def, it.limits.agents_max = 64, it.clock.kind = MUSTER_CLOCK_VIRTUAL,
                              it.planner_workers = planner_workers);
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(world, "%s", muster_last_error());
  return world;
}

static struct scene open_scene(void) {
  struct scene scene = {.fresh = new_world(0), .planned = new_world(1)};
  scene.little = (little_world){.world = new_world(0)};
  muster_set_def set = WITH(muster_set_def, it.atoms = &atom, it.atom_count = 1);
  add_type(&scene.little, WITH(muster_type_def, it.sets.list = &set, it.sets.count = 1,
                               it.published_bytes = sizeof(muster_herd_body)));
  muster_herd_type_def herds =
      WITH(muster_herd_type_def, it.member = scene.little.type, it.herds_max = it.unfolded_max = 4);
  scene.herds = muster_herd_type_register(scene.little.world, &herds);
  cr_assert_eq(muster_herds_add(scene.little.world, scene.herds, &(muster_herd_def){.members = 2}, 1, &scene.herd), 1,
               "%s", muster_last_error());
  scene.observer = observe_at(&scene.little, 0);
  scene.agent = spawn_at(&scene.little, 5000);
  run_frame(&scene.little);
  muster_save_def save = WITH(muster_save_def, it.write = recorded_write, it.user = &scene.snapshot);
  muster_world *world = new_world(0);
  assert_ok(muster_world_save(world, &save));
  recorded_begin(&scene.record, world);
  cr_assert_eq(muster_record_end(world), MUSTER_OK);
  muster_world_destroy(world);
  return scene;
}

static void close_scene(struct scene *scene) {
  muster_world_destroy(scene->little.world);
  muster_world_destroy(scene->fresh);
  muster_world_destroy(scene->planned);
  free(scene->record.bytes);
  free(scene->snapshot.bytes);
}

static muster_result made(bool made) {
  return made ? MUSTER_OK : muster_last_result();
}

static muster_result destroyed(muster_world *world) {
  muster_result result = made(world != NULL);
  muster_world_destroy(world);
  return result;
}

static muster_result stopped(muster_pool *pool) {
  muster_result result = made(pool != NULL);
  muster_pool_destroy(pool);
  return result;
}

static muster_result viewed(const struct scene *scene, const muster_view *view) {
  muster_view_agent shown[8];
  uint32_t cursor = 0;
  return made(muster_agents_view(scene->little.world, view, shown, 8, &cursor) == 1);
}

static muster_result asked(const struct scene *scene, const muster_nearby_query *query) {
  muster_nearby_agent found[4];
  return made(muster_agents_nearby(scene->little.world, query, found, 4, NULL) == 1);
}

/* A struct: how it is set, and the call that takes it. */
struct entry {
  const sized *kind;
  bool is_read; /* the library reads it: a definition */
  void (*prepare)(struct scene *scene, void *given);
  muster_result (*call)(struct scene *scene, void *given);
};

#define ENTRY(name, reads, set, result)                                                                                \
  static void prepare_##name(struct scene *scene, void *given) {                                                       \
    muster_##name *it = given;                                                                                         \
    (void)scene;                                                                                                       \
    *it = muster_##name##_default();                                                                                   \
    set;                                                                                                               \
  }                                                                                                                    \
  static muster_result call_##name(struct scene *scene, void *given) {                                                 \
    muster_##name *it = given;                                                                                         \
    (void)scene;                                                                                                       \
    return result;                                                                                                     \
  }                                                                                                                    \
  static const struct entry entry_##name = {SIZED(name), reads, prepare_##name, call_##name};
#define READ(name, set, result) ENTRY(name, true, set, result)
#define WRITTEN(name, result)   ENTRY(name, false, NOTHING, result)
#define NOTHING                 ((void)0)

READ(world_def, it->limits.agents_max = 64, destroyed(muster_world_create(it)))
READ(pool_def, it->workers = 1, stopped(muster_pool_create(it)))
READ(type_def, (it->atoms = &atom, it->atom_count = 1), made(muster_type_register(scene->little.world, it).index > 0))
READ(agent_def, it->type = scene->little.type, made(!muster_agent_is_null(muster_agent_spawn(scene->little.world, it))))
READ(agent_tuning, NOTHING, muster_agent_tune(scene->little.world, scene->agent, it))
READ(observer_def, NOTHING, made(muster_observer_generation(muster_observer_add(scene->little.world, it)) > 0))
READ(world_tuning, NOTHING, muster_world_tune(scene->little.world, it))
READ(set_tuning, NOTHING, muster_set_tune(scene->little.world, scene->little.type, 0, it))
READ(herd_type_def, (it->member = scene->little.type, it->herds_max = it->unfolded_max = 4),
     made(muster_herd_type_register(scene->little.world, it).index > 0))
READ(view, (it->x0 = 4000, it->x1 = 6000, it->y0 = -1, it->y1 = 1), viewed(scene, it))
READ(agent_columns, NOTHING, made(muster_agents_read(scene->little.world, &scene->agent, 1, it) == 1))
READ(nearby_query, (it->position.x = 5000, it->radius_m = 1), asked(scene, it))
READ(record_def, (it->write = recorded_write, it->user = &scene->record), muster_record_begin(scene->fresh, it))
READ(replay_def, (it->bytes = scene->record.bytes, it->count = scene->record.count),
     muster_replay_begin(scene->fresh, it))
READ(save_def, (it->write = recorded_write, it->user = &scene->snapshot), muster_world_save(scene->little.world, it))
READ(load_def, (it->bytes = scene->snapshot.bytes, it->count = scene->snapshot.count),
     muster_world_load(scene->fresh, it))

WRITTEN(frame_report, muster_frame_report_read(scene->little.world, it))
WRITTEN(statistics, muster_statistics_read(scene->little.world, it))
WRITTEN(type_cost, muster_type_cost_read(scene->little.world, scene->little.type, 0, it))
WRITTEN(agent_info, muster_agent_read(scene->little.world, scene->agent, it))
WRITTEN(agent_explanation, muster_agent_explain(scene->little.world, scene->agent, it))
WRITTEN(overrun_counts, muster_overrun_counts_read(scene->little.world, scene->little.type, it))
WRITTEN(set_info, muster_agent_set_read(scene->little.world, scene->agent, 0, it))
WRITTEN(herd_info, muster_herd_read(scene->little.world, scene->herd, it))
WRITTEN(plan_summary, muster_plan(scene->planned, &(muster_frame){FRAME_NS, FRAME_NS}, &(muster_plan_entry){0}, 1, it))
WRITTEN(record_status, muster_record_status_read(scene->little.world, it))
WRITTEN(record_info, muster_record_look(scene->record.bytes, scene->record.count, it, NULL))
WRITTEN(snapshot_info, muster_snapshot_look(scene->snapshot.bytes, scene->snapshot.count, it))

static muster_result read_pool(muster_pool_statistics *given) {
  muster_pool_def def = WITH(muster_pool_def, it.workers = 1);
  muster_pool *pool = muster_pool_create(&def);
  muster_result result = muster_pool_statistics_read(pool, UINT32_MAX, given);
  muster_pool_destroy(pool);
  return result;
}

WRITTEN(pool_statistics, read_pool(it))

/* Passes each entry to `expect`, in a scene of its own, with a struct that is set and followed by zeros. */
static void each(void (*expect)(struct scene *scene, const struct entry *entry, void *given)) {
  const struct entry *entries[] = {
      &entry_world_def,         &entry_pool_def,       &entry_type_def,      &entry_agent_def,      &entry_agent_tuning,
      &entry_observer_def,      &entry_world_tuning,   &entry_set_tuning,    &entry_herd_type_def,  &entry_view,
      &entry_agent_columns,     &entry_nearby_query,   &entry_record_def,    &entry_replay_def,     &entry_save_def,
      &entry_load_def,          &entry_frame_report,   &entry_statistics,    &entry_type_cost,      &entry_agent_info,
      &entry_agent_explanation, &entry_overrun_counts, &entry_set_info,      &entry_herd_info,      &entry_plan_summary,
      &entry_record_status,     &entry_record_info,    &entry_snapshot_info, &entry_pool_statistics};
  for (size_t i = 0; i < COUNT_OF(entries); i++) {
    _Alignas(64) unsigned char bytes[BYTES_MAX] = {0};
    SCOPED(close_scene) struct scene scene = open_scene();
    cr_assert_lt(entries[i]->kind->whole + TAIL_BYTES, sizeof bytes, "%s", entries[i]->kind->name);
    entries[i]->prepare(&scene, bytes);
    expect(&scene, entries[i], bytes);
  }
}

static void set_size(void *given, uint32_t size) {
  memcpy(given, &size, sizeof size);
}

static void expect_taken(struct scene *scene, const struct entry *entry, void *given) {
  cr_expect_eq(entry->call(scene, given), MUSTER_OK, "%s: %s", entry->kind->name, muster_last_error());
}

Test(sizes, what_a_default_function_set_is_taken) {
  each(expect_taken);
}

static void expect_refused(struct scene *scene, const struct entry *entry, void *given) {
  const uint32_t sizes[] = {0, 1, entry->kind->first - 1, 65537, UINT32_MAX};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    char words[128];
    snprintf(words, sizeof words, "muster_%s was not set by muster_%s_default(): its size is %u", entry->kind->name,
             entry->kind->name, sizes[i]);
    set_size(given, sizes[i]);
    cr_expect_eq(entry->call(scene, given), MUSTER_E_NOT_INITIALISED, "%s of %u bytes", entry->kind->name, sizes[i]);
    cr_expect_str_eq(muster_last_error(), words);
    cr_expect_eq(muster_last_result(), MUSTER_E_NOT_INITIALISED);
  }
}

Test(sizes, that_no_header_ever_had_are_refused) {
  each(expect_refused);
}

static void expect_older_taken(struct scene *scene, const struct entry *entry, void *given) {
  uint32_t first = entry->kind->first;
  memset((unsigned char *)given + first, 0x5a, TAIL_BYTES + entry->kind->whole - first);
  set_size(given, first);
  cr_expect_eq(entry->call(scene, given), MUSTER_OK, "%s: %s", entry->kind->name, muster_last_error());
  cr_expect_eq(memcmp(given, &first, sizeof first), 0, "%s: its size was changed", entry->kind->name);
  for (uint32_t at = first; at < entry->kind->whole + TAIL_BYTES; at++)
    cr_assert_eq(((unsigned char *)given)[at], 0x5a, "%s: byte %u was written", entry->kind->name, at);
}

Test(sizes, of_the_first_headers_are_taken_and_nothing_beyond_is_read_or_written) {
  each(expect_older_taken);
}

static void expect_newer_taken(struct scene *scene, const struct entry *entry, void *given) {
  uint32_t size = entry->kind->whole + TAIL_BYTES;
  set_size(given, size);
  if (!entry->is_read) memset((unsigned char *)given + entry->kind->whole, 0x5a, TAIL_BYTES);
  cr_expect_eq(entry->call(scene, given), MUSTER_OK, "%s: %s", entry->kind->name, muster_last_error());
  cr_expect_eq(memcmp(given, &size, sizeof size), 0, "%s: its size was changed", entry->kind->name);
  for (uint32_t at = entry->kind->whole; at < size; at++)
    cr_assert_eq(((unsigned char *)given)[at], entry->is_read ? 0 : 0x5a, "%s: byte %u", entry->kind->name, at);
}

Test(sizes, of_newer_headers_are_taken_when_what_only_they_know_is_zero) {
  each(expect_newer_taken);
}

static void expect_unknown_refused(struct scene *scene, const struct entry *entry, void *given) {
  uint32_t size = entry->kind->whole + TAIL_BYTES;
  if (!entry->is_read) return;
  set_size(given, size);
  ((unsigned char *)given)[size - 1] = 1;
  cr_expect_eq(entry->call(scene, given), MUSTER_E_ARGUMENT, "%s", entry->kind->name);
  cr_expect_not_null(strstr(muster_last_error(), "run with a newer library"), "%s", muster_last_error());
}

Test(sizes, of_newer_headers_are_refused_when_they_ask_for_what_this_library_does_not_know) {
  each(expect_unknown_refused);
}
