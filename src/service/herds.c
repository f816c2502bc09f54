#include "service/herds.h"

#include "service/api_pages.h"
#include "service/rectangle.h"

#include "base/clock.h"

enum { MEMBRANE_MAX = 64, EACH_ROOM = 24576 };
static const uint64_t slice_ns = 200000u;

typedef struct herds_input {
  struct page page;
  struct rectangle rectangle;
  uint64_t partition; /* UINT64_MAX = any */
} herds_input;

static void write_leaf(json_writer *writer, const muster_world *world, muster_agent agent, uint32_t node) {
  muster_agent_info info = muster_default_agent_info();
  if (muster_agent_read(world, agent, &info) != MUSTER_OK) return;
  json_begin_object(writer, NULL);
  api_write_id(writer, "agent", agent.index, agent.generation);
  json_uint(writer, "node", node);
  api_write_position(writer, "position", info.position);
  json_end_object(writer);
}

static void write_membrane(json_writer *writer, const muster_world *world, muster_herd herd) {
  muster_agent leaves[MEMBRANE_MAX];
  uint32_t nodes[MEMBRANE_MAX];
  uint32_t count = muster_herd_leaves(world, herd, leaves, nodes, MEMBRANE_MAX);
  json_begin_array(writer, "membrane");
  for (uint32_t i = 0; i < count && i < MEMBRANE_MAX; i++) write_leaf(writer, world, leaves[i], nodes[i]);
  json_end_array(writer);
}

static void write_herd(json_writer *writer, const muster_world *world, muster_herd herd, const muster_herd_info *info) {
  json_begin_object(writer, NULL);
  api_write_id(writer, "herd", herd.index, herd.generation);
  json_uint(writer, "type", info->type.index);
  json_uint(writer, "partition", info->partition);
  api_write_position(writer, "position", info->position);
  json_begin_object(writer, "velocity");
  json_number(writer, "x", (double)info->velocity_x);
  json_number(writer, "y", (double)info->velocity_y);
  json_end_object(writer);
  json_uint(writer, "members", info->members);
  json_uint(writer, "named", info->named);
  json_uint(writer, "leaves", info->leaves);
  json_uint(writer, "depth", info->depth);
  json_uint(writer, "last_update_ns", info->last_update_ns);
  write_membrane(writer, world, herd);
  json_end_object(writer);
}

static bool service_herds_passes(const herds_input *input, const muster_herd_info *info) {
  const struct rectangle *rectangle = &input->rectangle;
  if (input->partition != UINT64_MAX && info->partition != input->partition) return false;
  if (!rectangle->given) return true;
  return info->position.x >= rectangle->x0 && info->position.x < rectangle->x1 && info->position.y >= rectangle->y0 &&
         info->position.y < rectangle->y1;
}

static void service_herds_list(api_call *call) {
  herds_input *input = (herds_input *)(void *)call->input;
  struct page *page = &input->page;
  const muster_world *world = call->world->world;
  uint64_t until_ns = clock_system() + slice_ns;
  page_open(call, page, "herds");
  bool last = false;
  while (page->given < page->limit && clock_system() < until_ns) {
    muster_herd_info info = muster_default_herd_info();
    muster_herd herd = muster_herd_next(world, (muster_herd){page->cursor - 1u, page->cursor > 0});
    last = herd.generation == 0;
    if (last) break;
    page->cursor = herd.index + 1;
    if (muster_herd_read(world, herd, &info) != MUSTER_OK || !service_herds_passes(input, &info)) continue;
    write_herd(&call->writer, world, herd, &info);
    page->given++;
  }
  page_close(call, page, last);
}

static void list_herds(http_request *request) {
  api_call *call = api_begin(request, service_herds_list, sizeof(herds_input));
  if (!call) return;
  herds_input *input = (herds_input *)(void *)call->input;
  input->partition = UINT64_MAX;
  if (!rectangle_read(request, &input->rectangle, &call->problem) ||
      !api_query_count(request, "partition", 0, PARTITION_MOST, &input->partition, &call->problem))
    api_refuse(call);
  else if (page_begin(call, &input->page, EACH_ROOM))
    api_post(call);
}

const http_route herd_routes[] = {
    {.method = "GET",
     .pattern = "/v1/worlds/{world}/herds",
     .handle = list_herds,
     .queries = RECTANGLE_QUERIES " partition cursor limit",
     .summary = "herds of a rectangle with their membranes, page by page: service/live.h"},
    {0},
};
