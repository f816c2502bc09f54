/* api_observers.c - players and cameras: listed, added, moved, removed. */
#include "service/api.h"

#include "service/api_bodies.h"
#include "service/api_pages.h"

typedef struct observer_input {
  union { /* stands first: the body is read into it */
    muster_observer_def def;
    muster_position position;
  };
  muster_observer observer;
} observer_input;

static const observer_input *input_of(const api_call *call) {
  return (const observer_input *)(const void *)call->input;
}

static void confirm(api_call *call, muster_result result, const char *field) {
  if (!api_succeeded(call, result, result == MUSTER_E_STALE ? "observer" : field)) return;
  muster_observer observer = input_of(call)->observer;
  api_write_id(&call->writer, "observer", observer.index, observer.generation);
}

static api_call *api_observers_begin(http_request *request, void (*work)(api_call *call)) {
  api_call *call = api_begin(request, work, sizeof(observer_input));
  if (!call) return NULL;
  observer_input *input = (observer_input *)(void *)call->input;
  return api_take_id(call, "observer", &input->observer.index, &input->observer.generation) ? call : NULL;
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
  muster_observer observer = muster_observer_add(call->world->world, &input_of(call)->def);
  if (observer.generation == 0)
    api_complain(&call->problem, 409, "full", NULL, "%s", muster_last_error());
  else
    api_write_id(&call->writer, "observer", observer.index, observer.generation);
}

static void api_observers_add_observer(http_request *request) {
  api_call *call = api_begin(request, api_observers_add, sizeof(observer_input));
  if (!call) return;
  call->status = 201;
  if (api_take_body(call, observer_read)) api_post(call);
}

static void move(api_call *call) {
  const observer_input *input = input_of(call);
  confirm(call, muster_observer_move(call->world->world, input->observer, input->position), "position");
}

static void move_observer(http_request *request) {
  api_call *call = api_observers_begin(request, move);
  if (call && api_take_body(call, position_read)) api_post(call);
}

static void hold_at(api_call *call) {
  const observer_input *input = input_of(call);
  muster_result result = muster_observer_move(call->world->world, input->observer, input->position);
  if (!result) result = holds_put(&call->world->holds, input->observer, input->position);
  confirm(call, result, "position");
}

static void hold_observer(http_request *request) {
  api_call *call = api_observers_begin(request, hold_at);
  if (call && api_take_body(call, position_read)) api_post(call);
}

static void let_go(api_call *call) {
  muster_observer_def def = muster_default_observer_def();
  muster_observer observer = input_of(call)->observer;
  holds_drop(&call->world->holds, observer);
  confirm(call, muster_observer_read(call->world->world, observer, &def), NULL);
}

static void release_observer(http_request *request) {
  api_call *call = api_observers_begin(request, let_go);
  if (call) api_post(call);
}

static void remove_one(api_call *call) {
  confirm(call, muster_observer_remove(call->world->world, input_of(call)->observer), NULL);
}

static void remove_observer(http_request *request) {
  api_call *call = api_observers_begin(request, remove_one);
  if (call) api_post(call);
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
     .handle = api_observers_add_observer,
     .body_max = SMALL_BODY,
     .summary = "add one: {position, near_m, far_m, partition}"},
    {.method = "PUT",
     .pattern = OBSERVERS "/{observer}/position",
     .handle = move_observer,
     .body_max = SMALL_BODY,
     .summary = "move it"},
    {.method = "PUT",
     .pattern = OBSERVERS "/{observer}/hold",
     .handle = hold_observer,
     .body_max = SMALL_BODY,
     .summary = "keep it at a position, whatever the world does with it"},
    {.method = "DELETE",
     .pattern = OBSERVERS "/{observer}/hold",
     .handle = release_observer,
     .summary = "leave it to the world again"},
    {.method = "DELETE", .pattern = OBSERVERS "/{observer}", .handle = remove_observer, .summary = "remove it"},
    {0},
};
