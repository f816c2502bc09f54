/* api_list.c - agents that pass filters, page by page. */
#include "service/api_agents.h"

#include "service/api_bodies.h"
#include "service/api_pages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANY UINT32_MAX

typedef struct list_input {
  struct page page;
  char type_name[TYPE_NAME_BYTES]; /* "" = any */
  muster_type type;                /* of that name, once it was looked up */
  uint32_t level, partition;       /* ANY */
  double importance;               /* at least; 0 = any */
  bool near;
  double x, y, radius_m;
} list_input;

/* --------------------------------------------------------------------------------------------------------- reading */

/* A plain number that ends at `end` or, where that is null, with the text. */
static bool api_list_read_number(const char **text, char end, double least, double most, double *value) {
  char *after;
  if (!strchr("-0123456789", **text) || !**text) return false;
  *value = strtod(*text, &after);
  if (after == *text || *after != end || !(*value >= least && *value <= most)) return false;
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

static bool read_filters(http_request *request, list_input *input, api_problem *problem) {
  uint64_t level = ANY, partition = ANY;
  const char *type = http_query_value(request, "type");
  if (type && strlen(type) >= sizeof input->type_name)
    return api_complain(problem, 404, "unknown_type", "type", "there is no type of that name");
  if (type) strcpy(input->type_name, type);
  bool read = api_query_count(request, "level", 0, MUSTER_LEVELS - 1u, &level, problem) &&
              api_query_count(request, "partition", 0, PARTITION_MOST, &partition, problem) &&
              read_importance(http_query_value(request, "min_importance"), input, problem) &&
              read_near(http_query_value(request, "near"), input, problem);
  input->level = (uint32_t)level;
  input->partition = (uint32_t)partition;
  return read;
}

/* --------------------------------------------------------------------------------------------------------- looking */

static bool api_list_passes(const list_input *input, const muster_agent_info *info) {
  if (input->type.index && info->type.index != input->type.index) return false;
  if (input->level != ANY && info->level != input->level) return false;
  if (input->partition != ANY && info->partition != input->partition) return false;
  if ((double)info->importance < input->importance) return false;
  return !input->near || hypot(info->position.x - input->x, info->position.y - input->y) <= input->radius_m;
}

/* True: the agent passed the filter and was written. */
static bool api_list_look_at(api_call *call, list_input *input, muster_agent agent) {
  const muster_world *world = call->world->world;
  muster_agent_info info = muster_default_agent_info();
  if (muster_agent_read(world, agent, &info) != MUSTER_OK || !api_list_passes(input, &info)) return false;
  json_begin_object(&call->writer, NULL);
  api_write_agent(&call->writer, world, agent, &info);
  json_end_object(&call->writer);
  input->page.given++;
  return true;
}

static void api_list(api_call *call) {
  list_input *input = (list_input *)(void *)call->input;
  struct page *page = &input->page;
  if (*input->type_name && !input->type.index) input->type = api_find_type(call, input->type_name);
  if (call->problem.status) return;
  page_open(call, page, "agents");
  bool last = false;
  for (uint32_t looks = 0; looks < PAGE_LOOKS && page->given < page->limit; looks++) {
    muster_agent before = {page->cursor - 1u, page->cursor > 0};
    muster_agent agent = muster_agent_next(call->world->world, before);
    last = muster_agent_is_null(agent);
    if (last) break;
    page->cursor = agent.index + 1;
    if (api_list_look_at(call, input, agent)) looks += PAGE_LOOKS_GIVEN;
  }
  page_close(call, page, last);
}

void api_list_agents(http_request *request) {
  enum { EACH_ROOM = 1024 };
  api_call *call = api_begin(request, api_list, sizeof(list_input));
  if (!call) return;
  list_input *input = (list_input *)(void *)call->input;
  if (!read_filters(request, input, &call->problem))
    api_refuse(call);
  else if (page_begin(call, &input->page, EACH_ROOM))
    api_post(call);
}
