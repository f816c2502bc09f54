#include "base/files.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *name_of_kind(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFDIR:
    return "a folder";
  case S_IFLNK:
    return "a symbolic link";
  case S_IFIFO:
    return "a FIFO";
  case S_IFSOCK:
    return "a socket";
  default:
    return "a device";
  }
}

static muster_result refuse_kind(mode_t mode) {
  return error_set(MUSTER_E_INPUT, "it is %s, not a regular file", name_of_kind(mode));
}

/* Ends an attempt; `reason` is the errno of a call that failed, or 0 when the message is set already. */
static int files_give_up(int descriptor, int reason) {
  if (reason) error_set(MUSTER_E_SYSTEM, "cannot be opened: %s", strerror(reason));
  if (descriptor >= 0) close(descriptor);
  errno = reason ? reason : EINVAL;
  return -1;
}

/* Opens by a call that a confined process may make even when none is left that hears its calls
 * (service/supervise/confine.h); kernels that do not have it take the older one. So does what is refused: who hears
 * that one may open the file for the process. */
static int open_any(int folder, const char *path, int flags, mode_t mode) {
  struct open_how how = {.flags = (uint64_t)flags, .mode = flags & O_CREAT ? mode : 0};
  long descriptor = syscall(SYS_openat2, folder, path, &how, sizeof how);
  bool other = descriptor < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES);
  return other ? openat(folder, path, flags, mode) : (int)descriptor;
}

int files_open_folder(const char *path) {
  return open_any(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

bool files_sync_folder_of(const char *path) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  int folder = files_open_folder(dirname(copy));
  bool synced = folder >= 0 && fsync(folder) == 0;
  int problem = errno;
  if (folder >= 0) close(folder);
  errno = problem;
  return synced;
}

/* Looks at the path before it is opened, since opening may wind a tape or start a watchdog; and once more when it is
 * open, since another file may have got its name. Cuts only what is known to be a regular file to zero bytes. */
int files_open_regular(int folder, const char *path, int flags, mode_t mode) {
  struct stat status;
  bool known = fstatat(folder, path, &status, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) == 0;
  if (known && !S_ISREG(status.st_mode)) return refuse_kind(status.st_mode), files_give_up(-1, 0);
  int descriptor = open_any(folder, path, (flags & ~O_TRUNC) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return files_give_up(descriptor, errno);
  if (!S_ISREG(status.st_mode)) return refuse_kind(status.st_mode), files_give_up(descriptor, 0);
  if (flags & O_TRUNC && ftruncate(descriptor, 0) != 0) return files_give_up(descriptor, errno);
  return descriptor;
}

muster_result files_check_replaceable(const char *path) {
  struct stat status;
  return lstat(path, &status) != 0 || S_ISREG(status.st_mode) ? MUSTER_OK : refuse_kind(status.st_mode);
}
