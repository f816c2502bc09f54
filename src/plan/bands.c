#include "plan/bands.h"

/* Whether the class's agents are in any band. */
static bool counts(const class_table *classes, const agent_class *class) {
  return class->elapsed != MUSTER_ELAPSED_EVENTS && !classes->frozen[class->type];
}

void bands_begin_frame(bands *bands, const class_table *classes, uint64_t elapsed_ns) {
  uint64_t agents[MUSTER_BANDS] = {0};
  if (elapsed_ns == 0) return;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    if (!counts(classes, class)) continue;
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) agents[band] += class->in_band[band];
  }
  for (uint32_t band = 0; band < MUSTER_BANDS; band++)
    bands->agent_time_ns[band] += (double)agents[band] * (double)elapsed_ns;
}

static void look_at(bands *bands, const class_table *classes, const agent_store *store, uint32_t index,
                    uint64_t now_ns) {
  const agent_row *row = &store->rows[index];
  if (!store_is_active(store, index) || row->status == AGENT_QUARANTINED) return;
  if (!counts(classes, &classes->classes[row->class])) return;
  histogram_add(&bands->ages[band_of(row->importance)], now_ns - row->last_update_ns);
}

/* Steps of the golden section of all indices come nowhere twice before they have been everywhere: nothing is to be kept
 * from frame to frame, and agents that were spawned together, of one type often, are not looked at together alone. */
void bands_end_frame(bands *bands, const class_table *classes, const agent_store *store, uint64_t now_ns,
                     uint64_t frame) {
  uint32_t place = (uint32_t)frame * 2654435769u, looks = store->high < BANDS_LOOKS ? store->high : BANDS_LOOKS;
  uint32_t index = (uint32_t)((uint64_t)place * store->high >> 32);
  for (uint32_t i = 0; i < looks; i++) {
    look_at(bands, classes, store, index, now_ns);
    index = index + 1 < store->high ? index + 1 : 0;
  }
}

void bands_count(const class_table *classes, uint32_t band, muster_band *counted) {
  double wanted = 0, rates = 0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    uint32_t agents = class->in_band[band];
    if (agents == 0 || !counts(classes, class)) continue;
    counted->agents += agents;
    if (classes_beyond_wish(class)) counted->agents_beyond_wish += agents;
    wanted += (double)agents / (double)class->nominal_ns;
    rates += (double)agents * class->rate / (double)class->nominal_ns;
  }
  if (counted->agents == 0) return;
  counted->wanted_ns = (uint64_t)((double)counted->agents / wanted + 0.5);
  counted->period_ns = (uint64_t)((double)counted->agents / rates + 0.5);
}
