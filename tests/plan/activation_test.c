/* Activation planning: the book against a plain list, which agents are judged, what delays do to rates and peaks. */
#include "planner.h"

enum { FRAME_NS = 33333333, DELAY = 3 };

/* ---------------------------------------------------------------------------------------------- whole populations */

enum { POPULATION = 5000, CASES = 4 };

/* The periods of agents in turn, and by how much the fullest frame may exceed the mean when they are planned. */
static const struct {
  uint32_t periods[3];
  double most;
} cases[CASES] = {{{4, 6, 8}, 1.05}, {{2, 4, 8}, 1.05}, {{3, 5, 7}, 1.15}, {{5, 7, 11}, 1.15}};

struct population {
  uint32_t periods[POPULATION], delays[POPULATION];
  float costs[POPULATION];
};

static struct population *create_population(const uint32_t periods[3], bool varied) {
  struct population *population = calloc(1, sizeof *population);
  for (uint32_t i = 0; i < POPULATION; i++) {
    population->periods[i] = periods[i % 3];
    population->costs[i] = varied ? 1.0f + (float)(random_at(3, i, 0, 0) % 1000) / 250.0f : 1.0f;
  }
  return population;
}

/* The fullest frame over the mean, once the load repeats. */
static double peak_of(const struct population *population, uint32_t cycle) {
  double *load = calloc(cycle, sizeof *load), sum = 0, most = 0;
  for (uint32_t i = 0; i < POPULATION; i++)
    for (uint32_t t = population->delays[i] % population->periods[i]; t < cycle; t += population->periods[i])
      load[t] += (double)population->costs[i];
  for (uint32_t t = 0; t < cycle; t++) {
    sum += load[t];
    most = fmax(most, load[t]);
  }
  free(load);
  return most * cycle / sum;
}

Test(activation, offline_plans_keep_their_bounds_and_level_what_may_be_levelled) {
  for (uint32_t i = 0; i < 2 * CASES; i++) {
    SCOPED(free_memory) struct population *population = create_population(cases[i / 2].periods, i % 2);
    uint32_t cycle = activation_cycle(population->periods, POPULATION, 1 << 16),
             delay_max = cases[i / 2].periods[2] - 1;
    double before = peak_of(population, cycle);
    cr_assert(activation_plan_offline(population->periods, population->costs, POPULATION, delay_max, cycle,
                                      population->delays));
    double after = peak_of(population, cycle);
    cr_assert_gt(before, 3.0);
    cr_assert_leq(after, cases[i / 2].most, "case %u: peak %.4f", i, after);
    for (uint32_t k = 0; k < POPULATION; k++) cr_assert_lt(population->delays[k], population->periods[k]);
  }
}

Test(activation, offline_plans_find_that_4_6_and_8_need_never_meet) {
  static const uint32_t periods[] = {4, 6, 8};
  static const float costs[] = {1, 1, 1};
  uint32_t delays[3], load[24] = {0};
  cr_assert_eq(activation_cycle(periods, 3, 1000), 24);
  cr_assert(activation_plan_offline(periods, costs, 3, 2, 24, delays));
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_leq(delays[i], 2);
    for (uint32_t t = delays[i]; t < 24; t += periods[i]) load[t]++;
  }
  for (uint32_t t = 0; t < 24; t++) cr_assert_leq(load[t], 1, "frame %u has %u", t, load[t]);
}

Test(activation, offline_plans_put_nobody_off_who_is_alone) {
  const float cost = 1.0f;
  for (uint32_t period = 1; period <= 9; period++)
    for (uint32_t times = 1; times <= 25; times++) {
      uint32_t delay = UINT32_MAX;
      cr_assert(activation_plan_offline(&period, &cost, 1, 8, period * times, &delay));
      cr_assert_eq(delay, 0, "period %u, %u times", period, times);
    }
}

Test(activation, the_cycle_of_periods_is_bounded) {
  static const uint32_t periods[] = {7, 11, 13, 1009};
  cr_assert_eq(activation_cycle(periods, 3, 1 << 20), 1001);
  cr_assert_eq(activation_cycle(periods, 4, 4096), 4096);
  cr_assert_eq(activation_cycle(periods, 0, 4096), 1);
}

/* --------------------------------------------------------------------------------------------------------- the book */

enum { RESERVED = 300 };

/* Each agent's reservation, as a plain list. */
typedef struct plain_book {
  uint32_t beat[RESERVED];
  uint32_t cost_ns[RESERVED];
  uint64_t delay_ns[RESERVED];
} plain_book;

