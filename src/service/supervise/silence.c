#include "service/supervise/silence.h"

#include "service/log.h"
#include "service/supervise/blame.h"
#include "service/supervise/orders.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  LOOKS_IN_PATIENCE = 8,    /* how often it is looked for signs */
  PATIENCE_DOUBLED_MOST = 3 /* times */
};

/* It got no processor: that is nobody's fault, and may be over soon. */
static void wait_longer(world_process *process) {
  process->patience_ns *= 2;
  process->looked = false;
  log_line(
      MUSTER_LOG_WARNING,
      "world %s ran no frame for %.3g s, since its threads got no processor: nobody is blamed, and it has %.3g s now",
      process->name, (double)process->patience_ns / 2e9, (double)process->patience_ns / 1e9);
}

static void judge_silence(world_process *process, uint64_t now_ns) {
  static const char *const reasons[] = {"nothing tells in what",        "somebody has stopped its process",
                                        "its threads get no processor", "a callback computes without end",
                                        "a callback waits without end", "a function of its module does not return"};
  const struct settings *settings = process->all->settings;
  char why[STUCK_BYTES];
  blame_look *after = malloc(sizeof *after);
  uint32_t culprit = 0;
  int file = orders_open_flight(process->all->settings, process->name);
  blame_verdict verdict = BLAME_NOBODY;
  if (after) {
    blame_take_look(file, process->process.pid, now_ns, after);
    verdict = blame_judge(&process->before, after, &culprit);
  }
  if (verdict == BLAME_STARVED && process->patience_ns < settings->stuck_kill_ns << PATIENCE_DOUBLED_MOST) {
    wait_longer(process);
  } else {
    if (after) blame_mark(file, after, verdict, culprit);
    snprintf(why, sizeof why, "it ran no frame for %.3g s: %s", (double)(now_ns - process->sign_ns) / 1e9,
             reasons[verdict]);
    processes_kill(process, verdict >= BLAME_COMPUTES, why);
  }
  if (file >= 0) close(file);
  free(after);
}

/* When this comes late, this process has got no processor, either: the silence begins anew. */
static void look_for_sign(uv_timer_t *timer) {
  world_process *process = timer->data;
  uint64_t now_ns = clock_system(), gap_ns = uv_timer_get_repeat(timer) * 1000000u;
  bool late = now_ns - process->looked_ns > 3 * gap_ns;
  process->looked_ns = now_ns;
  if (late) {
    process->sign_ns = now_ns;
    process->looked = false;
  } else if (now_ns - process->sign_ns >= process->patience_ns) {
    judge_silence(process, now_ns);
  } else if (!process->looked && now_ns - process->sign_ns >= process->patience_ns / 4) {
    int file = orders_open_flight(process->all->settings, process->name);
    blame_take_look(file, process->process.pid, now_ns, &process->before);
    if (file >= 0) close(file);
    process->looked = true;
  }
}

void silence_watch(world_process *process) {
  uint64_t gap_ms = process->all->settings->stuck_kill_ns / (1000000u * LOOKS_IN_PATIENCE);
  process->patience_ns = process->all->settings->stuck_kill_ns;
  process->looked_ns = clock_system();
  if (process->patience_ns) uv_timer_start(&process->timer, look_for_sign, gap_ms + 1, gap_ms + 1);
}

void silence_end(world_process *process) {
  process->patience_ns = process->all->settings->stuck_kill_ns;
  process->sign_ns = clock_system();
  process->looked = false;
}
