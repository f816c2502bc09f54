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
  uint32_t cursor; /* the first index that is still to be looked at */
  uint32_t limit, given;
  bool begun;
};

/* An order's `query` that reads cursor and limit; its room is that of one thing. */
bool page_query(api_call *call);

/* An order's work: writes the list. `look` looks at the next thing from the cursor on, and moves the cursor behind it;
 * it returns 0 when there is none, 1, or when it wrote the thing PAGE_LOOKS_GIVEN. Frames' thread. */
void page_walk(api_call *call, const char *name, uint32_t (*look)(api_call *call, struct page *page));

#endif
