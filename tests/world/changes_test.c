/* What muster_frame_changes() tells: each kind, cursors, readers, and what it refuses. */
#include "base/random.h"
#include "support/herd_world.h"
#include "support/planned_world.h"
#include "support/replica.h"
#include "world/fixture.h"

enum { ROOM = 4096 };

static muster_change changes[ROOM];
static uint32_t count;
static uint64_t cursor; /* of the reader that most cases have; each runs in a process of its own */
static const muster_atom idle = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};

static muster_world_def keeping(uint32_t frames) {
  return WITH(virtual_world_def, it.limits.changes_frames = frames);
}

static little_world world_with(uint32_t frames, uint32_t published_bytes, muster_atom atom) {
  little_world little = little_world_of(1, keeping(frames));
  add_type(&little, CHANGED(type_with(&atom, 1), it.published_bytes = published_bytes,
                            it.period_ns = it.period_max_ns = 4 * FRAME_NS));
  return little;
}

static muster_result read_kinds(const little_world *little, uint32_t kinds, uint64_t *from) {
  return muster_frame_changes(little->world, kinds, from, changes, ROOM, &count);
}

static void read_all(const little_world *little, uint64_t *from) {
  cr_assert_eq(read_kinds(little, MUSTER_CHANGE_ALL, from), MUSTER_OK, "%s", muster_last_error());
}

static void read_next(little_world *little, uint64_t *from) {
  run_frame(little);
  read_all(little, from);
}

static void expect_one(const little_world *little, uint64_t *from, muster_agent agent, uint32_t kinds) {
  read_all(little, from);
  cr_assert_eq(count, 1);
  cr_assert(muster_agent_equal(changes[0].agent, agent));
  cr_assert_eq(changes[0].type.index, little->type.index);
  cr_assert_eq(changes[0].kinds, kinds, "%x", changes[0].kinds);
}

static void expect_none(const little_world *little, uint64_t *from) {
  read_all(little, from);
  cr_assert_eq(count, 0);
}

static void expect_next(little_world *little, uint64_t *from, muster_agent agent, uint32_t kinds) {
  run_frame(little);
  expect_one(little, from, agent, kinds);
}

Test(changes, an_agent_comes_moves_and_leaves) {
  SCOPED_WORLD little = world_with(1, 0, idle);
  expect_none(&little, &cursor);
  muster_agent agent = spawn_at(&little, 5);
  expect_none(&little, &cursor); /* not active yet */
  expect_next(&little, &cursor, agent, MUSTER_CHANGE_SPAWNED);
  expect_none(&little, &cursor);
  run_frame(&little);
  expect_none(&little, &cursor);
  muster_agent_move(little.world, agent, (muster_position){6, 0, 0});
  expect_next(&little, &cursor, agent, MUSTER_CHANGE_MOVED);
  muster_agent_move(little.world, agent, (muster_position){6, 0, 0});
  run_frame(&little);
  expect_none(&little, &cursor); /* it is there already */
  muster_agent_remove(little.world, agent);
  expect_next(&little, &cursor, agent, MUSTER_CHANGE_LEFT);
}

Test(changes, positions_of_an_array_are_told_with_the_next_frame) {
  SCOPED_WORLD little = world_with(1, 0, idle);
  muster_agent agents[2] = {spawn_at(&little, 5), spawn_at(&little, 6)};
  read_next(&little, &cursor);
  for (double step = 0.5; step < 1000; step *= 20) {
    cr_assert_eq(muster_agents_move(little.world, agents, (muster_position[]){{5 + step, 0, 0}, {6, 0, 0}}, 2), 2);
    expect_none(&little, &cursor);
    expect_next(&little, &cursor, agents[0], MUSTER_CHANGE_MOVED);
  }
  muster_agent child = spawn_at(&little, 7);
  cr_assert_eq(muster_agents_move(little.world, &child, &(muster_position){8, 0, 0}, 1), 1);
  expect_next(&little, &cursor, child, MUSTER_CHANGE_SPAWNED); /* it was moved before it came */
}

