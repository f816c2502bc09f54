/* holder_follow.c - a zone of another node that this one is to have: it is followed until the lease is this node's.
 *
 *     ASKING for the lease, and besides
 *       FETCHING   what is stored, and the chunks of its record, into files of its own
 *       RUNNING    its process has restored them, and runs each frame that comes; it is told the owner (holder_moves.c)
 *     the lease is taken: FETCHING
 *       ENDING     what is stored is still that; the record is read to its end, with the lease: then the process is
 *                  told that the zone is its own, and it goes on as behind any restore
 *
 * What was followed before the lease is a part of what is read with it: chunks never change, and the last one that was
 * read may be one that too few servers have, as whoever reads may find it. When something else is stored by then, all
 * is brought anew. Whether the owner gives the lease or dies is the same here. */
#include "service/log.h"
#include "service/zones/holder_parts.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_AGAIN_MS = 10, WIDTH_ENDING = 4 };

static const uint64_t linger_ns = 1000000000u;

static bool is_wanted_here(const struct holding *holding) {
  return holding->stage == HOLDING_ASKING && strcmp(holding->wanted, holding->holder->settings.node) == 0;
}

/* That this node is there, and how far its process is. Each of these may be lost, or come too early. */
static void tell_owner(const struct holding *holding) {
  char subject[BROKER_SUBJECT_BYTES];
  follow_told told;
  memset(&told, 0, sizeof told);
  snprintf(told.node, sizeof told.node, "%s", holding->holder->settings.node);
  if (holding->follow.stage == FOLLOW_RUNNING && holding->follow.near) {
    told.version = holding->stored_note.object.version;
    told.frame = holding->follow.frame;
  }
  moves_name(holding, subject);
  broker_tell(holding->holder->broker, holding->ground.number, subject, &told, sizeof told);
}

/* The lease may be this node's at any moment. */
static void come_near(struct holding *holding) {
  if (!holding->follow.near) holding_ask_soon(holding);
  holding->follow.near = true;
}

/* ------------------------------------------------------------------------------------------------------------- ends */

/* Nothing is followed, and the process has no wire. */
void follow_end(struct holding *holding) {
  uv_timer_stop(&holding->follow_timer);
  holding->follow = (holding_follow){.failed = holding->follow.failed};
}

/* What is under way for it is for nobody. Its process is asked to end, and has its files and its wire until then. */
void follow_drop(struct holding *holding, const char *why) {
  if (holding->follow.stage == FOLLOW_NONE) return;
  follow_end(holding);
  holding->tenure++;
  holding->brings_again = false;
  journal_stream_end(holding);
  holding->dropped = true;
  holding->dropped_ns = clock_system();
  holding_put(holding, (wire_head){.kind = WIRE_MOVE, .number = WIRE_MOVE_OVER}, NULL);
  processes_expect_end(holding->process, why);
  if (!holding->process->has_process) follow_forget(holding);
  if (holding->stage == HOLDING_ASKING) holding_later(holding, 0);
}

void follow_forget(struct holding *holding) {
  if (!holding->dropped) return;
  holding->dropped = false;
  holding_close_socket(holding);
  stored_remove(holding);
}

bool follow_lingers(struct holding *holding) {
  if (!holding->process->has_process || holding->follow.stage != FOLLOW_NONE) return false;
  if (clock_system() - holding->dropped_ns > linger_ns) processes_replace(holding->process, "it does not end");
  return true;
}

/* It has ended by itself: the zone is not tried again in this way for this order; or with the lease, it is brought as
 * any other. */
void follow_lost_process(struct holding *holding) {
  follow_stage stage = holding->follow.stage;
  if (stage != FOLLOW_RUNNING && stage != FOLLOW_ENDING) return;
  holding->follow.failed = true;
  follow_drop(holding, "");
  if (stage == FOLLOW_ENDING) stored_bring(holding);
}

/* ------------------------------------------------------------------------------------------------------------ begin */

static void take_followed_note(muster_result result, const void *bytes, size_t count, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  stored_note note;
  if (!holding_call_end(call) || result || !bytes || count != sizeof note || !is_wanted_here(holding)) return;
  memcpy(&note, bytes, sizeof note);
  if (place_is_none(note.object.version)) return;
  if (holding->follow.stage != FOLLOW_NONE && !place_equal(note.object.version, holding->stored_note.object.version))
    follow_drop(holding, "the zone that it follows was stored anew");
  else if (holding->follow.stage == FOLLOW_NONE && !holding->process->has_process) {
    holding->follow.stage = FOLLOW_FETCHING;
    stored_follow(holding, &note);
  }
}

static void look_at_note(struct holding *holding) {
  holding_call *call = holding_call_begin(holding, NULL);
  if (call &&
      broker_read_stored(holding->holder->broker, holding->ground.number, take_followed_note, call) == MUSTER_OK)
    return;
  free(call);
}

