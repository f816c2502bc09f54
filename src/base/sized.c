#include "base/sized.h"

#include "base/error.h"

#include <string.h>

enum { SIZE_MOST = 65536 };

static uint32_t size_of(const void *given) {
  uint32_t size;
  memcpy(&size, given, sizeof size);
  return size;
}

static uint32_t known_of(const sized *kind, uint32_t size) {
  return size < kind->whole ? size : kind->whole;
}

bool sized_is_published(const sized *kind, uint32_t size) {
  return size >= kind->first && size <= SIZE_MOST;
}

muster_result sized_check(const sized *kind, const void *given) {
  if (!given)
    return error_set(MUSTER_E_NOT_INITIALISED, "muster_%s: none was given; set one by muster_%s_default()", kind->name,
                     kind->name);
  if (sized_is_published(kind, size_of(given))) return MUSTER_OK;
  return error_set(MUSTER_E_NOT_INITIALISED, "muster_%s was not set by muster_%s_default(): its size is %u", kind->name,
                   kind->name, size_of(given));
}

muster_result sized_read(const sized *kind, const void *given, void *def) {
  muster_result result = sized_check(kind, given);
  if (result) return result;
  uint32_t size = size_of(given), known = known_of(kind, size);
  for (uint32_t at = known; at < size; at++)
    if (((const unsigned char *)given)[at])
      return error_set(MUSTER_E_ARGUMENT,
                       "muster_%s: byte %u is set, and library " MUSTER_VERSION " knows %u bytes of it: leave newer "
                       "fields at 0, or run with a newer library",
                       kind->name, at, kind->whole);
  memcpy(def, given, known);
  memcpy(def, &kind->whole, sizeof kind->whole);
  return MUSTER_OK;
}

muster_result sized_write(const sized *kind, const void *from, void *out) {
  muster_result result = sized_check(kind, out);
  if (result) return result;
  size_t head = sizeof(uint32_t), known = known_of(kind, size_of(out));
  memcpy((unsigned char *)out + head, (const unsigned char *)from + head, known - head);
  return MUSTER_OK;
}
