#include "service/zones/holder.h"

#include "service/log.h"
#include "service/zones/balancer.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* While a process starts no frame asks for a renewal: so many times the lease is renewed all the same. */
enum {
  ASK_AGAIN_MS = 500,
  ASK_UNNAMED_MS = 100, /* which asks nobody */
  ASK_NEAR_MS = 20,     /* by a node that has run all that the owner did, and may be given the zone at any moment */
  FAILED_AGAIN_MS = 1000,
  TURN_MS = 500,
  PREFERRED_MS = 5000,
  START_RENEWALS = 12,
  PARTS = 3
};

static const double load_mean_s = 10;

/* ----------------------------------------------------------------------------------------------------------- calls */

holding_call *holding_call_begin(struct holding *holding, holding_link *link) {
  holding_call *call = calloc(1, sizeof *call);
  if (!call) return NULL;
  *call = (holding_call){.holding = holding, .link = link, .tenure = holding->tenure};
  return call;
}

bool holding_call_end(holding_call *call) {
  const struct holding *holding = call->holding;
  bool good = call->tenure == holding->tenure && !holding->holder->closing;
  free(call);
  return good;
}

void holding_put(struct holding *holding, wire_head head, const void *bytes) {
  if (holding->socket >= 0) wire_put(&holding->wire, head, bytes);
}

void holding_tell(struct holding *holding, bool elsewhere, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(holding->process->standby, sizeof holding->process->standby, format, arguments);
  va_end(arguments);
  holding->process->elsewhere = elsewhere;
}

static uint64_t ttl_ns(const struct holding *holding) {
  return holding->holder->settings.lease_ttl_ns;
}

/* ------------------------------------------------------------------------------------------------------------ ends */

void holding_close_socket(struct holding *holding) {
  if (holding->polls) uv_poll_stop(&holding->poll);
  if (holding->polls) uv_close((uv_handle_t *)&holding->poll, NULL);
  holding->polls = false;
  wire_close(&holding->wire);
  if (holding->socket >= 0) close(holding->socket);
  if (holding->other >= 0) close(holding->other);
  holding->socket = holding->other = -1;
}

/* The tenure is over; its lease may still be held. */
void holding_end(struct holding *holding) {
  uv_timer_stop(&holding->timer);
  holding_close_socket(holding);
  pairs_close(holding);
  holding->tenure++;
  holding->stage = HOLDING_IDLE;
  holding->renewing = holding->crosses = false; /* their answers come too late */
  holding->storing = holding->store_again = holding->stored = holding->brings_again = false;
  journal_stream_end(holding);
  moves_end(holding);
  follow_end(holding);
}

/* Its process must not go on. It starts again when the zone is free. */
void holding_lose(struct holding *holding, const char *why) {
  log_line(MUSTER_LOG_ERROR, "world %s: zone %u is lost: %s", holding->process->name, holding->ground.number, why);
  holding->leased = false;
  if (holding->process->has_process) {
    processes_replace(holding->process, why);
    return;
  }
  holding_end(holding);
  holding->stage = HOLDING_ASKING;
  holding_later(holding, FAILED_AGAIN_MS);
}

void holding_bring_failed(struct holding *holding, const char *why) {
  if (holding->follow.stage == FOLLOW_NONE) {
    holding_lose(holding, why);
  } else if (holding->follow.stage == FOLLOW_ENDING) {
    processes_replace(holding->process, why); /* its end is heard */
  } else {
    follow_drop(holding, why);
  }
}

/* ---------------------------------------------------------------------------------------------------------- renewal */

static void holding_take_renewal(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  holding->renewing = false;
  if (result == MUSTER_E_STATE) {
    if (holding->stage != HOLDING_GIVING) holding_lose(holding, "its lease is another's, or has ended");
    return;
  }
  if (result) return; /* the next frame, or the next turn, tries again */
  holding->leased_ns = holding->asked_ns;
  births_take_renewal(holding, holding->asked_ns);
  const wire_head head = {
      .kind = WIRE_LEASE, .number = holding->leased_ns, .sequence = (uint64_t)broker_revision(holding->holder->broker)};
  holding_put(holding, head, NULL);
}

