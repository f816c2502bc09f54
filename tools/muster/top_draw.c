/* top_draw.c - bars, sparklines and rows as text. */
#include "text.h"
#include "top.h"

#include <string.h>

const char *top_bar(char out[TOP_DRAWING_BYTES], int cells, double value, double mark, double full) {
  if (cells > TOP_DRAWING_BYTES - 1) cells = TOP_DRAWING_BYTES - 1;
  int filled = text_cells(value, full, cells), marked = text_cells(mark, full, cells);
  memset(out, ' ', (size_t)cells);
  memset(out, '|', (size_t)filled);
  if (mark >= 0 && cells > 0) out[marked < cells ? marked : cells - 1] = '#';
  out[cells] = '\0';
  return out;
}

const char *top_sparkline(char out[TOP_DRAWING_BYTES], int cells, const top_history *history, double least_full,
                          bool unicode) {
  static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  const char *const *steps = unicode ? blocks : letters;
  if (cells > TOP_HISTORY) cells = TOP_HISTORY;
  uint32_t shown = history->count < (uint32_t)cells ? history->count : (uint32_t)cells;
  const double *values = history->values + history->count - shown;
  double full = least_full;
  size_t length = 0;
  for (uint32_t i = 0; i < shown; i++)
    if (values[i] > full) full = values[i];
  for (uint32_t i = 0; i < shown; i++) {
    int step = text_cells(values[i], full, 7);
    length += (size_t)snprintf(out + length, TOP_DRAWING_BYTES - length, "%s", steps[step]);
  }
  out[length] = '\0';
  return out;
}

const char *top_time(char out[TOP_DRAWING_BYTES], uint64_t ns) {
  uint64_t seconds = ns / 1000000000u;
  snprintf(out, TOP_DRAWING_BYTES, "%lu:%02lu:%02lu", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return out;
}

const char *top_types_head(char out[TOP_DRAWING_BYTES], int cells) {
  snprintf(out, TOP_DRAWING_BYTES, "%-*s %9s %9s %9s %6s  %s", cells, "TYPE", "AGENTS", "MEAN", "HIGH", "COST%",
           "LEVELS");
  return out;
}

const char *top_types_row(char out[TOP_DRAWING_BYTES], int cells, int most, const top_type *type) {
  snprintf(out, TOP_DRAWING_BYTES, "%-*.*s %9s %9s %9s %6.1f  %lu %lu %lu %lu%s", cells, most, type->name,
           text_count(type->agents), text_duration(type->mean_ns), text_duration(type->high_ns), 100 * type->share,
           type->levels[0], type->levels[1], type->levels[2], type->levels[3], type->quarantined ? " quarantined" : "");
  return out;
}

/* ------------------------------------------------------------------------------------------------------------ lists */

const char *top_list_name(top_list_kind kind) {
  static const char *const names[TOP_LISTS] = {"DELAYED", "EXPENSIVE", "IMPORTANT", "FOUND"};
  return names[kind];
}

const char *top_agents_head(char out[TOP_DRAWING_BYTES], top_list_kind kind) {
  snprintf(out, TOP_DRAWING_BYTES, "%-12s %-14s %9s %9s %9s %9s %6s %5s", top_list_name(kind), "TYPE", "LATE", "PERIOD",
           "COST", "CPU/S", "IMPORT", "LEVEL");
  return out;
}

const char *top_agents_row(char out[TOP_DRAWING_BYTES], const top_agent *agent) {
  snprintf(out, TOP_DRAWING_BYTES, "%-12s %-14.14s %9s %9s %9s %9s %6.2f %5lu", agent->id, agent->type,
           agent->late_ns ? text_ns(agent->late_ns) : "-", agent->period_ns ? text_ns(agent->period_ns) : "-",
           text_ns(agent->cost_ns), text_duration(1e9 * agent->load), agent->importance, agent->level);
  return out;
}

const char *top_observers_head(char out[TOP_DRAWING_BYTES]) {
  snprintf(out, TOP_DRAWING_BYTES, "%-12s %30s %10s %10s  %s", "OBSERVER", "POSITION", "NEAR", "FAR", "HELD");
  return out;
}

const char *top_observers_row(char out[TOP_DRAWING_BYTES], const top_observer *observer) {
  const char *at = text_of("%.1f, %.1f, %.1f m", observer->x, observer->y, observer->z);
  snprintf(out, TOP_DRAWING_BYTES, "%-12s %30s %8.4g m %8.4g m  %s", observer->id, at, observer->near_m,
           observer->far_m, observer->held ? "yes" : "no");
  return out;
}
