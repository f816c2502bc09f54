#include "service/zones/broker.h"

#include "service/zones/servers.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_AFTER_MS = BROKER_LOOK_MS, ANSWER_MS_USUAL = 5000 };

/* ----------------------------------------------------------------------------------------------------------- checks */

bool broker_name_is_good(const char *name) {
  static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return *name && strspn(name, good) == strlen(name);
}

void *broker_begin_call(struct broker *broker, size_t bytes) {
  void *call = NULL;
  if (broker->closing)
    error_set(MUSTER_E_STATE, "the broker is closed");
  else if (broker->calls == BROKER_CALLS_MAX)
    error_set(MUSTER_E_FULL, "%d calls wait for their answers", BROKER_CALLS_MAX);
  else if (!(call = calloc(1, bytes)))
    error_set(MUSTER_E_MEMORY, "no memory for a call of the brokers");
  broker->calls += call != NULL;
  return call;
}

muster_result broker_send_call(struct broker *broker, const char *path, const char *body, etcd_take take, void *call) {
  muster_result result = etcd_call(broker->etcd, path, body, take, call);
  if (result == MUSTER_OK) return result;
  broker_end_call(broker);
  free(call);
  return result;
}

muster_result broker_send_read(struct broker *broker, const char *kind, etcd_take take, void *call) {
  char body[1024], key[2 * NAME_BYTES];
  json_writer writer;
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  snprintf(key, sizeof key, "muster/%s/%s/", broker->settings.world, kind);
  etcd_write_text(&writer, "key", key);
  snprintf(key, sizeof key, "muster/%s/%s0", broker->settings.world, kind); /* behind all: 0 comes after the slash */
  etcd_write_text(&writer, "range_end", key);
  json_end_object(&writer);
  json_finish(&writer);
  return broker_send_call(broker, "/v3/kv/range", body, take, call);
}

void broker_end_call(struct broker *broker) {
  broker->calls--;
}

static muster_result check_broker_settings(const broker_settings *settings) {
  if (!broker_name_is_good(settings->world) || !broker_name_is_good(settings->node))
    return error_set(MUSTER_E_ARGUMENT, "world \"%s\", node \"%s\": names have letters, digits, - and _",
                     settings->world, settings->node);
  if (*settings->nats_user && *settings->nats_nkey)
    return error_set(MUSTER_E_ARGUMENT, "NATS: give a user or an nkey, not both");
  if (*settings->tls_certificate && !*settings->tls_key)
    return error_set(MUSTER_E_ARGUMENT, "%s: its key is missing", settings->tls_certificate);
  return MUSTER_OK;
}

/* Certificates are read by the libraries, whenever they connect: here it is seen whether they can. */
static muster_result check_certificates(const broker_settings *settings) {
  const char *const files[] = {settings->tls_ca, settings->tls_certificate, settings->tls_key};
  for (uint32_t i = 0; i < sizeof files / sizeof *files; i++)
    if (*files[i] && access(files[i], R_OK) != 0) return error_set(MUSTER_E_INPUT, "%s: %s", files[i], strerror(errno));
  return MUSTER_OK;
}

/* The first line of a file; "" when none is named. */
static muster_result read_secret(const char *path, char *secret, size_t bytes) {
  *secret = '\0';
  if (!*path) return MUSTER_OK;
  int file = files_open_regular(AT_FDCWD, path, O_RDONLY, 0);
  if (file < 0) return error_set(MUSTER_E_INPUT, "%s: %s", path, muster_last_error());
  ssize_t got = read(file, secret, bytes - 1);
  close(file);
  secret[got > 0 ? got : 0] = '\0';
  secret[strcspn(secret, "\r\n")] = '\0';
  if (*secret) return MUSTER_OK;
  return error_set(MUSTER_E_INPUT, "%s: its first line must be a password or a seed", path);
}

/* ----------------------------------------------------------------------------------------------------- state, ticks */

