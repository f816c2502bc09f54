/* api_list.c - agents that pass filters, page by page. */
#include "service/api_agents.h"

#include "service/api_bodies.h"
#include "service/api_pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANY UINT64_MAX

typedef struct list_input {
  struct page page;          /* stands first */
  const char *type_name;     /* null = any */
  muster_type type;          /* of that name, once it was looked up */
  uint64_t level, partition; /* ANY */
  double importance;         /* at least; 0 = any */
  bool near;
  double x, y, radius_m;
} list_input;

/* --------------------------------------------------------------------------------------------------------- reading */

/* A plain decimal number that ends at `end` or, where that is null, with the text: strtod would take "0x1", too. */
static bool api_list_read_number(const char **text, char end, double least, double most, double *value) {
  char *after;
  const char *last = *text + strspn(*text, "+-.0123456789eE");
  if (last == *text) return false;
  *value = strtod(*text, &after);
  if (after != last || *after != end || !(*value >= least && *value <= most)) return false;
  *text = after + (end != '\0');
  return true;
}

static bool read_near(const char *text, list_input *input, api_problem *problem) {
  if (!text) return true;
  input->near = api_list_read_number(&text, ',', -1e9, 1e9, &input->x) &&
                api_list_read_number(&text, ',', -1e9, 1e9, &input->y) &&
                api_list_read_number(&text, '\0', 0, 4e9, &input->radius_m);
  return input->near || api_complain(problem, 400, "out_of_range", "near",
                                     "near must be x,y,radius in metres, such as near=10,-4.5,100");
}

static bool read_importance(const char *text, list_input *input, api_problem *problem) {
  if (!text || api_list_read_number(&text, '\0', 0, 1, &input->importance)) return true;
  return api_complain(problem, 400, "out_of_range", "min_importance", "min_importance must be 0 .. 1");
}

static bool read_filters(api_call *call) {
  list_input *input = call->input;
  http_request *request = call->request;
  input->level = input->partition = ANY;
  input->type_name = http_query_value(request, "type");
  if (input->type_name && strlen(input->type_name) >= TYPE_NAME_BYTES)
    return api_complain(&call->problem, 404, "unknown_type", "type", "there is no type of that name");
  return api_query_count(request, "level", 0, MUSTER_LEVELS - 1u, &input->level, &call->problem) &&
         api_query_count(request, "partition", 0, PARTITION_MOST, &input->partition, &call->problem) &&
         read_importance(http_query_value(request, "min_importance"), input, &call->problem) &&
         read_near(http_query_value(request, "near"), input, &call->problem) && page_query(call);
}

/* --------------------------------------------------------------------------------------------------------- looking */

static bool api_list_passes(const list_input *input, const muster_agent_info *info) {
  if (input->type.index && info->type.index != input->type.index) return false;
  if (input->level != ANY && info->level != input->level) return false;
  if (input->partition != ANY && info->partition != input->partition) return false;
  if ((double)info->importance < input->importance) return false;
  return !input->near || hypot(info->position.x - input->x, info->position.y - input->y) <= input->radius_m;
}

static uint32_t api_list_look(api_call *call, struct page *page) {
  const muster_world *world = call->world->world;
  muster_agent_info info = muster_agent_info_default();
  muster_agent agent = muster_agent_next(world, (muster_agent){page_begins_after(call, page)});
  if (muster_agent_is_null(agent)) return 0;
  page_passes(call, page, agent.value);
  if (muster_agent_read(world, agent, &info) != MUSTER_OK || !api_list_passes(call->input, &info)) return 1;
  json_begin_object(&call->writer, NULL);
  api_write_agent(&call->writer, world, agent, &info);
  json_end_object(&call->writer);
  return PAGE_LOOKS_GIVEN;
}

static void api_list(api_call *call) {
  list_input *input = call->input;
  if (input->type_name && !input->type.index) input->type = api_find_type(call, input->type_name);
  if (!call->problem.status) page_walk(call, "agents", api_list_look);
}

const api_order api_list_agents = {api_list, .query = read_filters, .input_bytes = sizeof(list_input), .room = 1024};
