/* service/zones/objects.h - what is kept of a file in the stream of objects.
 *
 *     muster.W.objects.NAME.part.VERSION-UPLOAD   an object_part and bytes, in any order and possibly several times
 *     muster.W.objects.NAME.head                  an object_head and the caller's head: written when all parts are
 * there
 *
 * The head of the highest version counts, the last one where it was stored twice. Parts of each upload have a subject
 * of their own, so that two that store at the same time do no harm to each other; a head without bytes is only a mark.
 */
#ifndef SERVICE_ZONES_OBJECTS_H
#define SERVICE_ZONES_OBJECTS_H

#include "service/zones/reads.h"

enum { OBJECT_PART_BYTES = 256 * 1024, OBJECT_NAME_MAX = 63 };

#define OBJECT_MAGIC UINT64_C(0x315442314f52544d) /* changes with these structs */

typedef struct object_part {
  uint32_t index, reserved;
} object_part;

typedef struct object_head {
  uint64_t magic, version, upload;
  uint64_t first;           /* the sequence of the first part */
  uint64_t bytes, checksum; /* of the file; XXH3 */
  uint32_t parts, head_bytes;
} object_head;

/* The heads of an object as they are read: the one that counts. */
typedef struct object_heads {
  bool any;
  object_head best;
  char head[BROKER_HEAD_BYTES_MAX];
} object_heads;

/* Takes one more message of the subject of heads. */
void object_heads_take(object_heads *heads, const void *bytes, size_t count);

/* Write the subject of the heads of an object, and that of the parts of one upload. */
void object_name_head(const struct broker *broker, const char *name, char subject[BROKER_SUBJECT_BYTES]);
void object_name_parts(const struct broker *broker, const char *name, uint64_t version, uint64_t upload,
                       char subject[BROKER_SUBJECT_BYTES]);

/* A name that an object may have. */
muster_result object_check_name(const char *name);

#endif
