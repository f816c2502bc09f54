/* service/watchdog.h - tells the manager of services that musterd lives, for as long as both threads answer: each sign
 * of life goes through the mailbox to the frames' thread and back. A frame that never ends stops the signs, and the
 * manager restarts the service. */
#ifndef SERVICE_WATCHDOG_H
#define SERVICE_WATCHDOG_H

#include "service/frame_mailbox.h"

struct watchdog {
  mailbox_request request; /* first: it is the watchdog */
  uv_timer_t timer;
  struct frame_mailbox *mailbox;
  bool asked;   /* the request is on its way */
  bool running; /* the worlds are open; before, only the loop has to answer */
};

/* Does nothing when the manager does not ask for signs. Loop's thread, like all functions here. */
muster_result watchdog_open(struct watchdog *watchdog, struct frame_mailbox *mailbox, uv_loop_t *loop);

/* The worlds are open: from now on the frames' thread has to answer, too. */
void watchdog_watch_frames(struct watchdog *watchdog);

/* Ends the signs; the loop closes the timer. */
void watchdog_close(struct watchdog *watchdog);

#endif
