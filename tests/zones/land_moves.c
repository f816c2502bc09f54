/* Orders that zones of the land be moved, as etcd has them. */
#include "land.h"

#include "service/zones/etcd.h"

enum { PATIENCE = 500 };

static brokers_answer ask_for_order(land *all, uint32_t zone, const char *path, const char *node) {
  char body[512];
  json_writer writer;
  brokers_answer answer = {0};
  const char *key = formed("muster/land/move/%u", zone + 1);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_text(&writer, "key", key);
  if (node) etcd_write_text(&writer, "value", node);
  json_end_object(&writer);
  json_finish(&writer);
  for (uint32_t tries = 0; tries < PATIENCE && answer.status != 200; tries++) {
    free(answer.body);
    answer = (brokers_answer){0};
    if (brokers_runs(all->brokers, BROKERS_ETCD, tries % all->options.brokers.etcd))
      answer = brokers_ask(all->brokers, BROKERS_ETCD, tries % all->options.brokers.etcd, path, NULL, body);
  }
  cr_assert_eq(answer.status, 200, "%s", answer.body);
  return answer;
}

void land_move(land *all, uint32_t zone, int node) {
  const char name[2] = {(char)('a' + node), '\0'};
  free(ask_for_order(all, zone, node < 0 ? "/v3/kv/deleterange" : "/v3/kv/put", node < 0 ? NULL : name).body);
}

int land_ordered(land *all, uint32_t zone) {
  char text[8] = "";
  brokers_answer answer = ask_for_order(all, zone, "/v3/kv/range", NULL);
  struct document *document = document_read(answer.body, strlen(answer.body));
  const struct document *found = document_at(document_member(document, "kvs"), 0);
  if (found) cr_assert(etcd_read_text(found, "value", text, sizeof text));
  document_free(document);
  free(answer.body);
  return *text ? *text - 'a' : -1;
}
