/* wires.h - both ends of a wire, as the process of a zone and its supervisor have it. */
#ifndef WIRES_H
#define WIRES_H

#include "room.h"
#include "service/zones/wire.h"

static inline void wires_open(struct wire *one, struct wire *other, bool waits) {
  int ends[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0, ends), 0);
  wire_open(one, ends[0]);
  wire_open(other, ends[1]);
}

static inline void wires_close(struct wire *one, struct wire *other) {
  close(one->descriptor), close(other->descriptor);
  wire_close(one), wire_close(other);
}

#endif
