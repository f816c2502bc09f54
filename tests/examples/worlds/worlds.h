/* worlds/worlds.h - examples of behaviour modules: each is a world that is hard on a scheduler in its own way. They are
 * built as modules, which musterd hosts and `muster run` takes by name.
 *
 * Like a game's own, each uses only the public headers (muster/module.h). What several share lies with the scenarios
 * that are part of Muster: scaffold.h. */
#ifndef WORLDS_WORLDS_H
#define WORLDS_WORLDS_H

#include <muster/module.h>

/* `flashcrowd`: a map of towns, between which a crowd of observers jumps every 10 s, and weather. Takes no file. Any
 * thread. */
const muster_module *muster_module_flashcrowd(void);

/* `siege`: 2,000 players gather at the gate of a town under siege, so that even the important NPCs alone do not fit the
 * budget. Levels drop from a pressure of a half on. Takes no file. Any thread. */
const muster_module *muster_module_siege(void);

/* Chooses when the siege of an instance that `open` made ends: that long after the first frame the players leave as
 * they came, and the fight is over. Default never. Snapshots do not keep it. Thread of the frames, between frames. */
void siege_choose(void *instance, float lasts_s);

/* `empty`: villages without an observer for hours, which pass in steps of a minute where the host heeds skip_ns; then
 * observers arrive. Takes no file. Any thread. */
const muster_module *muster_module_empty(void);

/* `hostile`: behaviour that breaks schedulers, each kind as an agent type of its own, and invariants that must hold all
 * the same. Takes no file. Any thread. */
const muster_module *muster_module_hostile(void);

/* `pathstorm`: every 10 s all walkers are ordered across a large map at once and ask for a way; searches run slice by
 * slice. Takes no file. Any thread. */
const muster_module *muster_module_pathstorm(void);

/* `pathstorm-whole`: the same, but each search is one atom. Takes no file. Any thread. */
const muster_module *muster_module_pathstorm_whole(void);

/* `townsfolk`: towns of characters with desires, emotions, relations, work and wishes, which plan as well as their
 * level allows. One of them can be watched. Takes no file. Any thread. */
const muster_module *muster_module_townsfolk(void);

#endif
