#include "agents/agents_sound.h"

#include <muster/herd.h>

/* ------------------------------------------------------------------------------------------------------------ links */

/* How many agents of each tie one herd type has; `named` counts those of all types. */
typedef struct tie_counts {
  uint32_t leaves, blocks, named;
} tie_counts;

static bool herds_sound_is_leaf(const herd_table *table, const herd_link *link, uint32_t agent, soundness *found) {
  const struct herd_type *type = &table->types[link->type];
  if (!SOUND(found, link->entry < type->entry_high, "agent %u is a leaf of entry %u of %u", agent, link->entry,
             type->entry_high))
    return false;
  herd_lanes lanes = herds_lanes(type, link->entry);
  return SOUND(found, lanes.entry->state == HERD_ENTRY_OPEN && link->lane < lanes.entry->lanes,
               "agent %u is in lane %u of entry %u, which has %u", agent, link->lane, link->entry,
               lanes.entry->state == HERD_ENTRY_OPEN ? lanes.entry->lanes : 0u) &&
         SOUND(found, lanes.agents[link->lane] == agent, "agent %u is in lane %u of entry %u, which is agent %u's",
               agent, link->lane, link->entry, lanes.agents[link->lane]);
}

static void count_link(const herd_table *table, const agent_row *row, uint32_t agent, tie_counts *counts,
                       soundness *found) {
  const herd_link *link = &table->links[agent];
  if (link->tie == HERD_TIE_NONE) return;
  if (!SOUND(found, link->type < table->count && link->tie <= HERD_TIE_BLOCK, "agent %u is tied to herd type %u of %u",
             agent, link->type, table->count))
    return;
  const struct herd_type *type = &table->types[link->type];
  uint32_t asked = link->tie == HERD_TIE_BLOCK ? type->block_type : type->member_type;
  SOUND_EQUAL(found, row->type, asked, "agent %u is of type %u, and of a herd whose agents are of type %u", agent);
  if (link->tie == HERD_TIE_LEAF) counts[link->type].leaves += herds_sound_is_leaf(table, link, agent, found);
  if (link->tie == HERD_TIE_NAMED)
    counts->named += SOUND(found, link->entry < table->named_high && table->named[link->entry].agent == agent,
                           "agent %u is a named member, and its place %u is another's", agent, link->entry);
  if (link->tie == HERD_TIE_BLOCK)
    counts[link->type].blocks +=
        SOUND(found, link->entry < type->block_count && type->blocks[link->entry].agent == agent,
              "agent %u stands for block %u, which is another's", agent, link->entry);
}

/* ---------------------------------------------------------------------------------------------------------- entries */

/* What a walk over the entries of a type found. */
typedef struct entry_counts {
  uint32_t used, open, settling, chained, leaves;
  int64_t members;
} entry_counts;

static void count_open_entry(const struct herd_type *type, uint32_t number, entry_counts *counts, soundness *found) {
  herd_lanes lanes = herds_lanes(type, number);
  uint32_t home = herds_home(type, lanes.entry->herd), pinned = 0, count = lanes.entry->lanes;
  SOUND(found, !type->members[home] && herds_number_in(type, home) == number,
        "herd %u has entry %u, and its home does not say so", lanes.entry->herd, number);
  if (!SOUND(found, count > 0 && count <= type->tree.below[0], "herd %u is unfolded into %u leaves", lanes.entry->herd,
             count))
    return;
  for (uint32_t i = 0; i < count; i++) {
    pinned += lanes.pins[i] != 0;
    counts->members += lanes.members[i];
    SOUND(found,
          i == 0 || herd_tree_place(&type->tree, lanes.nodes[i - 1]) < herd_tree_place(&type->tree, lanes.nodes[i]),
          "herd %u: agent %u is in lane %u, out of the order of the tree", lanes.entry->herd, lanes.agents[i], i);
  }
  SOUND_EQUAL(found, pinned, lanes.entry->pinned, "herd %u has %u pinned leaves, counted as %u", lanes.entry->herd);
  counts->open++;
  counts->leaves += count;
}

static void count_entry(const struct herd_type *type, uint32_t number, entry_counts *counts, soundness *found) {
  const herd_entry *entry = herds_entry(type, number);
  if (entry->state == HERD_ENTRY_FREE) return;
  counts->used++;
  bool known = entry->herd >= type->first && herds_home(type, entry->herd) < type->block_count * MUSTER_HERD_BLOCK;
  if (!SOUND(found, known, "entry %u is of herd %u, which is none", number, entry->herd)) return;
  if (entry->state == HERD_ENTRY_OPEN) {
    count_open_entry(type, number, counts, found);
    return;
  }
  counts->settling += entry->state == HERD_ENTRY_SETTLING;
  counts->chained++;
  SOUND(found, entry->lanes == 0, "herd %u is folded and has %u leaves", entry->herd, entry->lanes);
}

