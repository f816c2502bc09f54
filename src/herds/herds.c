/* herds.c - herds in the frame: what the intake does with them, stage 3, and the report. */
#include "herds/herds.h"

#include "base/assert.h"
#include "base/error.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/section.h"
#include "world/serial.h"
#include "world/world_fold.h"
#include "world/world_herds.h"
#include "world/world_observers.h"
#include "world/world_record.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

#include <muster/herd.h>

/* What a change of a membrane costs for each agent that appears or goes. Changes are counted, so that a world in
 * virtual time does not depend on a clock; on the wall clock they also end when their share of the frame is over, since
 * in cold caches they take up to three times as long. */
enum { CHANGE_NS = 500, CHANGES_MIN = 64, CHANGES_BUDGET_PART = 8 };
enum { BLOCK_LOOK_NS = 2000, ENTRY_LOOK_NS = 1000, LOOKS_MIN = 64 };
enum { BLOCK_HELP_NS = 500 }; /* what a block takes of a worker: most are near no observer */

static uint64_t budget_of(const struct muster_world *world) {
  return world_is_virtual(world) ? world->frame->capacity_ns : world->frame->budget_ns;
}

/* ---------------------------------------------------------------------------------------------------------- removal */

static void remove_folded(struct muster_world *world, struct herd_type *type, uint32_t herd) {
  uint32_t number = herds_entry_of_folded(type, herd);
  if (number != HERD_NONE) {
    ASSERT(herds_entry(type, number)->state >= HERD_ENTRY_SETTLING);
    if (herds_entry(type, number)->state == HERD_ENTRY_SETTLING) herds_forget_settling(type, number);
    herds_unchain(type, number);
    herds_free_entry(type, number);
  }
  world->herds->table.members -= type->members[herds_home(type, herd)];
  herds_close_home(world, type, herd);
}

void herds_remove(struct muster_world *world, uint32_t herd) {
  struct herd_type *type = herds_type_of(&world->herds->table, herd);
  uint32_t number = herds_open_entry(type, herd);
  if (number == HERD_NONE) {
    remove_folded(world, type, herd);
    return;
  }
  herd_lanes lanes = herds_lanes(type, number);
  while (lanes.entry->state == HERD_ENTRY_OPEN && lanes.entry->herd == herd) lifecycle_remove(world, lanes.agents[0]);
}

struct herd_type *herds_find(const struct muster_world *world, muster_herd herd) {
  struct herd_type *type =
      herd_ids_find(&world->herds->ids, herd) ? herds_type_of(&world->herds->table, muster_herd_index(herd)) : NULL;
  if (type && !herds_is_dying(type, muster_herd_index(herd))) return type;
  error_set(MUSTER_E_STALE, "herd %u (generation %u) is gone", muster_herd_index(herd), muster_herd_generation(herd));
  return NULL;
}

/* --------------------------------------------------------------------------------------------------------- commands */

static void wake_member(struct muster_world *world, const struct command *command) {
  struct herd_type *type = herds_type_of(&world->herds->table, command->index);
  muster_result result;
  uint32_t number, lane = herds_unfold_path(world, type, command->index, command->partition, &number, &result);
  if (number == HERD_NONE) return;
  herd_lanes lanes = herds_lanes(type, number);
  bool runs = world_row(world, lanes.agents[lane])->status != AGENT_QUARANTINED;
  ASSERT(lane < lanes.entry->lanes && world_is_active(world, lanes.agents[lane]));
  if (result == MUSTER_E_STATE && runs)
    lifecycle_defer(world, command); /* the path is busy: again at the next intake */
  if (!lanes.pins[lane]) lanes.entry->pinned++;
  lanes.pins[lane] = fold_pin(world->frame->now_ns + type->def.hold_ns);
  lifecycle_wake(world, lanes.agents[lane]);
}

