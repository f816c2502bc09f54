#include "service/zones/told_settings.h"

#include "service/log.h"
#include "service/settings_cluster.h"
#include "service/zones/holder_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_FIRST_MS = 2000, SETTINGS_AGAIN_MS = 10000, SETTINGS_NODES_MAX = 256, SETTINGS_TEXT_BYTES = 64 };

/* What another node told last. */
typedef struct settings_of_node {
  char node[NAME_BYTES];
  uint64_t sum;
} settings_of_node;

struct told_settings {
  struct holder *holder;
  uv_timer_t timer;
  broker_listener *listener;
  char subject[BROKER_SUBJECT_BYTES];
  uint64_t sum, turn;
  uint32_t count;
  settings_of_node nodes[SETTINGS_NODES_MAX];
};

/* Until it tells otherwise, a node has the settings of this one. Null: there is no room for one more. */
static settings_of_node *find_node(struct told_settings *told, const char *node) {
  for (uint32_t i = 0; i < told->count; i++)
    if (strcmp(told->nodes[i].node, node) == 0) return &told->nodes[i];
  if (told->count == SETTINGS_NODES_MAX) return NULL;
  settings_of_node *fresh = &told->nodes[told->count++];
  *fresh = (settings_of_node){.sum = told->sum};
  snprintf(fresh->node, sizeof fresh->node, "%s", node);
  return fresh;
}

/* "NODE SUM"; what is none, or goes on, is passed over. */
static void take_settings(const void *bytes, size_t count, void *user) {
  struct told_settings *told = user;
  const char *own = told->holder->settings.node;
  char text[SETTINGS_TEXT_BYTES], node[NAME_BYTES], rest;
  uint64_t sum;
  snprintf(text, sizeof text, "%.*s", (int)(count < sizeof text ? count : 0), (const char *)bytes);
  if (sscanf(text, "%31[A-Za-z0-9_-] %" SCNx64 "%c", node, &sum, &rest) != 2) return;
  settings_of_node *of = strcmp(node, own) != 0 ? find_node(told, node) : NULL;
  if (!of || of->sum == sum) return;
  of->sum = sum;
  if (sum == told->sum)
    log_line(MUSTER_LOG_INFO, "node %s has the settings of this one now", node);
  else
    log_line(
        MUSTER_LOG_WARNING,
        "node %s has other settings than this one, %s: zones, their modules, and what the cluster agrees by must be "
        "the same in the files of both",
        node, own);
}

static void tell_settings(uv_timer_t *timer) {
  struct told_settings *told = timer->data;
  char text[SETTINGS_TEXT_BYTES];
  int length = snprintf(text, sizeof text, "%s %016" PRIx64, told->holder->settings.node, told->sum);
  broker_tell(told->holder->broker, told->turn++, told->subject, text, (size_t)length);
}

struct told_settings *told_settings_open(struct holder *holder) {
  struct told_settings *told = calloc(1, sizeof *told);
  if (!told) return NULL;
  told->holder = holder;
  told->sum = settings_shared_sum(&holder->settings);
  told->timer.data = told;
  snprintf(told->subject, sizeof told->subject, "muster.%s.settings", holder->settings.cluster);
  told->listener = broker_listen(holder->broker, told->subject, take_settings, told);
  if (told->sum && told->listener && uv_timer_init(holder->loop, &told->timer) == 0) {
    uv_timer_start(&told->timer, tell_settings, SETTINGS_FIRST_MS, SETTINGS_AGAIN_MS);
    return told;
  }
  broker_stop_listening(told->listener);
  free(told);
  return NULL;
}

void told_settings_close(struct told_settings *told) {
  if (!told) return;
  uv_timer_stop(&told->timer);
  broker_stop_listening(told->listener);
  told->listener = NULL;
}

void told_settings_free(struct told_settings *told) {
  free(told);
}