Test(changes, an_agent_that_moves_and_leaves_at_once_has_left) {
  SCOPED_WORLD little = world_with(1, 0, idle);
  muster_agent agent = spawn_at(&little, 5);
  read_next(&little, &cursor);
  cr_assert_eq(muster_agents_move(little.world, &agent, &(muster_position){6, 0, 0}, 1), 1);
  muster_agent_remove(little.world, agent);
  expect_next(&little, &cursor, agent, MUSTER_CHANGE_LEFT);
}

Test(changes, an_agent_that_was_met_between_two_frames_and_left_in_the_next_has_left) {
  muster_world_def def = keeping(1);
  SCOPED_HERDS herds = herd_world_create(1, &def, NULL);
  little_world *little = &herds.little;
  muster_herd herd = add_herd(&herds, 0, 0, 32);
  run_frame(little);
  read_kinds(little, MUSTER_CHANGE_ALL, &cursor);
  muster_agent named = muster_herd_name(little->world, herd, 3);
  cr_assert_not(muster_agent_is_null(named), "%s", muster_last_error());
  muster_agent_remove(little->world, named);
  run_frame(little);
  cr_assert_not(muster_agent_exists(little->world, named));
  read_all(little, &cursor);
  uint32_t left = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!muster_agent_equal(changes[i].agent, named)) continue;
    cr_assert_eq(changes[i].kinds, MUSTER_CHANGE_LEFT);
    left++;
  }
  cr_assert_eq(left, 1);
}

Test(changes, an_update_of_a_type_that_publishes_is_told_and_others_are_not) {
  for (uint32_t bytes = 0; bytes <= 8; bytes += 8) {
    SCOPED_WORLD little = world_with(1, bytes, idle);
    cursor = 0;
    uint32_t published = 0, completed = 0;
    spawn_at(&little, 5);
    for (uint32_t i = 0; i < 40; i++) {
      completed += run_frame(&little).completed;
      read_all(&little, &cursor);
      for (uint32_t k = 0; k < count; k++) published += (changes[k].kinds & MUSTER_CHANGE_PUBLISHED) != 0;
    }
    cr_assert_geq(completed, 8);
    cr_assert_eq(published, bytes ? completed : 0);
  }
}

Test(changes, of_levels_follow_observers) {
  SCOPED_WORLD little = typed_world(1, keeping(1), CHANGED(type_with(&idle, 1), it.levels.count = 4));
  muster_agent agent = spawn_at(&little, 0);
  run_frames(&little, 3);
  uint32_t before = info_of(&little, agent).level, told = 0;
  read_kinds(&little, MUSTER_CHANGE_ALL, &cursor);
  observe_at(&little, 0);
  for (uint32_t i = 0; i < 20; i++) {
    read_next(&little, &cursor);
    for (uint32_t k = 0; k < count; k++) told += (changes[k].kinds & MUSTER_CHANGE_LEVEL) != 0;
  }
  cr_assert_lt(info_of(&little, agent).level, before);
  cr_assert_eq(told, 1);
}

Test(changes, an_index_that_is_used_again_is_told_as_two_agents) {
  SCOPED_WORLD little = typed_world(1, CHANGED(keeping(1), it.limits.agents_max = 1), type_with(&idle, 1));
  muster_agent first = spawn_at(&little, 0);
  read_next(&little, &cursor);
  muster_agent_remove(little.world, first);
  run_frame(&little);
  muster_agent second = spawn_at(&little, 0);
  expect_one(&little, &cursor, first, MUSTER_CHANGE_LEFT);
  expect_next(&little, &cursor, second, MUSTER_CHANGE_SPAWNED);
  cr_assert_not(muster_agent_equal(first, second));
}

/* --------------------------------------------------------------------------------------------------------- cursors */

