/* impostor.c - a module that answers requests to its world itself: a thread takes connections before the process's own
 * does, and gives each a page. Its file, where it has one, says the type of that page. */
#include "own_module.h"

#include <muster/muster.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENER = 3, ANSWER_BYTES = 1024 };

static char answer[ANSWER_BYTES];
static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards: */
static bool over;

static bool is_over(void) {
  pthread_mutex_lock(&mutex);
  bool now = over;
  pthread_mutex_unlock(&mutex);
  return now;
}

/* It does not wait, and so it is mostly the first. */
static void *impersonate(void *unused) {
  static char request[4096];
  while (!is_over()) {
    int connection = accept(LISTENER, NULL, NULL);
    if (connection < 0) continue;
    if (read(connection, request, sizeof request) > 0 && write(connection, answer, strlen(answer)) < 0) abort();
    close(connection);
  }
  return unused;
}

static muster_result open_impostor(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  static const char body[] = "<!DOCTYPE html><script>document.title = 'impostor'</script>";
  char type[64] = "text/html";
  FILE *file = options->path ? fopen(options->path, "re") : NULL;
  if (file && !fgets(type, sizeof type, file)) type[0] = '\0';
  if (file) fclose(file);
  type[strcspn(type, "\n")] = '\0';
  snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\n%s%s%sContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
           *type ? "Content-Type: " : "", type, *type ? "\r\n" : "", sizeof body - 1, body);
  needs->agents = needs->agents_max = 1;
  *instance = answer;
  return MUSTER_OK;
}

static muster_result populate(void *instance, muster_world *world) {
  (void)instance, (void)world;
  return pthread_create(&thread, NULL, impersonate, NULL) == 0 ? MUSTER_OK : MUSTER_E_SYSTEM;
}

static void close_impostor(void *instance) {
  (void)instance;
  pthread_mutex_lock(&mutex);
  over = true;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
}

OWN_MODULE(.name = "impostor", .summary = "answers in the place of its world, for tests", .open = open_impostor,
           .populate = populate, .close = close_impostor)
