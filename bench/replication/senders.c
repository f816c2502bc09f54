#include "readers.h"

#include <stdlib.h>
#include <string.h>

bool sender_open(struct sender *sender, uint32_t agents_max) {
  *sender = (struct sender){.across = (uint32_t)(walkers_side_m / (double)replication_seen_m) + 1};
  sender->ends = calloc((size_t)sender->across * sender->across + 1, sizeof *sender->ends);
  sender->cells = calloc(agents_max, sizeof *sender->cells);
  sender->places = calloc(agents_max, sizeof *sender->places);
  sender->marks = calloc(agents_max, sizeof *sender->marks);
  return sender->ends && sender->cells && sender->places && sender->marks;
}

void sender_close(struct sender *sender) {
  free(sender->ends);
  free(sender->cells);
  free(sender->places);
  free(sender->marks);
  *sender = (struct sender){0};
}

static uint32_t across_of(double metres) {
  return (uint32_t)(metres * (1.0 / (double)replication_seen_m));
}

static bool sees(muster_position player, muster_position place) {
  double x = player.x - place.x, y = player.y - place.y;
  return x * x + y * y <= (double)replication_seen_m * (double)replication_seen_m;
}

/* A counting sort by cells. */
static void sort_changed(struct sender *sender, const struct reader *reader) {
  uint32_t cells = sender->across * sender->across, sum = 0;
  memset(sender->ends, 0, (cells + 1) * sizeof *sender->ends);
  for (uint32_t i = 0; i < reader->count; i++) {
    sender->cells[i] = across_of(reader->read[i].y) * sender->across + across_of(reader->read[i].x);
    sender->ends[sender->cells[i]]++;
  }
  for (uint32_t cell = 0; cell < cells; cell++) {
    uint32_t here = sender->ends[cell];
    sender->ends[cell] = sum;
    sum += here;
  }
  for (uint32_t i = 0; i < reader->count; i++) sender->places[sender->ends[sender->cells[i]]++] = reader->read[i];
}

/* The cells of a row lie beside each other. */
static uint64_t send_to(const struct sender *sender, muster_position player) {
  uint32_t x = across_of(player.x), y = across_of(player.y), edge = sender->across - 1;
  uint32_t left = x ? x - 1 : 0, right = x < edge ? x + 1 : edge, top = y < edge ? y + 1 : edge;
  uint64_t sent = 0;
  for (uint32_t row = y ? y - 1 : 0; row <= top; row++) {
    uint32_t first = row * sender->across + left, end = sender->ends[row * sender->across + right];
    for (uint32_t i = first ? sender->ends[first - 1] : 0; i < end; i++) sent += sees(player, sender->places[i]);
  }
  return sent;
}

static uint64_t send_by_grid(struct sender *sender, const struct reader *reader, const struct walkers *walkers) {
  uint64_t sent = 0;
  sort_changed(sender, reader);
  for (uint32_t i = 0; i < walkers->player_count; i++) sent += send_to(sender, walkers->players[i]);
  return sent;
}

static uint64_t send_by_nearby(struct sender *sender, const struct reader *reader, const struct walkers *walkers) {
  static muster_nearby_agent found[MUSTER_CANDIDATES_MAX];
  muster_nearby_query query = muster_nearby_query_default();
  uint64_t sent = 0;
  query.radius_m = replication_seen_m;
  for (uint32_t i = 0; i < reader->count; i++) sender->marks[muster_agent_index(reader->ids[i])] = 1;
  for (uint32_t i = 0; i < walkers->player_count; i++) {
    query.position = walkers->players[i];
    uint32_t count = muster_agents_nearby(walkers->world, &query, found, MUSTER_CANDIDATES_MAX, NULL);
    for (uint32_t k = 0; k < count; k++) sent += sender->marks[muster_agent_index(found[k].neighbour.agent)];
  }
  for (uint32_t i = 0; i < reader->count; i++) sender->marks[muster_agent_index(reader->ids[i])] = 0;
  return sent;
}

uint64_t sender_send(struct sender *sender, replication_sender way, const struct reader *reader,
                     const struct walkers *walkers) {
  return way == SENDER_GRID ? send_by_grid(sender, reader, walkers) : send_by_nearby(sender, reader, walkers);
}
