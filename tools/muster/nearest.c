#include "nearest.h"

#include <string.h>

enum { NAME_BYTES = 64 };

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Levenshtein's distance, one row of its table at a time. */
static size_t edits_between(const char *from, const char *to) {
  size_t row[NAME_BYTES + 1], width = strlen(to);
  for (size_t i = 0; i <= width; i++) row[i] = i;
  for (size_t line = 1; from[line - 1]; line++) {
    size_t diagonal = row[0];
    row[0] = line;
    for (size_t i = 1; i <= width; i++) {
      size_t replaced = diagonal + (from[line - 1] != to[i - 1]);
      diagonal = row[i];
      row[i] = smaller(replaced, smaller(row[i], row[i - 1]) + 1);
    }
  }
  return row[width];
}

const char *nearest_name(const char *typed, const char *const *names, size_t count) {
  const char *nearest = NULL;
  size_t length = strlen(typed), fewest = 0;
  if (length > NAME_BYTES) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (strlen(names[i]) > NAME_BYTES) continue;
    size_t edits = edits_between(typed, names[i]);
    if (edits > (length + 2) / 3 || (nearest && edits >= fewest)) continue;
    nearest = names[i];
    fewest = edits;
  }
  return nearest;
}
