/* Ghosts are perceived as agents are, and never run. */
#include "support/zone_pair.h"
#include "world/fixture.h"

#include <muster/replicate.h>
#include <muster/view.h>

typedef struct looker_mind {
  uint32_t seen;
  muster_agent nearest;
  uint64_t published;
  muster_position position;
  bool state;
} looker_mind;

static muster_atom_result look_around(muster_update *update) {
  looker_mind *mind = update->state;
  muster_neighbour near[8];
  mind->seen = muster_update_nearby(update, 1000, (muster_type){0}, near, 8);
  mind->nearest = mind->seen ? near[0].agent : (muster_agent){0};
  const uint64_t *published = muster_update_published_of(update, mind->nearest);
  mind->published = published ? *published : 0;
  muster_update_position_of(update, mind->nearest, &mind->position);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result reach_out(muster_update *update) {
  looker_mind *mind = update->state;
  mind->state = muster_update_state_of(update, mind->nearest) != NULL;
  return MUSTER_ATOM_NEXT;
}

static little_world looking_world(uint32_t number, muster_type *lookers) {
  static const muster_atom atoms[] = {{look_around, MUSTER_ROLE_BEHAVIOUR, 1000}, {reach_out, MUSTER_ROLE_ACTION, 500}};
  little_world little = zone_world(number);
  muster_type_def type = WITH(muster_type_def, it.name = "looker", it.atoms = atoms, it.atom_count = 2,
                              it.period_ns = FRAME_NS, it.state_bytes = sizeof(looker_mind));
  *lookers = muster_type_register(little.world, &type);
  return little;
}

Test(zone_ghosts, are_perceived_and_never_run) {
  muster_type lookers, there;
  SCOPED_WORLD here = looking_world(1, &lookers), other = looking_world(2, &there);
  muster_agent walker = spawn_in(&other, (muster_position){33, 4, 5}, 0);
  muster_agent looker = spawn_as(&here, WITH(muster_agent_def, it.type = lookers));
  run_both(&here, &other, 5);
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(&other, &walker, 1);
  show_ghosts(&here, 2, &bytes, true);
  cr_assert(muster_agent_is_ghost(here.world, walker));
  cr_assert_not(muster_agent_is_ghost(other.world, walker));
  cr_assert_not(muster_agent_exists(here.world, walker));
  muster_frame_report report = run_frame(&here);
  run_frames(&here, 20);
  cr_assert_eq(report.agents, 1);
  cr_assert_eq(report.completed, 1);
  const looker_mind *mind = info_of(&here, looker).state;
  cr_assert_eq(mind->seen, 1);
  cr_assert(muster_agent_equal(mind->nearest, walker));
  cr_assert_eq(mind->published, mind_of(&other, walker)->sum);
  cr_assert_float_eq(mind->position.x, info_of(&other, walker).position.x, 1e-9);
  cr_assert_float_eq(mind->position.z, 5, 1e-9);
  cr_assert_not(mind->state, "a ghost has no state");
  bytes.count = 0;
  spawn_at(&other, 900);
  cr_assert_eq(muster_ghosts_pack(other.world, NULL, 0, zone_put, &bytes), MUSTER_OK);
  show_ghosts(&here, 2, &bytes, false);
  cr_assert(muster_agent_is_ghost(here.world, walker), "it was not named, and not all were");
  show_ghosts(&here, 2, &bytes, true);
  cr_assert_not(muster_agent_is_ghost(here.world, walker));
  run_frame(&here);
  cr_assert_eq(mind->seen, 0);
}

/* More than are looked at together: each is where its agent is, and publishes the same, again and again. */
Test(zone_ghosts, in_crowds_are_each_where_their_agent_is) {
  enum { CROWD = 100 };
  SCOPED_WORLD here = zone_world(1), other = zone_world(2);
  muster_agent crowd[CROWD];
  spawn_at(&here, 10);
  for (uint32_t i = 0; i < CROWD; i++) crowd[i] = spawn_at(&other, 3.0 * i);
  run_frames(&here, 4);
  for (uint32_t round = 0; round < 4; round++) {
    run_frames(&other, 4);
    for (uint32_t i = 0; i < CROWD; i += 3) {
      muster_position place = {1000.0 * round + i, round, 0};
      cr_assert_eq(muster_agents_move(other.world, &crowd[i], &place, 1), 1);
    }
    mirror(&other, &here, crowd, CROWD - round * 17);
    for (uint32_t i = 0; i < CROWD - round * 17; i++) {
      muster_agent_info info = info_of(&other, crowd[i]);
      muster_position place;
      uint64_t published;
      muster_agent_columns columns = WITH(muster_agent_columns, it.positions = &place, it.published = &published,
                                          it.published_stride = sizeof published);
      cr_assert_eq(muster_agents_read(here.world, &crowd[i], 1, &columns), 1);
      cr_expect_eq(memcmp(&place, &info.position, sizeof place), 0);
      cr_expect_eq(published, mind_of(&other, crowd[i])->sum);
    }
    run_frames(&here, 1);
  }
  cr_expect_eq(zone_status(&here).ghosts, CROWD - 3 * 17);
}

Test(zone_ghosts, are_seen_by_readers_and_cannot_be_changed) {
  SCOPED_WORLD here = zone_world(1), other = zone_world(2);
  muster_agent walker = spawn_at(&other, 40), own = spawn_at(&here, 10);
  run_both(&here, &other, 4);
  mirror(&other, &here, &walker, 1);
  muster_nearby_query query = WITH(muster_nearby_query, it.radius_m = 500);
  muster_nearby_agent near[4];
  cr_assert_eq(muster_agents_nearby(here.world, &query, near, 4, NULL), 2);
  cr_assert(muster_agent_equal(near[1].neighbour.agent, walker));
  muster_view view = WITH(muster_view, it.x0 = it.y0 = -1000, it.x1 = it.y1 = 1000);
  muster_view_agent agents[4];
  uint32_t cursor = 0, ghosts = 0, count = muster_agents_view(here.world, &view, agents, 4, &cursor);
  cr_assert_eq(count, 2);
  for (uint32_t i = 0; i < count; i++) ghosts += (agents[i].flags & MUSTER_VIEW_GHOST) != 0;
  cr_assert_eq(ghosts, 1);
  muster_agent outside[4];
  muster_position places[4];
  view.x1 = view.y1 = -900;
  cursor = 0;
  cr_assert_eq(muster_agents_outside(here.world, &view, outside, places, NULL, 4, &cursor), 1);
  cr_assert(muster_agent_equal(outside[0], own), "a ghost is none that may cross");
  muster_position positions[2];
  uint64_t published[2] = {0}, states[2][5] = {{0}};
  const muster_agent both[2] = {own, walker};
  uint64_t periods_ns[2] = {7, 7};
  uint32_t partitions[2] = {7, 7};
  muster_type types[2] = {{7}, {7}};
  bool found[2] = {false, false};
  muster_agent_columns columns =
      WITH(muster_agent_columns, it.positions = positions, it.published = published,
           it.published_stride = sizeof *published, it.state = states, it.state_stride = sizeof *states,
           it.period_ns = periods_ns, it.partition = partitions, it.types = types, it.found = found);
  cr_assert_eq(muster_agents_read(here.world, both, 2, &columns), 2);
  cr_expect_eq(periods_ns[0], info_of(&here, own).period_ns);
  cr_expect_eq(periods_ns[1], 0, "nobody runs a ghost");
  cr_expect(partitions[0] == 0 && partitions[1] == 0);
  cr_expect(types[0].index == here.type.index && types[1].index == other.type.index);
  cr_expect(found[0] && found[1]);
  cr_assert_float_eq(positions[1].x, info_of(&other, walker).position.x, 1e-9);
  cr_assert_eq(published[1], mind_of(&other, walker)->sum);
  cr_assert_eq(states[1][0], 0);
  muster_agent_info info = muster_agent_info_default();
  cr_assert_eq(muster_agent_read(here.world, walker, &info), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_remove(here.world, walker), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_move(here.world, walker, query.position), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_wake(here.world, walker), MUSTER_E_STALE);
  cr_assert_eq(muster_agents_move(here.world, &walker, &query.position, 1), 0);
  cr_assert_eq(muster_agent_depart(here.world, walker, 3, zone_put, &(zone_bytes){0}), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_hop(here.world, walker, &(uint32_t){0}), MUSTER_E_STALE);
  cr_assert(muster_agent_equal(muster_agent_next(here.world, (muster_agent){0}), own));
  cr_assert(muster_agent_is_null(muster_agent_next(here.world, own)));
}

Test(zone_ghosts, give_way_to_their_agent_and_follow_it) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent agent = spawn_at(&a, 5);
  run_both(&a, &b, 1);
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(&a, &agent, 1);
  show_ghosts(&b, 1, &bytes, true);
  cr_assert_eq(zone_status(&b).ghosts, 1);
  cross(&a, &b, agent);
  cr_assert_eq(zone_status(&b).ghosts, 0);
  cr_assert_not(muster_agent_is_ghost(b.world, agent));
  cr_assert(muster_agent_exists(b.world, agent));
  show_ghosts(&b, 1, &bytes, true);
  cr_assert_eq(zone_status(&b).ghosts, 0, "what is here has no ghost");
  mirror(&b, &a, &agent, 1);
  cr_assert(muster_agent_is_ghost(a.world, agent), "and where it was born, it has one now");
  run_frames(&a, 3);
  cr_assert_eq(muster_ghosts_set(a.world, 2, NULL, 0, true), MUSTER_OK);
  cr_assert_eq(zone_status(&a).ghosts, 0);
}

