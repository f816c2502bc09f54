#include "service/zones/wire.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_BYTES = 1 << 18 };

void wire_open(struct wire *wire, int descriptor) {
  *wire = (struct wire){.descriptor = descriptor};
}

void wire_close(struct wire *wire) {
  free(wire->in);
  free(wire->out);
  *wire = (struct wire){.descriptor = -1, .broken = true};
}

static bool wire_break(struct wire *wire) {
  wire->broken = true;
  return false;
}

/* Room for `more` bytes behind `count`, of which those before `at` are not needed any more. */
static bool wire_make_room(unsigned char **bytes, size_t *count, size_t *at, size_t *room, size_t more) {
  if (*at && *room - *count < more) {
    memmove(*bytes, *bytes + *at, *count - *at);
    *count -= *at;
    *at = 0;
  }
  if (*room - *count >= more) return true;
  unsigned char *larger = realloc(*bytes, 2 * (*count + more));
  if (!larger) return false;
  *bytes = larger;
  *room = 2 * (*count + more);
  return true;
}

bool wire_put(struct wire *wire, wire_head head, const void *bytes) {
  size_t all = sizeof head + head.bytes;
  if (wire->broken) return false;
  if (wire->out_count - wire->out_at > WIRE_WAITING_MAX ||
      !wire_make_room(&wire->out, &wire->out_count, &wire->out_at, &wire->out_room, all))
    return wire_break(wire);
  memcpy(wire->out + wire->out_count, &head, sizeof head);
  if (head.bytes) memcpy(wire->out + wire->out_count + sizeof head, bytes, head.bytes);
  wire->out_count += all;
  return true;
}

bool wire_flush(struct wire *wire) {
  while (!wire->broken && wire->out_at < wire->out_count) {
    ssize_t sent =
        send(wire->descriptor, wire->out + wire->out_at, wire->out_count - wire->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return false;
    if (sent < 0) return wire_break(wire);
    wire->out_at += (size_t)sent;
  }
  if (wire->out_at == wire->out_count) wire->out_at = wire->out_count = 0;
  return !wire->broken;
}

static bool has_message(struct wire *wire, wire_message *message) {
  size_t there = wire->in_count - wire->in_at;
  if (there < sizeof message->head) return false;
  memcpy(&message->head, wire->in + wire->in_at, sizeof message->head);
  if (message->head.kind == 0 || message->head.kind >= WIRE_KINDS || message->head.bytes > WIRE_MESSAGE_MAX)
    return wire_break(wire);
  if (there - sizeof message->head < message->head.bytes) return false;
  message->bytes = wire->in + wire->in_at + sizeof message->head;
  wire->in_at += sizeof message->head + message->head.bytes;
  return true;
}

/* Whether bytes came. */
static bool wire_read(struct wire *wire) {
  if (!wire_make_room(&wire->in, &wire->in_count, &wire->in_at, &wire->in_room, READ_BYTES)) return wire_break(wire);
  ssize_t got = recv(wire->descriptor, wire->in + wire->in_count, wire->in_room - wire->in_count, MSG_DONTWAIT);
  if (got > 0) wire->in_count += (size_t)got;
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) wire_break(wire);
  return got > 0;
}

bool wire_next(struct wire *wire, wire_message *message) {
  while (!wire->broken)
    if (has_message(wire, message))
      return true;
    else if (!wire_read(wire))
      break;
  return false;
}

bool wire_wait(struct wire *wire, int limit_ms, wire_message *message) {
  while (!wire->broken) {
    bool sent = wire_flush(wire);
    if (wire_next(wire, message)) return true;
    struct pollfd waits = {.fd = wire->descriptor, .events = (short)(POLLIN | (sent ? 0 : POLLOUT))};
    int ready = poll(&waits, 1, limit_ms);
    if (ready == 0 || (ready < 0 && errno != EINTR)) break;
  }
  return false;
}