Test(changes, a_cursor_that_is_too_old_is_told_and_goes_on) {
  SCOPED_WORLD little = world_with(2, 8, idle);
  uint64_t late = 0;
  muster_agent agent = spawn_at(&little, 5);
  read_next(&little, &late);
  run_frames(&little, 2);
  uint64_t early = late;
  read_all(&little, &early); /* two frames are kept */
  run_frames(&little, 5);
  muster_agent_move(little.world, agent, (muster_position){6, 0, 0});
  run_frame(&little);
  count = 77;
  cr_assert_eq(read_kinds(&little, MUSTER_CHANGE_ALL, &late), MUSTER_E_STALE);
  cr_assert_eq(count, 0);
  expect_error("read all agents");
  expect_none(&little, &late);
  cr_assert_eq(read_kinds(&little, MUSTER_CHANGE_ALL, &cursor), MUSTER_E_STALE, "the beginning is not kept");
  cr_assert_eq(cursor, late);
  muster_agent_move(little.world, agent, (muster_position){7, 0, 0});
  read_next(&little, &late);
  cr_assert_eq(count, 1);
  cr_assert(changes[0].kinds & MUSTER_CHANGE_MOVED);
}

Test(changes, the_cursor_of_another_world_is_none_of_this_one) {
  SCOPED_WORLD first = world_with(2, 0, idle), second = world_with(2, 0, idle);
  uint64_t of_first = 0, of_second = 0;
  run_frame(&first);
  run_frame(&second);
  read_all(&first, &of_first);
  read_all(&second, &of_second);
  uint64_t other = of_second;
  cursor = of_first;
  cr_assert_eq(read_kinds(&second, MUSTER_CHANGE_ALL, &cursor), MUSTER_E_STALE);
  cr_assert_eq(cursor, of_second);
  cr_assert_eq(read_kinds(&first, MUSTER_CHANGE_ALL, &other), MUSTER_E_STALE);
  cr_assert_eq(other, of_first);
}

