/* Each message is delivered once and in order, even when a commit runs out of time: a sender's bit is cleared before
 * its messages are put into boxes, the batch and the places stay as they are until the next frame's ranking, and the
 * next intake begins with what is left. No update starts and no agent is removed before that. */
#include "world/deliveries.h"

#include "agents/batch.h"
#include "base/assert.h"
#include "run/runner.h"
#include "world/messages.h"
#include "world/section.h"
#include "world/serial.h"
#include "world/workers.h"
#include "world/world_links.h"
#include "world/world_sums.h"

/* What a sender sent: places of the mailbox. */
typedef struct sendings {
  uint32_t first, count;
} sendings;

static sendings sendings_of(const struct muster_world *world, uint32_t sender) {
  uint32_t number = world->links->mailbox.entries[sender];
  const batch_entry *entry = &world->batch->entries[number];
  uint32_t sends = world->batch->results[number].sends;
  ASSERT(entry->agent == sender);
  ASSERT(entry->send_base + entry->send_limit <= world->batch->places_max);
  return (sendings){entry->send_base, sends < entry->send_limit ? sends : entry->send_limit};
}

static void fetch_message(const struct muster_world *world, const outgoing *message) {
  (void)world;
  __builtin_prefetch(message);
}

static void fetch_receiver(const struct muster_world *world, const outgoing *message) {
  __builtin_prefetch(world_row(world, message->head.peer.index));
  __builtin_prefetch(identity_generation_of(&world->agents.ids, message->head.peer.index));
}

static void fetch_box(const struct muster_world *world, const outgoing *message) {
  const agent_row *row = world_row(world, message->head.peer.index);
  const box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) __builtin_prefetch(&boxes->boxes[row->state_slot], 1);
}

static void fetch_end(const struct muster_world *world, const outgoing *message) {
  const agent_row *row = world_row(world, message->head.peer.index);
  const box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) __builtin_prefetch(boxes_end(boxes, row->state_slot), 1);
}

enum { ROUND = 64 };

/* Receivers lie in memory in no order: what several deliveries touch is fetched for all of them, step by step. */
static void fetch_round(const struct muster_world *world, const delivery *round, uint32_t count) {
  static void (*const steps[])(const struct muster_world *, const outgoing *) = {fetch_message, fetch_receiver,
                                                                                 fetch_box, fetch_end};
  for (uint32_t step = 0; step < sizeof steps / sizeof *steps; step++)
    for (uint32_t i = 0; i < count; i++) steps[step](world, &world->links->mailbox.places[round[i].place]);
}

static muster_agent sender_of(const struct muster_world *world, const delivery *sent) {
  return (muster_agent){sent->sender, world_row(world, sent->sender)->generation};
}

/* ------------------------------------------------------------------------------------------------- little by little
 */

static void post_round(struct muster_world *world, const delivery *round, uint32_t count) {
  fetch_round(world, round, count);
  for (uint32_t i = 0; i < count; i++) {
    const outgoing *message = &world->links->mailbox.places[round[i].place];
    messages_post(world, sender_of(world, &round[i]), &message->head, message->bytes);
  }
}

/* Delivers what the next senders sent, in agent order, from `index` on. Returns where the remaining senders begin. */
static uint32_t deliver_round(struct muster_world *world, uint32_t index) {
  enum { SENDERS = 16 };
  struct mailbox *mailbox = &world->links->mailbox;
  delivery round[ROUND];
  uint32_t count = 0;
  for (uint32_t i = 0; i < SENDERS && mailbox->sender_count; i++, index++) {
    index = mailbox_take_sender(mailbox, index);
    sendings sent = sendings_of(world, index);
    for (uint32_t k = 0; k < sent.count; k++) {
      if (count == ROUND) {
        post_round(world, round, count);
        count = 0;
      }
      round[count++] = (delivery){sent.first + k, index};
    }
  }
  post_round(world, round, count);
  return index;
}

/* ------------------------------------------------------------------------------------------------ beside each other
 */

static uint32_t part_of(const struct muster_world *world, uint32_t place) {
  return world->links->mailbox.places[place].head.peer.index / 64 % DELIVERIES_PARTS;
}

/* Does a pass over the messages of chunks of senders: counts them by part, or sorts them. */
static void pass_chunks(struct muster_world *world, uint32_t first, uint32_t end, bool sorts) {
  struct deliveries *deliveries = &world->links->mailbox.deliveries;
  counting_sort *sort = &deliveries->sort;
  for (uint32_t chunk = first; chunk < end; chunk++) {
    if (!sorts) counting_begin(sort, chunk);
    for (uint32_t i = counting_start(sort, chunk); i < counting_end(sort, chunk, deliveries->sender_count); i++) {
      sendings sent = sendings_of(world, deliveries->senders[i]);
      for (uint32_t place = sent.first; place < sent.first + sent.count; place++) {
        if (sorts)
          deliveries->sorted[counting_place(sort, chunk, part_of(world, place))] =
              (delivery){place, deliveries->senders[i]};
        else
          counting_note(sort, chunk, part_of(world, place));
      }
    }
  }
}

