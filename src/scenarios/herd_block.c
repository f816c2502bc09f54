/* Far herds, eight at a time: their centroids wander about, their deer graze, are born and die. */
#include "scenarios/herd.h"

#include <muster/herd.h>

/* Eight herds on the move. */
typedef struct lane_herds {
  herd_floats elapsed_s;
  herd_floats members, grazed_g, fawns;
  herd_words random;
} lane_herds;

typedef struct lane_tally {
  herd_floats births, deaths, grazed_by_dead_g;
} lane_tally;

static float sum(const herd_floats *lanes) {
  float all = 0.0f;
  for (uint32_t i = 0; i < HERD_LANES; i++) all += (*lanes)[i];
  return all;
}

/* Turns a little, more after a longer time, and returns to walking speed at the rate of the drag. */
HERD_INLINE void wander(const lane_herds *herds, herd_ground_lanes *lanes) {
  static const float turning = 0.35f; /* half turns per root of a second, from side to side */
  herd_floats share, cosine, sine, turn = lanes->step_s, one = (herd_floats){0} + 1.0f;
  herd_ints long_ago = turn > one;
  herd_lower_share_lanes(&herds->random, &share);
  herd_root(&turn);
  herd_where(&long_ago, &one, &turn);
  share = 0.5f + 0.5f * turning * turn * (share - 0.5f);
  herd_direction_lanes(&share, &cosine, &sine);
  herd_floats x = lanes->velocity_x + 1e-3f, y = lanes->velocity_y;
  herd_floats speed = x * x + y * y + herd_flock_least;
  herd_root(&speed);
  herd_floats wanted = herd_walk_mps + (speed - herd_walk_mps) / (1.0f + herd_drag * lanes->step_s);
  wanted /= speed;
  lanes->velocity_x = (x * cosine - y * sine) * wanted;
  lanes->velocity_y = (x * sine + y * cosine) * wanted;
}

/* A whole number of births or deaths, drawn with the next random number. */
HERD_INLINE void draw(float rate, lane_herds *herds, herd_floats *count) {
  herd_floats share;
  herd_mix_lanes(&herds->random);
  herd_share_lanes(&herds->random, &share);
  *count = rate * herds->members * herds->elapsed_s + share;
  *count = __builtin_convertvector(__builtin_convertvector(*count, herd_ints), herd_floats);
}

/* Dead deer take the grams that they grazed with them, and fawns join where there is room. */
HERD_INLINE void live(float pace, lane_herds *herds, lane_tally *tally) {
  herd_floats dead, fawns, zero = {0}, most = (herd_floats){0} + (float)HERD_MEMBERS, one = zero + 1.0f;
  herds->grazed_g += herd_grazing_g * herds->members * herds->elapsed_s;
  draw(herd_deaths * pace, herds, &dead);
  draw(herd_births * pace, herds, &fawns);
  herd_ints all = dead > herds->members;
  herd_where(&all, &herds->members, &dead);
  herd_floats divisor = herds->members;
  herd_ints nobody = divisor < one;
  herd_where(&nobody, &one, &divisor);
  herd_floats gone_g = herds->grazed_g * (dead / divisor);
  herds->grazed_g -= gone_g;
  herds->members -= dead;
  fawns += herds->fawns;
  herd_floats room = most - herds->members,
              joining = __builtin_convertvector(__builtin_convertvector(fawns, herd_ints), herd_floats);
  herd_ints extinct = herds->members == 0.0f, tight = joining > room;
  herd_where(&tight, &room, &joining);
  herd_where(&extinct, &zero, &joining);
  fawns -= joining;
  herds->members += joining;
  herd_ints full = herds->members >= most;
  herd_where(&full, &zero, &fawns);
  herds->fawns = fawns;
  tally->births += joining;
  tally->deaths += dead;
  tally->grazed_by_dead_g += gone_g;
}

HERD_INLINE void run_eight(const herd_world *self, muster_herd_block *block, uint32_t at, lane_tally *tally) {
  herd_floats zero = {0}, one = zero + 1.0f;
  herd_halves *members = (herd_halves *)(void *)(block->members + at);
  herd_floats *grazed_g = herd_lanes_to(block->totals[HERD_GRAZED] + at);
  herd_floats *fawns = herd_lanes_to(block->totals[HERD_FAWNS] + at);
  lane_herds herds = {.elapsed_s = *herd_lanes(block->elapsed_s + at)};
  herd_ints due = herds.elapsed_s > zero;
  herd_where(&due, grazed_g, &herds.grazed_g);
  herd_where(&due, fawns, &herds.fawns);
  herd_floats deer = __builtin_convertvector(*members, herd_floats);
  herd_where(&due, &deer, &herds.members);
  herds.random = *(const herd_words *)(const void *)(block->herds + at) * 0x9e3779b9u + (uint32_t)block->random;
  herd_mix_lanes(&herds.random);
  herd_floats *x = herd_lanes_to(block->x + at), *y = herd_lanes_to(block->y + at);
  herd_floats *velocity_x = herd_lanes_to(block->velocity_x + at);
  herd_floats *velocity_y = herd_lanes_to(block->velocity_y + at);
  herd_ground_lanes lanes = {.step_s = one};
  herd_where(&due, &herds.elapsed_s, &lanes.step_s);
  herd_where(&due, x, &lanes.x);
  herd_where(&due, y, &lanes.y);
  herd_where(&due, velocity_x, &lanes.velocity_x);
  herd_where(&due, velocity_y, &lanes.velocity_y);
  lanes.x += (float)block->origin_x;
  lanes.y += (float)block->origin_y;
  wander(&herds, &lanes);
  herd_ground_hold_lanes(&self->ground, &lanes);
  live(self->choice.pace, &herds, tally);
  *x += lanes.velocity_x * herds.elapsed_s;
  *y += lanes.velocity_y * herds.elapsed_s;
  *velocity_x = lanes.velocity_x;
  *velocity_y = lanes.velocity_y;
  *grazed_g = herds.grazed_g;
  *fawns = herds.fawns;
  *members = __builtin_convertvector(__builtin_convertvector(herds.members, herd_ints), herd_halves);
}

HERD_CLONES void herd_run_block(muster_herd_block *block) {
  herd_world *self = block->user;
  herd_block_tally *tally = &self->blocks[block->herds[0] / MUSTER_HERD_BLOCK];
  lane_tally sums = {0};
  for (uint32_t at = 0; at < block->count; at += HERD_LANES) run_eight(self, block, at, &sums);
  tally->births += (uint64_t)sum(&sums.births);
  tally->deaths += (uint64_t)sum(&sums.deaths);
  tally->grazed_by_dead_g += (double)sum(&sums.grazed_by_dead_g);
}
