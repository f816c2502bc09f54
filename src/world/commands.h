/* commands.h - what hosts and updates ask for at the next intake. The calls check what they are given; what a record or
 * a snapshot says was asked is checked here. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "world/world.h"

/* Whether a command can have been given in this world. Frame's thread. */
bool command_is_possible(const struct muster_world *world, const command *command);

#endif
