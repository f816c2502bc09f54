/* holder_pairs.c - the messages of a zone and its neighbours: what its earlier owners sent, what comes, what goes, and
 * up to where it can be forgotten. */
#include "service/log.h"
#include "service/zones/holder_parts.h"
#include "service/zones/parcel.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- open */

static void pairs_name(holding_link *link) {
  const struct holding *holding = link->holding;
  const char *world = holding->holder->settings.cluster;
  unsigned own = holding->ground.number, other = link->zone;
  snprintf(link->ghosts_out, sizeof link->ghosts_out, "muster.%s.ghosts.%u.%u", world, own, other);
}

void pairs_open(struct holding *holding) {
  holding->link_count = holding->ground.neighbour_count;
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    *link = (holding_link){.holding = holding, .zone = holding->ground.neighbours[i].number};
    STAILQ_INIT(&link->waiting);
    pairs_name(link);
  }
}

void pairs_close(struct holding *holding) {
  broker_stop_arrivals(holding->arrivals);
  holding->arrivals = NULL;
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    broker_stop_listening(link->ghosts);
    for (holding_parcel *parcel; (parcel = STAILQ_FIRST(&link->waiting)) != NULL;) {
      STAILQ_REMOVE_HEAD(&link->waiting, link);
      free(parcel);
    }
  }
  holding->link_count = 0;
}

static holding_link *pairs_find(struct holding *holding, uint32_t zone) {
  for (uint32_t i = 0; i < holding->link_count; i++)
    if (holding->links[i].zone == zone) return &holding->links[i];
  return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- coming */

static void take_arriving(uint32_t from, zone_place place, const void *bytes, size_t count, void *user) {
  struct holding *holding = user;
  const wire_head head = {
      .kind = WIRE_INCOMING, .zone = from, .epoch = place.epoch, .number = place.number, .bytes = count};
  holding_put(holding, head, bytes);
}

static void take_seen(const void *bytes, size_t count, void *user) {
  const holding_link *link = user;
  if (link->holding->wire.out_count < WIRE_MESSAGE_MAX) /* a process that is behind does without */
    holding_put(link->holding, (wire_head){.kind = WIRE_TOLD, .zone = link->zone, .bytes = count}, bytes);
}

static broker_listener *pairs_listen(holding_link *link, const char *what, broker_told each) {
  char subject[BROKER_SUBJECT_BYTES];
  const struct holding *holding = link->holding;
  snprintf(subject, sizeof subject, "muster.%s.%s.%u.%u", holding->holder->settings.cluster, what, link->zone,
           holding->ground.number);
  return broker_listen(holding->holder->broker, subject, each, link);
}

/* Behind what was sent: so an arrival that went on is known. */
static void pairs_follow(struct holding *holding) {
  broker_sender senders[NEIGHBOURS_MAX];
  for (uint32_t i = 0; i < holding->link_count; i++)
    senders[i] = (broker_sender){holding->links[i].zone, holding->links[i].in_known.place};
  holding->arrivals = broker_await_arrivals(holding->holder->broker, holding->ground.number, senders,
                                            holding->link_count, take_arriving, holding);
  if (!holding->arrivals) {
    holding_lose(holding, muster_last_error());
    return;
  }
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    link->ghosts = pairs_listen(link, "ghosts", take_seen);
  }
  holding_put(holding, (wire_head){.kind = WIRE_CAUGHT_UP}, NULL);
  holding->all_came = false;
  holding->stage = HOLDING_RUNNING;
  holding->store_again = true; /* nothing is published before the zone's state is stored */
  stored_put(holding);
}

void pairs_tell_all_came(struct holding *holding) {
  if (holding->all_came || !broker_arrivals_all_came(holding->arrivals)) return;
  holding->all_came = true;
  holding_put(holding, (wire_head){.kind = WIRE_ALL_CAME}, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- sent */

static void take_sent(uint32_t from, zone_place place, const void *bytes, size_t count, void *user) {
  const holding_call *call = user;
  struct holding *holding = call->holding;
  (void)from;
  if (call->tenure != holding->tenure) return;
  holding_put(holding,
              (wire_head){.kind = WIRE_OUTGOING,
                          .zone = call->link->zone,
                          .epoch = place.epoch,
                          .number = place.number,
                          .bytes = count},
              bytes);
}

static void take_all_sent(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  holding_link *link = call->link;
  if (!holding_call_end(call)) return;
  link->asked = false;
  link->read = !result; /* else the next turn reads it again: what comes twice does not count */
  for (uint32_t i = 0; i < holding->link_count; i++)
    if (!holding->links[i].read) return;
  if (holding->stage == HOLDING_READING) pairs_follow(holding);
}

/* All that its earlier owners have sent: with the lease nothing comes behind it. */
void pairs_read(struct holding *holding) {
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    holding_call *call = link->read || link->asked ? NULL : holding_call_begin(holding, link);
    if (!call) continue;
    link->asked = broker_crossed(holding->holder->broker, holding->ground.number, link->zone, link->out_from, take_sent,
                                 take_all_sent, call) == MUSTER_OK;
    if (!link->asked) free(call);
  }
  if (!holding->link_count) pairs_follow(holding);
}

/* ------------------------------------------------------------------------------------------------------------ going */

static void tell_stored(holding_link *link) {
  struct holding *holding = link->holding;
  holding_parcel *parcel = STAILQ_FIRST(&link->waiting);
  STAILQ_REMOVE_HEAD(&link->waiting, link);
  holding_put(
      holding,
      (wire_head){.kind = WIRE_STORED, .zone = link->zone, .epoch = holding->lease.epoch, .number = parcel->number},
      NULL);
  free(parcel);
}

static void take_stored(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  holding->crosses = false;
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    for (; link->crossing > 0; link->crossing--)
      if (!result) tell_stored(link);
  }
  if (result == MUSTER_E_STATE) holding_lose(holding, "its lease is another's");
  if (!result) pairs_publish(holding); /* else the next turn puts them again */
  moves_go_on(holding);
}

