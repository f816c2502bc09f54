/* brokers_parts.h - what brokers.c starts and brokers_look.c looks at. */
#ifndef BROKERS_PARTS_H
#define BROKERS_PARTS_H

#include "brokers.h"
#include "proxy.h"

enum { BROKERS_PATH_BYTES = 96 };

typedef struct broker_process {
  char folder[BROKERS_PATH_BYTES];
  char url[64];
  uint16_t port, peers, web; /* for clients; for its peers; for HTTP, which is etcd's for clients */
  uint16_t advertised;       /* where its peers look for it: a proxy's, or `peers` */
  pid_t process;             /* 0 = does not run */
  bool is_paused;
} broker_process;

struct brokers {
  brokers_options options;
  char folder[BROKERS_PATH_BYTES];
  uint32_t counts[BROKERS_KINDS];
  broker_process of[BROKERS_KINDS][BROKERS_MAX];
  char urls[BROKERS_KINDS][BROKERS_URLS_BYTES];
  char doors[BROKERS_DOORS_MAX][BROKERS_KINDS][BROKERS_URLS_BYTES]; /* URLs */
  uint32_t door_count;
  proxy ways;
};

/* Waits until all are ready; false when one has ended by itself. */
bool brokers_become_ready(const brokers *all);

/* Makes etcd ask for names, root's and BROKERS_USER's. */
void brokers_name_users(const brokers *all);

/* The numbers of parties for the proxy. */
static inline int party_of_broker(brokers_kind kind, uint32_t which) {
  return (int)(kind * BROKERS_MAX + which);
}

static inline int party_of_door(uint32_t door) {
  return (int)(BROKERS_KINDS * BROKERS_MAX + door);
}

#endif
