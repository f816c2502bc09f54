#include "service/history.h"

#include <string.h>

static const uint64_t second_ns = 1000000000u;

/* The sums of a world go back when they are cleared. */
static void take_bands(struct history *history, history_second *closed) {
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    uint64_t completed = history->sums_completed[i], before = history->band_completed[i];
    bool cleared = completed < before || history->sums_agent_ns[i] < history->band_agent_ns[i];
    closed->band_completed[i] = (uint32_t)(completed - (cleared ? 0 : before));
    closed->band_agent_s[i] = (float)((history->sums_agent_ns[i] - (cleared ? 0 : history->band_agent_ns[i])) / 1e9);
    history->band_completed[i] = completed;
    history->band_agent_ns[i] = history->sums_agent_ns[i];
  }
}

static void take_mended(struct history *history, history_second *closed) {
  bool cleared = history->sums_mended < history->mended;
  closed->mended = (uint32_t)(history->sums_mended - (cleared ? 0 : history->mended));
  history->mended = history->sums_mended;
}

static void close_second(struct history *history) {
  history_second *closed = &history->ring[history->next];
  *closed = history->open;
  closed->second = history->second;
  closed->wall_p50_ns = histogram_quantile(&history->walls, 0.50);
  closed->wall_p99_ns = histogram_quantile(&history->walls, 0.99);
  closed->wall_max_ns = history->walls.maximum;
  take_bands(history, closed);
  take_mended(history, closed);
  history->next = (history->next + 1) % HISTORY_SECONDS;
  if (history->count < HISTORY_SECONDS) history->count++;
  memset(&history->walls, 0, sizeof history->walls);
  history->open = (history_second){0};
  history->second = 0;
}

void history_close_second(struct history *history, uint64_t now_ns) {
  if (history->second && now_ns / second_ns > history->second) close_second(history);
}

/* The values that the newest frame has. */
static void note_last(history_second *second, const muster_frame_report *report) {
  second->frame = report->frame;
  second->budget_ns = report->budget_ns;
  second->carried = report->carried;
  second->agents = report->agents;
  second->beyond_wish = report->agents_beyond_wish;
  second->quarantined = report->agents_quarantined;
  memcpy(second->levels, report->levels, sizeof second->levels);
  second->pressure = report->pressure;
  second->important_load = report->important_load;
  second->wants = report->utilisation_nominal;
  second->has = report->utilisation_desired;
}

static void add_sums(history_second *second, const history_frame *frame) {
  const muster_frame_report *report = frame->report;
  second->frames++;
  second->late += frame->late;
  second->judged += frame->audited;
  second->broken += frame->audited && !muster_frame_kept(report);
  if (report->overrun_wall_ns > second->overrun_max_ns) second->overrun_max_ns = report->overrun_wall_ns;
  second->updates_cpu_ns += report->update_cpu_ns;
  second->released += report->released;
  second->completed += report->completed;
  second->preempted += report->preempted;
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) second->idle_ns[i] += report->idle_ns[i];
  second->idle_faults += report->idle_ns[MUSTER_IDLE_FAULT] > 0;
}

void history_add(struct history *history, const history_frame *frame) {
  history_close_second(history, frame->end_ns);
  history->second = frame->end_ns / second_ns;
  histogram_add(&history->walls, frame->report->wall_ns);
  add_sums(&history->open, frame);
  note_last(&history->open, frame->report);
  history->sums_mended = frame->statistics->estimates_mended;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    history->sums_completed[i] = frame->statistics->bands[i].completed;
    history->sums_agent_ns[i] = frame->statistics->bands[i].agent_time_ns;
  }
}

/* ---------------------------------------------------------------------------------------------------------- reading */

uint64_t history_interval_ns(const history_second *seconds, uint32_t count, uint32_t band) {
  double agent_s = 0, completed = 0;
  for (uint32_t i = 0; i < count; i++) {
    agent_s += (double)seconds[i].band_agent_s[band];
    completed += seconds[i].band_completed[band];
  }
  return completed > 0 ? (uint64_t)(agent_s * 1e9 / completed) : 0;
}

uint32_t history_read(const struct history *history, uint64_t after, uint64_t now_ns, history_second *out) {
  uint64_t now = now_ns / second_ns, oldest = now > HISTORY_SECONDS ? now - HISTORY_SECONDS : 0;
  uint32_t count = 0;
  for (; count < history->count; count++) {
    uint32_t place = (history->next + HISTORY_SECONDS - 1 - count) % HISTORY_SECONDS;
    if (history->ring[place].second <= after || history->ring[place].second < oldest) break;
  }
  for (uint32_t i = 0; i < count; i++)
    out[i] = history->ring[(history->next + HISTORY_SECONDS - count + i) % HISTORY_SECONDS];
  return count;
}
