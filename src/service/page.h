/* service/page.h - the live page: its files, from memory, with headers that let it load and run nothing from
 * elsewhere. */
#ifndef SERVICE_PAGE_H
#define SERVICE_PAGE_H

#include "service/http.h"

/* Fills in a route for each file, and one for / which is index.html. Loop's thread, before http_create. */
void page_prepare(void);

extern http_route page_routes[];

#endif