static void renew(struct holding *holding) {
  if (holding->renewing || !holding->leased || clock_boot() - holding->leased_ns < ttl_ns(holding) / PARTS) return;
  holding_call *call = holding_call_begin(holding, NULL);
  if (!call) return;
  holding->asked_ns = clock_boot();
  holding->renewing =
      broker_lease_renew(holding->holder->broker, &holding->lease, holding_take_renewal, call) == MUSTER_OK;
  if (!holding->renewing) free(call);
}

/* ------------------------------------------------------------------------------------------------------------- ask */

static void ask(struct holding *holding);

/* Its owner, too, reckons from a moment before its lease was there: it stands still long before this time is over. */
static int64_t silent_revision(const struct holding *holding) {
  return clock_boot() - holding->seen_ns >= ttl_ns(holding) ? holding->seen_revision : 0;
}

static void take_refusal(struct holding *holding, muster_result result, const broker_lease *lease) {
  if (result == MUSTER_E_STATE && holding->seen_revision != lease->revision) {
    holding->seen_revision = lease->revision;
    holding->seen_ns = clock_boot();
  }
  if (result == MUSTER_E_STATE && strcmp(holding->told_owner, lease->owner) != 0) {
    snprintf(holding->told_owner, sizeof holding->told_owner, "%s", lease->owner);
    log_line(MUSTER_LOG_INFO, "world %s: zone %u runs on node %s", holding->process->name, holding->ground.number,
             lease->owner);
  }
  if (result == MUSTER_E_STATE)
    holding_tell(holding, true, "its zone runs on node %s%s", lease->owner,
                 holding->follow.stage ? ", and is to be moved here" : "");
  else
    holding_tell(holding, false, "no lease for its zone: %s", muster_last_error());
  uint64_t again_ms = holding->follow.near ? ASK_NEAR_MS : ASK_AGAIN_MS;
  holding_later(holding, result == MUSTER_E_STATE ? again_ms : FAILED_AGAIN_MS);
}

static void take_lease(muster_result result, const broker_lease *lease, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  holding->asks = false;
  if (!holding_call_end(call)) {
    if (!result) broker_lease_release(holding->holder->broker, lease, NULL, NULL, NULL);
    return;
  }
  if (result) {
    take_refusal(holding, result, lease);
    return;
  }
  holding->lease = *lease;
  holding->leased = true;
  holding->leased_ns = holding->asked_ns;
  holding->told_owner[0] = '\0';
  holding->seen_revision = 0;
  holding->above = 0;
  holding->renewals_at_start = 0;
  holding->stage = HOLDING_FETCHING;
  births_begin(holding);
  log_line(MUSTER_LOG_INFO, "world %s: zone %u is this node's, epoch %lu", holding->process->name,
           holding->ground.number, lease->epoch);
  if (lease->epoch > ZONE_EPOCH_MAX / 2)
    log_line(MUSTER_LOG_WARNING, "world %s: zone %u has used more than half of its epochs", holding->process->name,
             holding->ground.number);
  holding_tell(holding, false, "its zone is this node's, and what is stored of it is being brought");
  holding_later(holding, TURN_MS);
  if (!follow_take(holding)) stored_bring(holding);
}

static void ask(struct holding *holding) {
  struct holder *holder = holding->holder;
  if (holding->asks || follow_lingers(holding)) {
    holding_later(holding, ASK_NEAR_MS);
    return;
  }
  if (!holder->name.has) {
    holding_tell(holding, false, "%s", holder->name.words);
    holding_later(holding, ASK_UNNAMED_MS);
    return;
  }
  if (!clock_is_known(holder)) {
    holding_tell(holding, false, "land time is not known yet: no node leads that has it");
    holding_later(holding, ASK_UNNAMED_MS);
    return;
  }
  if (balancer_leaves(holder->balancer, holding)) {
    holding_tell(holding, false, "this node drains, and its zone is left to others");
    holding_later(holding, ASK_AGAIN_MS);
    return;
  }
  holding_call *call = holding_call_begin(holding, NULL);
  holding->asked_ns = clock_boot();
  holding->asks = call && broker_lease_take(holder->broker, holding->ground.number, true, silent_revision(holding),
                                            holding->above, take_lease, call) == MUSTER_OK;
  if (holding->asks) return;
  free(call);
  holding_later(holding, FAILED_AGAIN_MS);
}

