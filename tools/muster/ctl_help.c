/* ctl_help.c - what `muster ctl COMMAND --help` says besides usage and summary. */
#include "ctl.h"

#include <string.h>

static const struct help {
  const char *name, *text;
} helps[] = {
    {"worlds", "A row for each world: pace, time of the last frame, pressure, and agents by level; above them those "
               "that do not run, with the reason.\n"
               "Example: muster ctl worlds\n"},
    {"health", "The exit status is 0 when all run, and 1 when one does not or cannot be saved.\n"
               "Example: muster ctl health\n"},
    {"restart", "For a world that has failed or waits for its next start, and for one that runs; its ends are "
                "forgotten. It goes on from its newest snapshot. The daemon must have isolation = process.\n"
                "Example: muster ctl restart forest\n"},
    {"acknowledge",
     "A journal that is damaged, or whose frames cannot be run again, has taken changes that somebody may "
     "have been told of: health and the verdict say so until this command.\n"
     "Example: muster ctl --world forest acknowledge\n"},
    {"nodes", "A row for each node that is heard: how long ago, its processors, what its zones want of "
              "them (pressure: 1 = all), whether it drains, and its zones with their loads. Below, which "
              "node balances the zones; that one also tells what it is about. Any node may be asked. The "
              "exit status is 1 when nothing is heard.\n"
              "Example: muster ctl nodes\n"},
    {"drain", "The balancer moves the zones of this node to others, and none to it; new ones that it runs "
              "alone stay. `muster ctl nodes` tells how far that is. It holds until `drain --undo`, or the "
              "restart of the daemon.\n"
              "Example: muster ctl drain\n"
              "Example: muster ctl drain --undo\n"},
    {"zones", "A row for each zone of the cluster: its world, the node that has its lease (also one "
              "that has died, until another takes it), the node that is to have it, the epoch, which "
              "version of it is stored and since when; and what it is on this node, and why, or that more than "
              "half of its birth spaces are used. The exit "
              "status is 1 when the brokers do not answer. `restore` is for a zone that the brokers have "
              "lost with all that was stored: on the node with the newest files it goes on from them. "
              "`move` has a zone go to a node; any node may be asked.\n"
              "Example: muster ctl zones\n"
              "Example: muster ctl zones restore west\n"
              "Example: muster ctl zones move west south\n"},
    {"world", "All figures of one world, and what its agents get, by importance.\n"
              "Example: muster ctl --world desert world\n"},
    {"budget", "TIME is wall time with its unit, 10us .. 10s. It takes effect at the next frame.\n"
               "Example: muster ctl budget 8ms\n"},
    {"hz", "RATE is frames per second, 0.1 .. 10000.\n"
           "Example: muster ctl hz 30\n"},
    {"pause", "The frame that runs is completed. `step` runs single frames then, `resume` goes on.\n"
              "Example: muster ctl pause\n"},
    {"step", "N is 1 .. 1000000, 1 by default. The command ends when these frames are run.\n"
             "Example: muster ctl step 10\n"},
    {"resume", "Example: muster ctl resume\n"},
    {"workers", "N is at most as many as the daemon has; `world` shows how busy they are.\n"
                "Example: muster ctl workers 2\n"},
    {"weights", "Without arguments it shows all names with the values in force. Of NAME=VALUE it sets all or none.\n"
                "Example: muster ctl weights weight_wait=0.5 guarantee=250ms\n"},
    {"policy", "A policy sets all weights: balanced, fair, importance_first or least_slack.\n"
               "Example: muster ctl policy fair\n"},
    {"levels", "Level 0 is full capability; higher numbers are cheaper.\n"
               "Example: muster ctl levels\n"},
    {"types", "A row for each level of each type: agents, mean and 95th percentile of an update's time, and overruns.\n"
              "Example: muster ctl types\n"},
    {"priority", "N is 0 .. 100; 0 = none.\n"
                 "Example: muster ctl priority pursuer 40\n"},
    {"periods",
     "The first is the shortest period, the second the longest under load (default: the type's). The part of\n"
     "its period that an agent has waited for counts. 0 = an agent's type's, or those of the type's definition.\n"
     "A name that begins with a digit and has a point is an agent's ID, every other one a type.\n"
     "Example: muster ctl periods pursuer 50ms 2s\n"},
    {"reinstate", "A name that begins with a digit and has a point is an agent's ID, every other one a type.\n"
                  "Example: muster ctl reinstate bobcat\n"},
    {"agents", "Agents that pass all filters, `limit` at a time (1 .. 1000, default 100):\n"
               "  type=NAME  level=0..3  partition=N  min_importance=0..1  near=X,Y,RADIUS (metres)\n"
               "  cursor=N   the next page, as the page before tells\n"
               "Example: muster ctl agents type=hare near=0,0,50 limit=20\n"},
    {"agent", "ID is INDEX.GENERATION, as `agents` lists it.\n"
              "Example: muster ctl agent 5.1\n"},
    {"explain", "Its period, importance, level, turn and cost, each with the reason.\n"
                "Example: muster ctl explain 5.1\n"},
    {"spawn", "PLACE is X,Y or X,Y,Z in metres. NAME=VALUE: count (1 .. 4096), partition, importance_floor, "
              "elasticity, visibility, bulk, interactivity, designer, role. All are spawned, or none.\n"
              "Example: muster ctl spawn hare 10,-4.5 count=20\n"},
    {"wake", "Without a time it runs in the next frame. TIME is simulation time since the world's beginning.\n"
             "Example: muster ctl wake 5.1\n"},
    {"move", "PLACE is X,Y or X,Y,Z in metres.\n"
             "Example: muster ctl move 5.1 10,-4.5\n"},
    {"tune", "NAME=VALUE: importance_floor, visibility, bulk, interactivity, designer, role (0 .. 1 each), "
             "elasticity (0 .. 1024), derive_elasticity=true. All are set, or none.\n"
             "Example: muster ctl tune 5.1 importance_floor=0.9\n"},
    {"remove", "It leaves at the next frame.\n"
               "Example: muster ctl remove 5.1\n"},
    {"observers", "Players and cameras, `limit` at a time (1 .. 1000, default 100).\n"
                  "Example: muster ctl observers limit=20\n"},
    {"observe", "Agents within near_m metres of PLACE matter fully, those beyond far_m not because of it.\n"
                "Example: muster ctl observe 0,0 near_m=20 far_m=160\n"},
    {"unobserve", "Example: muster ctl unobserve 0.1\n"},
    {"modules", "A module is loaded out of the daemon's folder of modules, once.\n"
                "Example: muster ctl modules wildlife\n"},
    {"module", "Without COMMAND it shows settings in force, commands and metrics. With --world the world is left out. "
               "BODY is JSON or text. Of several instances the command is INSTANCE.COMMAND.\n"
               "Example: muster ctl module desert add 10\n"},
    {"scripts",
     "reload: agents have the new methods from their next update on, and keep what they remember. Scripts that do not "
     "compile change nothing: the answer says in which file and line. SIGHUP reads them anew, too.\n"
     "show: the fields of the agent's table, its memory, and where an update of it stands that was cut.\n"
     "Example: muster ctl scripts reload\n"
     "Example: muster ctl scripts show 5.1\n"},
    {"snapshot", "`snapshot now` begins one and does not wait; `snapshot` tells what became of it.\n"
                 "Example: muster ctl snapshot now\n"},
    {"get", "Prints any document as the daemon sends it; /v1 lists what there is, /openapi.yaml describes it.\n"
            "Example: muster ctl get /metrics\n"},
};

const char *ctl_help_of(const char *name) {
  for (const struct help *help = helps; help < helps + sizeof helps / sizeof *helps; help++)
    if (strcmp(help->name, name) == 0) return help->text;
  return "";
}
