#include "base/nearest.h"

#include <string.h>

enum { NAME_BYTES = 64, OPTIONS_MAX = 128 };

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

/* The name that begins with what was typed, when just one does. */
static const char *completed(const char *typed, const char *const *names, size_t count) {
  const char *found = NULL;
  size_t length = strlen(typed);
  for (size_t i = 0; length > 1 && i < count; i++) {
    if (strncmp(names[i], typed, length) != 0) continue;
    if (found) return NULL;
    found = names[i];
  }
  return found;
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
  const char *whole = !nearest || fewest > 1 ? completed(typed, names, count) : NULL;
  return whole ? whole : nearest;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static const struct option *option_named(const struct option *known, const char *name, size_t length) {
  for (; known->name; known++)
    if (strlen(known->name) == length && strncmp(known->name, name, length) == 0) return known;
  return NULL;
}

const char *nearest_unknown_option(const struct option *known, int count, char *const *arguments, int *at) {
  while (*at < count) {
    const char *argument = arguments[(*at)++];
    if (strcmp(argument, "--") == 0 || strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) return NULL;
    if (strncmp(argument, "--", 2) != 0) continue;
    size_t length = strcspn(argument + 2, "=");
    const struct option *option = option_named(known, argument + 2, length);
    if (!option) return argument;
    if (option->has_arg == required_argument && argument[2 + length] != '=') ++*at;
  }
  return NULL;
}

const char *nearest_option(const struct option *known, const char *argument) {
  const char *names[OPTIONS_MAX];
  char typed[NAME_BYTES + 1];
  size_t count = 0, length = strcspn(argument + 2, "=");
  if (length > NAME_BYTES) return NULL;
  memcpy(typed, argument + 2, length);
  typed[length] = '\0';
  for (; known->name && count < OPTIONS_MAX; known++) names[count++] = known->name;
  return nearest_name(typed, names, count);
}
