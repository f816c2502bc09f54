#include "service/poison.h"

#include "service/held.h"
#include "service/http.h"
#include "service/log.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 640 };

static void describe_incident(const struct settings *settings, const flight_poison *poison, uint64_t incident,
                              char *text, size_t bytes) {
  char path[JOURNALS_PATH_BYTES];
  *text = '\0';
  if (incident && journals_path(settings, poison->world, path)) {
    const char *name = strrchr(path, '/');
    snprintf(text, bytes, "; its incident is %.160s-incident-%lu", name ? name + 1 : path, incident);
  }
}

static void describe_poison(const struct settings *settings, const flight_poison *poison, uint64_t incident,
                            char message[MESSAGE_BYTES]) {
  char how[FLIGHT_TEXT_BYTES], what[MESSAGE_BYTES / 2];
  describe_incident(settings, poison, incident, what, sizeof what);
  snprintf(message, MESSAGE_BYTES,
           "carrying out this request ended the process of world %s: process %lu %s%s. It is not carried out again, "
           "unless it is sent with " POISON_INSIST ": true",
           poison->world, poison->process, flight_describe_end(poison->signal, how, sizeof how), what);
}

static void keep_poison(struct service *service, hosted_world *world, const flight_poison *poison, uint64_t incident) {
  char message[MESSAGE_BYTES], body[HTTP_ERROR_BYTES];
  if (!keys_begin(&world->keys)) {
    log_line(MUSTER_LOG_ERROR, "world %s: no memory to remember that the request %s ended its process", world->name,
             poison->key);
    return;
  }
  describe_poison(&service->settings, poison, incident, message);
  key_entry entry = {.status = 500, .body_kind = KEY_BODY_ENDED, .frame = held_last_frame(world), .body = body};
  entry.bytes = (uint32_t)http_write_error(body, "ended_process", NULL, message);
  memcpy(entry.key, poison->key, sizeof entry.key);
  memcpy(entry.digest, poison->digest, sizeof entry.digest);
  keys_finish(&world->keys, &entry);
  log_line(MUSTER_LOG_WARNING, "world %s: the request with the key %s is answered from now on: %s", world->name,
           poison->key, message);
}

void poison_take(struct service *service, hosted_world *world, uint64_t incident) {
  flight_poison poisons[FLIGHT_POISONS_MAX];
  uint32_t count = flight_read_poisons(&service->flight, poisons);
  for (uint32_t i = 0; i < count; i++) {
    const flight_poison *poison = &poisons[i];
    if (poison->deaths < FLIGHT_DEATHS || strcmp(poison->world, world->name) != 0) continue;
    bool last = poison->process == service->flight.last.process;
    if (last) keys_forget(&world->keys, poison->key); /* somebody insisted, and it has the answer of the time before */
    if (!keys_find(&world->keys, poison->key)) keep_poison(service, world, poison, last ? incident : 0);
  }
}
