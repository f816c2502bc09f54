/* http_routes.c - which route a path and a method mean. */
#include "service/http_parts.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

/* Cuts a path into its parts, in place. Returns how many; when they do not fit, returns one more than fit. */
static uint32_t http_routes_cut(char *path, char **parts, uint32_t most) {
  uint32_t count = 0;
  char *next = path;
  if (*next == '/') next++;
  while (next) {
    if (count == most) return most + 1;
    parts[count++] = next;
    next = strchr(next, '/');
    if (next) *next++ = '\0';
  }
  return count;
}

/* Whether the parts are those of a pattern. Sets the values that its names stand for. */
static bool matches(const char *pattern, char *const *parts, uint32_t count, const char **values) {
  uint32_t part = 0, value = 0;
  for (const char *at = pattern; *at; part++) {
    size_t length = strcspn(++at, "/");
    if (part == count) return false;
    bool name = *at == '{';
    ASSERT(!name || value < HTTP_VALUES_MAX);
    if (name && !*parts[part]) return false;
    if (name) values[value++] = parts[part];
    if (!name && (strlen(parts[part]) != length || strncmp(at, parts[part], length) != 0)) return false;
    at += length;
  }
  return part == count;
}

static void note(char *allowed, size_t bytes, const char *method) {
  size_t length = strlen(allowed);
  snprintf(allowed + length, bytes - length, "%s%s%s", length ? ", " : "", method,
           strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

const http_route *http_match(http_request *request, const char *method, char *allowed, size_t allowed_bytes) {
  enum { PARTS_MAX = 8 };
  char *parts[PARTS_MAX];
  const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
  uint32_t count = http_routes_cut(request->path, parts, PARTS_MAX);
  *allowed = '\0';
  if (count > PARTS_MAX) return NULL;
  for (const http_route *const *table = request->http->options.tables; *table; table++)
    for (const http_route *route = *table; route->method; route++) {
      const char *values[HTTP_VALUES_MAX] = {NULL};
      if (!matches(route->pattern, parts, count, values)) continue;
      memcpy(request->values, values, sizeof values);
      if (strcmp(route->method, wanted) == 0) return route;
      note(allowed, allowed_bytes, route->method);
    }
  return NULL;
}

/* The number of a name among those of the pattern; HTTP_VALUES_MAX when there is none. */
static uint32_t http_routes_number_of(const http_request *request, const char *name) {
  uint32_t number = 0;
  size_t length = strlen(name);
  for (const char *at = strchr(request->route->pattern, '{'); at; at = strchr(at + 1, '{'), number++)
    if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '}') return number;
  return HTTP_VALUES_MAX;
}

bool http_has_path_value(const http_request *request, const char *name) {
  return http_routes_number_of(request, name) < HTTP_VALUES_MAX;
}

const char *http_path_value(const http_request *request, const char *name) {
  uint32_t number = http_routes_number_of(request, name);
  ASSERT(number < HTTP_VALUES_MAX);
  return request->values[number];
}

const char *http_query_value(const http_request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}
