/* service/api_pages.h - lists that are given page by page: in the order of indices, from `cursor` on, at most `limit`
 * things; "next" is the cursor of the next page, null at the end. A thing that comes or goes between two pages is in
 * one of them or in none, never in two.
 *
 * One piece of work looks at PAGE_LOOKS things at most, and one that is given counts as PAGE_LOOKS_GIVEN, so that a
 * filter that fits none of a million agents delays no frame: the rest of the page follows after other requests and the
 * next frame. */
#ifndef SERVICE_API_PAGES_H
#define SERVICE_API_PAGES_H

#include "service/api.h"

enum { PAGE_LIMIT = 100, PAGE_LIMIT_MAX = 1000, PAGE_LOOKS = 4096, PAGE_LOOKS_GIVEN = 32 };

struct page {
  uint32_t cursor; /* the first index that is still to be looked at */
  uint32_t limit, given;
  bool begun;
};

/* Reads cursor and limit of the query; `each_room` bytes hold one thing in the call's answer. False: the request was
 * refused, and the call is gone. */
bool page_begin(api_call *call, struct page *page, size_t each_room);

/* Opens the JSON list, once per page. Frames' thread. */
void page_open(api_call *call, struct page *page, const char *name);

/* Ends the work: the page is full, or the end reached (`last`), or the rest must wait. Frames' thread. */
void page_close(api_call *call, struct page *page, bool last);

#endif
