/* ctl_worlds.c - which worlds run, and why the others do not. */
#include "ctl.h"

#include <jansson.h>
#include <string.h>

static const char *text_of_member(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

const json_t *ctl_process_of(const json_t *worlds, const char *name) {
  size_t i;
  const json_t *process;
  json_array_foreach(json_object_get(worlds, "processes"), i, process) {
    if (strcmp(text_of_member(process, "world"), name) == 0) return process;
  }
  return NULL;
}

const char *ctl_words_of(const json_t *process, char out[CTL_WORDS_BYTES]) {
  snprintf(out, CTL_WORDS_BYTES, "%s", text_of_member(process, "words"));
  return out;
}

/* What its process may do beyond the usual, in the world's own row. */
static void add_allowed(json_t *world, const json_t *worlds) {
  const json_t *process = ctl_process_of(worlds, text_of_member(world, "world"));
  if (strcmp(text_of_member(process, "allow"), "network") == 0) json_object_set_new(world, "network", json_true());
}

void ctl_show_worlds(const json_t *answer) {
  char words[CTL_WORDS_BYTES];
  size_t i;
  json_t *world;
  const json_t *process, *worlds = json_object_get(answer, "worlds");
  bool told = false;
  json_array_foreach(json_object_get(answer, "processes"), i, process) {
    if (*ctl_words_of(process, words)) told = puts(words) >= 0;
  }
  json_array_foreach(worlds, i, world) add_allowed(world, answer);
  if (json_array_size(worlds) == 0) return;
  if (told) putchar('\n');
  ctl_show_table(worlds, "world module paused network? agents# frames# hz budget_ns frame=frame.wall_ns pressure "
                         "carried=frame.carried# journal=journal.on? levels");
}

void ctl_show_restart(const json_t *process) {
  bool runs = strcmp(text_of_member(process, "state"), "stopping") == 0;
  printf("world %s %s\n", text_of_member(process, "world"),
         runs ? "is stopped in order, and starts again then" : "starts again now");
}

void ctl_show_health(const json_t *answer) {
  size_t i;
  const json_t *reason;
  if (json_is_true(json_object_get(answer, "ready")))
    puts("all worlds run, and are saved where there is a snapshot_file");
  json_array_foreach(json_object_get(answer, "reasons"), i, reason) {
    const char *world = text_of_member(reason, "world"), *message = text_of_member(reason, "message");
    bool named = !*world || strncmp(message, "world ", 6) == 0;
    printf("%s%s%s%s\n", named ? "" : "world ", named ? "" : world, named ? "" : ": ", message);
  }
}
