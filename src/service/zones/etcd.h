/* service/zones/etcd.h - calls of etcd through its HTTP gateway, in JSON, in the libuv loop. Loop's thread.
 *
 * A call tries one server after the other, once each, beginning with the one that answered last, and waits 2 s for
 * each. A try that failed may have been carried out: callers make calls that may be repeated. */
#ifndef SERVICE_ZONES_ETCD_H
#define SERVICE_ZONES_ETCD_H

#include "service/zones/broker.h"
#include "service/zones/complaints.h"
#include "service/zones/document.h"

#include "base/json.h"

struct etcd;

/* What a call came to: MUSTER_OK with the answer, which is freed after the callback; MUSTER_E_STALE, etcd does not know
 * what was named; MUSTER_E_SYSTEM, no server answered, with the reason in muster_last_error(). */
typedef void (*etcd_take)(muster_result result, const struct document *answer, void *user);

/* Whether servers that agree with the others answer has changed. */
typedef void (*etcd_changed)(bool answers, void *user);

/* `password` or null. The settings and the complaints stay the caller's for the whole life. Null: the reason is in
 * muster_last_error(). */
struct etcd *etcd_open(uv_loop_t *loop, const broker_settings *settings, const char *password,
                       struct complaints *complaints, etcd_changed changed, void *user);

/* POSTs a document to a path such as "/v3/kv/range". MUSTER_E_MEMORY: `take` is not called. */
muster_result etcd_call(struct etcd *etcd, const char *path, const char *body, etcd_take take, void *user);

/* This machine's address on the connection that had the last answer; "" = none has come. */
const char *etcd_local_address(const struct etcd *etcd);

/* The revision that the last answer told, or an answer before; 0 = none has come. */
int64_t etcd_revision(const struct etcd *etcd);

/* Asks whether somebody answers, when that was not seen for some seconds. Called some times a second. */
void etcd_look_after(struct etcd *etcd);

/* Ends all calls, with MUSTER_E_SYSTEM, and frees it; its handles are closed in the next turn of the loop. */
void etcd_close(struct etcd *etcd);

/* Writes members as etcd wants them: bytes in base64, numbers of 64 bits as texts. */
void etcd_write_text(json_writer *writer, const char *name, const char *text);
void etcd_write_bytes(json_writer *writer, const char *name, const void *bytes, size_t count);
void etcd_write_number(json_writer *writer, const char *name, int64_t value);

/* Reads a member that is such a number (0 when it is not there, as etcd leaves zeros out), or such a text, which is cut
 * to fit; false when it is neither. */
int64_t etcd_read_number(const struct document *object, const char *name);
bool etcd_read_text(const struct document *object, const char *name, char *text, size_t bytes);

/* Reads a member that is bytes, which the caller frees; etcd leaves out empty ones. Null when it is something else, or
 * there is no memory. */
void *etcd_read_bytes(const struct document *object, const char *name, size_t *count);

#endif