static muster_atom_result walk(muster_update *update) {
  step_by(update, 1);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom walks = {walk, MUSTER_ROLE_BEHAVIOUR, 1000};

Test(changes, in_pieces_are_those_at_once_and_kinds_choose_among_them) {
  SCOPED_WORLD little = world_with(8, 8, walks);
  for (uint32_t i = 0; i < 100; i++) spawn_at(&little, i);
  run_frames(&little, 8);
  uint64_t whole = 0;
  read_all(&little, &whole);
  uint32_t all = count, with_kinds[5] = {0};
  cr_assert_geq(all, 200);
  for (uint32_t k = 0; k < 5 * all; k++) with_kinds[k / all] += changes[k % all].kinds >> k / all & 1;
  for (uint32_t each = 1; each < 90; each = each * 3 + 1) {
    cursor = 0;
    muster_change piece[90];
    uint32_t read = 0, written = each;
    for (; written == each; read += written) {
      cr_assert_eq(muster_frame_changes(little.world, MUSTER_CHANGE_ALL, &cursor, piece, each, &written), MUSTER_OK);
      cr_assert_eq(memcmp(piece, changes + read, written * sizeof *piece), 0);
    }
    cr_assert_eq(read, all);
    cr_assert_eq(cursor, whole);
  }
  for (uint32_t kind = 0; kind < 5; kind++) {
    cursor = 0;
    cr_assert_eq(read_kinds(&little, 1u << kind, &cursor), MUSTER_OK);
    cr_assert_eq(count, with_kinds[kind], "kind %u", kind);
    for (uint32_t i = 0; i < count; i++) cr_assert(changes[i].kinds >> kind & 1);
  }
  cursor = 0;
  cr_assert_eq(muster_frame_changes(little.world, MUSTER_CHANGE_ALL, &cursor, NULL, 0, &count), MUSTER_OK);
  cr_assert_eq(count, 0);
  read_all(&little, &cursor); /* nothing was passed over */
  cr_assert_eq(count, all);
}

/* Each agent that is removed makes room for another in the same intake: more change than there is room for. */
static little_world *reborn_in;
static uint32_t reborn;

static void bear_another(muster_update *update) {
  muster_agent_def def = WITH(muster_agent_def, it.type = reborn_in->type);
  if (reborn) reborn -= !muster_agent_is_null(muster_update_spawn(update, &def));
}

Test(changes, of_a_frame_with_more_of_them_than_agents_max_lose_all_cursors) {
  enum { AGENTS = 64 };
  SCOPED_WORLD little = little_world_of(1, CHANGED(keeping(4), it.limits.agents_max = AGENTS));
  add_type(&little, CHANGED(type_with(&idle, 1), it.on_removed = bear_another, it.spawns_max = 1));
  muster_agent agents[AGENTS];
  reborn_in = &little;
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  read_next(&little, &cursor);
  cr_assert_eq(count, AGENTS);
  for (uint32_t i = 0; i < AGENTS; i++) muster_agent_remove(little.world, agents[i]);
  reborn = AGENTS / 2;
  run_frame(&little);
  cr_assert_lt(reborn, AGENTS / 2, "agents came in the frame in which others left");
  cr_assert_eq(read_kinds(&little, MUSTER_CHANGE_ALL, &cursor), MUSTER_E_STALE);
  uint64_t after = cursor;
  reborn = 0;
  muster_agent agent = muster_agent_next(little.world, (muster_agent){0});
  muster_agent_move(little.world, agent, (muster_position){1, 2, 3});
  read_next(&little, &after);
  cr_assert_geq(count, 1);
  cursor = 0;
  cr_assert_eq(read_kinds(&little, MUSTER_CHANGE_ALL, &cursor), MUSTER_E_STALE);
}

Test(changes, are_not_saved_so_cursors_are_lost_when_a_snapshot_is_loaded) {
  SCOPED_WORLD little = world_with(4, 8, walks), loaded = world_with(4, 8, walks);
  for (uint32_t i = 0; i < 50; i++) spawn_at(&little, i);
  run_frames(&little, 3);
  uint64_t beginning = 0;
  read_all(&little, &cursor);
  copy_world(&little, &loaded);
  cr_assert_eq(read_kinds(&loaded, MUSTER_CHANGE_ALL, &cursor), MUSTER_E_STALE);
  cr_assert_eq(read_kinds(&loaded, MUSTER_CHANGE_ALL, &beginning), MUSTER_E_STALE);
  expect_none(&loaded, &cursor);
  run_frame(&loaded);
  run_frame(&little);
  read_all(&loaded, &cursor);
  for (uint32_t i = 0; i < count; i++) cr_assert_not(changes[i].kinds & MUSTER_CHANGE_SPAWNED);
  cr_assert_gt(count, 0);
}

/* --------------------------------------------------------------------------------------------------------- readers */

/* What a client has that is told of changes and reads nobody else. */
struct client {
  uint64_t cursor;
  uint32_t lost;
  muster_agent agents[ROOM];
  muster_position places[ROOM];
};

static void client_take(struct client *client, const little_world *little, muster_agent agent) {
  client->agents[muster_agent_index(agent)] = agent;
  client->places[muster_agent_index(agent)] = info_of(little, agent).position;
}

/* Afterwards it knows who is there, and where. */
static void client_read(struct client *client, const little_world *little) {
  if (read_kinds(little, MUSTER_CHANGE_MOVED | MUSTER_CHANGE_SPAWNED | MUSTER_CHANGE_LEFT, &client->cursor)) {
    memset(client->agents, 0, sizeof client->agents);
    for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent));)
      client_take(client, little, agent);
    client->lost++;
  }
  for (uint32_t i = 0; i < count; i++) {
    muster_agent agent = changes[i].agent;
    if (changes[i].kinds & MUSTER_CHANGE_LEFT && muster_agent_equal(client->agents[muster_agent_index(agent)], agent))
      client->agents[muster_agent_index(agent)] = (muster_agent){0};
    else if (muster_agent_exists(little->world, agent))
      client_take(client, little, agent);
  }
  uint32_t known = 0, there = 0;
  for (uint32_t i = 0; i < ROOM; i++) known += !muster_agent_is_null(client->agents[i]);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent)); there++) {
    muster_position is = info_of(little, agent).position;
    cr_assert(muster_agent_equal(client->agents[muster_agent_index(agent)], agent));
    cr_assert_eq(memcmp(&is, &client->places[muster_agent_index(agent)], sizeof is), 0, "agent %u",
                 muster_agent_index(agent));
  }
  cr_assert_eq(known, there);
}

