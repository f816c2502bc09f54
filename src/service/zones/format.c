#include "service/zones/format.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t format_least(void) {
  return FORMAT_LEAST;
}

uint32_t format_most(void) {
  return FORMAT_MOST;
}

muster_result format_check(const char *text) {
  uint32_t format = FORMAT_MOST; /* nothing was put yet */
  char rest;
  if (text && sscanf(text, "%" SCNu32 "%c", &format, &rest) != 1)
    return error_set(MUSTER_E_INPUT, "etcd: the cluster's format is \"%.32s\", which is no number", text);
  if (format >= FORMAT_LEAST && format <= FORMAT_MOST) return MUSTER_OK;
  return error_set(MUSTER_E_INPUT,
                   "the cluster has format %u, and this musterd knows %u to %u: install the version of the other nodes",
                   format, FORMAT_LEAST, FORMAT_MOST);
}