Test(zone_ghosts, take_room_and_are_not_told_as_changes) {
  SCOPED_WORLD small = zone_of(WITH(zone_def, it.limits.agents_max = 3, it.limits.changes_frames = 4));
  SCOPED_WORLD other = zone_world(2);
  muster_agent agents[4];
  for (int i = 0; i < 4; i++) agents[i] = spawn_at(&other, 10.0 * i);
  spawn_at(&small, 1);
  run_both(&small, &other, 1);
  uint64_t cursor = 0;
  uint32_t count;
  muster_change changes[8];
  muster_frame_changes(small.world, MUSTER_CHANGE_ALL, &cursor, changes, 8, &count);
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(&other, agents, 4), fewer = ghosts_of(&other, agents, 1);
  cr_assert_eq(muster_ghosts_set(small.world, 2, bytes.bytes, bytes.count, true), MUSTER_E_FULL);
  cr_assert_eq(zone_status(&small).ghosts, 2, "those that found room are there");
  run_frame(&small);
  muster_frame_changes(small.world, MUSTER_CHANGE_ALL, &cursor, changes, 8, &count);
  for (uint32_t i = 0; i < count; i++) cr_assert_eq(muster_agent_zone(changes[i].agent), 1);
  cr_assert_eq(muster_ghosts_set(small.world, 2, fewer.bytes, fewer.count, true), MUSTER_OK);
  muster_agent_def one = WITH(muster_agent_def, it.type = small.type);
  cr_assert_not(muster_agent_is_null(muster_agent_spawn(small.world, &one)), "there is room again");
  cr_assert(muster_agent_is_null(muster_agent_spawn(small.world, &one)));
  run_frames(&small, 2);
}