void herds_apply(struct muster_world *world, const struct command *command) {
  muster_herd herd = muster_herd_make(command->index, command->generation);
  ASSERT(command->kind == COMMAND_HERD_WAKE || command->kind == COMMAND_HERD_REMOVE);
  if (!herd_ids_find(&world->herds->ids, herd) ||
      herds_is_dying(herds_type_of(&world->herds->table, muster_herd_index(herd)), muster_herd_index(herd)))
    return;
  if (command->kind == COMMAND_HERD_REMOVE)
    herds_remove(world, muster_herd_index(herd));
  else
    wake_member(world, command);
}

/* ---------------------------------------------------------------------------------------------------------- changes */

struct allowance {
  uint64_t left_ns;  /* counted */
  uint64_t timed_ns; /* when so much is left or less, the clock is asked, too: before, too little was done */
  uint64_t end_ns;   /* UINT64_MAX: in virtual time */
};

static struct allowance herds_allow(const struct muster_world *world) {
  uint64_t least_ns = (uint64_t)CHANGES_MIN * CHANGE_NS, share_ns = budget_of(world) / CHANGES_BUDGET_PART;
  struct allowance allowance = {.left_ns = share_ns > least_ns ? share_ns : least_ns, .end_ns = UINT64_MAX};
  allowance.timed_ns = allowance.left_ns - least_ns;
  if (!world_is_virtual(world)) allowance.end_ns = clock_now(world->clock) + 2 * share_ns;
  return allowance;
}

static bool herds_take(struct muster_world *world, struct allowance *allowance, uint32_t agents) {
  uint64_t cost_ns = (uint64_t)agents * CHANGE_NS;
  if (allowance->left_ns < cost_ns) return false;
  if (allowance->left_ns <= allowance->timed_ns && serial_is_over(world, allowance->end_ns)) return false;
  allowance->left_ns -= cost_ns;
  return true;
}

/* Whether there is room for another unfolding. Without room it is refused, and costs the intake nothing. */
static bool herds_has_room(struct muster_world *world, const struct herd_type *type, bool entry) {
  bool pool = !entry || type->entry_free || type->entry_high < type->def.unfolded_max;
  bool any = pool && identity_available(&world->agents.ids) >= type->tree.branching; /* others may spawn meanwhile */
  if (recorder_choose(world->recorder, any)) return true;
  world->sums->statistics.unfolds_refused++;
  return false;
}

/* Folds and unfolds until the membrane is where it is wanted; false when the allowance is used up. */
static bool change_unfolded(struct muster_world *world, struct herd_type *type, uint32_t herd,
                            struct allowance *allowance) {
  fold_board *board = &world->fold->board;
  uint32_t number, lane, agents = type->tree.branching + 1;
  fold_siblings siblings;
  for (uint32_t from = 0; (number = herds_open_entry(type, herd)) != HERD_NONE;) {
    herd_lanes lanes = herds_lanes(type, number);
    fold_near near = fold_measure(board, type, &lanes);
    siblings = fold_next_folding(board, type, &lanes, &near, from, world->frame->now_ns);
    if (!siblings.count) break;
    if (!herds_take(world, allowance, siblings.count + 1)) return false;
    if (herds_fold_lanes(world, type, number, siblings.first, siblings.count)) from = siblings.first + siblings.count;
  }
  number = herds_open_entry(type, herd);
  for (bool measured = false; number != HERD_NONE;) {
    herd_lanes lanes = herds_lanes(type, number);
    if (!measured) fold_measure(board, type, &lanes);
    if ((lane = fold_next_unfolding(board, type, &lanes)) == HERD_NONE || !herds_has_room(world, type, false)) break;
    if (!herds_take(world, allowance, agents)) return false;
    measured = herds_unfold_lane(world, type, number, lane) != MUSTER_OK;
    if (measured) board->distances[lane] = FOLD_FAR; /* it is busy, or was refused: go on with the others */
  }
  return true;
}

