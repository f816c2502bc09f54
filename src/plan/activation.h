/* plan/activation.h - in which frame agents begin, so that no frame is fuller than necessary.
 *
 * Wright & Marshall's dynamic activation delay takes the peaks off the load: an agent chooses a delay d among 0..D
 * frames by what is reserved in the frames that it will use. Here the load is predicted cost instead of a count of
 * processes.
 *
 * While the world runs, an agent chooses anew whenever it begins to wait, for the one frame in which it falls
 * due next. The book holds what every frame of the future is to run, as far as that is known by then: an agent with a
 * long period books early and finds its frame almost empty, an agent with a short one books last and fills what is
 * left. So it takes the first frame among the D + 1 that stays within the mean of all frames; else the emptiest. Most
 * agents find room in the very frame of their period and are not delayed at all. (Simulated with 5,000 agents: the
 * emptiest of the D + 1, or a book of all periods within a look-ahead, gives no lower peaks for two to eight times the
 * work; and the emptiest delays every agent by D, since the later a frame, the less is known of it.)
 *
 * Frames to come are counted in beats: a beat is as long as frames are on average, and ends when a frame does. So a
 * frame that is late takes what falls due in its time, and the beats after it stay where they are. The clock of a class
 * under pressure runs the slower the longer a frame was, so it keeps a pace of its own.
 *
 * The due times of the period itself stay as they are, equally far apart. The delay is counted anew from each of them:
 * delays do not add up, and do not change how often an agent runs. */
#ifndef PLAN_ACTIVATION_H
#define PLAN_ACTIVATION_H

#include "base/arena.h"
#include "base/prefetch.h"

#include <stdint.h>

enum {
  ACTIVATION_BEATS = 1024, /* how far the book reaches; an agent that falls due later is not planned */
  ACTIVATION_SHARES = 4,   /* how many threads may reserve at the same time */
  ACTIVATION_HORIZON_MAX = 1 << 20
};

/* What an agent has in the book. */
typedef struct activation_reservation {
  uint64_t delay_ns; /* how far it is due behind its period's due time, on its class's clock */
  uint32_t beat;     /* the beat in which it is reserved */
  uint32_t cost_ns;  /* the cost that is reserved; 0 = it is not reserved */
} activation_reservation;

/* What one of the threads that book at the same time has added since the last turn. */
typedef struct activation_share {
  uint32_t first, end; /* beats that it touched, counted from the present one */
  int64_t reserved_ns[ACTIVATION_BEATS];
} activation_share;

/* How a clock runs along the beats. */
typedef struct activation_pace {
  double beat_ns;      /* how long a beat is; 0 = not known yet; */
  double beats_per_ns; /* and the inverse */
  double late;         /* beats that it was behind the present one's end when the last frame began: -0.5 .. 0.5 */
} activation_pace;

typedef struct activation_book {
  uint32_t delay_max;   /* D; 0 = nothing is planned */
  uint32_t beat;        /* the present beat: what was reserved for it is released */
  uint32_t sharers;     /* how many threads book now: each sees what it added itself, and assumes that the others add as
                           much */
  activation_pace pace; /* of simulation time */
  int64_t mean_ns;      /* the mean cost of planned agents in a beat */
  int64_t *reserved_ns; /* by beat, modulo ACTIVATION_BEATS */
  activation_share *shares;
  activation_reservation *reservations; /* by agent */
} activation_book;

/* Reserves the book; nothing with delay_max 0. */
void activation_create(activation_book *book, uint32_t delay_max, uint32_t agents_max, struct arena *arena);

/* A frame is about to be released, `elapsed_ns` of simulation time after the last: takes off the beats that have
 * passed, and adds to the book what was reserved since the last turn. Returns how many beats have passed. */
uint32_t activation_turn(activation_book *book, uint64_t elapsed_ns);

/* Whether a clock can have this pace: for what is read from files. */
bool activation_pace_is_possible(const activation_pace *pace);

/* The pace of a clock of which only the length of a beat is known. */
activation_pace activation_pace_of(double beat_ns, double late);

/* A clock has gone on by `elapsed_ns` in `beats` beats. */
void activation_pace_on(activation_pace *pace, uint64_t elapsed_ns, uint32_t beats);

