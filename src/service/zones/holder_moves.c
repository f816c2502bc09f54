/* holder_moves.c - a zone that is to be moved to another node, while it runs: its owner's part. The other's is in
 * holder_follow.c.
 *
 *     this node, A                            etcd              the node that wants it, B
 *     RUNNING                                 move: B
 *     FOLLOWED: one file of the journal       lease: 7 A        fetches what is stored, runs its frames again, and
 *                                                               those that follow; tells how far it is
 *     STOPPING: less than three behind; its
 *       process stops behind a frame, and
 *       all of that is kept
 *     GIVING                                  lease: 7 B        A may not go on, and no other node may begin
 *     ASKING                                  lease: 8 B        reads the rest of the record with the lease, and what
 *                                                               crossed; its process runs frames
 *                                             no move
 *
 * Without journal_stream there is nothing to follow: B tells that it is there, A stops, stores its state (STORING), and
 * gives the lease then. So does a zone that is paused.
 *
 * Who dies when:
 *     A, before it gives      its lease is not renewed: B, or another, takes it, and reads the record with the lease
 *     A, behind that          B has all that it needs
 *     A hears no answer       it stands still, and gives again until it hears one or its lease has ended
 *     B, before A gives       A hears nothing of it, and goes on; or has stopped, and goes on when that takes too long
 *     B, behind that          the lease of B is not renewed: any node takes it, as A's files and stream are
 *     both                    as A, behind which B dies
 * tests/model/zones.pml searches it. */
#include "service/log.h"
#include "service/zones/holder_parts.h"
#include "service/zones/nodes.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 500, GIVE_AGAIN_MS = 100, LINGER_MS = 500, FRAMES_BEHIND = 3 };

/* An order is given up after this. A zone goes on that does not stop, with a snapshot where it needs one, or whose last
 * frame is not kept for so long. Frames of this time are as good as three. */
static const uint64_t order_ns = 60000000000u, stop_ns = 20000000000u, kept_ns = 2000000000u, near_ns = 50000000u;

static bool moves_by_stream(const struct holding *holding) {
  return holding->holder->settings.journal_stream;
}

void moves_name(const struct holding *holding, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.follow.%u", holding->holder->settings.cluster,
           (unsigned)holding->ground.number);
}

static void put_move(struct holding *holding, wire_move move) {
  holding_put(holding, (wire_head){.kind = WIRE_MOVE, .zone = ++holding->move_turn, .number = move}, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- ends */

void moves_end(struct holding *holding) {
  broker_stop_listening(holding->move.listener);
  holding->move = (holding_move){.stage = MOVE_NONE};
}

/* The zone goes on here. */
static void moves_forget(struct holding *holding) {
  if (holding->move.stage >= MOVE_FOLLOWED && holding->move.stage < MOVE_GIVING) put_move(holding, WIRE_MOVE_NONE);
  moves_end(holding);
}

static void take_order_ended(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call) || result) return; /* the next look ends it again */
  holding->wanted[0] = '\0';
  if (holding->move.stage == MOVE_OVER) moves_end(holding); /* another order is another one, also if it says the same */
}

static void end_order(struct holding *holding, const char *node) {
  holding_call *call = holding_call_begin(holding, NULL);
  if (call && broker_move_end(holding->holder->broker, &holding->lease, node, take_order_ended, call) == MUSTER_OK)
    return;
  free(call);
}

static void give_up_move(struct holding *holding, const char *why) {
  char to[NAME_BYTES];
  memcpy(to, holding->move.to, sizeof to);
  log_line(MUSTER_LOG_WARNING, "world %s: zone %u is not moved to node %s: %s", holding->process->name,
           holding->ground.number, to, why);
  moves_forget(holding);
  holding->move.stage = MOVE_OVER;
  memcpy(holding->move.to, to, sizeof to);
  end_order(holding, to);
}

/* ------------------------------------------------------------------------------------------------------------- give */

/* What is left of its process ends a little later: the machine is busy enough with the zone's begin elsewhere, and
 * answers are on their way. */
static void take_given(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  if (result == MUSTER_E_SYSTEM) {
    holding_later(holding, GIVE_AGAIN_MS);
    return;
  }
  log_line(MUSTER_LOG_INFO, "world %s: zone %u, epoch %lu, was given to node %s behind frame %lu",
           holding->process->name, holding->ground.number, holding->lease.epoch, holding->move.to, holding->move.frame);
  holding->leased = false;
  holding->move.stage = MOVE_GIVEN;
  pairs_close(holding);
  holding_later(holding, LINGER_MS);
}

