#include "service/zones/document.h"

#include <jansson.h>
#include <stdlib.h>

static const json_t *json_of(const struct document *document) {
  return (const json_t *)document;
}

struct document *document_read(const void *text, size_t bytes) {
  return bytes ? (struct document *)json_loadb(text, bytes, 0, NULL) : NULL;
}

void document_free(struct document *document) {
  json_decref((json_t *)document);
}

const struct document *document_member(const struct document *object, const char *name) {
  return (const struct document *)json_object_get(json_of(object), name);
}

const struct document *document_at(const struct document *array, size_t index) {
  return (const struct document *)json_array_get(json_of(array), index);
}

size_t document_count(const struct document *array) {
  return json_array_size(json_of(array));
}

void document_names(const struct document *object, void (*each)(const char *name, void *user), void *user) {
  json_t *members = (json_t *)json_of(object); /* jansson's iterators are not const; nothing is changed */
  for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at))
    each(json_object_iter_key(at), user);
}

bool document_is_object(const struct document *value) {
  return json_is_object(json_of(value));
}

bool document_is_true(const struct document *value) {
  return json_is_true(json_of(value));
}

const char *document_text(const struct document *value) {
  return json_string_value(json_of(value));
}

int64_t document_number(const struct document *value) {
  const char *text = document_text(value);
  return text ? strtoll(text, NULL, 10) : json_integer_value(json_of(value));
}
