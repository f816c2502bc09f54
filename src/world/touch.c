#include "world/touch.h"

#include "run/callback.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/timing.h"

void touch_agent(struct muster_world *world, uint32_t index, muster_flight_doing doing,
                 void (*callback)(muster_update *)) {
  if (!callback) return;
  batch_result result = {0};
  agent_row *row = &world->store.rows[index];
  worker_state *state = runner_caller(&world->runner);
  flight_note before = flight_turn(state->flight, world->frames, (muster_agent){index, row->generation}, doing,
                                   (muster_type){row->type + 1u});
  runner_begin_outside(state, index, PHASE_INTAKE, &result);
  callback_touch(&state->context, doing, callback);
  flight_return(state->flight, before);
  state->context.phase = PHASE_OUTSIDE;
  if (world->types.types[row->type].published) row->front ^= 1u;
  if (result.moved) lifecycle_move(world, index, result.moved_to);
  if (world->types.types[row->type].herded) herds_note(world, index);
  if (result.asks) timing_ask_own(world, index, &result);
}
