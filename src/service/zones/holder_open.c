/* holder_open.c - the begin and the end of a holder, and which zones it has. */
#include "service/log.h"
#include "service/supervise/orders.h"
#include "service/zones/balancer.h"
#include "service/zones/holder_parts.h"
#include "service/zones/told_settings.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------- open */

static void take_connection(bool nats, bool etcd, void *user) {
  struct holder *holder = user;
  if (nats != holder->nats)
    log_line(nats ? MUSTER_LOG_INFO : MUSTER_LOG_WARNING, "cluster %s: NATS %s", holder->settings.cluster,
             nats ? "answers" : "does not answer");
  if (etcd != holder->etcd)
    log_line(etcd ? MUSTER_LOG_INFO : MUSTER_LOG_WARNING, "cluster %s: etcd %s", holder->settings.cluster,
             etcd ? "answers" : "does not answer");
  holder->nats = nats;
  holder->etcd = etcd;
}

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

static void fill_broker(const struct settings *settings, broker_settings *to) {
  COPY(to->world, settings->cluster);
  COPY(to->node, settings->node);
  COPY(to->nats, settings->nats);
  COPY(to->etcd, settings->etcd);
  COPY(to->nats_user, settings->nats_user);
  COPY(to->nats_password_file, settings->nats_password_file);
  COPY(to->etcd_user, settings->etcd_user);
  COPY(to->etcd_password_file, settings->etcd_password_file);
  COPY(to->tls_ca, settings->cluster_ca);
  COPY(to->tls_certificate, settings->cluster_certificate);
  COPY(to->tls_key, settings->cluster_key);
}

/* As its process has them. */
static bool find_path(const struct settings *settings, const char *world, char path[JOURNALS_PATH_BYTES]) {
  struct settings *own = malloc(sizeof *own);
  if (!own) return false;
  *own = *settings;
  bool good = orders_apply(own, world) && journals_path(own, world, path);
  free(own);
  return good;
}

static bool add_holding(struct holder *holder, const world_settings *world, world_process *process) {
  struct holding *holding = &holder->holdings[holder->count];
  *holding =
      (struct holding){.holder = holder, .process = process, .socket = -1, .other = -1, .journal_descriptor = -1};
  wire_close(&holding->wire);
  ground_of(&holder->settings, world, &holding->ground);
  snprintf(holding->name, sizeof holding->name, "zone-%u", world->zone);
  holding->timer.data = holding->follow_timer.data = holding;
  if (!find_path(&holder->settings, world->name, holding->path) || uv_timer_init(holder->loop, &holding->timer) ||
      uv_timer_init(holder->loop, &holding->follow_timer))
    return false;
  holder->count++;
  return true;
}

struct holder *holder_open(uv_loop_t *loop, const struct settings *settings, struct processes *processes) {
  struct holder *holder = calloc(1, sizeof *holder);
  broker_settings *with = calloc(1, sizeof *with);
  if (!holder || !with) {
    free(holder);
    free(with);
    error_set(MUSTER_E_MEMORY, "no memory for the zones");
    return NULL;
  }
  *holder = (struct holder){.loop = loop, .settings = *settings, .processes = processes};
  fill_broker(settings, with);
  bool good = true;
  for (uint32_t i = 0; good && i < settings->world_count; i++)
    if (settings->worlds[i].zone) good = add_holding(holder, &settings->worlds[i], &processes->worlds[i]);
  if (!good) error_set(MUSTER_E_SYSTEM, "the zones cannot be prepared: their paths are too long, or no memory is left");
  if (good) holder->broker = broker_open(loop, with, take_connection, holder);
  free(with);
  if (holder->broker) holder->balancer = balancer_open(holder);
  if (!holder->balancer || uv_prepare_init(loop, &holder->flush) || !moves_open(holder) || !names_open(holder) ||
      !clock_open(holder)) {
    free(holder);
    return NULL;
  }
  if (!atlas_open(holder)) log_line(MUSTER_LOG_WARNING, "no memory for the map of all zones: this node is not on it");
  holder->told = told_settings_open(holder);
  if (!holder->told) log_line(MUSTER_LOG_WARNING, "no memory to compare settings with other nodes");
  holder->flush.data = holder;
  uv_prepare_start(&holder->flush, holder_flush);
  return holder;
}

struct holding *holder_find(struct holder *holder, const world_process *process) {
  for (uint32_t i = 0; i < holder->count; i++)
    if (holder->holdings[i].process == process) return &holder->holdings[i];
  return NULL;
}

struct holding *holder_find_zone(struct holder *holder, uint32_t zone) {
  for (uint32_t i = 0; i < holder->count; i++)
    if (holder->holdings[i].ground.number == zone) return &holder->holdings[i];
  return NULL;
}

static void close_broker(struct holder *holder) {
  broker_close(holder->broker, holder->closed, holder->closed_user);
}

void holder_close(struct holder *holder, void (*closed)(void *user), void *user) {
  holder->closing = true;
  holder->closed = closed;
  holder->closed_user = user;
  atlas_close(holder);
  told_settings_close(holder->told);
  uv_timer_stop(&holder->moves);
  for (uint32_t i = 0; i < holder->count; i++) holding_end(&holder->holdings[i]);
  names_release(holder, close_broker);
}

void holder_free(struct holder *holder) {
  if (holder) {
    told_settings_free(holder->told);
    balancer_free(holder->balancer);
    names_free(holder);
  }
  free(holder);
}
