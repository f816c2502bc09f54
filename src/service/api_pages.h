/* service/api_pages.h - lists that are given page by page: in the order of indices, from `cursor` on, at most `limit`
 * things; "next" is the cursor of the next page, null at the end. A thing that comes or goes between two pages is in
 * one of them or in none, never in two.
 *
 * One piece of work takes about 200 us, and looks at PAGE_LOOKS things at most, where one that is given counts as
 * PAGE_LOOKS_GIVEN: a filter that fits none of a million agents, or of the herds, each of which may have a thousand
 * leaves, delays no frame. The rest of the page follows after other requests and the next frame. */
#ifndef SERVICE_API_PAGES_H
#define SERVICE_API_PAGES_H

#include "service/api.h"

enum { PAGE_LIMIT = 100, PAGE_LIMIT_MAX = 1000, PAGE_LOOKS = 4096, PAGE_LOOKS_GIVEN = 32 };

/* Stands first in the input of a call that lists things. */
struct page {
  uint64_t cursor; /* the first index that is still to be looked at; or as page_passes() says */
  uint32_t limit, given;
  bool begun;
};

/* An order's `query` that reads cursor and limit; its room is that of one thing. */
bool page_query(api_call *call);

/* The id, as a value, behind which a list of agents or observers goes on; and it is behind this one. In a zone an id
 * does not tell an index: there the cursor is the id, and a list ends where the last thing of a page has gone since. */
uint64_t page_begins_after(const api_call *call, const struct page *page);
void page_passes(const api_call *call, struct page *page, uint64_t id);

/* An order's work: writes the list. `look` looks at the next thing from the cursor on, and moves the cursor behind it;
 * it returns 0 when there is none, 1, or when it wrote the thing PAGE_LOOKS_GIVEN. Frames' thread. */
void page_walk(api_call *call, const char *name, uint32_t (*look)(api_call *call, struct page *page));

#endif
