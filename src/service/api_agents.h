/* service/api_agents.h - what the files about agents share. */
#ifndef SERVICE_API_AGENTS_H
#define SERVICE_API_AGENTS_H

#include "service/api.h"

/* Writes the members of an agent. */
void api_write_agent(json_writer *writer, const muster_world *world, muster_agent agent, const muster_agent_info *info);

/* GET and POST of /v1/worlds/W/agents. */
extern const api_order api_list_agents, api_spawn_agents;

#endif
