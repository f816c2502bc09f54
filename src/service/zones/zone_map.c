/* zone_map.c - a zone from above, drawn in as many frames as make up a part of a second, so that none has a spike. */
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include <muster/view.h>
#include <string.h>

enum { DRAWN_WITHIN_MS = 300, LOOKS_LEAST = 1024, NANOSECONDS = 1000000 };

void zone_begin_map(struct zone *zone) {
  if (zone->map.draws) return;
  zone->map.draws = true;
  zone->map.next = 0;
  memset(zone->map.cells, 0, sizeof zone->map.cells);
}

static void send_map(hosted_world *world, uint32_t agents) {
  struct zone *zone = world->zone;
  muster_zone_status status = muster_zone_status_default();
  zone_sheet sheet = {.agents = agents};
  muster_zone_status_read(world->world, &status);
  sheet.arrived = status.arrived;
  for (uint32_t i = 0; i < SHEET_CELLS; i++) {
    uint32_t count = zone->map.cells[i].count;
    sheet.counts[i] = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
  }
  wire_put(&zone->wire, (wire_head){.kind = WIRE_MAP, .bytes = sizeof sheet}, &sheet);
  zone->map.draws = false;
}

void zone_draw_map(hosted_world *world) {
  struct zone *zone = world->zone;
  const zone_rectangle *ground = &zone->lease.ground.rectangle;
  muster_raster raster = {.columns = SHEET_SIDE, .rows = SHEET_SIDE, .cells = zone->map.cells};
  muster_frame_report report = muster_frame_report_default();
  muster_view view = muster_view_default();
  if (!zone->map.draws) return;
  muster_frame_report_read(world->world, &report);
  view.x0 = ground->x0, view.y0 = ground->y0;
  view.x1 = ground->x1, view.y1 = ground->y1;
  view.looks_max = (uint32_t)((uint64_t)report.agents * world->period_ns / NANOSECONDS / DRAWN_WITHIN_MS) + LOOKS_LEAST;
  muster_agents_raster(world->world, &view, &raster, &zone->map.next);
  if (zone->map.next == MUSTER_VIEW_END) send_map(world, report.agents);
}