static void check_settling(const struct herd_type *type, uint32_t settling, soundness *found) {
  SOUND(found, settling == type->settling_count, "%u herds of type '%s' settle, counted as %u", settling, type->name,
        type->settling_count);
  for (uint32_t i = 0; i < type->settling_count && !found->broken; i++)
    SOUND(found,
          type->settling[i] < type->entry_high && herds_entry(type, type->settling[i])->state == HERD_ENTRY_SETTLING,
          "entry %u of type '%s' is among those that settle, and does not", type->settling[i], type->name);
}

static void check_free(const struct herd_type *type, soundness *found) {
  uint32_t count = 0;
  for (uint32_t next = type->entry_free; next && !found->broken; next = herds_entry(type, next - 1)->next)
    if (!SOUND(found, ++count <= type->entry_high && herds_entry(type, next - 1)->state == HERD_ENTRY_FREE,
               "entry %u of type '%s' is among the free ones and is not", next - 1, type->name))
      return;
  SOUND(found, count + type->entry_used == type->entry_high, "%u entries of type '%s' are free and %u used, of %u",
        count, type->name, type->entry_used, type->entry_high);
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

/* What a walk over the homes of a type found. */
typedef struct home_counts {
  uint32_t herds, unfolded, gaps, chained;
  int64_t members;
} home_counts;

static void count_block(const struct herd_type *type, uint32_t number, home_counts *counts, soundness *found) {
  const herd_block *block = &type->blocks[number];
  uint32_t first = number * MUSTER_HERD_BLOCK, live = 0, dying = 0;
  for (uint32_t home = first; home < first + block->high; home++) {
    counts->members += type->members[home];
    uint32_t number_in = type->members[home] ? 0 : herds_number_in(type, home);
    live += type->members[home] || number_in != HERD_EMPTY;
    dying += !type->members[home] && number_in == HERD_DYING;
    counts->unfolded += !type->members[home] && number_in < HERD_EMPTY;
  }
  SOUND_EQUAL(found, live, block->live, "block %u of type '%s' has %u herds, counted as %u", number, type->name);
  SOUND_EQUAL(found, dying, block->dying, "block %u of type '%s' has %u herds that died out, counted as %u", number,
              type->name);
  for (uint32_t next = block->entry; next && !found->broken; next = herds_entry(type, next - 1)->next) {
    const herd_entry *entry = herds_entry(type, next - 1);
    SOUND(found,
          next <= type->entry_high && entry->state >= HERD_ENTRY_SETTLING &&
              herds_home(type, entry->herd) / MUSTER_HERD_BLOCK == number && counts->chained++ < type->entry_high,
          "entry %u is in the list of block %u of type '%s', and is none of it", next - 1, number, type->name);
  }
  counts->herds += live;
  counts->gaps += block->high - live;
}

static int64_t herds_sound_check_type(const struct herd_type *type, const tie_counts *ties, soundness *found) {
  entry_counts entries = {0};
  home_counts homes = {0};
  for (uint32_t i = 0; i < type->entry_high && !found->broken; i++) count_entry(type, i, &entries, found);
  for (uint32_t i = 0; i < type->block_count && !found->broken; i++) count_block(type, i, &homes, found);
  check_settling(type, entries.settling, found);
  check_free(type, found);
  SOUND(found, entries.used == type->entry_used, "%u entries of type '%s' are used, counted as %u", entries.used,
        type->name, type->entry_used);
  SOUND(found, entries.chained == homes.chained, "%u entries of type '%s' are of folded herds, and %u in their blocks",
        entries.chained, type->name, homes.chained);
  SOUND(found, entries.open == type->unfolded && homes.unfolded == type->unfolded,
        "%u herds of type '%s' are unfolded, counted as %u", homes.unfolded, type->name, type->unfolded);
  SOUND(found, entries.leaves == type->leaves && ties->leaves == type->leaves,
        "%u lanes of type '%s' are of %u leaves, counted as %u", entries.leaves, type->name, ties->leaves,
        type->leaves);
  SOUND(found, homes.herds == type->herds && homes.gaps == type->gaps,
        "%u herds and %u gaps of type '%s' are counted as %u and %u", homes.herds, homes.gaps, type->name, type->herds,
        type->gaps);
  SOUND(found, ties->blocks == type->block_count, "%u agents stand for blocks of type '%s', which has %u", ties->blocks,
        type->name, type->block_count);
  return entries.members + homes.members;
}

bool herds_are_sound(const herd_table *table, const agent_store *store, soundness *found) {
  tie_counts ties[MUSTER_HERD_TYPES_MAX] = {0};
  int64_t members = 0;
  if (!table->links) return true;
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++)
    count_link(table, &store->rows[i], i, ties, found);
  SOUND_EQUAL(found, ties->named, table->named_count, "%u named members are counted as %u");
  for (uint32_t i = 0; i < table->count && !found->broken; i++)
    members += herds_sound_check_type(&table->types[i], &ties[i], found);
  return SOUND(found, members == table->members, "%lld members of herds are counted as %lld", (long long)members,
               (long long)table->members);
}
