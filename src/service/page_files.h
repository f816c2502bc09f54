/* service/page_files.h - the files of the live page, as they are compiled in: tools/embed makes the table of all files
 * in src/service/page when musterd is built. */
#ifndef SERVICE_PAGE_FILES_H
#define SERVICE_PAGE_FILES_H

#include <stddef.h>

typedef struct page_file {
  const char *path; /* "/index.html" */
  const char *type; /* of the media */
  const char *tag;  /* changes with the bytes: an ETag */
  const unsigned char *bytes;
  size_t length;
} page_file;

extern const page_file page_files[]; /* ends with an empty one */
extern const unsigned page_file_count;

#endif
