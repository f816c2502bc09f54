#include "service/api_pages.h"

#include "base/clock.h"

#include <stdio.h>

static const uint64_t slice_ns = 200000u;

bool page_query(api_call *call) {
  struct page *page = call->input;
  uint64_t cursor = 0, limit = PAGE_LIMIT;
  if (!api_query_count(call->request, "cursor", 0, UINT64_MAX, &cursor, &call->problem) ||
      !api_query_count(call->request, "limit", 1, PAGE_LIMIT_MAX, &limit, &call->problem))
    return false;
  /* Behind all indices there is nothing. */
  page->cursor = call->world->zone || cursor < UINT32_MAX ? cursor : UINT32_MAX - 1;
  page->limit = (uint32_t)limit;
  call->room = 1024 + limit * call->room;
  return true;
}

uint64_t page_begins_after(const api_call *call, const struct page *page) {
  if (call->world->zone || !page->cursor) return page->cursor;
  return muster_agent_make((uint32_t)page->cursor - 1u, 1).value;
}

void page_passes(const api_call *call, struct page *page, uint64_t id) {
  page->cursor = call->world->zone ? id : muster_agent_index((muster_agent){id}) + 1u;
}

void page_walk(api_call *call, const char *name, uint32_t (*look)(api_call *call, struct page *page)) {
  struct page *page = call->input;
  char next[24];
  uint32_t looks = 0, more;
  uint64_t until_ns = clock_system() + slice_ns;
  if (!page->begun) json_begin_array(&call->writer, name);
  page->begun = true;
  do {
    more = look(call, page);
    looks += more;
    page->given += more > 1;
  } while (more && page->given < page->limit && looks < PAGE_LOOKS && clock_system() < until_ns);
  call->again = more && page->given < page->limit;
  if (call->again) return;
  snprintf(next, sizeof next, "%lu", page->cursor);
  json_print(&call->writer, "] next=%s", more ? next : NULL);
}
