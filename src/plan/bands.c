#include "plan/bands.h"

/* Steps of the golden section through all indices return to no place before they have been everywhere. So nothing is
 * kept from frame to frame, and agents that were spawned together, often of one type, are not looked at in a row. */
static uint32_t first_index(const agent_store *store, uint64_t frame) {
  uint32_t place = (uint32_t)frame * 2654435769u;
  return (uint32_t)((uint64_t)place * store->high >> 32);
}

void bands_begin_frame(struct bands *bands, const class_table *classes, const agent_store *store, uint64_t elapsed_ns,
                       uint64_t frame) {
  uint32_t index = first_index(store, frame);
  for (uint32_t i = 0; i < BANDS_LOOKS && index + i < store->high; i++) __builtin_prefetch(&store->rows[index + i]);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++)
    bands->agent_time_ns[band] += (double)classes->in_band[band] * (double)elapsed_ns;
}

static void bands_look_at(struct bands *bands, const class_table *classes, const agent_store *store, uint32_t index,
                          uint64_t now_ns) {
  const agent_row *row = &store->rows[index];
  if (!store_is_active(store, index) || row->status == AGENT_QUARANTINED) return;
  if (!classes_in_bands(classes, &classes->classes[row->class])) return;
  histogram_add(&bands->ages[band_of(row->importance)], now_ns - row->last_update_ns);
}

void bands_end_frame(struct bands *bands, const class_table *classes, const agent_store *store, uint64_t now_ns,
                     uint64_t frame) {
  uint32_t index = first_index(store, frame), looks = store->high < BANDS_LOOKS ? store->high : BANDS_LOOKS;
  for (uint32_t i = 0; i < looks; i++) {
    bands_look_at(bands, classes, store, index, now_ns);
    index = index + 1 < store->high ? index + 1 : 0;
  }
}

void bands_count(const class_table *classes, uint32_t band, muster_band *counted) {
  double wanted = 0, rates = 0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    uint32_t agents = class->in_band[band];
    if (agents == 0 || !classes_in_bands(classes, class)) continue;
    counted->agents += agents;
    if (classes_beyond_wish(class)) counted->agents_beyond_wish += agents;
    wanted += (double)agents / (double)class->nominal_ns;
    rates += (double)agents * class->rate / (double)class->nominal_ns;
  }
  if (counted->agents == 0) return;
  counted->wanted_ns = (uint64_t)((double)counted->agents / wanted + 0.5);
  counted->period_ns = (uint64_t)((double)counted->agents / rates + 0.5);
}
