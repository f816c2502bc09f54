/* balancer_lease.c - the lease of the balancer: which node names moves. */
#include "service/log.h"
#include "service/zones/balancer.h"

#include "base/clock.h"

#include <string.h>

enum { PARTS_OF_LEASE = 3, PARTS_USED = 2 };

static uint64_t lease_ns(const struct balancer *balancer) {
  return balancer->holder->settings.lease_ttl_ns;
}

bool balancer_has_lease(const struct balancer *balancer) {
  return balancer->leased && clock_boot() - balancer->leased_ns < lease_ns(balancer) / PARTS_OF_LEASE * PARTS_USED;
}

static void lose_lease(struct balancer *balancer) {
  balancer->leased = false;
  balancer->named = (move_order){0};
  balancer->wanted.count = 0;
  log_line(MUSTER_LOG_WARNING, "cluster %s: this node balances no longer: its lease was not renewed in time",
           balancer->holder->settings.cluster);
}

/* ---------------------------------------------------------------------------------------------------------- renewal */

static void take_balancer_renewal(muster_result result, void *user) {
  struct balancer *balancer = user;
  balancer->asks = false;
  if (balancer->holder->closing || !balancer->leased) return;
  if (result == MUSTER_E_STATE) lose_lease(balancer);
  if (!result) balancer->leased_ns = balancer->asked_ns; /* else the next turn asks again */
}

static void renew_lease(struct balancer *balancer) {
  uint64_t age_ns = clock_boot() - balancer->leased_ns;
  if (age_ns > lease_ns(balancer)) {
    lose_lease(balancer);
    return;
  }
  if (age_ns < lease_ns(balancer) / PARTS_OF_LEASE) return;
  balancer->asked_ns = clock_boot();
  balancer->asks =
      broker_lease_renew(balancer->holder->broker, &balancer->lease, take_balancer_renewal, balancer) == MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------------- ask */

static void note_other(struct balancer *balancer, const broker_lease *lease) {
  if (balancer->seen_revision == lease->revision) return;
  balancer->seen_revision = lease->revision;
  balancer->seen_ns = clock_boot();
}

static void take_balancer_lease(muster_result result, const broker_lease *lease, void *user) {
  struct balancer *balancer = user;
  balancer->asks = false;
  if (balancer->holder->closing) return;
  if (result == MUSTER_E_STATE) note_other(balancer, lease);
  if (result) return;
  balancer->lease = *lease;
  balancer->leased = true;
  balancer->leased_ns = balancer->asked_ns;
  balancer->seen_revision = 0;
  log_line(MUSTER_LOG_INFO, "cluster %s: this node balances the zones", balancer->holder->settings.cluster);
}

static void ask_for_lease(struct balancer *balancer) {
  bool silent = balancer->seen_revision && clock_boot() - balancer->seen_ns >= lease_ns(balancer);
  balancer->asked_ns = clock_boot();
  balancer->asks =
      broker_lease_take(balancer->holder->broker, BROKER_BALANCER, true, silent ? balancer->seen_revision : 0, 0,
                        take_balancer_lease, balancer) == MUSTER_OK;
}

void balancer_look_at_lease(struct balancer *balancer) {
  if (balancer->asks) return;
  if (balancer->leased)
    renew_lease(balancer);
  else
    ask_for_lease(balancer);
}

bool balancer_release(struct balancer *balancer, broker_done done, void *user) {
  bool asked = balancer->leased &&
               broker_lease_release(balancer->holder->broker, &balancer->lease, NULL, done, user) == MUSTER_OK;
  balancer->leased = false;
  return asked;
}