/* The first that wait for each neighbour, as many as fit. */
static uint32_t gather_messages(struct holding *holding, broker_message messages[BROKER_CROSSINGS_MAX]) {
  uint32_t count = 0;
  size_t bytes = 0;
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    const holding_parcel *parcel;
    STAILQ_FOREACH(parcel, &link->waiting, link) {
      if (count == BROKER_CROSSINGS_MAX || bytes + parcel->bytes > BROKER_CROSSING_BYTES_MAX) break;
      bytes += parcel->bytes;
      messages[count++] = (broker_message){link->zone, parcel->number, parcel->parcel, parcel->bytes};
      link->crossing++;
    }
  }
  return count;
}

/* One transaction after the other, each with all that waits. */
void pairs_publish(struct holding *holding) {
  broker_message messages[BROKER_CROSSINGS_MAX];
  if (!holding->stored || holding->crosses || holding->move.stopped) return; /* the next owner puts what waits */
  uint32_t count = gather_messages(holding, messages);
  holding_call *call = count ? holding_call_begin(holding, NULL) : NULL;
  holding->crosses =
      call && broker_cross(holding->holder->broker, &holding->lease, messages, count, take_stored, call) == MUSTER_OK;
  if (holding->crosses) return;
  free(call);
  for (uint32_t i = 0; i < holding->link_count; i++) holding->links[i].crossing = 0;
}

static void pairs_take_parcel(struct holding *holding, holding_link *link, const wire_message *message) {
  parcel_head head;
  holding_parcel *parcel;
  if (message->head.bytes > BROKER_CROSSING_BYTES_MAX || parcel_read_head(message->bytes, message->head.bytes, &head) ||
      head.epoch != holding->lease.epoch || head.number != message->head.number) {
    holding_lose(holding, "its process sent what is no message to a neighbour");
    return;
  }
  parcel = malloc(sizeof *parcel + message->head.bytes);
  if (!parcel) {
    holding_lose(holding, "no memory for its messages");
    return;
  }
  *parcel = (holding_parcel){.number = head.number, .bytes = message->head.bytes};
  memcpy(parcel->parcel, message->bytes, parcel->bytes);
  STAILQ_INSERT_TAIL(&link->waiting, parcel, link);
  pairs_publish(holding);
}

/* ---------------------------------------------------------------------------------------------------------- covered */

void pairs_fill_note(const struct holding *holding, stored_note *note) {
  memset(note, 0, sizeof *note);
  note->stored_s = (uint32_t)(clock_land(holding->holder) / 1000000000u);
  for (uint32_t i = 0; i < holding->link_count; i++) {
    const holding_link *link = &holding->links[i];
    note->positions[note->count++] = link->in_known;
    note->positions[note->count++] = link->out_known;
  }
}

static zone_place covered_by(const stored_note *note, uint32_t zone, bool outgoing) {
  for (uint32_t i = 0; i < note->count && i < 2 * NEIGHBOURS_MAX; i++)
    if (note->positions[i].zone == zone && note->positions[i].outgoing == outgoing) return note->positions[i].place;
  return (zone_place){0};
}

/* What both sides' stored states have is of no use any more. */
static void take_note_of_neighbour(muster_result result, const void *bytes, size_t count, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  const holding_link *link = call->link;
  stored_note note;
  if (!holding_call_end(call) || result || !bytes || count != sizeof note) return;
  memcpy(&note, bytes, sizeof note);
  zone_place there = covered_by(&note, holding->ground.number, false),
             here = covered_by(&holding->stored_note, link->zone, true),
             covered = place_is_before(there, here) ? there : here;
  if (!place_is_none(covered)) broker_forget(holding->holder->broker, &holding->lease, link->zone, covered, NULL, NULL);
}

void pairs_cover(struct holding *holding) {
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    holding_call *call = holding_call_begin(holding, link);
    if (call && broker_read_stored(holding->holder->broker, link->zone, take_note_of_neighbour, call) != MUSTER_OK)
      free(call);
  }
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void take_positions(struct holding *holding, const wire_message *message) {
  wire_position position;
  for (size_t at = 0; at + sizeof position <= message->head.bytes; at += sizeof position) {
    memcpy(&position, message->bytes + at, sizeof position);
    holding_link *link = pairs_find(holding, position.zone);
    if (!link) continue;
    *(position.outgoing ? &link->out_known : &link->in_known) = position;
  }
  if (holding->stage != HOLDING_STARTING) return;
  for (uint32_t i = 0; i < holding->link_count; i++) {
    holding_link *link = &holding->links[i];
    link->out_from = link->out_known.place;
  }
  holding->stage = HOLDING_READING;
  pairs_read(holding);
}

void pairs_take_message(struct holding *holding, const wire_message *message) {
  holding_link *link = pairs_find(holding, message->head.zone);
  if (message->head.kind == WIRE_POSITIONS)
    take_positions(holding, message);
  else if (message->head.kind == WIRE_PUBLISH && link)
    pairs_take_parcel(holding, link, message);
  else if (message->head.kind == WIRE_TELL && link && message->head.bytes <= BROKER_MESSAGE_BYTES_MAX) {
    holding->births.unborn = 0;
    broker_tell(holding->holder->broker, message->head.number, link->ghosts_out, message->bytes, message->head.bytes);
  }
}