void holding_ask_soon(struct holding *holding) {
  if (holding->stage == HOLDING_ASKING && !holding->asks) holding_later(holding, 0);
}

/* ------------------------------------------------------------------------------------------------------------ turns */

/* A lease that has ended by its time is another's, perhaps: nothing of this process may go on. */
static void look_at_lease(struct holding *holding) {
  bool starts = holding->stage >= HOLDING_FETCHING && holding->stage < HOLDING_RUNNING;
  if (!holding->leased || holding->stage < HOLDING_FETCHING) return;
  if (clock_boot() - holding->leased_ns > ttl_ns(holding)) {
    holding_lose(holding, "its lease was not renewed in time");
    return;
  }
  if ((starts && holding->renewals_at_start < START_RENEWALS) || holding->stage == HOLDING_STORING) {
    bool before = holding->renewing;
    renew(holding);
    holding->renewals_at_start += holding->renewing && !before;
  }
}

static void holding_turn(uv_timer_t *timer) {
  struct holding *holding = timer->data;
  if (holding->stage == HOLDING_ASKING) {
    ask(holding);
    return;
  }
  if (holding->stage == HOLDING_IDLE) return;
  holding_later(holding, TURN_MS);
  look_at_lease(holding);
  if (holding->stage == HOLDING_FETCHING) stored_bring_again(holding);
  if (holding->stage == HOLDING_READING) pairs_read(holding);
  if (holding->stage == HOLDING_RUNNING) pairs_tell_all_came(holding);
  if (holding->stage == HOLDING_RUNNING) pairs_publish(holding);
  if (holding->stage == HOLDING_RUNNING || holding->stage == HOLDING_STORING) stored_put(holding);
  if (holding->stage == HOLDING_RUNNING) stored_want(holding);
  if (holding->stage == HOLDING_RUNNING) journal_stream_go_on(holding);
  if (holding->stage == HOLDING_GIVING) moves_turn(holding);
  births_turn(holding);
}

void holding_later(struct holding *holding, uint64_t ms) {
  uv_timer_start(&holding->timer, holding_turn, ms, 0);
}

/* ------------------------------------------------------------------------------------------------------------ wire */

static void take_wire(uv_poll_t *poll, int status, int events);

/* Listens for room only while something waits to be sent. */
static void listen_for_process(struct holding *holding) {
  bool sent = wire_flush(&holding->wire);
  if (holding->wire.broken) {
    uv_poll_stop(&holding->poll); /* the process has ended, which is heard soon */
    return;
  }
  uv_poll_start(&holding->poll, UV_READABLE | (sent ? 0 : UV_WRITABLE), take_wire);
}

/* What the process says may be anything. */
static double sound_processors(double told) {
  if (!(told >= 0)) return 0;
  return told < CPU_SETSIZE ? told : CPU_SETSIZE;
}

static void note_load(struct holding *holding, const wire_message *message) {
  wire_load told;
  uint64_t now_ns = clock_boot();
  if (message->head.bytes != sizeof told) return;
  memcpy(&told, message->bytes, sizeof told);
  double wants = sound_processors(told.wants), has = sound_processors(told.has), load = wants < has ? wants : has;
  double gap_s = (double)(now_ns - holding->load_ns) * 1e-9,
         part = holding->load_ns ? gap_s / (load_mean_s + gap_s) : 1;
  holding->load += (load - holding->load) * part;
  holding->load_ns = now_ns;
}

