/* holder_clock.c - the land's clock (land_clock.h) on this node: its questions and answers by NATS, its note in etcd,
 * and what the processes of zones are told of it. */
#include "service/log.h"
#include "service/zones/balancer.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static void name_asks(const struct holder *holder, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.clock", holder->settings.cluster);
}

static void name_answers(const struct holder *holder, const char *node, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.clock.%s", holder->settings.cluster, node);
}

static bool leads(const struct holder *holder) {
  return balancer_has_lease(holder->balancer);
}

/* ------------------------------------------------------------------------------------------------------- questions */

static void take_land_ask(const void *bytes, size_t count, void *user) {
  struct holder *holder = user;
  char subject[BROKER_SUBJECT_BYTES], text[LAND_TEXT_BYTES];
  land_question ask;
  land_answer answer;
  if (holder->closing || !holder->name.has || !clock_is_known(holder) || !land_question_read(bytes, count, &ask))
    return;
  if (!land_clock_asked(&holder->clock.clock, clock_boot(), leads(holder), &ask, &answer)) return;
  name_answers(holder, ask.node, subject);
  land_answer_write(&answer, text);
  broker_tell(holder->broker, holder->clock.turns, subject, text, strlen(text));
}

static void take_land_answer(const void *bytes, size_t count, void *user) {
  struct holder *holder = user;
  land_answer answer;
  if (holder->closing || !land_answer_read(bytes, count, &answer)) return;
  land_clock_answered(&holder->clock.clock, clock_boot(), leads(holder), &answer);
}

/* Over one server after the other, as all that is told: of the answers that which was fastest counts. */
static void tell_land_ask(struct holder *holder, const land_question *ask) {
  char subject[BROKER_SUBJECT_BYTES], text[LAND_TEXT_BYTES];
  name_asks(holder, subject);
  land_question_write(ask, text);
  broker_tell(holder->broker, holder->clock.turns, subject, text, strlen(text));
}

/* ------------------------------------------------------------------------------------------------------------ note */

static void take_land_note(muster_result result, const char *text, void *user) {
  struct holder *holder = user;
  holder_clock *clock = &holder->clock;
  land_note note;
  bool is_leader = leads(holder);
  clock->asks = false;
  if (holder->closing || result || clock->clock.known) return; /* the next turn asks again */
  if (text && !land_note_read(text, &note)) {
    log_line(MUSTER_LOG_ERROR, "cluster %s: etcd: its clock is \"%s\", which is no land time: no zone runs",
             holder->settings.cluster, text);
    return;
  }
  clock->is_new = is_leader && !text;
  land_clock_noted(&clock->clock, clock_boot(), is_leader, clock->boot, text ? &note : NULL);
  if (!clock->clock.known) return;
  log_line(MUSTER_LOG_INFO, "cluster %s: land time goes on from %.3f s", holder->settings.cluster,
           (double)land_clock_at(&clock->clock, clock_boot()) * 1e-9);
}

static void take_land_noted(muster_result result, void *user) {
  struct holder *holder = user;
  holder->clock.asks = false;
  if (result != MUSTER_E_SYSTEM) holder->clock.is_new = false; /* another put it, or this one, whose answer was lost */
}

static void put_land_note(struct holder *holder, const land_note *note) {
  char text[LAND_TEXT_BYTES];
  land_note_write(note, text);
  holder->clock.asks = broker_clock_put(holder->broker, &holder->balancer->lease, text, holder->clock.is_new,
                                        take_land_noted, holder) == MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------------------- turns */

static void tell_processes(struct holder *holder) {
  const land_reading *reading = &holder->clock.clock.reading;
  for (uint32_t i = 0; i < holder->count; i++)
    holding_put(&holder->holdings[i], (wire_head){.kind = WIRE_CLOCK, .bytes = sizeof *reading}, reading);
}

static void clock_turn(uv_timer_t *timer) {
  struct holder *holder = timer->data;
  holder_clock *clock = &holder->clock;
  if (holder->closing) return;
  clock->turns++;
  land_turn turn = land_clock_turn(&clock->clock, clock_boot(), leads(holder), clock->boot);
  if (turn.asks && holder->name.has) tell_land_ask(holder, &turn.ask);
  if (turn.reads && !clock->asks) clock->asks = broker_clock_read(holder->broker, take_land_note, holder) == MUSTER_OK;
  if (turn.notes && !clock->asks) put_land_note(holder, &turn.note);
  if (clock->clock.known) tell_processes(holder);
}

bool clock_is_known(const struct holder *holder) {
  return holder->clock.clock.known && !holder->clock.is_new;
}

uint64_t clock_land(const struct holder *holder) {
  return land_clock_at(&holder->clock.clock, clock_boot());
}

bool clock_open(struct holder *holder) {
  char subject[BROKER_SUBJECT_BYTES];
  holder_clock *clock = &holder->clock;
  land_clock_open(&clock->clock, holder->settings.node);
  stored_read_boot(clock->boot);
  if (uv_timer_init(holder->loop, &clock->timer)) return false;
  clock->timer.data = holder;
  name_asks(holder, subject);
  if (!broker_listen(holder->broker, subject, take_land_ask, holder)) return false;
  name_answers(holder, holder->settings.node, subject);
  if (!broker_listen(holder->broker, subject, take_land_answer, holder)) return false;
  uv_timer_start(&clock->timer, clock_turn, 0, LAND_TURN_MS);
  return true;
}
