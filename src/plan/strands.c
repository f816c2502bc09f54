#include "plan/strands.h"

#include "base/assert.h"
#include "plan/claim.h"

#include <string.h>

/* Long runs of one strand find its code in the cache; where few updates fit into a frame, they leave a worker without
 * work at its end. */
enum { STRAND_BANDS = 8, STRAND_BANDS_OF_MANY = 4, STRAND_MANY = 8192 };

void strands_note(const struct filling *filling, const agent_type *type, const batch_entry *entry) {
  const struct batch *batch = filling->batch;
  uint32_t strand = entry->agent / 64;
  batch->strands[batch->count] = 0;
  if (!type->strands) return;
  if (type->def.strands.of) {
    uint32_t slot = filling->store->rows[entry->agent].state_slot;
    strand = type->def.strands.of(store_id(filling->store, entry->agent), type_state(type, slot), type->user);
  }
  batch->strands[batch->count] = (uint16_t)(1 + strand % type->strands);
}

/* Puts a ranked entry behind the last one. Ids for spawns are used in the order of entries (frame/settle.c). */
static void append_ranked(struct filling *filling, uint32_t ranked, uint16_t strand, bool sure) {
  struct batch *batch = filling->batch;
  const batch_entry *entry = &batch->entries_before[ranked];
  const agent_row *row = &filling->store->rows[entry->agent];
  const agent_type *type = &filling->types->types[row->type];
  batch_claim *last = &batch->claims[batch->claim_count - 1];
  if (batch->claim_count && (sure || last->strand != strand)) filling->closed = true;
  batch->entries[batch->count] = *entry;
  batch->entries[batch->count].spawn_base = filling->result.spawn_ids;
  filling->result.spawn_ids += entry->spawn_limit;
  if (batch->passes) batch->passes[batch->count] = batch->passes_before[ranked];
  const cost_estimate *estimate = costs_of(filling->costs, row->type, row->level);
  filling_begin(filling, estimate, row);
  claim_for(filling, estimate, type, entry);
  last = &batch->claims[batch->claim_count - 1];
  last->strand = strand;
  last->sure |= sure;
  if (sure) filling->closed = true;
  batch->strands[batch->count] = strand;
  batch->outcomes[batch->count++] = OUTCOME_NOT_RUN;
}

/* Sorts the ranked entries [first, end) of a band by strand, equal ones as ranked: their numbers stand in `gathered`
 * from `first` on. `strands` are theirs. */
static void sort_band(uint32_t *gathered, const uint16_t *strands, uint32_t first, uint32_t end) {
  uint32_t places[MUSTER_STRANDS_MAX + 2] = {0};
  for (uint32_t i = first; i < end; i++) places[strands[i] + 1]++;
  for (uint32_t k = 1; k <= MUSTER_STRANDS_MAX; k++) places[k] += places[k - 1];
  for (uint32_t i = first; i < end; i++) gathered[first + places[strands[i]]++] = i;
}

/* Claims that run whatever they cost lead: moves their entries to the front. Returns how many there are. */
static uint32_t append_sure(struct filling *filling, const batch_claim *claims, uint32_t count, uint32_t first_entry,
                            const uint16_t *strands) {
  enum { SURE_MOST = 4 };
  uint32_t entries[SURE_MOST], sure = 0;
  for (uint32_t i = 0; i < count && sure < SURE_MOST; i++)
    if (claims[i].sure) entries[sure++] = claims[i].first - first_entry;
  struct batch *batch = filling->batch;
  batch->claim_count -= count;
  batch->count = first_entry;
  filling->closed = true;
  for (uint32_t i = 0; i < sure; i++) {
    append_ranked(filling, entries[i], strands[entries[i]], true);
    batch->entries_before[entries[i]].agent = UINT32_MAX;
  }
  return sure;
}

void strands_gather(struct filling *filling, uint32_t first_entry, uint32_t first_claim) {
  struct batch *batch = filling->batch;
  uint32_t count = batch->count - first_entry;
  uint16_t *strands = batch->strands_before;
  if (!count) return;
  memcpy(batch->entries_before, batch->entries + first_entry, count * sizeof *batch->entries);
  memcpy(strands, batch->strands + first_entry, count * sizeof *strands);
  if (batch->passes) memcpy(batch->passes_before, batch->passes + first_entry, count * sizeof *batch->passes);
  for (uint32_t i = 0; i < count; i++) filling->result.spawn_ids -= batch->entries_before[i].spawn_limit;
  append_sure(filling, batch->claims + first_claim, batch->claim_count - first_claim, first_entry, strands);
  uint32_t bands = count > STRAND_MANY ? STRAND_BANDS_OF_MANY : STRAND_BANDS;
  for (uint32_t band = 0; band < bands; band++) {
    uint32_t first = (uint32_t)((uint64_t)count * band / bands), end = (uint32_t)((uint64_t)count * (band + 1) / bands);
    sort_band(batch->gathered, strands, first, end);
    for (uint32_t i = first; i < end; i++) {
      uint32_t ranked = batch->gathered[i];
      if (batch->entries_before[ranked].agent != UINT32_MAX) append_ranked(filling, ranked, strands[ranked], false);
    }
  }
  ASSERT(batch->count == first_entry + count);
}