/* Changes a herd as its membrane asks; false when the allowance is used up. */
static bool change(struct muster_world *world, const fold_item *item, struct allowance *allowance) {
  struct herd_type *type = herds_type_of(&world->herds->table, item->herd);
  uint32_t home = herds_home(type, item->herd);
  if (!type->members[home] && herds_number_in(type, home) >= HERD_EMPTY) return true; /* gone since */
  if (herds_open_entry(type, item->herd) == HERD_NONE) {
    if (!fold_unfolds(type, 0, fold_herd_distance(&world->fold->board, type, home))) return true;
    if (!herds_has_room(world, type, herds_entry_of_folded(type, item->herd) == HERD_NONE)) return true;
    if (!herds_take(world, allowance, type->tree.branching)) return false;
    if (herds_unfold_root(world, type, item->herd)) return true;
  }
  return change_unfolded(world, type, item->herd, allowance);
}

static void change_listed(struct muster_world *world) {
  fold_board *board = &world->fold->board;
  if (!board->item_count) return;
  struct allowance allowance = herds_allow(world);
  fold_sort(board);
  uint32_t done = 0;
  while (done < board->item_count && change(world, &board->items[done], &allowance)) done++;
  uint32_t left = board->item_count - done;
  for (uint32_t i = 0; i < left; i++) board->items[i] = board->items[done + i];
  fold_keep(board, left);
}

/* ------------------------------------------------------------------------------------------------------- the stages */

/* Ends the settling of folded herds with a block that was brought forward since. */
static void herds_settle(struct muster_world *world, struct herd_type *type) {
  for (uint32_t i = 0; i < type->settling_count;) {
    uint32_t number = type->settling[i];
    herd_entry *entry = herds_entry(type, number);
    ASSERT(entry->state == HERD_ENTRY_SETTLING && entry->lanes == 0);
    const herd_block *block = herds_block_of(type, herds_home(type, entry->herd));
    if (world_row(world, block->agent)->last_update_ns == entry->block_ns) {
      i++;
      continue;
    }
    type->settling[i] = type->settling[--type->settling_count];
    entry->ahead_ns = 0;
    entry->state = HERD_ENTRY_KEPT;
    if (type->kept) continue;
    herds_unchain(type, number);
    herds_free_entry(type, number);
  }
}

static void remove_dying(struct muster_world *world, struct herd_type *type) {
  for (uint32_t i = 0; i < type->block_count; i++) {
    herd_block *block = &type->blocks[i];
    for (uint32_t slot = 0; block->dying > 0 && slot < block->high; slot++) {
      uint32_t herd = type->first + i * MUSTER_HERD_BLOCK + slot;
      if (!herds_is_dying(type, herd)) continue;
      block->dying--;
      remove_folded(world, type, herd);
    }
    ASSERT(block->dying == 0);
  }
}

void herds_gather(struct muster_world *world) {
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    herd_scratch *scratch = &world->herds->table.scratch[i];
    world->herds->table.members += scratch->members_more;
    world->sums->statistics.herds_refused += scratch->refused;
    world->herds->table.dying |= scratch->dying;
    scratch->members_more = 0;
    scratch->refused = 0;
    scratch->dying = false;
  }
}

/* Blocks that were added between frames begin with this frame. Herds in them that have a time of their own keep it. */
static void begin_fresh(struct muster_world *world, struct herd_type *type) {
  for (; type->fresh < type->block_count; type->fresh++) {
    const herd_block *block = &type->blocks[type->fresh];
    uint64_t *last_ns = &world_row(world, block->agent)->last_update_ns, now_ns = world->frame->now_ns;
    for (uint32_t next = block->entry; next; next = herds_entry(type, next - 1)->next) {
      herds_entry(type, next - 1)->ahead_ns -= (int64_t)(now_ns - *last_ns);
      herds_entry(type, next - 1)->block_ns = now_ns;
    }
    *last_ns = now_ns;
  }
}

void herds_intake(struct muster_world *world) {
  herd_table *table = &world->herds->table;
  if (!table->count) return;
  herds_gather(world);
  for (uint32_t i = 0; i < table->count; i++) {
    herds_settle(world, &table->types[i]);
    if (table->dying) remove_dying(world, &table->types[i]);
    begin_fresh(world, &table->types[i]);
  }
  table->dying = false;
  if (table->spare == HERD_NONE) table->spare = world_record_id(world, identity_take(&world->agents.ids));
  change_listed(world);
}