/* Asks once more who stands outside, and whether each changed: at once, or the next time one by one. */
static uint32_t outside_changed(const little_world *here, const muster_agent *crowd, uint32_t count) {
  static uint32_t times;
  muster_agent ids[8];
  muster_position places[8];
  bool changed[8];
  muster_view view = WITH(muster_view, it.x0 = it.y0 = -1000, it.x1 = it.y1 = -900);
  uint32_t cursor = 0, bits = 0, found = 0, page = times++ % 2 ? 8 : 1;
  while (cursor != MUSTER_VIEW_END && found < 8)
    found += muster_agents_outside(here->world, &view, ids + found, places + found, changed + found,
                                   page < 8 - found ? page : 8 - found, &cursor);
  cr_assert_eq(found, count);
  for (uint32_t i = 0; i < count; i++) {
    cr_assert(muster_agent_equal(ids[i], crowd[i]));
    bits |= (uint32_t)changed[i] << i;
  }
  return bits;
}

Test(zone_ghosts, the_host_learns_which_agents_changed) {
  SCOPED_WORLD here = zone_world(1), other = zone_world(2);
  muster_agent crowd[3];
  for (uint32_t i = 0; i < 2; i++) crowd[i] = spawn_at(&here, 10.0 * i);
  crowd[2] = spawn_at(&other, 50);
  run_both(&here, &other, 1);
  cr_expect_eq(outside_changed(&here, crowd, 2), 3, "they came");
  cr_expect_eq(outside_changed(&here, crowd, 2), 0);
  cr_assert_eq(muster_agents_move(here.world, &crowd[1], &(muster_position){12, 1, 0}, 1), 1);
  cr_expect_eq(outside_changed(&here, crowd, 2), 2, "one was moved by the host");
  run_frames(&here, 8);
  cr_expect_eq(outside_changed(&here, crowd, 2), 3, "all have published");
  cross(&other, &here, crowd[2]);
  cr_expect_eq(outside_changed(&here, crowd, 3), 4, "one came from another zone");
}

