#include "pool/living.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static living *first;

/* The link that points to an entry; the last one when none does. */
static living **find(const living *entry) {
  living **link = &first;
  while (*link && *link != entry) link = &(*link)->next;
  return link;
}

void living_add(living *entry) {
  pthread_mutex_lock(&lock);
  entry->next = first;
  first = entry;
  pthread_mutex_unlock(&lock);
}

bool living_take(living *entry) {
  pthread_mutex_lock(&lock);
  living **link = find(entry);
  bool found = *link != NULL;
  if (found) *link = entry->next;
  pthread_mutex_unlock(&lock);
  return found;
}

bool living_has(const living *entry) {
  pthread_mutex_lock(&lock);
  bool found = *find(entry) != NULL;
  pthread_mutex_unlock(&lock);
  return found;
}
