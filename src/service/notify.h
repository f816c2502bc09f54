/* service/notify.h - tells the manager of services (systemd, or another one that set NOTIFY_SOCKET) the state of the
 * service, by the protocol of sd_notify(3). Without NOTIFY_SOCKET nothing happens. One that does not read is waited for
 * half a second. Loop's thread, but for notify_problem and notify_progress. */
#ifndef SERVICE_NOTIFY_H
#define SERVICE_NOTIFY_H

#include <stdint.h>

/* From now on a supervisor is told, by a datagram socket that this process has inherited; not owned. */
void notify_by(int descriptor);

/* Tells that all worlds run; also the end of a reload. `status` is a line for people. */
void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);

/* Says what is the matter, such as why a world cannot be opened. Any thread. */
void notify_problem(const char *problem);

/* Says how far a start has come that takes long: while it does, nobody is to give it up. Any thread. */
void notify_progress(const char *progress);

/* Tells that both threads still answer. */
void notify_alive(void);

/* The interval at which the manager wants that message, halved for safety; 0 = it does not want any. */
uint64_t notify_alive_gap_ms(void);

#endif
