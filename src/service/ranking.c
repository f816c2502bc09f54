#include "service/ranking.h"

#include "base/assert.h"
#include "base/clock.h"
#include "service/api_agents.h"

#include <string.h>

enum { LIMIT = 10, LOOKS_AT_ONCE = 64 };
static const uint64_t slice_ns = 200000u;

void ranking_offer(struct ranking *ranking, uint32_t limit, double value, muster_agent agent) {
  ASSERT(limit > 0 && limit <= RANKING_MOST);
  uint32_t place = ranking->count;
  while (place > 0 && value > ranking->values[place - 1]) place--;
  if (place >= limit || !(value > 0)) return;
  if (ranking->count < limit) ranking->count++;
  uint32_t moved = ranking->count - 1 - place;
  memmove(&ranking->values[place + 1], &ranking->values[place], moved * sizeof *ranking->values);
  memmove(&ranking->agents[place + 1], &ranking->agents[place], moved * sizeof *ranking->agents);
  ranking->values[place] = value;
  ranking->agents[place] = agent;
}

/* ---------------------------------------------------------------------------------------------------------- looking */

typedef struct ranking_input {
  const char *type_name; /* null = any */
  muster_type type;
  uint64_t limit, looked;
  muster_agent last; /* the agent that was looked at last */
  struct ranking delayed, expensive, important;
  struct {
    uint32_t agents;
    double load;
  } costs[WORLD_TYPES_MAX][WORLD_LEVELS];
} ranking_input;

static bool ranking_query(api_call *call) {
  ranking_input *input = call->input;
  input->limit = LIMIT;
  input->type_name = http_query_value(call->request, "type");
  return api_query_count(call->request, "limit", 1, RANKING_MOST, &input->limit, &call->problem);
}

static double late_ns(const muster_agent_info *info, uint64_t now_ns) {
  uint64_t due_ns = info->last_update_ns + info->period_ns;
  return info->period_ns && !info->quarantined && now_ns > due_ns ? (double)(now_ns - due_ns) : 0;
}

static double load(const muster_agent_info *info) {
  return info->period_ns ? (double)info->expected_cost_ns / (double)info->period_ns : 0;
}

static double importance(const muster_agent_info *info) {
  return (double)info->importance;
}

static void ranking_look(ranking_input *input, const hosted_world *world, muster_agent agent) {
  muster_agent_info info = muster_agent_info_default();
  uint32_t limit = (uint32_t)input->limit;
  input->looked++;
  if (muster_agent_read(world->world, agent, &info) != MUSTER_OK || !info.active) return;
  if (info.type.index <= WORLD_TYPES_MAX && info.level < WORLD_LEVELS) {
    input->costs[info.type.index - 1][info.level].agents++;
    input->costs[info.type.index - 1][info.level].load += load(&info);
  }
  if (input->type.index && info.type.index != input->type.index) return;
  ranking_offer(&input->delayed, limit, late_ns(&info, world->sim_now_ns), agent);
  ranking_offer(&input->expensive, limit, load(&info), agent);
  ranking_offer(&input->important, limit, importance(&info), agent);
}

/* Returns whether agents are left. */
static bool look_at_some(ranking_input *input, const hosted_world *world) {
  for (uint32_t i = 0; i < LOOKS_AT_ONCE; i++) {
    muster_agent next = muster_agent_next(world->world, input->last);
    if (muster_agent_is_null(next)) return false;
    ranking_look(input, world, next);
    input->last = next;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

/* Frames may have come since the agents were looked at: they are in the order of the figures that are shown. */
static struct ranking rank_again(const muster_world *world, const struct ranking *ranking,
                                 double (*value_of)(const muster_agent_info *info)) {
  struct ranking again = {0};
  for (uint32_t i = 0; i < ranking->count; i++) {
    muster_agent_info info = muster_agent_info_default();
    if (muster_agent_read(world, ranking->agents[i], &info) == MUSTER_OK)
      ranking_offer(&again, RANKING_MOST, value_of(&info), ranking->agents[i]);
  }
  return again;
}

/* How late an agent was when it was looked at: it may have run since. */
static void write_ranking(api_call *call, const char *name, const struct ranking *ranking, bool by_lateness) {
  const hosted_world *world = call->world;
  json_begin_array(&call->writer, name);
  for (uint32_t i = 0; i < ranking->count; i++) {
    muster_agent_info info = muster_agent_info_default();
    if (muster_agent_read(world->world, ranking->agents[i], &info) != MUSTER_OK) continue;
    json_begin_object(&call->writer, NULL);
    api_write_agent(&call->writer, world->world, ranking->agents[i], &info);
    double late = by_lateness ? ranking->values[i] : late_ns(&info, world->sim_now_ns);
    json_print(&call->writer, "late_ns=%lu load=%g }", (uint64_t)late, load(&info));
  }
  json_end_array(&call->writer);
}

static void write_loads(api_call *call) {
  const ranking_input *input = call->input;
  muster_type type = {1};
  json_begin_array(&call->writer, "types");
  for (const char *name; (name = muster_type_name(call->world->world, type)) != NULL; type.index++) {
    json_print(&call->writer, "{ name=%s levels[", name);
    for (uint32_t level = 0; level < WORLD_LEVELS; level++)
      json_print(&call->writer, "{ agents=%u load=%g }", input->costs[type.index - 1][level].agents,
                 input->costs[type.index - 1][level].load);
    json_print(&call->writer, "] }");
  }
  json_end_array(&call->writer);
}

static void rank(api_call *call) {
  ranking_input *input = call->input;
  uint64_t until_ns = clock_system() + slice_ns;
  if (input->type_name && !input->type.index) input->type = api_find_type(call, input->type_name);
  if (call->problem.status) return;
  bool more;
  do more = look_at_some(input, call->world);
  while (more && clock_system() < until_ns);
  call->again = more;
  if (more) return;
  json_uint(&call->writer, "looked", input->looked);
  write_ranking(call, "delayed", &input->delayed, true);
  input->expensive = rank_again(call->world->world, &input->expensive, load);
  input->important = rank_again(call->world->world, &input->important, importance);
  write_ranking(call, "expensive", &input->expensive, false);
  write_ranking(call, "important", &input->important, false);
  write_loads(call);
}

enum {
  AGENT_ROOM = 1024,
  TYPE_ROOM = 768,
  RANKING_ROOM = 4096 + 3 * RANKING_MOST * AGENT_ROOM + WORLD_TYPES_MAX * TYPE_ROOM
};

const http_route ranking_routes[] = {
    {"GET", "/v1/worlds/{world}/ranking",
     "the most delayed, most expensive and most important agents, and the load of each type",
     API_ORDER(rank, .query = ranking_query, .input_bytes = sizeof(ranking_input), .room = RANKING_ROOM),
     .queries = "type limit"},
    {0},
};
