#include "whole.h"

#include "complaint.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *whole_read(const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = fopen(path, "re");
  ssize_t length = file ? getdelim(&text, &bytes, '\0', file) : -1;
  if (length < 0) complain_failure("cannot read '%s': %s", path, errno ? strerror(errno) : "it is empty");
  if (file) fclose(file);
  if (length >= 0) return text;
  free(text);
  return NULL;
}

bool whole_write(const char *path, const char *text, size_t length) {
  struct output output;
  return output_open(&output, path) && output_commit(&output, text, length);
}