static void disturb(const little_world *little, uint64_t seed, uint32_t frame) {
  for (uint32_t i = 0; i < 40; i++) {
    uint64_t random = random_at(seed, frame, i, 0);
    muster_position to = {(double)(random >> 20 & 1023), (double)(random >> 30 & 1023), 0};
    muster_agent agent = muster_agent_next(little->world, muster_agent_make((uint32_t)((random >> 40) % ROOM), 1));
    if (random % 4 == 0) spawn_in(little, to, 0);
    if (muster_agent_is_null(agent)) continue;
    if (random % 4 == 1) muster_agent_remove(little->world, agent);
    if (random % 4 == 2) muster_agent_move(little->world, agent, to);
    if (random % 4 == 3) muster_agents_move(little->world, &agent, &to, 1);
  }
}

Test(changes, keep_clients_up_to_date_that_read_at_any_pace) {
  enum { CLIENTS = 4 };
  static struct client clients[CLIENTS];
  for (uint64_t seed = 1; seed <= 8; seed++) {
    SCOPED_WORLD little = typed_world(
        1 + (uint32_t)seed % 3, CHANGED(keeping(4), it.limits.agents_max = ROOM, it.seed = seed), type_with(&walks, 1));
    memset(clients, 0, sizeof clients);
    for (uint32_t frame = 0; frame < 120; frame++) {
      disturb(&little, seed, frame);
      run_frame(&little);
      for (uint32_t i = 0; i < CLIENTS; i++) {
        if (random_at(seed, frame, 1000 + i, 0) % (1 + 2 * i)) continue;
        client_read(&clients[i], &little);
      }
    }
    cr_assert_eq(clients[0].lost, 0);
    cr_assert_gt(clients[CLIENTS - 1].lost, 0);
  }
}

Test(changes, of_plans_that_the_host_ran_are_told) {
  muster_world_def def = keeping(1);
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(&def, parts_type(1), 0);
  muster_agent agent = spawn_at(&planned->little, 3);
  uint32_t moved = 0;
  for (uint32_t i = 0; i < 40; i++) {
    uint32_t entries = plan(planned);
    for (uint32_t k = 0; k < entries; k++) {
      planned->results[k] = result_as_planned(&planned->entries[k], planned->entries[k].part_end);
      planned->results[k].moved = true;
      planned->results[k].position.x = 10 + i;
    }
    report(planned, entries);
    read_all(&planned->little, &cursor);
    cr_assert_eq(count, entries || i == 0);
    for (uint32_t k = 0; k < count; k++) moved += (changes[k].kinds & MUSTER_CHANGE_MOVED) != 0;
  }
  cr_assert_geq(moved, 3);
  cr_assert(info_of(&planned->little, agent).position.x >= 10);
}

Test(changes, a_world_that_keeps_none_says_so) {
  SCOPED_WORLD little = world_with(0, 8, walks);
  cursor = 5;
  count = 9;
  cr_assert_eq(read_kinds(&little, MUSTER_CHANGE_ALL, &cursor), MUSTER_E_STATE);
  expect_error("changes_frames");
  cr_assert_eq(count, 0);
  cr_assert_eq(cursor, 5);
  expect_world_refused(keeping(MUSTER_CHANGES_FRAMES_MAX + 1), "changes_frames");
}
