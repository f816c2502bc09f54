#include "service/supervise/front_headers.h"

#include "service/api_once.h"
#include "service/poison.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RETRY_AFTER "Retry-After"

/* ---------------------------------------------------------------------------------------------------------- answers */

/* The value of a line "NAME: VALUE\r\n". False: it has another name, or is too long. */
static bool take_value(const char *line, size_t length, const char *name, char *out, size_t bytes) {
  size_t begin = strlen(name);
  if (length <= begin || strncasecmp(line, name, begin) != 0 || line[begin] != ':') return false;
  do begin++;
  while (begin < length && (line[begin] == ' ' || line[begin] == '\t'));
  while (length > begin && (line[length - 1] == '\r' || line[length - 1] == '\n' || line[length - 1] == ' ')) length--;
  if (length - begin >= bytes) return false;
  snprintf(out, bytes, "%.*s", (int)(length - begin), line + begin);
  return true;
}

/* A value that is no whole number is not passed on. */
static void take_number(const char *line, size_t length, const char *name, char *out, size_t bytes) {
  if (take_value(line, length, name, out, bytes) && out[strspn(out, "0123456789")]) *out = '\0';
}

size_t front_headers_take(char *line, size_t each, size_t count, void *user) {
  front_headers *headers = user;
  size_t length = each * count;
  char replayed[8];
  take_number(line, length, ONCE_FRAME, headers->frame, sizeof headers->frame);
  take_number(line, length, RETRY_AFTER, headers->retry, sizeof headers->retry);
  if (take_value(line, length, ONCE_REPLAYED, replayed, sizeof replayed))
    headers->replayed = strcasecmp(replayed, "true") == 0;
  return length;
}

void front_headers_give(const front_headers *headers, http_request *request) {
  if (*headers->frame) http_add_header(request, ONCE_FRAME, headers->frame);
  if (*headers->retry) http_add_header(request, RETRY_AFTER, headers->retry);
  if (headers->replayed) http_add_header(request, ONCE_REPLAYED, "true");
}

/* --------------------------------------------------------------------------------------------------------- requests */

bool front_headers_add(struct curl_slist **headers, const char *name, const char *value) {
  char *line;
  if (asprintf(&line, "%s:%s%s", name, *value ? " " : "", value) < 0) return false;
  struct curl_slist *more = curl_slist_append(*headers, line);
  free(line);
  if (more) *headers = more;
  return more;
}

/* One that is no key is passed on as well: the world refuses it. */
bool front_headers_pass_on(struct curl_slist **headers, const http_request *request) {
  static const char *const names[] = {ONCE_KEY, POISON_INSIST};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = http_header_value(request, names[i]);
    if (value && !front_headers_add(headers, names[i], value)) return false;
  }
  return true;
}

/* --------------------------------------------------------------------------------------------------------- refusals */

void front_headers_say_when(http_request *request, uint32_t seconds) {
  char text[16];
  snprintf(text, sizeof text, "%u", seconds);
  if (seconds) http_add_header(request, RETRY_AFTER, text);
}

void front_headers_refuse_ended(http_request *request, const char *problem) {
  const char *key = http_header_value(request, ONCE_KEY), *next = "ask again";
  if (strcmp(http_route_of(request)->method, "GET") != 0)
    next = key ? "send the same request with the same " ONCE_KEY " again, and it is carried out once"
               : "it is not known whether it made the change; one that has an " ONCE_KEY " may be sent again at once";
  front_headers_say_when(request, 1);
  if (key && keys_is_key(key)) http_add_header(request, ONCE_KEY, key);
  http_refuse(request, 503, "no_answer", NULL, "the process of world %s ended before it answered (%s): %s",
              http_path_value(request, "world"), problem, next);
}