static int64_t plain_sum(const plain_book *plain, uint32_t beat) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < RESERVED; i++) sum += plain->beat[i] == beat ? plain->cost_ns[i] : 0;
  return sum;
}

static struct arena arena;
static activation_book book;

static void begin_book(void) {
  arena = begin_arena();
  activation_create(&book, DELAY, RESERVED, &arena);
  cr_assert(!arena.failed);
}

static void end_book(void) {
  arena_destroy(&arena);
}

Test(activation, what_is_reserved_is_taken_back_and_passes_whatever_shard_it_came_from, .init = begin_book,
     .fini = end_book) {
  plain_book plain = {0};
  for (uint32_t step = 0; step < 40000; step++) {
    uint64_t random = random_at(5, step, 0, 0);
    uint32_t agent = (uint32_t)(random % RESERVED), shard = (uint32_t)(random >> 20) % ACTIVATION_SHARES;
    if ((random >> 60) == 0) { /* one frame in sixteen steps; some of them long, a few a pause */
      uint64_t frames = (random >> 40) % 16 ? 1 : (random >> 44) % 64 ? 2 : 5000;
      uint32_t beat = book.beat, beats = activation_turn(&book, frames * FRAME_NS);
      cr_assert_eq(book.beat, beat + beats);
      for (uint32_t i = 0; i < RESERVED; i++)
        if (plain.beat[i] <= book.beat) plain.cost_ns[i] = 0;
    } else {
      cr_assert_eq(activation_take_back(&book, shard, agent), plain.delay_ns[agent]);
      plain.delay_ns[agent] = 0;
      plain.cost_ns[agent] = 0;
      if (random >> 32 & 1) {
        uint32_t ahead = 1 + (uint32_t)(random >> 34) % (ACTIVATION_BEATS - 1),
                 cost_ns = 1 + (uint32_t)(random >> 8) % 1000;
        activation_enter(&book, shard, agent, ahead, cost_ns, agent);
        plain.delay_ns[agent] = agent;
        plain.beat[agent] = book.beat + ahead;
        plain.cost_ns[agent] = cost_ns;
      }
    }
    uint32_t looked_at = book.beat + 1 + step % (ACTIVATION_BEATS - 1);
    cr_assert_eq(activation_reserved_ns(&book, looked_at), plain_sum(&plain, looked_at), "step %u", step);
  }
  for (uint32_t i = 0; i < RESERVED; i++) activation_take_back(&book, i % ACTIVATION_SHARES, i);
  for (uint32_t i = 1; i < ACTIVATION_BEATS; i++) cr_assert_eq(activation_reserved_ns(&book, book.beat + i), 0);
}

Test(activation, only_the_beats_that_it_may_use_are_judged_and_the_first_with_room_is_taken, .init = begin_book,
     .fini = end_book) {
  activation_turn(&book, FRAME_NS);
  static const uint32_t reserved[] = {900, 60, 800, 1001, 1200, 1000, 0};
  for (uint32_t i = 0; i < 7; i++) activation_enter(&book, i % 2, i, 10 + i, reserved[i], 0);
  activation_turn(&book, FRAME_NS); /* all is one beat nearer */
  book.mean_ns = 1000;
  cr_assert_eq(activation_choose(&book, 0, 9, 3, 200), 0, "900 and half of 200 are the mean");
  cr_assert_eq(activation_choose(&book, 0, 9, 3, 202), 1);
  cr_assert_eq(activation_choose(&book, 0, 11, 3, 10), 0);
  cr_assert_eq(activation_choose(&book, 0, 12, 2, 10), 2, "none has room: the emptiest of three");
  cr_assert_eq(activation_choose(&book, 0, 12, 1, 10), 0, "of two");
  cr_assert_eq(activation_choose(&book, 0, 12, 3, 10), 3, "and one that has");
  cr_assert_eq(activation_choose(&book, 0, 13, 0, 10), 0);
  book.mean_ns = 0;
  cr_assert_eq(activation_choose(&book, 0, 8, 2, 10), 0, "the first of equals");
}

Test(activation, shards_see_what_they_add_themselves_for_all_until_the_next_turn, .init = begin_book,
     .fini = end_book) {
  activation_turn(&book, FRAME_NS);
  activation_share_out(&book, (uint32_t[ACTIVATION_SHARES]){5, 0, 7, 0});
  activation_enter(&book, 0, 0, 4, 100, 0);
  cr_assert_eq(activation_seen_ns(&book, &book.shares[0], book.beat + 4), 200);
  cr_assert_eq(activation_seen_ns(&book, &book.shares[2], book.beat + 4), 0);
  activation_turn(&book, FRAME_NS);
  for (uint32_t i = 0; i < ACTIVATION_SHARES; i++)
    cr_assert_eq(activation_seen_ns(&book, &book.shares[i], book.beat + 3), 100);
}

