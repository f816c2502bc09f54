#include "townsfolk.h"

enum { ATOMS = 3 };

static const muster_atom atoms[ATOMS] = {{.run = folk_sense, .role = MUSTER_ROLE_PERCEPTION, .model_ns = 1500},
                                         {.run = folk_live, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 9500},
                                         {.run = folk_act, .role = MUSTER_ROLE_ACTION, .model_ns = 400}};

static const muster_atom hall_atoms[] = {{.run = folk_keep_hall, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 150}};

/* About what was measured; most updates of the cheapest level find in their first atom that nothing is over yet. */
static uint64_t townsfolk_type_model_cost(const muster_cost_query *query, void *user) {
  static const uint32_t mean_ns[FOLK_LEVELS][ATOMS] = {
      {1500, 9500, 400}, {600, 450, 400}, {150, 200, 400}, {90, 110, 400}};
  (void)user;
  uint32_t level = query->level < FOLK_LEVELS ? query->level : FOLK_LEVELS - 1;
  uint64_t mean = mean_ns[level][query->atom];
  return mean / 2 + mean * (query->random >> 40) / (1u << 24);
}

folk_mind folk_mind_of(muster_update *update) {
  struct folk *folk = update->type_user;
  folk_self *self = update->state;
  const folk_town *town = &folk->towns[self->town];
  bool watched = muster_agent_equal(folk->journal.agent, update->agent);
  return (folk_mind){.self = self,
                     .town = town,
                     .market = muster_update_published_of(update, town->hall),
                     .update = update,
                     .journal = watched ? &folk->journal : NULL,
                     .level = update->level < FOLK_LEVELS ? update->level : FOLK_LEVELS - 1};
}

/* A character's own time begins when its agent is spawned. */
static void is_born(muster_update *update) {
  folk_self *self = update->state;
  self->lived_ns = self->felt_ns = update->now_ns;
}

static muster_result register_people(struct folk *folk, muster_world *world) {
  muster_type_def def = scaffold_type("character", atoms, ATOMS, sizeof(folk_self), 500000000u, 12000000000u);
  def.published_bytes = (uint32_t)sizeof(folk_face);
  def.limit_ns = 500000u;
  def.levels.count = FOLK_LEVELS;
  def.on_spawned = is_born;
  def.models.cost_ns = townsfolk_type_model_cost;
  def.messages.waiting_max = 6;
  def.messages.bytes_max = (uint32_t)sizeof(folk_message);
  def.messages.sends_max = 4;
  def.messages.wake = true;
  def.wake_gap_ns = 250000000u;
  def.act = MUSTER_ACT_REGION;
  def.user = folk;
  return scaffold_register(world, &def, &folk->people);
}

muster_result folk_register(void *instance, muster_world *world) {
  struct folk *folk = instance;
  muster_result result = register_people(folk, world);
  muster_type_def def = scaffold_type("hall", SCAFFOLD_ATOMS(hall_atoms), sizeof(folk_hall), 1000000000u, 4000000000u);
  def.published_bytes = (uint32_t)sizeof(folk_hall_face);
  def.elasticity = 0.25f;
  return result ? result : scaffold_register(world, &def, &folk->halls);
}
