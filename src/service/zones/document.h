/* service/zones/document.h - reading of JSON documents, such as servers answer. A file of its own, since the functions
 * of the reader (jansson) and of the writer (base/json.h) have the same names. A null document has no members, and is
 * none of anything. Any thread. */
#ifndef SERVICE_ZONES_DOCUMENT_H
#define SERVICE_ZONES_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct document;

/* Reads a text; null when it is not JSON. Freed by document_free(), to which null may be given. */
struct document *document_read(const void *text, size_t bytes);
void document_free(struct document *document);

/* A member of an object, or an element of an array; null = none. They live as long as the whole. */
const struct document *document_member(const struct document *object, const char *name);
const struct document *document_at(const struct document *array, size_t index);
size_t document_count(const struct document *array);

/* Calls `each` with the name of every member. */
void document_names(const struct document *object, void (*each)(const char *name, void *user), void *user);

/* What a value is. */
bool document_is_object(const struct document *value);
bool document_is_true(const struct document *value);

/* A text; null when it is none. A whole number, also one that stands in a text; 0 when it is none. */
const char *document_text(const struct document *value);
int64_t document_number(const struct document *value);

#endif
