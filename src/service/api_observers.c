/* api_observers.c - players and cameras: listed, added, moved, removed. */
#include "service/api.h"

#include "service/api_bodies.h"
#include "service/api_pages.h"

static muster_observer observer_of(const api_call *call) {
  return muster_observer_make(call->index, call->generation);
}

/* --------------------------------------------------------------------------------------------------------- listing */

static uint32_t api_observers_look(api_call *call, struct page *page) {
  const muster_world *world = call->world->world;
  muster_observer_def def = muster_observer_def_default();
  muster_observer observer = muster_observer_next(world, (muster_observer){page_begins_after(call, page)});
  if (muster_observer_is_null(observer)) return 0;
  page_passes(call, page, observer.value);
  if (muster_observer_read(world, observer, &def) != MUSTER_OK) return 1;
  json_print(&call->writer, "{ observer=%s position{ x=%g y=%g z=%g } partition=%u near_m=%f far_m=%f held=%d }",
             api_id_of(muster_observer_index(observer), muster_observer_generation(observer)).text, def.position.x,
             def.position.y, def.position.z, def.partition, def.near_m, def.far_m,
             holds_has(&call->world->holds, observer));
  return PAGE_LOOKS_GIVEN;
}

static void api_observers_list(api_call *call) {
  page_walk(call, "observers", api_observers_look);
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void api_observers_add(api_call *call) {
  muster_observer observer = muster_observer_add(call->world->world, call->input);
  if (muster_observer_is_null(observer))
    api_complain(&call->problem, 409, "full", NULL, "%s", muster_last_error());
  else
    json_string(&call->writer, "observer",
                api_id_of(muster_observer_index(observer), muster_observer_generation(observer)).text);
}

static void move(api_call *call) {
  const muster_position *position = call->input;
  api_confirm(call, muster_observer_move(call->world->world, observer_of(call), *position), "position");
}

/* One that there is no room for stays where it is. */
static void hold_at(api_call *call) {
  const muster_position *position = call->input;
  muster_result result = holds_check(&call->world->holds, observer_of(call));
  if (!result) result = muster_observer_move(call->world->world, observer_of(call), *position);
  if (!result) result = holds_put(&call->world->holds, observer_of(call), *position);
  api_confirm(call, result, "position");
}

static void let_go(api_call *call) {
  muster_observer_def def = muster_observer_def_default();
  holds_drop(&call->world->holds, observer_of(call));
  api_confirm(call, muster_observer_read(call->world->world, observer_of(call), &def), NULL);
}

static void remove_one(api_call *call) {
  api_confirm(call, muster_observer_remove(call->world->world, observer_of(call)), NULL);
}

#define OBSERVERS "/v1/worlds/{world}/observers"

enum { SMALL_BODY = 4096 };

const http_route api_observer_routes[] = {
    {"GET", OBSERVERS, "observers, page by page",
     API_ORDER(api_observers_list, .query = page_query, .input_bytes = sizeof(struct page), .room = 384),
     .queries = "cursor limit"},
    {"POST", OBSERVERS, "add one: {position, near_m, far_m, partition}",
     API_ORDER(api_observers_add, observer_read, sizeof(muster_observer_def), .status = 201), .body_max = SMALL_BODY},
    {"PUT", OBSERVERS "/{observer}/position", "move it", API_ORDER(move, position_read, sizeof(muster_position)),
     .body_max = SMALL_BODY},
    {"PUT", OBSERVERS "/{observer}/hold", "keep it at a position, whatever the world does with it",
     API_ORDER(hold_at, position_read, sizeof(muster_position)), .body_max = SMALL_BODY},
    {"DELETE", OBSERVERS "/{observer}/hold", "leave it to the world again", API_ORDER(let_go)},
    {"DELETE", OBSERVERS "/{observer}", "remove it", API_ORDER(remove_one)},
    {0},
};
