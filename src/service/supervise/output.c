#include "service/supervise/output.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_IN_LOOK = 65536 };

/* Writes the lines that have ended. One that is too long is cut in two. */
static void output_write_lines(world_output *output) {
  char *begin = output->line, *end;
  while ((end = memchr(begin, '\n', output->count - (size_t)(begin - output->line))) != NULL) {
    *end = '\0';
    log_of_world(output->name, begin);
    begin = end + 1;
  }
  output->count -= (uint32_t)(begin - output->line);
  memmove(output->line, begin, output->count);
  if (output->count < OUTPUT_LINE_BYTES) return;
  output->line[output->count] = '\0';
  log_of_world(output->name, output->line);
  output->count = 0;
}

/* False when there is nothing to read now. */
static bool output_take(world_output *output) {
  ssize_t count = read(output->pipe, output->line + output->count, OUTPUT_LINE_BYTES - output->count);
  if (count == 0) uv_poll_stop(&output->poll);
  if (count <= 0) return false;
  output->count += (uint32_t)count;
  output->taken += (uint64_t)count;
  output_write_lines(output);
  return true;
}

static void output_hear(uv_poll_t *poll, int status, int events) {
  world_output *output = poll->data;
  (void)status, (void)events;
  output_take(output);
  if (output->taken < BYTES_IN_LOOK) return;
  uv_poll_stop(&output->poll);
  output->paused = true;
  if (!output->told)
    log_line(MUSTER_LOG_WARNING, "world %s writes more than %d bytes a second to the log: it has to wait", output->name,
             BYTES_IN_LOOK);
  output->told = true;
}

int output_begin(world_output *output, uv_loop_t *loop, const char *world) {
  int ends[2];
  output->pipe = -1;
  if (pipe2(ends, O_CLOEXEC)) return -1;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  int problem = uv_poll_init(loop, &output->poll, ends[0]);
  if (problem) {
    close(ends[0]), close(ends[1]);
    errno = -problem;
    return -1;
  }
  output->pipe = ends[0];
  output->name = world;
  output->count = 0;
  output->taken = 0;
  output->told = output->paused = false;
  output->poll.data = output;
  uv_poll_start(&output->poll, UV_READABLE, output_hear);
  return ends[1];
}

void output_flush(world_output *output) {
  while (output->pipe >= 0 && output->taken < BYTES_IN_LOOK && output_take(output)) continue;
}

void output_go_on(world_output *output) {
  if (output->pipe < 0) return;
  if (output->paused) uv_poll_start(&output->poll, UV_READABLE, output_hear);
  output->paused = false;
  output->taken = 0;
}

static void output_note_closed(uv_handle_t *poll) {
  world_output *output = poll->data;
  output->closing = false;
}

void output_end(world_output *output) {
  if (output->pipe < 0) return;
  output->taken = 0;
  output_flush(output);
  output->line[output->count] = '\0';
  if (output->count) log_of_world(output->name, output->line);
  output->count = 0;
  uv_poll_stop(&output->poll);
  output->closing = true;
  uv_close((uv_handle_t *)&output->poll, output_note_closed);
  close(output->pipe);
  output->pipe = -1;
}
