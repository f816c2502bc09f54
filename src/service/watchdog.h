/* service/watchdog.h - tells the manager of services that musterd lives, for as long as both threads answer: each sign
 * of life makes the way over the mailbox to the frames' thread and back. A frame that never ends stops them, and the
 * manager starts the service anew. */
#ifndef SERVICE_WATCHDOG_H
#define SERVICE_WATCHDOG_H

#include "service/frame_mailbox.h"

struct watchdog {
  mailbox_request request; /* first: it is the watchdog */
  uv_timer_t timer;
  struct frame_mailbox *mailbox;
  bool asked;   /* the request is on its way */
  bool running; /* the worlds are open: before, the loop answers alone */
};

/* Does nothing where the manager does not ask for it. Loop's thread, as what follows. */
muster_result watchdog_open(struct watchdog *watchdog, struct frame_mailbox *mailbox, uv_loop_t *loop);

/* The worlds are open: from now on the frames' thread has to answer, too. */
void watchdog_watch_frames(struct watchdog *watchdog);

/* No more signs; the loop closes the timer. */
void watchdog_close(struct watchdog *watchdog);

#endif
