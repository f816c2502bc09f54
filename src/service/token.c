#include "service/token.h"

#include "base/error.h"
#include "base/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST_BYTES = 16 };

static muster_result refuse(const char *path, char token[TOKEN_BYTES], const char *reason) {
  *token = '\0';
  return error_set(MUSTER_E_INPUT, "%s: %s", path, reason);
}

muster_result token_read(const char *path, char token[TOKEN_BYTES]) {
  struct stat status;
  *token = '\0';
  if (!*path) return MUSTER_OK;
  int file = files_open_regular(AT_FDCWD, path, O_RDONLY, 0);
  if (file < 0) return refuse(path, token, muster_last_error());
  bool exposed = fstat(file, &status) != 0 || status.st_mode & (S_IROTH | S_IWOTH);
  ssize_t got = exposed ? 0 : read(file, token, TOKEN_BYTES - 1);
  close(file);
  if (exposed) return refuse(path, token, "everybody may read or write it; take that away with chmod o-rw");
  token[got > 0 ? got : 0] = '\0';
  token[strcspn(token, "\r\n")] = '\0';
  if (strlen(token) >= LEAST_BYTES) return MUSTER_OK;
  return refuse(path, token, "its first line must be a token of 16 .. 250 bytes");
}
