/* api_observers.c - players and cameras: listed, added, moved, removed. */
#include "service/api.h"

#include "service/api_bodies.h"
#include "service/api_pages.h"

static muster_observer observer_of(const api_call *call) {
  return (muster_observer){call->index, call->generation};
}

static muster_position position_of(const api_call *call) {
  return *(const muster_position *)(const void *)call->input;
}

/* --------------------------------------------------------------------------------------------------------- listing */

static void api_observers_write_observer(json_writer *writer, muster_observer observer, const muster_observer_def *def,
                                         bool held) {
  json_begin_object(writer, NULL);
  api_write_id(writer, "observer", observer.index, observer.generation);
  api_write_position(writer, "position", def->position);
  json_uint(writer, "partition", def->partition);
  api_write_float(writer, "near_m", def->near_m);
  api_write_float(writer, "far_m", def->far_m);
  json_bool(writer, "held", held);
  json_end_object(writer);
}

static void api_observers_list(api_call *call) {
  struct page *page = (struct page *)(void *)call->input;
  page_open(call, page, "observers");
  bool last = false;
  for (uint32_t looks = 0; looks < PAGE_LOOKS && page->given < page->limit; looks++) {
    muster_observer before = {page->cursor - 1u, page->cursor > 0};
    muster_observer observer = muster_observer_next(call->world->world, before);
    muster_observer_def def = muster_default_observer_def();
    last = observer.generation == 0;
    if (last) break;
    page->cursor = observer.index + 1;
    if (muster_observer_read(call->world->world, observer, &def) != MUSTER_OK) continue;
    api_observers_write_observer(&call->writer, observer, &def, holds_has(&call->world->holds, observer));
    page->given++;
    looks += PAGE_LOOKS_GIVEN;
  }
  page_close(call, page, last);
}

static void list_observers(http_request *request) {
  enum { EACH_ROOM = 384 };
  api_call *call = api_begin(request, api_observers_list, sizeof(struct page));
  if (call && page_begin(call, (struct page *)(void *)call->input, EACH_ROOM)) api_post(call);
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void api_observers_add(api_call *call) {
  muster_observer observer =
      muster_observer_add(call->world->world, (const muster_observer_def *)(const void *)call->input);
  if (observer.generation == 0)
    api_complain(&call->problem, 409, "full", NULL, "%s", muster_last_error());
  else
    api_write_id(&call->writer, "observer", observer.index, observer.generation);
}

static void move(api_call *call) {
  api_confirm(call, muster_observer_move(call->world->world, observer_of(call), position_of(call)), "position");
}

static void hold_at(api_call *call) {
  muster_position position = position_of(call);
  muster_result result = muster_observer_move(call->world->world, observer_of(call), position);
  if (!result) result = holds_put(&call->world->holds, observer_of(call), position);
  api_confirm(call, result, "position");
}

static void let_go(api_call *call) {
  muster_observer_def def = muster_default_observer_def();
  holds_drop(&call->world->holds, observer_of(call));
  api_confirm(call, muster_observer_read(call->world->world, observer_of(call), &def), NULL);
}

static void remove_one(api_call *call) {
  api_confirm(call, muster_observer_remove(call->world->world, observer_of(call)), NULL);
}

#define OBSERVERS "/v1/worlds/{world}/observers"

enum { SMALL_BODY = 4096 };

const http_route api_observer_routes[] = {
    {.method = "GET",
     .pattern = OBSERVERS,
     .handle = list_observers,
     .queries = "cursor limit",
     .summary = "observers, page by page"},
    {.method = "POST",
     .pattern = OBSERVERS,
     .handle = api_handle,
     .order = &(const api_order){.work = api_observers_add,
                                 .read = observer_read,
                                 .input_bytes = sizeof(muster_observer_def),
                                 .status = 201},
     .body_max = SMALL_BODY,
     .summary = "add one: {position, near_m, far_m, partition}"},
    {.method = "PUT",
     .pattern = OBSERVERS "/{observer}/position",
     .handle = api_handle,
     .order = &(const api_order){.work = move, .read = position_read, .input_bytes = sizeof(muster_position)},
     .body_max = SMALL_BODY,
     .summary = "move it"},
    {.method = "PUT",
     .pattern = OBSERVERS "/{observer}/hold",
     .handle = api_handle,
     .order = &(const api_order){.work = hold_at, .read = position_read, .input_bytes = sizeof(muster_position)},
     .body_max = SMALL_BODY,
     .summary = "keep it at a position, whatever the world does with it"},
    {.method = "DELETE",
     .pattern = OBSERVERS "/{observer}/hold",
     .handle = api_handle,
     .order = &(const api_order){.work = let_go},
     .summary = "leave it to the world again"},
    {.method = "DELETE",
     .pattern = OBSERVERS "/{observer}",
     .handle = api_handle,
     .order = &(const api_order){.work = remove_one},
     .summary = "remove it"},
    {0},
};
