#include "output.h"

#include "complaint.h"
#include "plots.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(struct output *output, const char *path) {
  int reason = errno;
  output_discard(output);
  complain_failure("cannot write '%s': %s; choose another file", path, strerror(reason));
  return false;
}

static bool open_directly(struct output *output, const char *path) {
  output->descriptor = strcmp(path, "-") == 0 ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CLOEXEC);
  return output->descriptor >= 0 || refuse(output, path);
}

/* mkstemp makes a file for its owner alone; the result gets the permissions that any new file would get. */
static void open_to_others(int descriptor) {
  mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(descriptor, 0666 & ~mask);
}

/* A signal that ends the program is held back until the temporary file is gone, or that file would stay there. */
static void hold_signals(struct output *output) {
  sigset_t stopping;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGINT);
  sigaddset(&stopping, SIGTERM);
  sigaddset(&stopping, SIGHUP);
  sigprocmask(SIG_BLOCK, &stopping, &output->signals);
}

static bool make_temporary(struct output *output) {
  snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", output->path);
  hold_signals(output);
  output->descriptor = mkostemp(output->temporary, O_CLOEXEC);
  if (output->descriptor >= 0) {
    open_to_others(output->descriptor);
    return true;
  }
  int reason = errno;
  output->temporary[0] = '\0';
  sigprocmask(SIG_SETMASK, &output->signals, NULL);
  errno = reason;
  return false;
}

static void drop_temporary(struct output *output) {
  if (!*output->temporary) return;
  unlink(output->temporary);
  output->temporary[0] = '\0';
  sigprocmask(SIG_SETMASK, &output->signals, NULL);
}

/* Where a result is to stand once the links on the way are followed; false with errno when its folder is not there. */
static bool resolve(const char *path, char whole[PATH_MAX]) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (realpath(path, whole)) return true;
  if (errno != ENOENT || !*name) return false;
  int length = slash == path ? 1 : slash ? (int)(slash - path) : 1;
  snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
  if (!realpath(folder, whole)) return false;
  size_t used = strlen(whole);
  if (snprintf(whole + used, PATH_MAX - used, "%s%s", used > 1 ? "/" : "", name) < (int)(PATH_MAX - used)) return true;
  errno = ENAMETOOLONG;
  return false;
}

bool output_open(struct output *output, const char *path) {
  struct stat status;
  *output = (struct output){.descriptor = -1};
  if (strcmp(path, "-") == 0) return open_directly(output, path);
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode)) errno = EISDIR;
    if (S_ISDIR(status.st_mode) || access(path, W_OK) != 0) return refuse(output, path);
    if (!S_ISREG(status.st_mode)) return open_directly(output, path);
  }
  if (!resolve(path, output->path) || !make_temporary(output)) return refuse(output, path);
  close(output->descriptor);
  output->descriptor = -1;
  drop_temporary(output);
  return true;
}

bool output_is_same(const char *path, const char *other) {
  struct stat status;
  char first[PATH_MAX], second[PATH_MAX];
  if (strcmp(path, "-") == 0 || strcmp(other, "-") == 0) return strcmp(path, other) == 0;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return false;
  return resolve(path, first) && resolve(other, second) && strcmp(first, second) == 0;
}

bool output_put(int descriptor, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(descriptor, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text += written;
    length -= (size_t)written;
  }
  return true;
}

static const char *place_of(const struct output *output) {
  return *output->path ? output->path : "the result";
}

bool output_write(struct output *output, const char *text, size_t length) {
  if (output->descriptor < 0 && !make_temporary(output)) return refuse(output, place_of(output));
  return output_put(output->descriptor, text, length) || refuse(output, place_of(output));
}

bool output_commit(struct output *output, const char *text, size_t length) {
  const char *place = place_of(output);
  if (!output_write(output, text, length)) return false;
  int descriptor = output->descriptor;
  output->descriptor = -1;
  if (close(descriptor) != 0) return refuse(output, place);
  if (!*output->temporary) return true;
  if (rename(output->temporary, output->path) != 0) return refuse(output, place);
  output->temporary[0] = '\0';
  sigprocmask(SIG_SETMASK, &output->signals, NULL);
  return true;
}

bool output_commit_json(struct output *output, json_writer *writer) {
  if (json_finish(writer)) return output_commit(output, writer->buffer, writer->length);
  complain_failure("the JSON report is larger than %zu bytes", writer->capacity);
  return false;
}

void output_discard(struct output *output) {
  if (output->descriptor >= 0) close(output->descriptor);
  output->descriptor = -1;
  drop_temporary(output);
}

bool output_begin(struct output *output, const char *plots, const char *path) {
  output->descriptor = -1;
  *output->temporary = '\0';
  return (!plots || plots_prepare(plots)) && (!path || output_open(output, path));
}
