/* complaints.h - collects what settings are complained of, one line each: "where: message", or the message alone. */
#ifndef COMPLAINTS_H
#define COMPLAINTS_H

#include "room.h"

typedef struct complaints {
  uint32_t count;
  char text[16384];
} complaints;

static inline void complaints_add(const char *where, const char *message, void *user) {
  complaints *all = user;
  size_t length = strlen(all->text);
  snprintf(all->text + length, sizeof all->text - length, "%s%s%s\n", where, *where ? ": " : "", message);
  all->count++;
}

static inline void complaints_expect_none(const complaints *all) {
  cr_expect(all->count == 0, "%s", all->text);
}

/* The text of a file of settings that is installed. */
static inline void read_shipped(const char *name, char *text, size_t room) {
  FILE *file = fopen(formed("%s/src/service/etc/%s", getenv("MUSTER_SOURCE_DIR"), name), "re");
  cr_assert_not_null(file);
  text[fread(text, 1, room - 1, file)] = '\0';
  fclose(file);
}

/* Exactly one complaint, which has the text. */
static inline void complaints_expect(const complaints *all, const char *wanted) {
  cr_expect(all->count == 1, "%u complaints instead of one with \"%s\":\n%s", all->count, wanted, all->text);
  cr_expect(strstr(all->text, wanted) != NULL, "\"%s\" is not in: %s", wanted, all->text);
}

#endif
