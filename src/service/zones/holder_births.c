/* holder_births.c - the birth spaces of a zone that this node runs (spaces.h): its process asks for another one, and
 * tells which it names. */
#include "service/log.h"
#include "service/zones/holder_parts.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t sweep_gap_ns = 60000000000u;

void births_begin(struct holding *holding) {
  holding_births *births = &holding->births;
  const uint64_t unborn = births->unborn;
  *births = (holding_births){.space = holding->lease.space, .unborn = unborn};
}

/* ------------------------------------------------------------------------------------------------------------- take */

static void births_ask(struct holding *holding);

static void put_space_in_force(struct holding *holding) {
  const zone_space *space = &holding->births.space;
  holding_put(holding, (wire_head){.kind = WIRE_SPACE, .number = space->space, .sequence = space->used}, NULL);
}

static void tell_half(struct holding *holding) {
  holding_births *births = &holding->births;
  if (spaces_are_half(births->space.used) && !births->half_told)
    log_line(MUSTER_LOG_WARNING,
             "world %s: zone %u has used %u of its %d birth spaces: NPCs of old ones still live, or a "
             "zone of the cluster does not run",
             holding->process->name, holding->ground.number, births->space.used, SPACES_MAX);
  births->half_told = spaces_are_half(births->space.used);
}

static void take_swept(muster_result result, const zone_space *space, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  holding_births *births = &holding->births;
  if (!holding_call_end(call)) return;
  births->asks = false;
  if (result == MUSTER_E_STATE) {
    holding_lose(holding, "its lease is another's, or has ended");
    return;
  }
  if (!result && space->used < births->space.used)
    log_line(MUSTER_LOG_INFO, "world %s: zone %u: %u birth spaces are free again, %u are used", holding->process->name,
             holding->ground.number, births->space.used - space->used, space->used);
  if (!result) {
    births->space = *space;
    put_space_in_force(holding);
  }
  tell_half(holding);
  if (births->wanted) births_ask(holding);
}

static void sweep(struct holding *holding) {
  holding_births *births = &holding->births;
  holding_call *call = births->asks ? NULL : holding_call_begin(holding, NULL);
  if (!call) return;
  births->swept_ns = clock_boot();
  births->asks = broker_space_sweep(holding->holder->broker, &holding->lease, take_swept, call) == MUSTER_OK;
  if (!births->asks) free(call);
}

/* None is free: those that are not named any more are looked for once, and then the process ends, which asks again. */
static void lack_space(struct holding *holding) {
  holding_births *births = &holding->births;
  if (!births->swept) {
    births->swept = true;
    sweep(holding);
    return;
  }
  if (!births->lack_told) log_line(MUSTER_LOG_ERROR, "world %s: %s", holding->process->name, muster_last_error());
  births->lack_told = true;
  births->wanted = births->swept = false;
  if (holding->stage != HOLDING_RUNNING) holding_lose(holding, muster_last_error());
}

static void births_take_space(muster_result result, const zone_space *space, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  holding_births *births = &holding->births;
  if (!holding_call_end(call)) return;
  births->asks = false;
  if (result == MUSTER_E_STATE)
    holding_lose(holding, "its lease is another's, or has ended");
  else if (result == MUSTER_E_FULL)
    lack_space(holding);
  if (result) return; /* the next turn asks again */
  births->space = *space;
  births->wanted = births->swept = births->lack_told = false;
  births->unborn = holding->stage == HOLDING_RUNNING ? 0 : holding->lease.epoch;
  tell_half(holding);
  put_space_in_force(holding);
}

static void births_ask(struct holding *holding) {
  holding_births *births = &holding->births;
  holding_call *call = births->asks ? NULL : holding_call_begin(holding, NULL);
  if (!call) return;
  const broker_space_wish wish = {.unborn = births->unborn, .own = births->own};
  births->asks =
      broker_space_take(holding->holder->broker, &holding->lease, &wish, births_take_space, call) == MUSTER_OK;
  if (!births->asks) free(call);
}

void births_turn(struct holding *holding) {
  bool owns = holding->leased && holding->stage >= HOLDING_STARTING && holding->stage <= HOLDING_RUNNING;
  if (owns && holding->births.wanted) births_ask(holding);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static void births_take_named(struct holding *holding, const wire_message *message) {
  holding_births *births = &holding->births;
  size_t count = message->head.bytes / sizeof *births->told.names;
  memmove(&births->looks[1], births->looks, (HOLDING_LOOKS - 1) * sizeof *births->looks);
  births->looks[0] = (holding_look){.told_ns = clock_boot()};
  bool many = message->head.sequence || count > SPACES_NAMED_MAX;
  births->told.note =
      (spaces_note){.after = (int64_t)message->head.number, .count = many ? UINT32_MAX : (uint32_t)count};
  if (!many && count) memcpy(births->told.names, message->bytes, count * sizeof *births->told.names);
}

void births_take_message(struct holding *holding, const wire_message *message) {
  if (message->head.kind == WIRE_NAMED) {
    births_take_named(holding, message);
    return;
  }
  holding->births.wanted = true;
  holding->births.own = (uint32_t)message->head.number;
  births_ask(holding);
}

static void note_revision_of(holding_look *look, uint64_t asked_ns, int64_t revision) {
  if (look->told_ns && !look->revision && look->told_ns < asked_ns) look->revision = revision;
}

/* What was asked behind a look has a later revision. */
void births_take_renewal(struct holding *holding, uint64_t asked_ns) {
  holding_births *births = &holding->births;
  int64_t revision = broker_revision(holding->holder->broker);
  for (uint32_t i = 0; i < HOLDING_LOOKS; i++) note_revision_of(&births->looks[i], asked_ns, revision);
  note_revision_of(&births->storing_look, asked_ns, revision);
}

/* A version that is packed before its process has told of a snapshot may be older than its first look. */
void births_store(struct holding *holding) {
  holding_births *births = &holding->births;
  uint32_t last = HOLDING_LOOKS - 1;
  while (last > 0 && !births->looks[last].told_ns) last--;
  births->storing = births->told;
  births->storing_look = holding->snapshots ? births->looks[last] : (holding_look){0};
}

size_t births_named_bytes(struct holding *holding) {
  spaces_note *note = &holding->births.storing.note;
  note->since = holding->births.storing_look.revision;
  return sizeof *note + (note->count <= SPACES_NAMED_MAX ? note->count * sizeof *holding->births.storing.names : 0);
}

void births_stored(struct holding *holding) {
  holding_births *births = &holding->births;
  bool due = births->space.used >= SPACES_SWEEP && clock_boot() - births->swept_ns >= sweep_gap_ns;
  if (due && holding->stage == HOLDING_RUNNING) sweep(holding);
}

bool holder_tells_of_births(const struct holder *holder, uint32_t *next, char words[HOLDER_WORDS_BYTES]) {
  while (holder && *next < holder->count) {
    const struct holding *holding = &holder->holdings[(*next)++];
    if (!holding->leased || !spaces_are_half(holding->births.space.used)) continue;
    snprintf(words, HOLDER_WORDS_BYTES, "zone %u has used %u of its %d birth spaces", holding->ground.number,
             holding->births.space.used, SPACES_MAX);
    return true;
  }
  return false;
}

/* ------------------------------------------------------------------------------------------------------------ close */

const zone_space *births_close(struct holding *holding, uint64_t frame) {
  holding_births *births = &holding->births;
  bool whole = births->space.space && !births->asks && !births->wanted && frame > 0;
  if (whole) space_close(&births->space, holding->lease.epoch, frame);
  return whole ? &births->space : NULL;
}
