/* herds.c - herds and their membranes, page by page: GET /v1/worlds/W/herds (service/live.h). */
#include "service/api_pages.h"
#include "service/rectangle.h"

#include <muster/herd.h>

enum { MEMBRANE_MAX = 64, EACH_ROOM = 24576 };

typedef struct herds_input {
  struct page page; /* stands first */
  struct rectangle rectangle;
  uint64_t partition; /* UINT64_MAX = any */
} herds_input;

static void write_leaf(json_writer *writer, const muster_world *world, muster_agent agent, uint32_t node) {
  muster_agent_info info = muster_agent_info_default();
  if (muster_agent_read(world, agent, &info) != MUSTER_OK) return;
  json_print(writer, "{ agent=%s node=%u position{ x=%g y=%g z=%g } }",
             api_id_of(muster_agent_index(agent), muster_agent_generation(agent)).text, node, info.position.x,
             info.position.y, info.position.z);
}

static void write_herd(json_writer *writer, const muster_world *world, muster_herd herd, const muster_herd_info *info) {
  muster_agent leaves[MEMBRANE_MAX];
  uint32_t nodes[MEMBRANE_MAX];
  uint32_t count = muster_herd_leaves(world, herd, leaves, nodes, MEMBRANE_MAX);
  json_print(writer,
             "{ herd=%s type=%u partition=%u position{ x=%g y=%g z=%g } velocity{ x=%g y=%g } members=%u named=%u "
             "leaves=%u depth=%u last_update_ns=%lu membrane[",
             api_id_of(muster_herd_index(herd), muster_herd_generation(herd)).text, info->type.index, info->partition,
             info->position.x, info->position.y, info->position.z, info->velocity_x, info->velocity_y, info->members,
             info->named, info->leaves, info->depth, info->last_update_ns);
  for (uint32_t i = 0; i < count && i < MEMBRANE_MAX; i++) write_leaf(writer, world, leaves[i], nodes[i]);
  json_print(writer, "] }");
}

static bool service_herds_passes(const herds_input *input, const muster_herd_info *info) {
  const struct rectangle *rectangle = &input->rectangle;
  if (input->partition != UINT64_MAX && info->partition != input->partition) return false;
  if (!rectangle->given) return true;
  return info->position.x >= rectangle->x0 && info->position.x < rectangle->x1 && info->position.y >= rectangle->y0 &&
         info->position.y < rectangle->y1;
}

static uint32_t service_herds_look(api_call *call, struct page *page) {
  const muster_world *world = call->world->world;
  muster_herd_info info = muster_herd_info_default();
  muster_herd herd =
      muster_herd_next(world, page->cursor ? muster_herd_make((uint32_t)page->cursor - 1u, 1) : (muster_herd){0});
  if (muster_herd_is_null(herd)) return 0;
  page->cursor = muster_herd_index(herd) + 1;
  if (muster_herd_read(world, herd, &info) != MUSTER_OK || !service_herds_passes(call->input, &info)) return 1;
  write_herd(&call->writer, world, herd, &info);
  return PAGE_LOOKS_GIVEN;
}

static void service_herds_list(api_call *call) {
  page_walk(call, "herds", service_herds_look);
}

static bool read_query(api_call *call) {
  herds_input *input = call->input;
  input->partition = UINT64_MAX;
  return rectangle_read(call->request, &input->rectangle, &call->problem) &&
         api_query_count(call->request, "partition", 0, PARTITION_MOST, &input->partition, &call->problem) &&
         page_query(call);
}

const http_route herd_routes[] = {
    {"GET", "/v1/worlds/{world}/herds", "herds of a rectangle with their membranes, page by page: service/live.h",
     API_ORDER(service_herds_list, .query = read_query, .input_bytes = sizeof(herds_input), .room = EACH_ROOM),
     .queries = RECTANGLE_QUERIES " partition cursor limit"},
    {0},
};