static void deliveries_note(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  pass_chunks(argument, first, end, false);
}

static void deliveries_sort(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  pass_chunks(argument, first, end, true);
}

/* Puts the messages of a part into boxes. Those that are dropped stand at the part's beginning afterwards. */
static void put_part(struct muster_world *world, uint32_t part) {
  struct deliveries *deliveries = &world->links->mailbox.deliveries;
  uint32_t chunks = counting_chunks(&deliveries->sort, deliveries->sender_count);
  uint32_t first = counting_first(&deliveries->sort, chunks, part);
  delivery *sorted = deliveries->sorted + first;
  uint32_t count = counting_last(&deliveries->sort, chunks, part) - first;
  delivery_sums sums = {0};
  ASSERT(part < DELIVERIES_PARTS);
  for (uint32_t i = 0; i < count; i++) {
    if (i % ROUND == 0) fetch_round(world, sorted + i, count - i < ROUND ? count - i : ROUND);
    delivery sent = sorted[i];
    const outgoing *message = &world->links->mailbox.places[sent.place];
    bool wakes = false;
    if (!messages_put(world, sender_of(world, &sent), &message->head, message->bytes, &wakes))
      sorted[sums.dropped++] = sent;
    else
      sums.woken += wakes && mailbox_mark_wake(&world->links->mailbox, message->head.peer.index);
  }
  sums.delivered = count - sums.dropped;
  deliveries->sums[part] = sums;
}

static void deliveries_put(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  for (uint32_t part = first; part < end; part++) put_part(argument, part);
}

/* Counts what the parts did, and notes the losses. */
static void count_parts(struct muster_world *world) {
  struct deliveries *deliveries = &world->links->mailbox.deliveries;
  struct mailbox *mailbox = &world->links->mailbox;
  muster_statistics *statistics = &world->sums->statistics;
  uint32_t chunks = counting_chunks(&deliveries->sort, deliveries->sender_count);
  for (uint32_t part = 0; part < DELIVERIES_PARTS; part++) {
    const delivery_sums *sums = &deliveries->sums[part];
    const delivery *dropped = deliveries->sorted + counting_first(&deliveries->sort, chunks, part);
    statistics->messages_sent += sums->delivered + sums->dropped;
    statistics->messages_delivered += sums->delivered;
    statistics->messages_dropped += sums->dropped;
    mailbox->wake_count += sums->woken;
    for (uint32_t i = 0; i < sums->dropped; i++) mailbox_lose(mailbox, dropped[i].sender);
  }
}

/* How many senders are done at once: the clock is not read meanwhile, so no more than keep all workers busy for a short
 * time. */
static uint32_t senders_at_once(const struct muster_world *world) {
  enum { EACH = 512 };
  uint32_t most = world->runner->timeline ? DELIVERIES_SENDERS : EACH * world_own_workers(world);
  return most < DELIVERIES_SENDERS ? most : DELIVERIES_SENDERS;
}

/* Delivers what the next senders sent, likewise. */
static uint32_t deliver_beside(struct muster_world *world, uint32_t index) {
  enum { LOOK_NS = 30, PUT_NS = 100 };
  struct deliveries *deliveries = &world->links->mailbox.deliveries;
  struct mailbox *mailbox = &world->links->mailbox;
  uint32_t count = 0, most = senders_at_once(world);
  for (; count < most && mailbox->sender_count; index++)
    deliveries->senders[count++] = index = mailbox_take_sender(mailbox, index);
  deliveries->sender_count = count;
  ASSERT(count > 0);
  uint32_t chunks = counting_chunks(&deliveries->sort, count);
  section_run(world, deliveries_note, chunks, (uint64_t)count * LOOK_NS);
  counting_sum(&deliveries->sort, chunks);
  section_run(world, deliveries_sort, chunks, (uint64_t)count * LOOK_NS);
  section_run(world, deliveries_put, DELIVERIES_PARTS, (uint64_t)count * PUT_NS);
  count_parts(world);
  return index;
}

/* Whether so much waits that it is worth sorting; it never is for one worker. */
static bool is_much(const struct muster_world *world) {
  enum { MUCH = 1024 };
  bool shared = world_own_workers(world) > 1 || world->runner->timeline;
  return shared && world->links->mailbox.sender_count >= MUCH;
}

bool deliveries_run(struct muster_world *world, uint64_t end_ns) {
  struct mailbox *mailbox = &world->links->mailbox;
  uint32_t places = world->batch->places + index_counter_taken(&world->links->places_late);
  if (places > mailbox->places_high) mailbox->places_high = places;
  for (uint32_t index = 0; mailbox->sender_count;) {
    if (serial_is_over(world, end_ns)) return false;
    index = is_much(world) ? deliver_beside(world, index) : deliver_round(world, index);
  }
  return true;
}
