/* service/zones/complaints.h - failures of servers, in the log at most once a minute for each cause. Loop's thread. */
#ifndef SERVICE_ZONES_COMPLAINTS_H
#define SERVICE_ZONES_COMPLAINTS_H

#include <muster/common.h>

#include <uv.h>

enum { COMPLAINTS_MAX = 64, COMPLAINT_CAUSE_BYTES = 64 };

struct complaints {
  uv_loop_t *loop;
  uint32_t count;
  struct {
    char cause[COMPLAINT_CAUSE_BYTES];
    uint64_t at_ms;     /* when it was written last */
    uint32_t unwritten; /* how often it came since */
  } known[COMPLAINTS_MAX];
};

/* Writes a warning, printf-style, unless the same cause was written within a minute: "etcd http://10.0.0.1:2379". */
void complaints_add(struct complaints *complaints, const char *cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The cause is gone: it is written at once when it comes again. */
void complaints_forget(struct complaints *complaints, const char *cause);

#endif
