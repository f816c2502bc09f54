#include <muster/muster.h>
#include <stdio.h>

static muster_atom_result greet(muster_update *update) {
  printf("%3u ms since this NPC last ran\n", (unsigned)(update->elapsed_ns / 1000000));
  return MUSTER_ATOM_NEXT;
}

int main(void) {
  muster_world_def world_def = muster_default_world_def();
  muster_world *world = muster_world_create(&world_def);
  muster_type_def type_def = muster_default_type_def();
  type_def.atoms = &(muster_atom){.run = greet};
  type_def.atom_count = 1;
  muster_agent_def npc = muster_default_agent_def();
  npc.type = muster_type_register(world, &type_def);
  muster_agent_spawn(world, &npc);
  for (uint64_t now_ns = 0; now_ns < 1000000000; now_ns += 33333333)
    muster_frame_run(world, &(muster_frame){now_ns, 2000000});
  muster_world_destroy(world);
}
