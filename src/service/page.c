#include "service/page.h"

#include "base/assert.h"
#include "service/page_files.h"

#include <string.h>

enum { PAGE_ROUTES_MAX = 64 };

static const char policy[] = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
                             "form-action 'none'; frame-ancestors 'none'";

static const page_file *page_find(const char *path) {
  if (strcmp(path, "/") == 0) path = "/index.html";
  const page_file *file = page_files;
  while (file->path && strcmp(file->path, path) != 0) file++;
  return file->path ? file : NULL;
}

/* Whether the client has these bytes already: "*", or the tag among those that it lists. */
static bool is_known(const http_request *request, const page_file *file) {
  const char *known = http_header_value(request, "If-None-Match");
  return known && (strcmp(known, "*") == 0 || strstr(known, file->tag) != NULL);
}

static void show_file(http_request *request) {
  const page_file *file = page_find(http_route_of(request)->pattern);
  ASSERT(file);
  const http_header headers[] = {
      {"Cache-Control", "no-cache"},       {"ETag", file->tag},
      {"Content-Security-Policy", policy}, {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},         {"Cross-Origin-Opener-Policy", "same-origin"}, /* of which no answer is */
      {"Referrer-Policy", "no-referrer"},  {0}};
  if (is_known(request, file))
    http_answer_static(request, 304, NULL, "", 0, headers);
  else
    http_answer_static(request, 200, file->type, file->bytes, file->length, headers);
}

http_route page_routes[PAGE_ROUTES_MAX + 2];

void page_prepare(void) {
  http_route *route = page_routes;
  ASSERT(page_file_count <= PAGE_ROUTES_MAX);
  for (const page_file *file = page_files; file->path; file++) {
    bool describes = strcmp(file->path, "/openapi.yaml") == 0;
    const char *summary = describes ? "these requests, described as OpenAPI 3.1" : "a file of the live page";
    *route++ = (http_route){"GET", file->path, summary, .handle = show_file};
  }
  if (page_find("/")) *route = (http_route){"GET", "/", "the live page", .handle = show_file};
}
