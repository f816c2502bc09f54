#include "service/control_socket.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, LOCK_PATH_BYTES = SOCKET_BYTES + 8 };

static void lock_path(const char *path, char out[LOCK_PATH_BYTES]) {
  snprintf(out, LOCK_PATH_BYTES, "%s.lock", path);
}

/* Whether the locked file is still the one at the path: its last owner may have removed it in between. */
static bool is_current(int lock, const char *name) {
  struct stat held, named;
  return fstat(lock, &held) == 0 && lstat(name, &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

static muster_result take_lock(control_socket *socket) {
  char name[LOCK_PATH_BYTES];
  lock_path(socket->path, name);
  for (;;) {
    socket->lock = files_open_regular(AT_FDCWD, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (socket->lock < 0)
      return error_set(MUSTER_E_SYSTEM, "%s: %s; make its folder, or give another --socket", name, muster_last_error());
    if (flock(socket->lock, LOCK_EX | LOCK_NB) != 0) {
      int reason = errno;
      close(socket->lock);
      if (reason == EWOULDBLOCK)
        return error_set(MUSTER_E_STATE, "another service has the socket %s; stop it, or give another --socket",
                         socket->path);
      return error_set(MUSTER_E_SYSTEM, "cannot lock %s: %s", name, strerror(reason));
    }
    if (is_current(socket->lock, name)) return MUSTER_OK;
    close(socket->lock);
  }
}

static void leave_lock(control_socket *socket) {
  char name[LOCK_PATH_BYTES];
  lock_path(socket->path, name);
  unlink(name);
  close(socket->lock);
}

/* The holder of the lock may remove a socket that stands there. */
static muster_result remove_stale(const char *path) {
  struct stat found;
  if (lstat(path, &found) != 0) return MUSTER_OK;
  if (!S_ISSOCK(found.st_mode))
    return error_set(MUSTER_E_SYSTEM, "%s is there and no socket; remove it, or give another --socket", path);
  if (unlink(path) == 0) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "cannot remove the socket that was left at %s: %s", path, strerror(errno));
}

/* No other user may connect at any moment, so the umask sets the mode when the socket is made. */
static int bind_privately(int descriptor, const struct sockaddr_un *address) {
  mode_t before = umask(0177);
  int problem = bind(descriptor, (const struct sockaddr *)address, sizeof *address);
  umask(before);
  return problem;
}

static muster_result make_socket(control_socket *control) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, control->path, strlen(control->path) + 1);
  control->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (control->descriptor < 0) return error_set(MUSTER_E_SYSTEM, "no socket: %s", strerror(errno));
  if (bind_privately(control->descriptor, &address) == 0 && listen(control->descriptor, BACKLOG) == 0) return MUSTER_OK;
  int reason = errno;
  close(control->descriptor);
  control->descriptor = -1;
  return error_set(MUSTER_E_SYSTEM, "cannot listen on %s: %s; does the folder exist, and may you write to it?",
                   control->path, strerror(reason));
}

muster_result control_socket_open(control_socket *socket, const char *path) {
  *socket = (control_socket){.descriptor = -1, .lock = -1};
  if (strlen(path) >= SOCKET_BYTES)
    return error_set(MUSTER_E_ARGUMENT, "the socket's path has more than %d bytes", SOCKET_BYTES - 1);
  snprintf(socket->path, sizeof socket->path, "%s", path);
  muster_result result = take_lock(socket);
  if (result) return result;
  result = remove_stale(path);
  if (!result) result = make_socket(socket);
  if (result) leave_lock(socket);
  return result;
}

void control_socket_inherit(control_socket *socket, int descriptor) {
  *socket = (control_socket){.descriptor = descriptor, .lock = -1};
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

void control_socket_close(control_socket *socket) {
  if (socket->descriptor < 0) return;
  if (socket->lock >= 0) unlink(socket->path);
  close(socket->descriptor);
  socket->descriptor = -1;
  if (socket->lock >= 0) leave_lock(socket);
}