/* From here on it cannot go on here: the answer may be lost. */
static void give(struct holding *holding) {
  holding->stage = HOLDING_GIVING;
  holding->move.stage = MOVE_GIVING;
  holding_later(holding, GIVE_AGAIN_MS);
  holding_call *call = holding_call_begin(holding, NULL);
  if (call && broker_lease_give(holding->holder->broker, &holding->lease, holding->move.to,
                                births_close(holding, holding->move.frame), take_given, call) == MUSTER_OK) {
    uv_timer_stop(&holding->timer); /* the answer goes on */
    return;
  }
  free(call);
}

void moves_turn(struct holding *holding) {
  char why[PROCESS_STANDBY_BYTES];
  snprintf(why, sizeof why, "its zone was moved to node %s", holding->move.to);
  if (holding->move.stage == MOVE_GIVING) {
    give(holding);
  } else if (holding->process->again) { /* it was asked to end before */
    processes_replace(holding->process, why);
  } else {
    put_move(holding, WIRE_MOVE_OVER);
    processes_expect_end(holding->process, why);
  }
}

/* ------------------------------------------------------------------------------------------------------------- stop */

/* A store that began behind the stop has all. */
static void store_last(struct holding *holding) {
  holding_move *move = &holding->move;
  if (holding->storing) return;
  if (move->stores && !holding->store_again) {
    give(holding);
    return;
  }
  holding->store_again = true;
  stored_put(holding);
  move->stores = holding->storing;
}

void moves_go_on(struct holding *holding) {
  const holding_move *move = &holding->move;
  if (holding->stage != HOLDING_RUNNING || !move->stopped || holding->crosses) return;
  if (move->stage == MOVE_STORING)
    store_last(holding);
  else if (move->stage == MOVE_STOPPING && !holding->storing && holding->safe_frames >= move->frame)
    give(holding);
}

void moves_take_told(struct holding *holding, const wire_head *head) {
  holding_move *move = &holding->move;
  if (head->zone != holding->move_turn) return; /* it was told something else meanwhile */
  if (head->kind == WIRE_HELD) {
    move->held = true;
    move->paused = head->sequence;
    move->snapshots = head->number;
    return;
  }
  if (move->stage != MOVE_STOPPING) return;
  move->stopped = true;
  move->frame = head->number;
  if (head->sequence) move->stage = MOVE_STORING;
  moves_go_on(holding);
}

static void stop_zone(struct holding *holding) {
  bool stream = moves_by_stream(holding);
  if (!stream)
    log_line(MUSTER_LOG_INFO,
             "world %s: zone %u stands still until it is stored: with `journal_stream = yes` node %s could follow it",
             holding->process->name, holding->ground.number, holding->move.to);
  holding->move.stage = MOVE_STOPPING;
  holding->move.stop_ns = clock_system();
  put_move(holding, stream ? WIRE_MOVE_STOPS : WIRE_MOVE_STOPS_STORED);
}

/* ----------------------------------------------------------------------------------------------------------- follow */

static bool is_near(const struct holding *holding, uint64_t behind) {
  const world_settings *world = settings_find_world(&holding->holder->settings, holding->process->name);
  return behind < FRAMES_BEHIND || (world && behind * settings_period_ns(world->rate) < near_ns);
}

/* Whether what is stored is what stays so until the move: a snapshot that began before the journal was held is another
 * version. */
static bool will_stay(const struct holding *holding) {
  const holding_move *move = &holding->move;
  return move->held && holding->stored && !holding->storing && holding->snapshots >= move->snapshots &&
         holding->storing_snapshots == holding->snapshots;
}

/* The node that wants the zone tells how far it is. What comes late does no harm: a node that is gone takes longer. */
static void take_follow_told(const void *bytes, size_t count, void *user) {
  struct holding *holding = user;
  holding_move *move = &holding->move;
  follow_told told;
  if (count != sizeof told || move->stage != MOVE_FOLLOWED || holding->stage != HOLDING_RUNNING) return;
  memcpy(&told, bytes, sizeof told);
  told.node[NAME_BYTES - 1] = '\0';
  if (strcmp(told.node, move->to) != 0) return;
  if (moves_by_stream(holding) && !move->paused) {
    if (!will_stay(holding) || !place_equal(told.version, holding->stored_note.object.version) ||
        told.frame > holding->frames)
      return;
    move->behind = holding->frames - told.frame;
    if (!is_near(holding, move->behind)) return;
  }
  stop_zone(holding);
}

static bool is_its_node(const struct holding *holding, const char *node) {
  const world_settings *world = settings_find_world(&holding->holder->settings, holding->process->name);
  return world && nodes_rank(world->nodes, node) >= 0;
}

