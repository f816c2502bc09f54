/* GLib's GThreadPool as a peer of `muster bench`: exclusive threads, so that none is started late. It has no ranges. Of
 * levels it has two: g_thread_pool_move_to_front() searches the queue, which is what its urgent jobs pay; a sort
 * function would make every submit search it. */
#include "pin.h"
#include "system.h"

#include <glib.h>
#include <stddef.h>
#include <stdlib.h>

struct item {
  bench_job run;
  void *argument;
};

struct adaptor {
  GThreadPool *pool;
  struct item *items; /* a ring: one for each job that can wait */
  guint item_count;
  gint next_item;
  gint outstanding; /* the waiter's own is one */
  GMutex mutex;
  GCond all_done;
};

static void run_item(gpointer data, gpointer user_data) {
  const struct item *item = data;
  struct adaptor *adaptor = user_data;
  item->run(item->argument, 0);
  if (!g_atomic_int_dec_and_test(&adaptor->outstanding)) return;
  g_mutex_lock(&adaptor->mutex);
  g_cond_signal(&adaptor->all_done);
  g_mutex_unlock(&adaptor->mutex);
}

static void *create(const bench_wishes *wishes) {
  struct adaptor *adaptor = g_new0(struct adaptor, 1);
  adaptor->item_count = wishes->jobs_max;
  adaptor->items = g_new0(struct item, adaptor->item_count);
  adaptor->outstanding = 1;
  g_mutex_init(&adaptor->mutex);
  g_cond_init(&adaptor->all_done);
  adaptor->pool = g_thread_pool_new(run_item, adaptor, (gint)wishes->workers, TRUE, NULL);
  return adaptor->pool ? adaptor : NULL;
}

static void destroy(void *pool) {
  struct adaptor *adaptor = pool;
  g_thread_pool_free(adaptor->pool, FALSE, TRUE);
  g_free(adaptor->items);
  g_free(adaptor);
}

static struct item *push(struct adaptor *adaptor, bench_job run, void *argument) {
  struct item *item = &adaptor->items[(guint)g_atomic_int_add(&adaptor->next_item, 1) % adaptor->item_count];
  item->run = run;
  item->argument = argument;
  g_atomic_int_inc(&adaptor->outstanding);
  if (!g_thread_pool_push(adaptor->pool, item, NULL)) abort();
  return item;
}

static void submit(void *pool, bench_job run, void *argument) {
  push(pool, run, argument);
}

static void submit_at(void *pool, uint32_t level, bench_job run, void *argument) {
  struct adaptor *adaptor = pool;
  struct item *item = push(adaptor, run, argument);
  if (level == 0) g_thread_pool_move_to_front(adaptor->pool, item);
}

static void wait_asleep(void *pool) {
  struct adaptor *adaptor = pool;
  g_mutex_lock(&adaptor->mutex);
  if (!g_atomic_int_dec_and_test(&adaptor->outstanding))
    while (g_atomic_int_get(&adaptor->outstanding) > 0) g_cond_wait(&adaptor->all_done, &adaptor->mutex);
  g_mutex_unlock(&adaptor->mutex);
  g_atomic_int_set(&adaptor->outstanding, 1);
}

static void *create_best(const bench_wishes *wishes) {
  return pin_pool(create(wishes), wishes->workers, submit, wait_asleep);
}

const bench_system *bench_peer(void) {
  static char name[64];
  static const bench_system system = {
      .size = sizeof system,
      .key = "glib",
      .name = name,
      .convention = "caller not counted: it submits, then sleeps; exclusive threads, never spin; no ranges. Urgent: "
                    "g_thread_pool_move_to_front",
      .create = create,
      .destroy = destroy,
      .inside = pin_inside,
      .submit = submit,
      .wait = wait_asleep,
      .levels = 2,
      .submit_at = submit_at,
      .create_best = create_best,
      .best_convention = "the same, each thread bound to a processor; kept awake, they would take the caller's",
  };
  g_snprintf(name, sizeof name, "GLib %u.%u.%u GThreadPool", glib_major_version, glib_minor_version,
             glib_micro_version);
  return &system;
}