static void take_frame(struct holding *holding, const wire_message *message) {
  const wire_head *head = &message->head;
  holding->frames = head->number;
  note_load(holding, message);
  if (holding->stage != HOLDING_RUNNING) return;
  holding->births.unborn = 0;
  if (head->sequence == holding->file_snapshots) holding->file_frames = head->number;
  renew(holding);
  if (head->sequence != holding->snapshots) {
    holding->snapshots = head->sequence;
    stored_put(holding);
  }
  journal_stream_go_on(holding);
}

static void take_wire(uv_poll_t *poll, int status, int events) {
  struct holding *holding = poll->data;
  uint32_t tenure = holding->tenure;
  wire_message message;
  (void)status, (void)events;
  while (holding->tenure == tenure && wire_next(&holding->wire, &message))
    if (message.head.kind == WIRE_FRAME)
      take_frame(holding, &message);
    else if (message.head.kind == WIRE_MAP)
      atlas_take_drawn(holding, message.bytes, message.head.bytes);
    else if (message.head.kind == WIRE_FOLLOWED)
      follow_take_frame(holding, message.head.number);
    else if (message.head.kind == WIRE_HELD || message.head.kind == WIRE_STOPPED)
      moves_take_told(holding, &message.head);
    else if (message.head.kind == WIRE_SPACE || message.head.kind == WIRE_NAMED)
      births_take_message(holding, &message);
    else
      pairs_take_message(holding, &message);
  if (holding->tenure == tenure) listen_for_process(holding);
}

/* What was put is sent before the loop waits. */
void holder_flush(uv_prepare_t *prepare) {
  struct holder *holder = prepare->data;
  for (uint32_t i = 0; i < holder->count; i++)
    if (holder->holdings[i].polls && holder->holdings[i].wire.out_count) listen_for_process(&holder->holdings[i]);
}

bool holding_open_wire(struct holding *holding) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return false;
  holding->socket = pair[0];
  holding->other = pair[1];
  wire_open(&holding->wire, pair[0]);
  if (uv_poll_init(holding->holder->loop, &holding->poll, pair[0])) return false;
  holding->poll.data = holding;
  holding->polls = true;
  return uv_poll_start(&holding->poll, UV_READABLE, take_wire) == 0;
}

/* The process is told that the zone is its own. */
void holding_hand_over(struct holding *holding, bool restores) {
  const zone_space *space = &holding->births.space;
  const wire_begin begin = {.epoch = holding->lease.epoch,
                            .space = space_goes_on(space, holding->lease.epoch) ? space->space : 0,
                            .space_frame = space->frame,
                            .spaces_used = space->used,
                            .revision = broker_revision(holding->holder->broker),
                            .restores = restores,
                            .ttl_ns = ttl_ns(holding),
                            .leased_ns = holding->leased_ns,
                            .clock = holding->holder->clock.clock.reading,
                            .ground = holding->ground};
  ASSERT(holding->stage == HOLDING_FETCHING);
  stored_are_whole(holding);
  holding->stage = HOLDING_STARTING;
  holding->frames = holding->snapshots = holding->safe_frames = holding->file_frames = holding->load_ns = 0;
  holding->load = 0;
  journal_stream_begin(holding);
  holding_put(holding, (wire_head){.kind = WIRE_BEGIN, .bytes = sizeof begin}, &begin);
  pairs_open(holding);
}

void holding_start(struct holding *holding, bool restores) {
  if (!holding_open_wire(holding)) {
    holding_lose(holding, "its process has no socket to the supervisor");
    return;
  }
  holding_hand_over(holding, restores);
  processes_begin(holding->process);
}

/* ------------------------------------------------------------------------------------------------------------ hooks */