static muster_atom_result leap(muster_update *update) {
  muster_update_move(update, (muster_position){update->position.x + 100, 0, 0});
  return MUSTER_ATOM_NEXT;
}

/* An agent that moved is noted for the next frame, and leaves before it: its index is a ghost's in the snapshot. */
Test(zone_ghosts, are_saved_where_an_agent_left_that_had_moved) {
  muster_world_def one = WITH(zone_def, it.limits.agents_max = 1), two = zone_world_def(2);
  muster_type_def type = CHANGED(walker_type(), it.atoms = atom_of(leap, 0), it.period_ns = FRAME_NS);
  SCOPED_WORLD here = zone_world_of(1, &one, &type), again = zone_world_of(1, &one, &type);
  SCOPED_WORLD other = zone_world_of(1, &two, &type);
  muster_agent leaper = spawn_at(&here, 0), walker = spawn_at(&other, 7);
  run_both(&here, &other, 4);
  cross(&here, &other, leaper);
  mirror(&other, &here, &walker, 1);
  cr_assert(muster_agent_is_ghost(here.world, walker));
  copy_world(&here, &again);
  cr_assert(muster_agent_is_ghost(again.world, walker));
  run_both(&here, &again, 1);
  SCOPED(saved_world_forget) saved_world next = save_world(here.world), same = save_world(again.world);
  cr_assert_eq(next.count, same.count);
  cr_expect_eq(memcmp(next.bytes, same.bytes, next.count), 0);
}

struct stranger {
  muster_agent ghost;
  uint32_t asked;
};

static muster_atom_result look_for_strangers(muster_update *update) {
  struct stranger *stranger = update->type_user;
  const muster_agent none[] = {{0}, muster_agent_make(0, 1), muster_agent_make(5, 9), {stranger->ghost.value + 1}};
  muster_position position = {77, 77, 77};
  for (uint32_t i = 0; i < COUNT_OF(none); i++) {
    cr_expect_not(muster_update_position_of(update, none[i], &position), "id %u", i);
    cr_expect_eq(position.x, 77, "id %u", i);
    cr_expect_null(muster_update_published_of(update, none[i]), "id %u", i);
    cr_expect_null(muster_update_published_as(update, none[i], sizeof(uint64_t)), "id %u", i);
  }
  cr_expect(muster_update_position_of(update, stranger->ghost, &position));
  cr_expect_not_null(muster_update_published_of(update, stranger->ghost));
  stranger->asked++;
  return MUSTER_ATOM_NEXT;
}

/* Whoever is nowhere is not taken for the ghost that has the first place of all. */
Test(zone_ghosts, are_not_who_is_nowhere) {
  SCOPED_WORLD here = careless(zone_world(1)), other = zone_world(2);
  struct stranger stranger = {.ghost = spawn_at(&other, 40)};
  run_both(&here, &other, 4);
  mirror(&other, &here, &stranger.ghost, 1);
  cr_assert(zone_ids_is_ghost(here.world->agents.zone, 0), "it has the first place");
  add_type(&here, CHANGED(due_every(FRAME_NS, type_running(look_for_strangers, 1000)), it.user = &stranger));
  spawn_and_run(&here, 10, 4);
  cr_assert_gt(stranger.asked, 0);
}
