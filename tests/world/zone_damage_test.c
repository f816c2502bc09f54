/* Bytes that are cut, changed, or of another kind of world are refused with a reason, and nothing has changed. */
#include "base/chunks.h"
#include "support/zone_pair.h"
#include "world/fixture.h"

static void expect_refused(const little_world *at, const unsigned char *bytes, size_t count, uint64_t hash) {
  muster_agent agent = {5};
  muster_result result = muster_agent_arrive(at->world, bytes, count, &agent);
  cr_assert_eq(result, MUSTER_E_INPUT, "%s", muster_result_name(result));
  cr_assert_gt(strlen(muster_last_error()), 10);
  cr_assert_eq(muster_world_hash(at->world), hash);
}

Test(zone_damage, an_agent_that_is_cut_or_changed_is_refused) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent agent = spawn_at(&a, 1);
  uint64_t word = 7;
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  run_frame(&a);
  for (int i = 0; i < 3; i++) muster_agent_send(a.world, agent, &word, sizeof word);
  spawn_at(&b, 3);
  run_both(&a, &b, 1);
  depart(&a, agent, 2, &bytes);
  uint64_t hash = muster_world_hash(b.world);
  for (size_t i = 0; i < bytes.count; i++) {
    expect_refused(&b, bytes.bytes, i, hash);
    for (uint32_t bit = 0; bit < 8; bit++) {
      bytes.bytes[i] ^= (unsigned char)(1u << bit);
      expect_refused(&b, bytes.bytes, bytes.count, hash);
      bytes.bytes[i] ^= (unsigned char)(1u << bit);
    }
  }
  arrive(&b, &bytes, agent);
}

/* The same bytes with some changed and the checksum made right. */
static zone_bytes forged(const zone_bytes *from, size_t at, unsigned char mask) {
  zone_bytes changed = {.bytes = malloc(from->count), .count = from->count};
  chunks_format format = {.name = "crossing"};
  uint32_t section;
  memcpy(changed.bytes, from->bytes, from->count);
  memcpy(format.magic, from->bytes, sizeof format.magic);
  memcpy(&format.version, from->bytes + 8, 4);
  memcpy(&format.layout, from->bytes + 12, 4);
  memcpy(&section, from->bytes + CHUNKS_HEADER_BYTES + 4, 4);
  changed.bytes[CHUNKS_SEAL_BEFORE + at] ^= mask;
  chunks_seal(&format, section, changed.bytes, from->count - CHUNKS_SEAL_BEFORE - CHUNKS_SEAL_AFTER);
  return changed;
}

/* What is forged is refused, or is an agent that can be: the world runs on with it. */
Test(zone_damage, forged_agents_do_no_harm) {
  SCOPED_WORLD a = zone_world(1);
  muster_agent agent = spawn_at(&a, 1);
  uint64_t word = 7;
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  uint32_t refused = 0, taken = 0;
  run_frame(&a);
  muster_agent_send(a.world, agent, &word, sizeof word);
  run_frame(&a);
  depart(&a, agent, 2, &bytes);
  size_t count = bytes.count - CHUNKS_SEAL_BEFORE - CHUNKS_SEAL_AFTER;
  SCOPED_WORLD b = zone_world(2);
  for (size_t at = 0; at < count; at++) {
    SCOPED(zone_bytes_forget) zone_bytes changed = forged(&bytes, at, (unsigned char)(1u << at % 8 | 1));
    muster_agent come = {0};
    muster_result result = muster_agent_arrive(b.world, changed.bytes, changed.count, &come);
    if (result == MUSTER_OK) {
      taken++;
      run_frame(&b);
      muster_agent_remove(b.world, come);
      run_frame(&b);
    } else {
      refused++;
    }
  }
  cr_assert_gt(refused, 50);
  cr_assert_gt(taken, 50);
}

Test(zone_damage, ghosts_that_are_cut_or_changed_are_refused) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent agents[3];
  for (int i = 0; i < 3; i++) agents[i] = spawn_at(&a, i);
  run_both(&a, &b, 1);
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(&a, agents, 3);
  uint64_t hash = muster_world_hash(b.world);
  for (size_t i = 0; i < bytes.count; i++) {
    cr_assert_eq(muster_ghosts_set(b.world, 1, bytes.bytes, i, true), MUSTER_E_INPUT, "cut at %zu", i);
    bytes.bytes[i] ^= (unsigned char)(1u << i % 8);
    cr_assert_eq(muster_ghosts_set(b.world, 1, bytes.bytes, bytes.count, true), MUSTER_E_INPUT, "byte %zu", i);
    bytes.bytes[i] ^= (unsigned char)(1u << i % 8);
  }
  cr_assert_eq(muster_world_hash(b.world), hash);
  size_t count = bytes.count - CHUNKS_SEAL_BEFORE - CHUNKS_SEAL_AFTER;
  for (size_t at = 0; at < count; at++) {
    SCOPED(zone_bytes_forget) zone_bytes changed = forged(&bytes, at, (unsigned char)(1u << at % 8));
    muster_ghosts_set(b.world, 1, changed.bytes, changed.count, true);
    run_frame(&b);
  }
  cr_assert_eq(muster_ghosts_set(b.world, 1, bytes.bytes, bytes.count, true), MUSTER_OK);
  cr_assert_eq(zone_status(&b).ghosts, 3);
}

Test(zone_damage, bytes_of_another_kind_of_world_are_refused) {
  SCOPED_WORLD a = zone_world(1);
  muster_agent agent = spawn_and_run(&a, 1, 1);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0}, ghosts = ghosts_of(&a, &agent, 1);
  depart(&a, agent, 2, &bytes);
  muster_type_def larger = CHANGED(walker_type(), it.state_bytes += 8);
  muster_type_def runner = CHANGED(walker_type(), it.name = "runner");
  muster_world_def def = zone_world_def(2);
  SCOPED_WORLD other_state = zone_world_of(1, &def, &larger);
  expect_refused(&other_state, bytes.bytes, bytes.count, muster_world_hash(other_state.world));
  SCOPED_WORLD other_name = zone_world_of(1, &def, &runner);
  expect_refused(&other_name, bytes.bytes, bytes.count, muster_world_hash(other_name.world));
  cr_assert_eq(muster_ghosts_set(other_name.world, 1, ghosts.bytes, ghosts.count, true), MUSTER_E_INPUT);
  SCOPED_WORLD other_cells = zone_of(WITH(zone_def, it.zone.number = 2, it.cell_m = 64));
  expect_refused(&other_cells, bytes.bytes, bytes.count, muster_world_hash(other_cells.world));
  expect_refused(&a, ghosts.bytes, ghosts.count, muster_world_hash(a.world));
  muster_agent named;
  cr_assert_eq(muster_agent_packed(ghosts.bytes, ghosts.count, &named, NULL), MUSTER_E_INPUT);
}