bool holder_may_start(world_process *process, void *user) {
  struct holder *holder = user;
  struct holding *holding = holder_find(holder, process);
  if (!holding || holding->stage == HOLDING_STARTING || holding->follow.stage == FOLLOW_RUNNING) return true;
  const world_settings *world = settings_find_world(&holder->settings, process->name);
  int rank = world ? nodes_rank(world->nodes, holder->settings.node) : -1;
  if (rank < 0) {
    holding_tell(holding, true, "its zone runs on other nodes");
    return false;
  }
  if (holding->stage != HOLDING_IDLE) return false;
  holding->restores = holding->stands_by;
  holding->stands_by = holding->restorable = false;
  holding->stage = HOLDING_ASKING;
  holding_tell(holding, false, "the lease of its zone is asked for");
  holding_later(holding, holding->tenure == 0 ? (uint64_t)rank * PREFERRED_MS : 0);
  return false;
}

int holder_give_socket(world_process *process, void *user) {
  const struct holding *holding = holder_find(user, process);
  return holding ? holding->other : -1;
}

static void call_idle(struct holder *holder) {
  if (!holder_is_busy(holder) && holder->idle) holder->idle(holder->user);
}

static void take_release(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  (void)result;
  if (!holding_call_end(call)) return;
  holding_end(holding);
  call_idle(holding->holder);
}

void holding_ask_again(struct holding *holding) {
  holding->stage = HOLDING_ASKING;
  ask(holding);
}

/* The zone is given back, so that another node can have it at once; with its birth space, if that is closed. */
static void holding_release(struct holding *holding, const zone_space *closed) {
  holding_call *call = holding->leased ? holding_call_begin(holding, NULL) : NULL;
  bool asked =
      call && broker_lease_release(holding->holder->broker, &holding->lease, closed, take_release, call) == MUSTER_OK;
  holding->leased = false;
  if (asked) return;
  free(call);
  holding_end(holding);
}

void holding_stand_by(struct holding *holding, const char *why) {
  holding_tell(holding, false, "%s", why);
  holding->stands_by = true;
  holding_release(holding, NULL);
  call_idle(holding->holder);
}

/* This node tries again and again, and another one may be better off: it asks for the lease as all do then. */
static void leave_to_others(struct holding *holding) {
  if (!holding->leased) return;
  log_line(MUSTER_LOG_WARNING, "world %s: zone %u is left to others, since it does not start here",
           holding->process->name, holding->ground.number);
  broker_lease_release(holding->holder->broker, &holding->lease, NULL, NULL, NULL);
  holding->leased = false;
}

void holder_note_change(struct holder *holder, const world_process *process) {
  struct holding *holding = holder_find(holder, process);
  if (!holding || holder->closing) return;
  if (process->has_process) { /* it has its end of the socket */
    if (holding->other >= 0) close(holding->other);
    holding->other = -1;
    return;
  }
  bool over = process->state == PROCESS_ENDED || process->state == PROCESS_FAILED;
  follow_forget(holding);
  if (!over) follow_lost_process(holding);
  if (!over && holding->stage >= HOLDING_STARTING && holding->stage != HOLDING_STORING) {
    holding_end(holding);
    if (processes_is_down(process)) leave_to_others(holding);
  }
  if (!over || holding->stage == HOLDING_STORING) return;
  bool store = process->state == PROCESS_ENDED && holding->stage == HOLDING_RUNNING && holding->leased;
  holding_close_socket(holding);
  pairs_close(holding);
  if (!store) {
    holding_release(holding, NULL);
    return;
  }
  holding->stage = HOLDING_STORING;
  holding->store_again = true;
  holding_later(holding, TURN_MS);
  stored_put(holding);
}

void holding_stored(struct holding *holding) {
  if (holding->stage != HOLDING_STORING || holding->store_again) return;
  holding_release(holding, births_close(holding, holding->stored_note.head.frames));
  call_idle(holding->holder);
}

bool holder_is_busy(const struct holder *holder) {
  bool busy = false;
  for (uint32_t i = 0; i < holder->count; i++) busy = busy || holder->holdings[i].stage != HOLDING_IDLE;
  return busy;
}

void holder_on_idle(struct holder *holder, void (*idle)(void *user), void *user) {
  holder->idle = idle;
  holder->user = user;
}
