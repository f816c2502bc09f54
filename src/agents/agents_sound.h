/* agents/agents_sound.h - whether the stores of agents are sound: counts agree with what they count, and lists with
 * those who stand in them. See base/sound.h.
 *
 * Rows of agents that are not active may be in the hands of threads that spawn: nobody looks at them here. */
#ifndef AGENTS_SOUND_H
#define AGENTS_SOUND_H

#include "agents/companions.h"
#include "agents/herds.h"
#include "agents/mailbox.h"
#include "agents/observers.h"
#include "agents/space.h"
#include "agents/store.h"
#include "base/sound.h"

/* The lists that agents of a status are in, or the grid's, in which all active agents are. */
typedef struct list_look {
  const list_store *lists;
  const agent_store *store;
  const char *name; /* of what the lists are part of */
  bool grid;        /* spots are those of places; else those of rows, */
  uint8_t status;   /* and this is the agents' status */
} list_look;

/* The name of a status. */
const char *agent_status_name(agent_status status);

/* Whether a spot is an agent's: its block names the agent there. */
bool list_spot_is_sound(const list_store *lists, list_spot spot, uint32_t agent);

/* Whether a list is one of full blocks, but for the last, that are all `owner`'s, and everybody in it is active, has
 * the status and the spot. Returns how many they are. */
uint32_t list_is_sound(const list_look *look, agent_list list, uint32_t owner, soundness *found);

/* Whether active agents have a status and a level that are some, and the counts of them are right. */
bool store_is_sound(const agent_store *store, soundness *found);

/* Whether every active agent is in the one list of the grid that its place asks for, and nobody else is in any. */
bool space_is_sound(const struct space *space, const agent_store *store, soundness *found);

/* Whether the counts of senders, of receivers to wake and of losses are right. `mail_waits`: a commit has messages left
 * to deliver; else nobody may be among the senders. */
bool mailbox_is_sound(const struct mailbox *mailbox, const agent_store *store, bool mail_waits, soundness *found);

/* Whether those who have company know their places among them. */
bool companions_are_sound(const struct companions *companions, const agent_store *store, soundness *found);

/* Whether observers are in the queues that their rows say. */
bool observers_are_sound(const observer_table *table, soundness *found);

/* Whether agents and what they stand for know each other: leaves and lanes, blocks, named members; and whether the
 * counts of herds, of members, of entries and of those who settle are right. Between updates of blocks. */
bool herds_are_sound(const herd_table *table, const agent_store *store, soundness *found);

#endif
