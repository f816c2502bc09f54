/* cores.h - what a world's frames would take on more processors than this machine has: frames are recorded on one
 * worker, what calling helpers costs is measured, and both are put together by list scheduling.
 *
 *   frames on one worker ---> cores_recording: pieces of work, by step (run/timeline.h) ---+
 *   frames on one worker that goes to and fro between two processors ---+                  |
 *   empty teams on this machine ----------------------------------------+-> cores_costs ---+---> cores_predict()
 *
 * Not in it: memory bandwidth, and that processors run slower when all are busy. */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include <muster/muster.h>

#include <stdbool.h>
#include <stdint.h>

enum { CORES_WORKERS_MAX = 256, CORES_STAGES = MUSTER_STAGES + 1, CORES_KINDS = 5 };

/* What workers cost beside their work, in ns. A call is made by the caller for each helper. */
typedef struct cores_costs {
  double call_ns;          /* of a helper that looks for work: until the caller goes on, */
  double begin_ns;         /* and from then until the helper begins */
  double call_sleeping_ns; /* the same of a helper that sleeps */
  double wake_ns;
  double take_ns;    /* of a run or a claim, or leaving: what it keeps others from doing the same */
  double barrier_ns; /* closing a team, and seeing that all have left */
  double planning;   /* by how much the caller's work alone and sections take longer than recorded; 1 = as recorded */
  /* By what part steps take longer where half of what they touch was touched by another processor last, as with two
   * workers; less than 0: two processors have more cache. By stage, MUSTER_STAGES = behind all, and timeline_kind. */
  double moved[CORES_STAGES][CORES_KINDS];
} cores_costs;

/* Measures them with one helper; false with the reason in muster_last_error(). On one processor they are not to be
 * measured, and those of cores_pessimistic() are taken. */
bool cores_measure_costs(cores_costs *costs);

/* What is taken instead where it is worse: planning takes three times as long, what one processor writes takes 300 ns
 * to another, and a sleeper wakes in 60 us. */
cores_costs cores_pessimistic(const cores_costs *measured);

typedef struct cores_recording cores_recording;

/* Null: out of memory. */
cores_recording *cores_recording_create(void);
void cores_recording_destroy(cores_recording *recording);

/* Frames of a world that has one worker are recorded from now on, in the place of what was; and no more. moving: its
 * thread, the caller, does those pieces on another processor that a second worker would do. */
void cores_record(cores_recording *recording, muster_world *world, bool moving);
void cores_freeze(cores_recording *recording, muster_world *world);

/* Forgets the last frame. */
void cores_drop_frame(cores_recording *recording);

/* How many frames it has; UINT32_MAX where there was no room for all. */
uint32_t cores_recorded_frames(const cores_recording *recording);

/* What a frame of a recording takes, in ns. */
typedef struct cores_frame {
  double whole;
  double alone;    /* serial: the caller works and no other worker has anything to do */
  double sections; /* until all have left them, however many workers came */
  double claims;   /* from when the caller takes claims, too, until all are run */
  double stages[MUSTER_STAGES];
} cores_frame;

/* Predicts `frames` frames with so many workers, 1 to CORES_WORKERS_MAX; with one, what was recorded adds up. */
void cores_predict(const cores_recording *recording, const cores_costs *costs, uint32_t workers, cores_frame *frames);

/* Finds what it costs that lines of memory move: from as many frames of the same world, recorded with and without. */
void cores_charge_moves(cores_costs *costs, const cores_recording *moving, const cores_recording *still);

enum { CORES_STRETCHES_MAX = 96 };

/* Steps that are the same in all frames, by what they do; means of a frame, in ns. */
typedef struct cores_stretch {
  const char *name;       /* null: the rest of its stage */
  bool before, shared;    /* alone: what comes before that name; shared: a section, or claims */
  uint32_t stage;         /* by muster_stage; MUSTER_STAGES: after the last */
  double recorded;        /* on one worker */
  double wall, alone;     /* with more: what it takes of the frame; of it, serial */
  double pieces, workers; /* of what is shared: into how many pieces, and how many workers did some */
} cores_stretch;

/* Tells them for so many workers: first what is serial, most of it first, and then what is shared, by what it takes of
 * the frame. Returns how many there are. */
uint32_t cores_stretches(const cores_recording *recording, const cores_costs *costs, uint32_t workers,
                         cores_stretch stretches[CORES_STRETCHES_MAX]);

#endif
