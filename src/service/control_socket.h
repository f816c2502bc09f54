/* service/control_socket.h - the unix socket of control: bound once, by one service at a time, and removed in the end.
 *
 * A lock on the file beside it (PATH.lock) says which service owns the socket. So the socket of a killed service is
 * taken over, that of a running one is not, and two services that start at once cannot both have it. */
#ifndef SERVICE_CONTROL_SOCKET_H
#define SERVICE_CONTROL_SOCKET_H

#include "service/settings.h"

typedef struct control_socket {
  char path[SOCKET_BYTES];
  int descriptor; /* bound and listening, mode 0600, close-on-exec, not blocking; -1 = not open */
  int lock;       /* -1 = the socket is inherited */
} control_socket;

/* MUSTER_E_STATE when another service has it; MUSTER_E_SYSTEM when the operating system refuses, or the path is taken
 * by a file that is no socket. Nothing is left behind on failure. Loop's thread. */
muster_result control_socket_open(control_socket *socket, const char *path);

/* A socket that this process has inherited, which its supervisor bound and removes. */
void control_socket_inherit(control_socket *socket, int descriptor);

/* Removes socket and lock; a no-op when the socket is not open. Loop's thread. */
void control_socket_close(control_socket *socket);

#endif
