/* record.h - what is kept of every counted frame of a run. All memory is taken before the run. */
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include <muster/muster.h>

/* Frames over which the pace of the line of waiting agents is taken. */
enum { RECORD_BLOCK_FRAMES = 30 };

typedef struct run_record {
  uint64_t capacity, frames; /* room for, and taken */
  uint64_t *wall_ns;         /* of each frame; these three are one block */
  uint64_t *overrun_wall_ns;
  uint64_t *overrun_own_ns;
  uint64_t kept;            /* frames that kept the promise */
  uint64_t longest_atom_ns; /* of all frames */
  uint64_t longest_claim_ns;
  uint64_t waiting_frames; /* frames at whose end work waited (carried or preempted), and the CPU of these: */
  uint64_t waiting_used_ns, waiting_given_ns;
  uint64_t used_ns, update_ns, overhead_ns, serial_ns, acts_serial_ns, work_ns, sim_ns,
      budget_ns; /* sums over all frames */
  uint64_t stage_ns[MUSTER_STAGES];
  uint64_t commits, commit_kept_ns, commit_took_ns; /* that ended in their frames */
  double deviation_ns, desired, pressure;           /* sums over all frames, of what is finite */
  double pressure_max;
  uint32_t late_max; /* the most of any frame of what bounds waits: agents_late, turn_longest_ns */
  uint64_t turn_longest_ns;
  double important;                    /* what the important would take: sum, of utilisations */
  double important_load_max;           /* and the most, in parts of the capacity */
  double important_over, desired_over; /* these sums over the frames in which it is more than the capacity, */
  uint64_t frames_over;                /* so many */
  uint64_t frame_period_max_ns;
  uint64_t block_frames; /* of the last frames in a row in which work waited, fewer than a block: */
  uint64_t block_turns;  /* updates that were no answer to a wake */
  double turns_least;    /* of these in a frame, in the slowest block; infinite when there was none */
  muster_frame_report last;
} run_record;

/* Takes the memory for that many frames; false when there is none. */
bool record_create(run_record *record, uint64_t capacity);

/* Gives it back. */
void record_destroy(run_record *record);

/* Takes one frame. */
void record_add(run_record *record, const muster_frame_report *report);

#endif
