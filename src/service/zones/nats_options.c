#include "service/zones/nats_options.h"

#include <stdio.h>
#include <string.h>

enum {
  LINK_CONNECT_MS = 2000,
  LINK_PING_MS = 2000, /* a server that leaves two pings without an answer is gone */
  LINK_WRITE_MS = 4000
};

static natsStatus sign_nonce(char **problem, unsigned char **signature, int *bytes, const char *nonce, void *user) {
  (void)problem;
  return nats_Sign(user, nonce, signature, bytes);
}

static natsStatus set_security(natsOptions *options, const broker_settings *settings, const char *url,
                               const char *secret) {
  natsStatus status = NATS_OK;
  if (*settings->tls_ca || strncmp(url, "tls://", 6) == 0) status = natsOptions_SetSecure(options, true);
  if (status == NATS_OK && *settings->tls_ca) status = natsOptions_LoadCATrustedCertificates(options, settings->tls_ca);
  if (status == NATS_OK && *settings->tls_certificate)
    status = natsOptions_LoadCertificatesChain(options, settings->tls_certificate, settings->tls_key);
  if (status == NATS_OK && *settings->nats_user) status = natsOptions_SetUserInfo(options, settings->nats_user, secret);
  if (status == NATS_OK && *settings->nats_nkey)
    status = natsOptions_SetNKey(options, settings->nats_nkey, sign_nonce, (void *)secret);
  return status;
}

natsStatus nats_options_make(natsOptions **options, const broker_settings *settings, const char *url,
                             const char *secret) {
  natsStatus status = natsOptions_Create(options);
  if (status == NATS_OK) status = natsOptions_SetURL(*options, url);
  if (status == NATS_OK) status = natsOptions_SetName(*options, settings->node);
  if (status == NATS_OK) status = natsOptions_SetTimeout(*options, LINK_CONNECT_MS);
  if (status == NATS_OK) status = natsOptions_SetPingInterval(*options, LINK_PING_MS);
  if (status == NATS_OK) status = natsOptions_SetMaxPingsOut(*options, 2);
  if (status == NATS_OK) status = natsOptions_SetWriteDeadline(*options, LINK_WRITE_MS);
  if (status == NATS_OK) status = natsOptions_SetSendAsap(*options, true); /* its own flushing adds a millisecond */
  if (status == NATS_OK) status = natsOptions_UseGlobalMessageDelivery(*options, true);
  if (status == NATS_OK) status = set_security(*options, settings, url, secret);
  return status;
}