/* Until the next turn several shares book at the same time: those with `wanted` above 0. */
void activation_share_out(activation_book *book, const uint32_t wanted[ACTIVATION_SHARES]);

/* Fetches what reserving for an agent touches. */
PREFETCH_FUNCTION activation_prefetch(const activation_book *book, uint32_t agent) {
  if (book->delay_max) __builtin_prefetch(&book->reservations[agent], 1);
}

/* What is reserved for a beat to come. */
int64_t activation_reserved_ns(const activation_book *book, uint32_t beat);

/* The load of a beat as a share sees it: the book, and its own additions once for each sharer. */
static inline int64_t activation_seen_ns(const activation_book *book, const activation_share *share, uint32_t beat) {
  uint32_t slot = beat % ACTIVATION_BEATS;
  return book->reserved_ns[slot] + (int64_t)book->sharers * share->reserved_ns[slot];
}

static inline void activation_add(activation_book *book, activation_share *share, uint32_t ahead, int64_t cost_ns) {
  share->reserved_ns[(book->beat + ahead) % ACTIVATION_BEATS] += cost_ns;
  if (ahead < share->first) share->first = ahead;
  if (ahead >= share->end) share->end = ahead + 1;
}

/* Takes back an agent's reservation, if its beat is still to come, and returns its delay. */
static inline uint64_t activation_take_back(activation_book *book, uint32_t share, uint32_t agent) {
  activation_reservation *reservation = &book->reservations[agent];
  int32_t ahead = (int32_t)(reservation->beat - book->beat);
  uint64_t delay_ns = reservation->delay_ns;
  if (reservation->cost_ns && ahead > 0)
    activation_add(book, &book->shares[share], (uint32_t)ahead, -(int64_t)reservation->cost_ns);
  reservation->cost_ns = 0;
  reservation->delay_ns = 0;
  return delay_ns;
}

/* Chooses among the beat that is `ahead` of the present one and the `most` after it, all within ACTIVATION_BEATS;
 * returns the delay in beats. */
static inline uint32_t activation_choose(const activation_book *book, uint32_t share, uint32_t ahead, uint32_t most,
                                         uint32_t cost_ns) {
  const activation_share *own = &book->shares[share];
  int64_t room_ns = book->mean_ns - cost_ns / 2, least_ns = INT64_MAX;
  uint32_t best = 0;
  for (uint32_t delay = 0; delay <= most; delay++) {
    int64_t seen_ns = activation_seen_ns(book, own, book->beat + ahead + delay);
    if (seen_ns <= room_ns) return delay;
    if (seen_ns >= least_ns) continue;
    least_ns = seen_ns;
    best = delay;
  }
  return best;
}

/* Books an agent that is not reserved. */
static inline void activation_enter(activation_book *book, uint32_t share, uint32_t agent, uint32_t ahead,
                                    uint32_t cost_ns, uint64_t delay_ns) {
  book->reservations[agent] = (activation_reservation){delay_ns, book->beat + ahead, cost_ns};
  activation_add(book, &book->shares[share], ahead, cost_ns);
}

/* ------------------------------------------------------------------------------------- whole populations, for tools */

/* An agent of period p with delay d runs in the frames t >= d with (t - d) mod p = 0. */

/* The least common multiple of periods, after which the load repeats; `most` when it is greater. */
uint32_t activation_cycle(const uint32_t *periods, uint32_t count, uint32_t most);

/* Chooses delays for a whole population at once, by the load of the frames 0..horizon - 1: the costliest agents first,
 * then each agent once more beside all others, until none finds a better place. Periods and delays are frames, periods
 * at least 1, delays at most delay_max; costs are at least 0, in any unit; horizon is 1 .. ACTIVATION_HORIZON_MAX.
 * Equal input gives equal delays. False when memory is refused; else O(count x (delay_max + 1) x horizon / period) a
 * pass. For tools: it allocates. */
bool activation_plan_offline(const uint32_t *periods, const float *costs, uint32_t count, uint32_t delay_max,
                             uint32_t horizon, uint32_t *delays);

#endif