static void begin_move(struct holding *holding) {
  char subject[BROKER_SUBJECT_BYTES];
  holding->move = (holding_move){.stage = MOVE_FOLLOWED, .since_ns = clock_system(), .behind = UINT64_MAX};
  memcpy(holding->move.to, holding->wanted, sizeof holding->move.to);
  if (!is_its_node(holding, holding->wanted)) {
    give_up_move(holding, "it is none of the nodes that its settings name");
    return;
  }
  log_line(MUSTER_LOG_INFO, "world %s: zone %u is to be moved to node %s", holding->process->name,
           holding->ground.number, holding->wanted);
  moves_name(holding, subject);
  holding->move.listener = broker_listen(holding->holder->broker, subject, take_follow_told, holding);
  put_move(holding, WIRE_MOVE_HELD);
}

static const char *what_is_awaited(const struct holding *holding) {
  if (!holding->move.stopped) return "its process does not stop";
  if (holding->storing) return "it was stored anew meanwhile";
  return holding->crosses ? "the brokers do not answer to what crosses" : "the brokers do not keep its last frame";
}

/* Whether it took too long, and why. */
static bool move_is_late(const struct holding *holding, char why[PROCESS_STANDBY_BYTES]) {
  const holding_move *move = &holding->move;
  uint64_t now_ns = clock_system();
  if (move->stage == MOVE_STOPPING && now_ns - move->stop_ns > (move->stopped ? kept_ns : stop_ns)) {
    snprintf(why, PROCESS_STANDBY_BYTES, "%s", what_is_awaited(holding));
    return true;
  }
  if (now_ns - move->since_ns <= order_ns) return false;
  if (move->stage == MOVE_STORING)
    snprintf(why, PROCESS_STANDBY_BYTES, "its last state was not stored in 60 s");
  else if (move->behind == UINT64_MAX)
    snprintf(why, PROCESS_STANDBY_BYTES, "that node has not followed it in 60 s");
  else
    snprintf(why, PROCESS_STANDBY_BYTES, "that node was still %lu frames behind after 60 s", move->behind);
  return true;
}

static void look_at_order(struct holding *holding) {
  char why[PROCESS_STANDBY_BYTES];
  holding_move *move = &holding->move;
  bool own = strcmp(holding->wanted, holding->holder->settings.node) == 0;
  if (holding->stage != HOLDING_RUNNING) return;
  if (move->stage != MOVE_NONE && (own || strcmp(move->to, holding->wanted) != 0)) {
    if (move->stage != MOVE_OVER)
      log_line(MUSTER_LOG_INFO, "world %s: zone %u is not moved to node %s: the order was taken back",
               holding->process->name, holding->ground.number, move->to);
    moves_forget(holding);
  }
  if (own || move->stage == MOVE_OVER) {
    end_order(holding, holding->wanted);
    return;
  }
  if (*holding->wanted && move->stage == MOVE_NONE) begin_move(holding);
  moves_go_on(holding);
  if (move->stage >= MOVE_FOLLOWED && move->stage < MOVE_GIVING && move_is_late(holding, why))
    give_up_move(holding, why);
}

/* ----------------------------------------------------------------------------------------------------------- orders */

static void find_order(uint32_t zone, const char *node, void *user) {
  struct holding *holding = holder_find_zone(user, zone);
  if (holding) snprintf(holding->found, sizeof holding->found, "%s", node);
}

static void look_later(struct holder *holder);

static void take_orders(muster_result result, void *user) {
  struct holder *holder = user;
  if (holder->closing) return;
  look_later(holder);
  for (uint32_t i = 0; i < holder->count; i++) {
    struct holding *holding = &holder->holdings[i];
    if (!result) memcpy(holding->wanted, holding->found, sizeof holding->wanted);
    look_at_order(holding);
    if (holder->name.has) follow_look(holding);
  }
}

static void look_for_orders(uv_timer_t *timer) {
  struct holder *holder = timer->data;
  for (uint32_t i = 0; i < holder->count; i++) holder->holdings[i].found[0] = '\0';
  if (broker_moves_read(holder->broker, find_order, take_orders, holder) != MUSTER_OK) look_later(holder);
}

static void look_later(struct holder *holder) {
  uv_timer_start(&holder->moves, look_for_orders, LOOK_MS, 0);
}

bool moves_open(struct holder *holder) {
  if (uv_timer_init(holder->loop, &holder->moves)) return false;
  holder->moves.data = holder;
  look_later(holder);
  return true;
}