/* Notes where the herds of named members are, for the members' updates: blocks move on while these run. */
static void note_named(struct muster_world *world) {
  herd_table *table = &world->herds->table;
  for (uint32_t i = 0; i < table->named_high; i++) {
    herd_named *named = &table->named[i];
    if (named->agent == HERD_NONE || muster_herd_is_null(named->herd)) continue;
    ASSERT(world->herds->table.links[named->agent].tie == HERD_TIE_NAMED);
    struct herd_type *type =
        herd_ids_find(&world->herds->ids, named->herd) ? herds_type_of(table, muster_herd_index(named->herd)) : NULL;
    if (!type || herds_is_dying(type, muster_herd_index(named->herd))) {
      named->herd = (muster_herd){0};
      continue;
    }
    uint32_t number = herds_open_entry(type, muster_herd_index(named->herd));
    herd_body body;
    named->entry = number;
    if (number == HERD_NONE) {
      body = herds_body(type, herds_home(type, muster_herd_index(named->herd)));
    } else {
      herd_lanes lanes = herds_lanes(type, number);
      body = herds_whole(type, &lanes);
    }
    named->x = body.x;
    named->y = body.y;
    named->velocity_x = (float)body.velocity_x;
    named->velocity_y = (float)body.velocity_y;
  }
}

static void look_at_blocks(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  struct muster_world *world = argument;
  fold_look(&world->fold->board, &world->fold->blocks, first, end, worker);
}

static void look_together(struct muster_world *world) {
  uint32_t blocks = world->fold->blocks.count;
  section_run(world, look_at_blocks, blocks, (uint64_t)blocks * BLOCK_HELP_NS);
}

/* How much of a round the frame has time for: by count, so that the world does not depend on a clock. */
static fold_limits limits_of(const struct muster_world *world) {
  uint64_t share_ns = budget_of(world) / CHANGES_BUDGET_PART;
  uint64_t blocks = share_ns / BLOCK_LOOK_NS, entries = share_ns / ENTRY_LOOK_NS;
  return (fold_limits){blocks > LOOKS_MIN ? (uint32_t)blocks : LOOKS_MIN,
                       entries > LOOKS_MIN ? (uint32_t)entries : LOOKS_MIN};
}

static void look_at_type(struct muster_world *world, uint32_t number) {
  fold_board *board = &world->fold->board;
  const struct herd_type *type = &world->herds->table.types[number];
  uint64_t now_ns = world->frame->now_ns;
  fold_limits due = fold_due(board, type, number, &world->observers->table, limits_of(world), now_ns);
  for (uint32_t left = due.blocks; left > 0; left -= world->fold->blocks.count) {
    world->fold->blocks = fold_next_blocks(board, type, number, left);
    look_together(world);
    fold_list(board, &world->fold->blocks);
  }
  fold_look_at_entries(board, type, number, due.entries, now_ns);
  fold_end(board, type, number, &world->observers->table, now_ns);
}

void herds_look(struct muster_world *world) {
  if (!world->herds->table.count) return;
  fold_watch(&world->fold->board, &world->herds->table, &world->observers->table);
  for (uint32_t i = 0; i < world->herds->table.count; i++) look_at_type(world, i);
  if (world->herds->table.named_count) note_named(world);
}

void herds_report(struct muster_world *world) {
  muster_frame_report *report = &world->sums->report;
  const herd_table *table = &world->herds->table;
  uint32_t blocks = 0;
  if (table->count) herds_gather(world);
  ASSERT(table->members >= 0);
  for (uint32_t i = 0; i < table->count; i++) {
    const struct herd_type *type = &table->types[i];
    report->leaves += type->leaves;
    report->herds_unfolded += type->unfolded;
    report->herds_folded += type->herds - type->unfolded;
    blocks += type->block_count;
  }
  report->represented = (uint64_t)table->members + world->agents.store.active_count - report->leaves - blocks;
  report->changes_waiting = world->fold->board.item_count;
}
