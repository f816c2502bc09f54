/* service/supervise/output.h - what a world's process writes to standard output and error comes through a pipe to the
 * supervisor, which writes it on by whole lines with the world's name before each (service/log.h): a world can neither
 * cut the log, nor say something as another, nor fill the disk with it. Only so many bytes are taken between two looks
 * (look.h); then it waits. All functions are for the loop's thread. */
#ifndef SERVICE_SUPERVISE_OUTPUT_H
#define SERVICE_SUPERVISE_OUTPUT_H

#include "service/log.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum { OUTPUT_LINE_BYTES = LOG_WORLD_BYTES };

typedef struct world_output {
  int pipe; /* the reading end; -1 = none */
  uv_poll_t poll;
  bool closing;      /* the loop still has `poll`, of the last process */
  const char *name;  /* of the world */
  uint32_t count;    /* bytes of a line that has not ended */
  uint64_t taken;    /* since the last look */
  bool told, paused; /* the log has told that there is too much; nothing is taken until the next look */
  char line[OUTPUT_LINE_BYTES + 1];
} world_output;

/* Makes the pipe; returns the writing end, close-on-exec, for the process; -1 with errno. */
int output_begin(world_output *output, uv_loop_t *loop, const char *world);

/* Takes what is there, before something is done that follows from it. */
void output_flush(world_output *output);

/* The next look has come. */
void output_go_on(world_output *output);

/* The process has ended: what is left is taken. */
void output_end(world_output *output);

#endif