static void note_change(struct broker *broker, bool etcd) {
  bool nats = servers_are_enough(broker);
  if ((nats == broker->nats_told && etcd == broker->etcd_told) || broker->closing) return;
  broker->nats_told = nats;
  broker->etcd_told = etcd;
  if (broker->changed) broker->changed(nats, etcd, broker->user);
}

static void note_etcd(bool answers, void *user) {
  note_change(user, answers);
}

static void free_broker(uv_handle_t *handle) {
  struct broker *broker = handle->data;
  void (*closed)(void *) = broker->closed;
  void *user = broker->closed_user;
  servers_free(broker);
  explicit_bzero(broker->nats_secret, sizeof broker->nats_secret);
  explicit_bzero(broker->etcd_secret, sizeof broker->etcd_secret);
  free(broker);
  if (closed) closed(user);
}

/* Ends what is left, once the connections are closed; files are left by the threads that read or write them. */
static void end_broker(struct broker *broker) {
  servers_end_asks(broker);
  telling_close(broker);
  etcd_close(broker->etcd);
  broker->etcd = NULL;
  crossings_close(broker);
  if (broker->objects == 0 && !uv_is_closing((uv_handle_t *)&broker->timer))
    uv_close((uv_handle_t *)&broker->timer, free_broker);
}

static void look_after_broker(uv_timer_t *timer) {
  struct broker *broker = timer->data;
  if (broker->closing) {
    if (servers_are_closed(broker)) end_broker(broker);
    return;
  }
  etcd_look_after(broker->etcd);
  crossings_look_after(broker);
  servers_look_after(broker);
  note_change(broker, broker->etcd_told);
}

/* ------------------------------------------------------------------------------------------------------------- life */

static void set_usual(broker_settings *settings) {
  if (!settings->answer_ms) settings->answer_ms = ANSWER_MS_USUAL;
}

/* All but the connections to NATS. */
static bool open_parts(struct broker *broker) {
  const broker_settings *settings = &broker->settings;
  if (check_broker_settings(settings) != MUSTER_OK || servers_read(broker) != MUSTER_OK ||
      check_certificates(settings) != MUSTER_OK ||
      read_secret(*settings->nats_nkey ? settings->nats_nkey_file : settings->nats_password_file, broker->nats_secret,
                  sizeof broker->nats_secret) != MUSTER_OK ||
      read_secret(settings->etcd_password_file, broker->etcd_secret, sizeof broker->etcd_secret) != MUSTER_OK)
    return false;
  broker->etcd = etcd_open(broker->loop, settings, broker->etcd_secret, &broker->complaints, note_etcd, broker);
  return broker->etcd != NULL;
}

struct broker *broker_open(uv_loop_t *loop, const broker_settings *settings, broker_changed changed, void *user) {
  struct broker *broker = calloc(1, sizeof *broker);
  if (!broker) {
    error_set(MUSTER_E_MEMORY, "no memory for the broker");
    return NULL;
  }
  broker->loop = loop;
  broker->settings = *settings;
  broker->changed = changed;
  broker->user = user;
  broker->complaints.loop = loop;
  LIST_INIT(&broker->listeners);
  LIST_INIT(&broker->arrivals);
  set_usual(&broker->settings);
  if (!open_parts(broker)) {
    free(broker);
    return NULL;
  }
  uv_timer_init(loop, &broker->timer);
  broker->timer.data = broker;
  uv_timer_start(&broker->timer, look_after_broker, 0, LOOK_AFTER_MS);
  if (servers_open(broker)) return broker;
  broker_close(broker, NULL, NULL); /* the loop frees it */
  return NULL;
}

void broker_set_incarnation(struct broker *broker, incarnation own) {
  broker->incarnation = own;
}

const char *broker_address(const struct broker *broker) {
  return etcd_local_address(broker->etcd);
}

int64_t broker_revision(const struct broker *broker) {
  return etcd_revision(broker->etcd);
}

void broker_close(struct broker *broker, void (*closed)(void *user), void *user) {
  if (!broker) return;
  broker->closing = true;
  broker->closed = closed;
  broker->closed_user = user;
  servers_close(broker);
}
