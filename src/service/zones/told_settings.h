/* service/zones/told_settings.h - nodes tell each other, every ten seconds, the sum of what must be the same on all of
 * them (settings_cluster.h): the log of each says once which node has another one. By core NATS; may be lost. Loop's
 * thread. */
#ifndef SERVICE_ZONES_TOLD_SETTINGS_H
#define SERVICE_ZONES_TOLD_SETTINGS_H

struct holder;
struct told_settings;

/* Begins to tell and to listen, once the broker is there. Null: no memory. */
struct told_settings *told_settings_open(struct holder *holder);

/* Before the broker is closed; null does nothing. */
void told_settings_close(struct told_settings *told);

/* Once the loop has ended; null does nothing. */
void told_settings_free(struct told_settings *told);

#endif
