/* ctl_values.c - typed values, in the form that the daemon wants. */
#include "complaint.h"
#include "ctl.h"

#include "base/quantity.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

const char *ctl_escape(const char *text, char out[CTL_ESCAPED_BYTES]) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  size_t length = 0;
  for (; *text && length < CTL_ESCAPED_BYTES - 4; text++) {
    if (strchr(plain, *text))
      out[length++] = *text;
    else
      length += (size_t)snprintf(out + length, 4, "%%%02X", (unsigned char)*text);
  }
  out[length] = '\0';
  return out;
}

json_t *ctl_read_place(const char *text) {
  double axes[3] = {0, 0, 0};
  int used = 0, count = sscanf(text, "%lf,%lf%n,%lf%n", &axes[0], &axes[1], &used, &axes[2], &used);
  json_t *place =
      count >= 2 && !text[used] ? json_pack("{s:f, s:f, s:f}", "x", axes[0], "y", axes[1], "z", axes[2]) : NULL;
  if (!place) complain_usage("'%s' is no place; give X,Y or X,Y,Z in metres, such as 10,-4.5", text);
  return place;
}

/* A duration as a whole number of nanoseconds, by the name that says so; a number, true or false as themselves, all
 * else as text. */
static void add_member(json_t *object, const char *name, const char *text) {
  char name_ns[NAME_BYTES + 3];
  uint64_t ns;
  json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
  if (!value && quantity_duration(text, 0, INT64_MAX, &ns) == MUSTER_OK) {
    snprintf(name_ns, sizeof name_ns, "%s%s", name, ctl_ends(name, "_ns") ? "" : "_ns");
    name = name_ns;
    value = json_integer((json_int_t)ns);
  }
  json_object_set_new(object, name, value ? value : json_stringn(text, strlen(text)));
}

json_t *ctl_read_members(const ctl_call *call, int first, json_t *object) {
  for (int i = first; i < call->count; i++) {
    char name[NAME_BYTES];
    const char *argument = call->arguments[i];
    size_t length = strcspn(argument, "=");
    if (!argument[length] || length == 0 || length >= sizeof name) {
      complain_usage("'%s' is no NAME=VALUE, such as bulk=0.5", argument);
      json_decref(object);
      return NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, argument);
    add_member(object, name, argument + length + 1);
  }
  return object;
}
