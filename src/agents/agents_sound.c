#include "agents/agents_sound.h"

const char *agent_status_name(uint32_t status) {
  static const char *const names[] = {"FREE",     "PENDING", "WAITING",     "READY",
                                      "ADMITTED", "ACTING",  "QUARANTINED", "GHOST"};
  return status < sizeof names / sizeof *names ? names[status] : "none that there is";
}

/* ------------------------------------------------------------------------------------------------------------ lists */

bool list_spot_is_sound(const list_store *lists, list_spot spot, uint32_t agent) {
  uint32_t number = spot >> 4, place = spot & 15;
  if (number == 0 || number >= lists->common->fresh || place >= LIST_BLOCK_AGENTS) return false;
  const list_block *block = &lists->blocks[number];
  return place < block->count && block->agents[place] == agent;
}

static bool is_at_home(const list_look *look, uint32_t agent, list_spot spot, uint32_t owner, soundness *found) {
  const agent_store *store = look->store;
  if (!SOUND(found, agent < store->maximum, "list %u of %s names agent %u of %u", owner, look->name, agent,
             store->maximum) ||
      !SOUND(found, store_is_active(store, agent) || store->rows[agent].status == AGENT_GHOST,
             "agent %u is in list %u of %s and not active", agent, owner, look->name))
    return false;
  return SOUND(found, store->places[agent].spot == spot, "agent %u is in list %u of %s and does not know it", agent,
               owner, look->name);
}

uint32_t list_is_sound(const list_look *look, agent_list list, uint32_t owner, soundness *found) {
  const list_store *lists = look->lists;
  uint32_t count = 0, blocks = 0;
  for (bool last = true; list && !found->broken; last = false) {
    if (!SOUND(found, list < lists->common->fresh && blocks++ < lists->common->maximum,
               "list %u of %s goes on with block %u", owner, look->name, list))
      break;
    const list_block *block = lists_last(lists, list);
    bool filled = block->count == LIST_BLOCK_AGENTS || (last && block->count > 0 && block->count < LIST_BLOCK_AGENTS);
    if (!SOUND(found, filled, "list %u of %s has a block of %u agents", owner, look->name, block->count)) break;
    SOUND(found, block->owner == owner, "list %u of %s has a block of list %u", owner, look->name, block->owner);
    for (uint32_t i = 0; i < block->count && !found->broken; i++)
      is_at_home(look, block->agents[i], list << 4 | i, owner, found);
    count += block->count;
    list = block->previous;
  }
  return count;
}

/* ------------------------------------------------------------------------------------------------------------ store */

bool store_is_sound(const agent_store *store, soundness *found) {
  uint32_t levels[MUSTER_LEVELS] = {0}, active = 0;
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++) {
    const agent_row *row = &store->rows[i];
    SOUND(found, i < store->high, "agent %u is active, where all are below %u", i, store->high);
    SOUND(found, row->status >= AGENT_WAITING && row->status <= AGENT_QUARANTINED, "agent %u is active and %s", i,
          agent_status_name(row->status));
    levels[row->level]++;
    active++;
  }
  SOUND(found, active == store->active_count && sound_bits(store->active, bits_words(store->maximum)) == active,
        "%u agents are active, and counted as %u", active, store->active_count);
  if (store->ghosts)
    SOUND_EQUAL(found, sound_bits(store->ghosts, bits_words(store->maximum)), store->ghost_count,
                "%u indices have ghosts, counted as %u");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++)
    SOUND(found, levels[i] == store->level_counts[i], "%u agents are at level %u, and counted as %u", levels[i], i,
          store->level_counts[i]);
  return !found->broken;
}

/* ------------------------------------------------------------------------------------------------------------- grid */

/* Whether an agent is in the list that its place asks for: its cell's bucket, or a bin of its cell's crowd. */
static bool is_in_its_cell(const struct space *space, const agent_place *place, uint32_t agent, soundness *found) {
  uint32_t owner = lists_block_of(space->stores, place->spot)->owner;
  uint32_t crowd = space_crowd(space, place->cell_x, place->cell_y, place->partition);
  if (!place->depth) {
    uint32_t bucket = space_bucket_of(space, place->cell_x, place->cell_y, place->partition);
    return SOUND(found, owner == bucket && !crowd, "agent %u is in list %u of the grid, its cell is in list %u%s",
                 agent, owner, bucket, crowd ? ", and a crowd" : "");
  }
  uint32_t depth = place->depth;
  while (!(owner & CROWD_ROOT) && depth-- > 0) owner = space->crowds.nodes[owner >> 2].parent;
  return SOUND(found, owner == (CROWD_ROOT | crowd) && crowd && depth == 0,
               "agent %u is in a crowd, %u steps below that of its cell", agent, place->depth);
}