Test(activation, beats_follow_frames_that_come_early_late_and_at_another_rate, .init = begin_book, .fini = end_book) {
  uint64_t frames = 0;
  for (uint32_t i = 0; i < 1000; i++, frames++) activation_turn(&book, FRAME_NS);
  cr_assert_eq(book.beat, frames);
  cr_assert_float_eq(book.pace.late, 0.0, 1e-6);
  activation_turn(&book, FRAME_NS * 13 / 10);
  cr_assert_eq(book.beat, ++frames);
  cr_assert_float_eq(book.pace.late, 0.3, 0.05, "the beat ended when it was to end");
  uint64_t before_ns = 0;
  for (uint64_t i = 1; i <= 1000; i++, frames++) { /* up to 40 % of a frame late, but on time in the mean */
    uint64_t now_ns = i * FRAME_NS + random_at(9, i, 0, 0) % (FRAME_NS * 2 / 5);
    activation_turn(&book, now_ns - before_ns);
    before_ns = now_ns;
  }
  cr_assert_leq(llabs((long long)book.beat - (long long)frames), 1, "beat %u of %lu", book.beat, frames);
  for (uint32_t i = 0; i < 100; i++) activation_turn(&book, FRAME_NS / 2);
  cr_assert_float_eq(book.pace.beat_ns, FRAME_NS / 2.0, FRAME_NS * 0.001);
  uint32_t beat = book.beat;
  cr_assert_eq(activation_turn(&book, 0), 0, "no time has passed");
  cr_assert_eq(book.beat, beat);
}

/* ------------------------------------------------------------------------------------------------- agents that wait */

enum { AGENTS = 5000, FRAMES = 1200, WARM_UP = 200 };

struct watched {
  uint32_t runs[AGENTS];
  uint64_t period_ns[AGENTS];
  uint64_t due_ns[AGENTS]; /* by the period, of the last run */
  uint32_t load[FRAMES];
};

static struct watched planned, plain;

static struct planner *create_planner(uint32_t delay_max, const uint32_t periods[3], uint32_t agents,
                                      struct watched *watched) {
  struct planner *planner = planner_create(MUSTER_ELASTIC_RATE, agents, 3);
  *watched = (struct watched){0};
  activation_create(&planner->classes.activation, delay_max, agents, &planner->arena);
  for (uint32_t i = 0; i < 3; i++) {
    planner_register(planner, i, (uint64_t)periods[i] * FRAME_NS, (uint64_t)periods[i] * FRAME_NS);
    costs_guess(&planner->costs, i, 1000);
  }
  planner_frame(planner, FRAME_NS, INFINITY);
  for (uint32_t i = 0; i < agents; i++) {
    uint64_t random = random_at(7, i, 0, 0);
    watched->period_ns[i] = (uint64_t)periods[i % 3] * FRAME_NS;
    watched->due_ns[i] = planner->now_ns + (uint64_t)((double)(random >> 11) * 0x1p-53 * (double)watched->period_ns[i]);
    planner_add(planner, i % 3, 0.0, random);
  }
  return planner;
}

/* Runs frames and checks of every run that it comes in the frame of its period, or at most D frames later and before
 * the next one. */
static void watch(struct planner *planner, struct watched *watched, uint32_t delay_max) {
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    planner_frame(planner, FRAME_NS, INFINITY);
    watched->load[frame] = planner->batch.count;
    for (uint32_t i = 0; i < planner->batch.count; i++) {
      uint32_t agent = planner->batch.entries[i].agent;
      uint64_t due_ns = watched->due_ns[agent] + watched->runs[agent]++ * watched->period_ns[agent];
      cr_assert_leq(due_ns, planner->now_ns, "agent %u is early", agent);
      cr_assert_lt(planner->now_ns, due_ns + (uint64_t)(delay_max + 1) * FRAME_NS, "agent %u is late", agent);
      cr_assert_lt(planner->now_ns, due_ns + watched->period_ns[agent], "agent %u missed a period", agent);
    }
  }
}

static double peak_of_frames(const struct watched *watched) {
  double sum = 0, most = 0;
  for (uint32_t i = WARM_UP; i < FRAMES; i++) {
    sum += watched->load[i];
    most = fmax(most, watched->load[i]);
  }
  return most * (FRAMES - WARM_UP) / sum;
}

