/* service/keys.h - which requests a world has carried out, by the keys that their clients gave them, and what they were
 * answered: a client that does not know whether its request arrived sends it again with the same key, and gets the
 * answer of the first time.
 *
 *     const key_entry *known = keys_find(&keys, key);
 *     if (known && memcmp(known->digest, digest, KEYS_DIGEST_BYTES) == 0) ... it was carried out: known->status, ...
 *     if (!known && keys_begin(&keys)) ... carry it out, then keys_finish(&keys, &entry)
 *
 * The last KEYS_MAX keys of a world are kept; the oldest goes. An answer of more than KEYS_BODY_MAX bytes is kept as
 * its status and a few words. So the keys of a world take 64 MiB at most, and usually less than one.
 *
 * A world with a journal (muster/journal.h) has its keys there: all of them in the snapshots (keys_save), and each one
 * in the frame that its request belongs to (keys_note). All functions are for one thread: that of the frames, until it
 * has forked. */
#ifndef SERVICE_KEYS_H
#define SERVICE_KEYS_H

#include <muster/journal.h>

enum {
  KEYS_MAX = 4096,
  KEY_BYTES_MAX = 64,       /* of a key */
  KEYS_DIGEST_BYTES = 32,   /* of a request */
  KEYS_BODY_MAX = 16 << 10, /* of an answer */
  KEYS_RECORD_MAX = KEYS_BODY_MAX + 256,
  KEYS_NOTED_MAX = 4 << 20 /* of the answers that are noted with one frame: the others are left out */
};

/* What the body of an answer is. Numbers are in files. KEY_BODY_ENDED is JSON, of a request that was not carried out:
 * it had ended the process (service/flight.h). */
typedef enum key_body { KEY_BODY_NONE = 0, KEY_BODY_JSON, KEY_BODY_TEXT, KEY_BODY_ENDED, KEY_BODIES } key_body;

/* A request that was carried out. */
typedef struct key_entry {
  char key[KEY_BYTES_MAX + 1];
  unsigned char digest[KEYS_DIGEST_BYTES];
  uint16_t status;   /* of the answer: 200 .. 599 */
  uint8_t body_kind; /* a key_body */
  bool held;         /* its answer has not gone out yet (service/held.h); false after keys_take */
  uint64_t frame;    /* with which its effect is safe */
  void *body;
  uint32_t bytes;
} key_entry;

/* All zero at first. */
struct keys {
  key_entry *entries; /* a ring; null = there were none yet */
  uint32_t *buckets;  /* the newest entry of each, + 1; 0 = none */
  uint32_t *next;     /* of each entry the next one in its bucket, + 1 */
  uint64_t count;     /* kept since the begin: the newest is at (count - 1) % KEYS_MAX */
  uint64_t noted;     /* of them, from the first on */
};

/* Whether a text is a key: 1 .. KEY_BYTES_MAX visible ASCII characters. */
bool keys_is_key(const char *text);

/* The request with this key; null = none is known. Valid until keys_finish, keys_take or keys_close. */
const key_entry *keys_find(const struct keys *keys, const char *key);

/* Makes room for one more, before its request is carried out. False: there is no memory for it now. */
bool keys_begin(struct keys *keys);

/* Keeps a request that was carried out after keys_begin; its body is copied. A key that is known already gets the new
 * entry. Returns what was kept, as keys_find. */
const key_entry *keys_finish(struct keys *keys, const key_entry *entry);

/* Forgets a request, which is to be carried out again; one that is not known is a no-op. What was noted of it stands
 * until it is kept anew. */
void keys_forget(struct keys *keys, const char *key);

/* The answer of the request with this key has gone out. */
void keys_hand_out(struct keys *keys, const char *key);

/* Writes the next one that was kept and is not noted yet, as bytes that keys_take reads; returns how many, 0 = all are
 * noted. `room` is KEYS_NOTED_MAX at first; of an answer for which that is used up only the status is written. */
size_t keys_note(struct keys *keys, size_t *room, unsigned char out[KEYS_RECORD_MAX]);

/* How many bytes keys_save puts. */
size_t keys_saved_bytes(const struct keys *keys);

/* Puts all of them, from the oldest on, as bytes that keys_take reads. Neither allocates nor locks. False when `put`
 * did. */
bool keys_save(const struct keys *keys, muster_journal_put put, void *put_user);

/* Adds what keys_note or keys_save wrote: one or many, with later ones in the place of earlier ones of the same key.
 * They count as noted. False with the reason, and nothing is added, when the bytes are not of these functions, or there
 * is no memory. */
bool keys_take(struct keys *keys, const void *bytes, size_t count);

/* Forgets all. */
void keys_close(struct keys *keys);

#endif
