/* service/notify.h - tells the manager of services (systemd, or whoever set NOTIFY_SOCKET) how the service is. Nothing
 * happens where nobody asked to be told. Loop's thread. */
#ifndef SERVICE_NOTIFY_H
#define SERVICE_NOTIFY_H

#include <stdint.h>

/* All worlds run; also the end of a reload. `status` is a line for people. */
void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);

/* Both threads still answer. */
void notify_alive(void);

/* How often the manager wants to hear so, halved for safety; 0 = it does not ask. */
uint64_t notify_alive_gap_ms(void);

#endif