static uint32_t count_crowd(const list_look *look, const struct space *space, uint32_t number, soundness *found) {
  const struct crowds *crowds = &space->crowds;
  uint32_t count = 0, slot = 0;
  for (agent_list list; !found->broken && (list = crowds_next_list(crowds, number, &slot));) {
    uint32_t inside = list_is_sound(look, list, slot, found);
    SOUND_EQUAL(found, inside, crowds_slot(crowds, slot)->count, "bin %u of crowd %u has %u agents, counted as %u",
                slot, number);
    count += inside;
  }
  uint32_t told = crowds->cells[number].slot.count;
  SOUND(found, count == told && count > CROWD_AGENTS, "crowd %u has %u agents, counted as %u", number, count, told);
  return count;
}

bool space_is_sound(const struct space *space, const agent_store *store, soundness *found) {
  list_look look = {.lists = space->stores, .store = store, .name = "the grid"};
  uint32_t count = 0;
  for (uint32_t i = 0; (i = store_next_seen(store, i)) != UINT32_MAX && !found->broken; i++) {
    const agent_place *place = &store->places[i];
    if (SOUND(found, list_spot_is_sound(space->stores, place->spot, i), "agent %u is active and not in the grid", i))
      is_in_its_cell(space, place, i, found);
  }
  for (uint32_t i = 0; i <= space->mask && !found->broken; i++) {
    const space_bucket *bucket = &space->buckets[i];
    if (!(bucket->list | bucket->count | space->first_crowds[i]) && !bucket->crowded) continue;
    uint32_t plain = list_is_sound(&look, bucket->list, i, found);
    SOUND_EQUAL(found, plain, bucket->count, "list %u of the grid has %u agents, counted as %u", i);
    SOUND(found, bucket->crowded == (space->first_crowds[i] != 0), "list %u of the grid has %s crowd", i,
          bucket->crowded ? "no" : "a forgotten");
    for (uint32_t crowd = space->first_crowds[i]; crowd && !found->broken; crowd = space->crowds.cells[crowd].next)
      plain += count_crowd(&look, space, crowd, found);
    count += plain;
  }
  return SOUND_EQUAL(found, count, store->active_count + store->ghost_count,
                     "%u agents are in the grid, where %u are active or ghosts");
}

/* ---------------------------------------------------------------------------------------------------------- mailbox */

bool mailbox_is_sound(const struct mailbox *mailbox, const agent_store *store, bool mail_waits, soundness *found) {
  if (!mailbox->places) return true;
  uint32_t words = bits_words(store->maximum), owed = 0;
  uint32_t senders = sound_bits(mailbox->senders, words), wakes = sound_bits(mailbox->to_wake, words);
  SOUND_EQUAL(found, senders, mailbox->sender_count, "%u agents are senders, counted as %u");
  SOUND(found, mail_waits || !senders, "%u senders are left, and the commit is over", senders);
  SOUND_EQUAL(found, wakes, mailbox->wake_count, "%u agents are to be woken by messages, counted as %u");
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++) {
    const struct loss *loss = &mailbox->losses[i];
    owed += loss->count > 0;
    SOUND(found, loss->begun <= loss->count, "agent %u was told of %u losses of %u", i, loss->begun, loss->count);
  }
  return SOUND_EQUAL(found, owed, mailbox->owed_count, "%u agents have lost messages, counted as %u");
}

/* ------------------------------------------------------------------------------------------------------- companions */

bool companions_are_sound(const struct companions *companions, const agent_store *store, soundness *found) {
  if (!companions->of) return true;
  if (!SOUND(found, companions->count <= store->maximum, "%u agents have company", companions->count)) return false;
  for (uint32_t i = 0; i < companions->count && !found->broken; i++) {
    uint32_t agent = companions->members[i];
    if (!SOUND(found, agent < store->maximum, "agent %u of %u has company", agent, store->maximum)) break;
    SOUND_EQUAL(found, companions->places[agent], i + 1,
                "agent %u is in company, and its place there is %u instead of %u", agent);
    SOUND(found, !muster_agent_is_null(companions->of[agent].others[0]), "agent %u is without company, and listed",
          agent);
  }
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++)
    SOUND(found, companions->places[i] <= companions->count, "agent %u is in company at place %u of %u", i,
          companions->places[i], companions->count);
  return !found->broken;
}

/* -------------------------------------------------------------------------------------------------------- observers */

bool observers_are_sound(const observer_table *table, soundness *found) {
  for (uint32_t which = 0; which < OBSERVER_QUEUES; which++) {
    const observer_queue *queue = &table->queues[which];
    uint32_t queued = 0;
    for (uint32_t i = 0; i < table->high; i++) queued += table->rows[i].queued[which];
    SOUND(found, queued == queue->count, "%u observers are in queue %u, counted as %u", queued, which, queue->count);
    for (uint32_t i = 0; i < queue->count && !found->broken; i++) {
      uint32_t index = queue->waiting[(queue->head + i) % table->maximum];
      SOUND(found, index < table->high && table->rows[index].queued[which],
            "observer %u is in queue %u and does not know it", index, which);
    }
  }
  return !found->broken;
}
