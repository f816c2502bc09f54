#include "service/api_pages.h"

#include <stdio.h>

bool page_begin(api_call *call, struct page *page, size_t each_room) {
  uint64_t cursor = 0, limit = PAGE_LIMIT;
  if (!api_query_count(call->request, "cursor", 0, UINT32_MAX - 1u, &cursor, &call->problem) ||
      !api_query_count(call->request, "limit", 1, PAGE_LIMIT_MAX, &limit, &call->problem)) {
    api_refuse(call);
    return false;
  }
  *page = (struct page){.cursor = (uint32_t)cursor, .limit = (uint32_t)limit};
  call->room = 1024 + limit * each_room;
  return true;
}

void page_open(api_call *call, struct page *page, const char *name) {
  if (!page->begun) json_begin_array(&call->writer, name);
  page->begun = true;
}

void page_close(api_call *call, struct page *page, bool last) {
  char next[16];
  call->again = !last && page->given < page->limit;
  if (call->again) return;
  json_end_array(&call->writer);
  snprintf(next, sizeof next, "%u", page->cursor);
  if (last)
    json_null(&call->writer, "next");
  else
    json_string(&call->writer, "next", next);
}
