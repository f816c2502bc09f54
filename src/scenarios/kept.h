/* scenarios/kept.h - writes the own state of a scenario for a snapshot, and reads it back. */
#ifndef SCENARIOS_KEPT_H
#define SCENARIOS_KEPT_H

#include <muster/module.h>

#include <string.h>

/* The bytes that are still to be read. */
typedef struct kept_bytes {
  const unsigned char *bytes;
  size_t count;
  bool failed; /* fewer bytes were left than were asked for */
} kept_bytes;

/* Reads the next bytes; gives zeros beyond the end. */
static inline void kept_take(kept_bytes *kept, void *out, size_t count) {
  kept->failed |= count > kept->count;
  if (kept->failed) {
    memset(out, 0, count);
    return;
  }
  if (count) memcpy(out, kept->bytes, count);
  kept->bytes += count;
  kept->count -= count;
}

/* Whether exactly all bytes were read. */
static inline bool kept_is_read(const kept_bytes *kept) {
  return !kept->failed && kept->count == 0;
}

static inline muster_result kept_refused(const char *name) {
  return muster_module_fail(MUSTER_E_INPUT,
                            "%s: the snapshot is of another version of the module, or of other options (agents, "
                            "observers, path)",
                            name);
}

static inline muster_result kept_unwritten(const char *name) {
  return muster_module_fail(MUSTER_E_SYSTEM, "%s: a write of the snapshot was refused", name);
}

#endif