void follow_look(struct holding *holding) {
  if (holding->stage != HOLDING_ASKING) return;
  if (!is_wanted_here(holding)) {
    holding->follow.failed = holding->follow.near = false;
    follow_drop(holding, "the zone that it follows is not to be moved here any more");
    return;
  }
  if (!holding->holder->settings.journal_stream) come_near(holding); /* there is nothing to follow */
  tell_owner(holding);
  if (!holding->holder->settings.journal_stream || holding->follow.failed) return;
  if (holding->brings_again) stored_bring_again(holding);
  look_at_note(holding);
}

/* The record is there as far as it is kept. */
void follow_files(struct holding *holding) {
  const wire_begin begin = {.epoch = holding->lease.epoch ? holding->lease.epoch : 1,
                            .restores = 1,
                            .follows = 1,
                            .clock = holding->holder->clock.clock.reading,
                            .ground = holding->ground};
  if (!holding_open_wire(holding)) {
    follow_drop(holding, "its process has no socket to the supervisor");
    return;
  }
  log_line(MUSTER_LOG_INFO, "world %s: zone %u is followed, to be moved here", holding->process->name,
           holding->ground.number);
  holding->follow.stage = FOLLOW_RUNNING;
  holding_put(holding, (wire_head){.kind = WIRE_BEGIN, .bytes = sizeof begin}, &begin);
  processes_begin(holding->process);
  holding_tell(holding, true, "its zone is followed, to be moved here");
}

/* ----------------------------------------------------------------------------------------------------------- record */

static void read_again(uv_timer_t *timer) {
  struct holding *holding = timer->data;
  if (holding->follow.stage == FOLLOW_RUNNING) journal_stream_read_on(holding, holding->follow.next, 1);
}

static void go_on_with_lease(struct holding *holding);

void follow_wrote(struct holding *holding) {
  if (holding->follow.stage < FOLLOW_RUNNING) return;
  holding_put(holding, (wire_head){.kind = WIRE_RECORD, .number = holding->journal_at}, NULL);
}

void follow_read(struct holding *holding) {
  switch (holding->follow.stage) {
  case FOLLOW_FETCHING:
    follow_files(holding);
    break;
  case FOLLOW_ENDING:
    holding->follow.read = true;
    go_on_with_lease(holding);
    return;
  default:
    break;
  }
  if (holding->follow.stage == FOLLOW_RUNNING) uv_timer_start(&holding->follow_timer, read_again, READ_AGAIN_MS, 0);
}

void follow_take_frame(struct holding *holding, uint64_t frame) {
  if (holding->follow.stage != FOLLOW_RUNNING) return;
  come_near(holding);
  holding->follow.frame = frame;
  tell_owner(holding);
}

/* ------------------------------------------------------------------------------------------------------------ lease */

/* Both are known that were asked for with the lease. */
static void go_on_with_lease(struct holding *holding) {
  holding_follow *follow = &holding->follow;
  if (!follow->noted || (follow->same && !follow->read)) return;
  if (!follow->same) {
    log_line(MUSTER_LOG_INFO, "world %s: what was followed is not what is stored of zone %u: it is brought anew",
             holding->process->name, holding->ground.number);
    follow->failed = true;
    journal_stream_end(holding);
    processes_replace(holding->process, "it does not follow what is stored"); /* its end is heard */
    return;
  }
  follow_end(holding);
  stored_write_epoch(holding);
  holding->process->standby[0] = '\0';
  holding->process->elsewhere = false;
  holding_hand_over(holding, true);
}

static void take_note_with_lease(muster_result result, const void *bytes, size_t count, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  stored_note note;
  if (!holding_call_end(call) || holding->follow.stage != FOLLOW_ENDING) return;
  bool known = !result && bytes && count == sizeof note;
  if (known) memcpy(&note, bytes, sizeof note);
  holding->follow.noted = true;
  holding->follow.same = known && place_equal(note.object.version, holding->stored_note.object.version);
  go_on_with_lease(holding);
}

bool follow_take(struct holding *holding) {
  follow_stage stage = holding->follow.stage;
  if (stage == FOLLOW_NONE) return false;
  if (stage == FOLLOW_FETCHING) {
    follow_drop(holding, "");
    return false;
  }
  ASSERT(stage == FOLLOW_RUNNING);
  uv_timer_stop(&holding->follow_timer);
  holding->follow.stage = FOLLOW_ENDING;
  holding_call *call = holding_call_begin(holding, NULL);
  bool asked = call && broker_read_stored(holding->holder->broker, holding->ground.number, take_note_with_lease,
                                          call) == MUSTER_OK;
  if (!asked) {
    free(call);
    holding->follow.noted = true;
    go_on_with_lease(holding);
    return true;
  }
  journal_stream_leave(holding); /* what was asked for before the lease says nothing of the end */
  journal_stream_read_on(holding, holding->follow.next, WIDTH_ENDING);
  return true;
}