Test(activation, runs_keep_their_rate_and_their_bound_and_frames_lose_their_peaks) {
  static const uint32_t populations[] = {AGENTS, 200};
  for (uint32_t i = 0; i < 2 * CASES; i++) {
    uint32_t agents = populations[i / CASES];
    SCOPED(free_fixture) struct planner *with = create_planner(DELAY, cases[i % CASES].periods, agents, &planned);
    watch(with, &planned, DELAY);
    SCOPED(free_fixture) struct planner *without = create_planner(0, cases[i % CASES].periods, agents, &plain);
    watch(without, &plain, 0);
    double peak = peak_of_frames(&planned), before = peak_of_frames(&plain);
    cr_assert_leq(peak, agents == AGENTS ? 1.01 : cases[i % CASES].most + 0.05, "case %u: %.4f", i, peak);
    cr_assert_gt(before - 1.0, 3 * (peak - 1.0), "case %u: %.4f without planning, %.4f with", i, before, peak);
    for (uint32_t k = 0; k < agents; k++)
      cr_assert_leq(abs((int)planned.runs[k] - (int)plain.runs[k]), 1, "agent %u: %u and %u runs", k, planned.runs[k],
                    plain.runs[k]);
  }
}

Test(activation, nobody_is_put_off_further_than_the_bound_even_where_frames_stay_uneven) {
  static const uint32_t periods[] = {20, 21, 22};
  SCOPED(free_fixture) struct planner *planner = create_planner(1, periods, 90, &planned);
  watch(planner, &planned, 1);
  cr_assert_gt(peak_of_frames(&planned), 1.3);
}

/* The sum of what waiting agents have reserved is the sum of what the book holds for its beats. */
static void expect_sums(struct planner *planner) {
  activation_book *kept = &planner->classes.activation;
  int64_t sum = 0, reserved = 0;
  for (uint32_t i = 0; i < planner->count; i++)
    if ((int32_t)(kept->reservations[i].beat - kept->beat) > 0) sum += kept->reservations[i].cost_ns;
  for (uint32_t i = 1; i < ACTIVATION_BEATS; i++) {
    int64_t here = activation_reserved_ns(kept, kept->beat + i);
    cr_assert_geq(here, 0);
    reserved += here;
  }
  cr_assert_eq(sum, reserved);
  cr_assert_gt(sum, 0);
}

Test(activation, sums_hold_while_agents_stretch_change_class_and_are_woken) {
  enum { CROWD = 900 };
  static const uint32_t periods[] = {4, 6, 30};
  SCOPED(free_fixture) struct planner *planner = create_planner(DELAY, periods, CROWD, &planned);
  for (uint32_t frame = 0; frame < 600; frame++) {
    uint64_t random = random_at(11, frame, 0, 0);
    uint32_t agent = (uint32_t)(random % CROWD);
    planner_set_elasticity(planner, agent, (double)(random >> 32 & 7));
    agent = (uint32_t)(random >> 16) % CROWD;
    if (planner->store.rows[agent].status == AGENT_WAITING)
      periods_release_early(&planner->classes, &planner->store, &planner->ready, agent, planner->now_ns,
                            planner->frame);
    planner_frame(planner, FRAME_NS * (1 + (random >> 50) % 3) / 2, 0.5 + (double)(random >> 40 & 15) / 8);
    expect_sums(planner);
  }
}

Test(activation, a_woken_agent_keeps_the_frame_that_it_has_reserved) {
  static const uint32_t periods[] = {30, 30, 30};
  SCOPED(free_fixture) struct planner *planner = create_planner(DELAY, periods, 3, &planned);
  for (uint32_t i = 0; i < 40; i++) planner_frame(planner, FRAME_NS, INFINITY);
  activation_reservation before = planner->classes.activation.reservations[1];
  cr_assert_gt(before.cost_ns, 0);
  periods_release_early(&planner->classes, &planner->store, &planner->ready, 1, planner->now_ns, planner->frame);
  planner_frame(planner, FRAME_NS, INFINITY);
  cr_assert_eq(planner->batch.count, 1);
  activation_reservation after = planner->classes.activation.reservations[1];
  cr_assert_eq(after.beat, before.beat);
  cr_assert_eq(after.cost_ns, before.cost_ns);
}

Test(activation, a_pace_knows_how_many_beats_a_nanosecond_has_however_short_they_are) {
  cr_assert_eq(activation_pace_of(0.5, 0.25).beats_per_ns, 2.0);
  cr_assert_eq(activation_pace_of(0.5, 0.25).late, 0.25);
  cr_assert_eq(activation_pace_of(0.0, 0.0).beats_per_ns, 0.0);
}
