/* service/zones/nats_options.h - how libnats connects: servers, waits, TLS, and who this is. */
#ifndef SERVICE_ZONES_NATS_OPTIONS_H
#define SERVICE_ZONES_NATS_OPTIONS_H

#include "service/zones/broker.h"

#include <nats/nats.h>

/* Makes options without callbacks, for natsOptions_Destroy() also when it fails; nats_GetLastError() tells the reason.
 * The secret, a password or seed, stays the caller's as long as the connection. Servers are verified by their host's
 * name, too. Any thread. */
natsStatus nats_options_make(natsOptions **options, const broker_settings *settings, const char *url,
                             const char *secret);

#endif
