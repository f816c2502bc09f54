/* What a process uses, also where the kernel's own limits do not count it. */
#include "room.h"
#include "service/supervise/bounds.h"

#include <pthread.h>
#include <sys/mman.h>

enum { MIB = 1 << 20, FEW = 3 };

static bounds_use read_use(uint64_t memory_most) {
  bounds_use use;
  cr_assert(bounds_read(getpid(), memory_most, &use));
  return use;
}

static bounds_use all_use(void) {
  return read_use(UINT64_MAX);
}

static void write_bytes(int file, size_t mib) {
  static char bytes[MIB];
  memset(bytes, 1, sizeof bytes);
  for (; mib; mib--) cr_assert_eq(write(file, bytes, sizeof bytes), MIB);
}

Test(bounds, a_file_in_memory_is_memory) {
  uint64_t before = all_use().memory_bytes, hidden = all_use().hidden_bytes;
  int memory = memfd_create("bounds", MFD_CLOEXEC);
  write_bytes(memory, 16);
  bounds_use use = all_use();
  cr_expect_geq(use.memory_bytes, before + 15 * MIB);
  cr_expect_eq(use.hidden_bytes, hidden);
  close(memory);
  cr_expect_lt(all_use().memory_bytes, before + 8 * MIB);
}

Test(bounds, a_file_without_a_name_is_disk) {
  char folder[] = "/tmp/muster-bounds-XXXXXX";
  uint64_t before = all_use().hidden_bytes; /* the test's own */
  cr_assert_not_null(mkdtemp(folder));
  const char *path = formed("%s/file", folder);
  int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  write_bytes(file, 4);
  cr_expect_eq(all_use().hidden_bytes, before, "it has a name still");
  unlink(path);
  rmdir(folder);
  cr_expect_geq(all_use().hidden_bytes, before + 4 * MIB);
}

static pid_t make_copy(void) {
  pid_t copy = fork();
  cr_assert(copy >= 0);
  while (copy == 0) pause();
  return copy;
}

Test(bounds, copies_count_and_what_they_share_counts_once_where_that_matters) {
  enum { HELD = 64 };
  SCOPED(free_memory) char *held = malloc(HELD * (size_t)MIB);
  cr_assert_not_null(held);
  explicit_bzero(held, HELD * (size_t)MIB); /* a write that no compiler leaves out */
  uint64_t alone = all_use().memory_bytes;
  cr_assert_geq(alone, HELD * (uint64_t)MIB);
  pid_t copy = make_copy();
  bounds_use use = all_use();
  cr_expect_eq(use.copies, 1);
  cr_expect_eq(bounds_count_copies(getpid()), 1);
  cr_expect_geq(use.memory_bytes, alone + (HELD - 8) * (uint64_t)MIB);
  cr_expect_leq(read_use(alone + 8 * MIB).memory_bytes, alone + 8 * MIB);
  kill(copy, SIGKILL);
  waitpid(copy, NULL, 0);
  cr_expect_eq(all_use().copies, 0);
}

typedef struct copying_thread {
  pid_t copy;
  int ready, over; /* it is written to; read from, until the other end is closed */
} copying_thread;

static void *make_copy_and_wait(void *user) {
  copying_thread *own = user;
  char byte = 0;
  own->copy = make_copy();
  cr_assert_eq(write(own->ready, &byte, 1), 1);
  while (read(own->over, &byte, 1) > 0) continue;
  return NULL;
}

Test(bounds, a_copy_counts_by_whichever_thread_it_was_made) {
  pthread_t thread;
  int ready[2], over[2];
  char byte;
  cr_assert(pipe(ready) == 0 && pipe(over) == 0);
  copying_thread own = {.ready = ready[1], .over = over[0]};
  cr_assert_eq(pthread_create(&thread, NULL, make_copy_and_wait, &own), 0);
  cr_assert_eq(read(ready[0], &byte, 1), 1);
  cr_expect_eq(bounds_count_copies(getpid()), 1);
  cr_expect_eq(read_use(UINT64_MAX).copies, 1);
  pid_t copy = make_copy();
  cr_expect_eq(bounds_count_copies(getpid()), 2);
  for (int i = 0; i < 2; i++) {
    kill(i ? copy : own.copy, SIGKILL);
    waitpid(i ? copy : own.copy, NULL, 0);
  }
  close(over[1]);
  pthread_join(thread, NULL);
  close(over[0]), close(ready[0]), close(ready[1]);
}

static void *wait_for_end(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  return NULL;
}

Test(bounds, threads_count) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[FEW];
  uint32_t before = bounds_count_threads(getpid());
  pthread_mutex_lock(&lock);
  for (int i = 0; i < FEW; i++) cr_assert_eq(pthread_create(&threads[i], NULL, wait_for_end, &lock), 0);
  cr_expect_eq(bounds_count_threads(getpid()), before + FEW);
  cr_expect_eq(all_use().threads, before + FEW);
  cr_expect(bounds_has_thread(getpid(), gettid()));
  cr_expect_not(bounds_has_thread(getpid(), getppid()));
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < FEW; i++) pthread_join(threads[i], NULL);
}

Test(bounds, what_is_usual_fits_the_machine) {
  uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  cr_expect(bounds_usual_memory() > 0 && bounds_usual_memory() <= machine / 4 * 3);
  cr_expect(bounds_usual_disk("/tmp") > 0);
  cr_expect_eq(bounds_usual_disk("/nowhere/at/all"), 0);
  bounds_use use;
  cr_expect_not(bounds_read(-5, 0, &use));
}
