#include "output.h"

#include "complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(output *output, const char *path) {
  int reason = errno;
  output_discard(output);
  complain_failure("cannot write '%s': %s; choose another file", path, strerror(reason));
  return false;
}

static bool open_directly(output *output, const char *path) {
  output->descriptor = strcmp(path, "-") == 0 ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CLOEXEC);
  return output->descriptor >= 0 || refuse(output, path);
}

/* mkstemp makes a file for its owner alone; the result gets the permissions that any new file would get. */
static void open_to_others(int descriptor) {
  mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(descriptor, 0666 & ~mask);
}

bool output_open(output *output, const char *path) {
  struct stat status;
  *output = (struct output){.descriptor = -1};
  if (strcmp(path, "-") == 0) return open_directly(output, path);
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode)) errno = EISDIR;
    if (S_ISDIR(status.st_mode) || access(path, W_OK) != 0) return refuse(output, path);
    if (!S_ISREG(status.st_mode)) return open_directly(output, path);
    if (!realpath(path, output->path)) return refuse(output, path);
  } else if (snprintf(output->path, sizeof output->path, "%s", path) >= (int)sizeof output->path || !*path) {
    errno = *path ? ENAMETOOLONG : ENOENT;
    return refuse(output, path);
  }
  snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", output->path);
  output->descriptor = mkostemp(output->temporary, O_CLOEXEC);
  if (output->descriptor < 0) {
    output->temporary[0] = '\0';
    return refuse(output, path);
  }
  open_to_others(output->descriptor);
  return true;
}

static bool write_whole(int descriptor, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(descriptor, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text += written;
    length -= (size_t)written;
  }
  return true;
}

static const char *place_of(const output *output) {
  return *output->temporary ? output->path : "the result";
}

bool output_write(output *output, const char *text, size_t length) {
  return write_whole(output->descriptor, text, length) || refuse(output, place_of(output));
}

bool output_commit(output *output, const char *text, size_t length) {
  const char *place = place_of(output);
  if (!output_write(output, text, length)) return false;
  int descriptor = output->descriptor;
  output->descriptor = -1;
  if (close(descriptor) != 0) return refuse(output, place);
  if (*output->temporary && rename(output->temporary, output->path) != 0) return refuse(output, place);
  output->temporary[0] = '\0';
  return true;
}

bool output_commit_json(output *output, json_writer *writer) {
  if (json_finish(writer)) return output_commit(output, writer->buffer, writer->length);
  complain_failure("the JSON report is larger than %zu bytes", writer->capacity);
  return false;
}

void output_discard(output *output) {
  if (output->descriptor >= 0) close(output->descriptor);
  output->descriptor = -1;
  if (*output->temporary) unlink(output->temporary);
  output->temporary[0] = '\0';
}
