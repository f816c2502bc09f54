/* proxy.h - connections over loopback that a test can cut and heal, for partitions that need no root.
 *
 * The proxy is a process of its own, which ends with the test. It knows parties by number: brokers and whoever talks to
 * them. A listener leads to one party; who comes is either fixed (the listener is that party's own way there) or found
 * out by the process that has the connecting socket, since brokers come from any port.
 *
 *     proxy *ways = proxy_start();
 *     uint16_t port = proxy_listen(ways, 4222, 0, 7);     party 7's way to party 0, which listens at 4222
 *     proxy_cut(ways, 7, 0, true);                        from now on nothing passes between them
 *     proxy_cut(ways, 7, 0, false);                       what was held back arrives, in order
 *
 * Cut means what it means on a network: no byte, no end of a connection and no new connection passes, and no side is
 * told. Commands have taken effect when they return; a failure of the proxy fails the test. */
#ifndef PROXY_H
#define PROXY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROXY_PARTIES_MAX = 64, PROXY_ASK = -1 };

typedef struct proxy {
  pid_t process;
  int commands; /* a socket to the process */
} proxy;

/* Starts the process; the test must not have threads of its own yet that hold locks. */
void proxy_start(proxy *ways);

/* Opens a listener on a free port of loopback, which it returns, that leads to the port `target`, of the party `to`.
 * `from` is the party that comes; PROXY_ASK = find out by the process that connects. */
uint16_t proxy_listen(proxy *ways, uint16_t target, int to, int from);

/* Says which process a party is. A connection of an unknown process waits until it is known. */
void proxy_know(proxy *ways, int party, pid_t process);

/* Cuts two parties from each other, in both directions, or heals that. */
void proxy_cut(proxy *ways, int a, int b, bool is_cut);

/* How many bytes have passed from a party to another, whichever of them connected. */
uint64_t proxy_bytes(proxy *ways, int from, int to);

/* Ends the process, and with it all connections. */
void proxy_end(proxy *ways);

#endif
