#include "service/api_pages.h"

#include "base/clock.h"

#include <stdio.h>

static const uint64_t slice_ns = 200000u;

bool page_query(api_call *call) {
  struct page *page = call->input;
  uint64_t cursor = 0, limit = PAGE_LIMIT;
  if (!api_query_count(call->request, "cursor", 0, UINT32_MAX - 1u, &cursor, &call->problem) ||
      !api_query_count(call->request, "limit", 1, PAGE_LIMIT_MAX, &limit, &call->problem))
    return false;
  page->cursor = (uint32_t)cursor;
  page->limit = (uint32_t)limit;
  call->room = 1024 + limit * call->room;
  return true;
}

void page_walk(api_call *call, const char *name, bool (*look_at_next)(api_call *call, struct page *page)) {
  struct page *page = call->input;
  uint64_t until_ns = clock_system() + slice_ns;
  char next[16];
  bool last;
  if (!page->begun) json_begin_array(&call->writer, name);
  page->begun = true;
  do last = !look_at_next(call, page);
  while (!last && page->given < page->limit && clock_system() < until_ns);
  call->again = !last && page->given < page->limit;
  if (call->again) return;
  snprintf(next, sizeof next, "%u", page->cursor);
  json_print(&call->writer, "] next=%s", last ? NULL : next);
}
