/* agents/agents_sound.h - whether the stores of agents are sound: counts agree with what they count, and lists with
 * the agents that stand in them. See base/sound.h.
 *
 * Threads that spawn may be writing rows of agents that are not active: these checks do not look at such rows. */
#ifndef AGENTS_SOUND_H
#define AGENTS_SOUND_H

#include "agents/companions.h"
#include "agents/herds.h"
#include "agents/mailbox.h"
#include "agents/observers.h"
#include "agents/space.h"
#include "agents/store.h"
#include "base/sound.h"

/* The lists of the grid, in which all active agents are. */
typedef struct list_look {
  const list_store *lists;
  const agent_store *store;
  const char *name; /* what the lists are part of */
} list_look;

/* The name of a status. */
const char *agent_status_name(uint32_t status);

/* Whether a spot is this agent's: the block of the spot names the agent there. */
bool list_spot_is_sound(const list_store *lists, list_spot spot, uint32_t agent);

/* Whether all blocks of a list but the last are full and all are `owner`'s, and whether every agent in it is active and
 * has the status and the spot. Returns how many agents the list has. */
uint32_t list_is_sound(const list_look *look, agent_list list, uint32_t owner, soundness *found);

/* Whether every active agent has a valid status and level, and the counts of them are right. */
bool store_is_sound(const agent_store *store, soundness *found);

/* Whether every active agent is in the one list of the grid that its place asks for, and no other agent is in any. */
bool space_is_sound(const struct space *space, const agent_store *store, soundness *found);

/* Whether the counts of senders, of receivers to wake and of losses are right. `mail_waits`: a commit has messages left
 * to deliver; else there may be no senders. */
bool mailbox_is_sound(const struct mailbox *mailbox, const agent_store *store, bool mail_waits, soundness *found);

/* Whether the listed agents have companions and know their places in the list. */
bool companions_are_sound(const struct companions *companions, const agent_store *store, soundness *found);

/* Whether observers are in the queues that their rows say. */
bool observers_are_sound(const observer_table *table, soundness *found);

/* Whether agents and the herds they stand for agree: leaves and lanes, blocks, named members; and whether the counts of
 * herds, of members, of entries and of herds that settle are right. Between updates of blocks. */
bool herds_are_sound(const herd_table *table, const agent_store *store, soundness *found);

#endif
