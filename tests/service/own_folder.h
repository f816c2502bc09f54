/* own_folder.h - a folder and a loop of one test's own, and what it writes on standard error meanwhile. */
#ifndef OWN_FOLDER_H
#define OWN_FOLDER_H

#include "room.h"
#include "support/log_lines.h"

#include <ftw.h>
#include <uv.h>

static char folder[64];
static uv_loop_t loop;

static inline void folder_begin(void) {
  strcpy(folder, "/tmp/muster-test-XXXXXX");
  cr_assert(mkdtemp(folder) && uv_loop_init(&loop) == 0);
}

static inline void close_handle(uv_handle_t *handle, void *user) {
  (void)user;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

/* Closes what is left in the loop, and the loop. */
static inline void loop_end(void) {
  uv_walk(&loop, close_handle, NULL);
  while (uv_run(&loop, UV_RUN_DEFAULT)) continue;
  cr_expect_eq(uv_loop_close(&loop), 0);
}

static inline int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

/* Both, with all that is in the folder. */
static inline void folder_end(void) {
  loop_end();
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Of a file in it. */
static inline const char *path_of(const char *name) {
  return formed("%s/%s", folder, name);
}

static inline bool exists(const char *name) {
  return access(path_of(name), F_OK) == 0;
}

static inline void write_file(const char *name, const char *text) {
  FILE *file = fopen(path_of(name), "we");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

#endif
