/* A file of snapshots is read as a whole or not at all. */
#include "room.h"
#include "service/snapshot_file.h"
#include "support/little_world.h"

#include <sys/mman.h>

static const unsigned char kept[] = "what the module keeps";

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  (void)instance, (void)world;
  return write(kept, sizeof kept, write_user) ? MUSTER_OK : MUSTER_E_SYSTEM;
}

static muster_result resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  (void)instance, (void)world, (void)bytes, (void)count;
  return MUSTER_OK;
}

static const muster_module module = {.size = sizeof module, .abi = MUSTER_MODULE_ABI, .save = save, .resume = resume};

static muster_world *world_of(uint32_t agents) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 0}};
  const muster_world_def def = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL);
  muster_world *world = muster_world_create(&def);
  const muster_type_def type = type_with(atoms, 1);
  const muster_agent_def agent = WITH(muster_agent_def, it.type = muster_type_register(world, &type));
  for (uint32_t i = 0; i < agents; i++) muster_agent_spawn(world, &agent);
  cr_assert_eq(muster_frame_run(world, &(muster_frame){1000, 1000000}), MUSTER_OK);
  return world;
}

static unsigned char *bytes; /* of two worlds in a file */
static size_t count;
static struct snapshot_file file;

static void write_two(void) {
  struct keys keys = {0};
  key_entry entry = {.key = "a-key", .status = 201, .body_kind = KEY_BODY_TEXT, .frame = 7, .body = "done", .bytes = 4};
  cr_assert(keys_begin(&keys));
  keys_finish(&keys, &entry);
  snapshot_source sources[2] = {{"one", "module", &module, NULL, world_of(5), 1000, NULL},
                                {"other", "module", &module, NULL, world_of(9), 2000, &keys}};
  int descriptor = memfd_create("snapshot", MFD_CLOEXEC);
  cr_assert_eq(snapshot_file_write(descriptor, 7, sources, 2, &count), MUSTER_OK, "%s", muster_last_error());
  for (int i = 0; i < 2; i++) muster_world_destroy(sources[i].world);
  keys_close(&keys);
  bytes = malloc(count);
  cr_assert_eq(pread(descriptor, bytes, count, 0), (ssize_t)count);
  close(descriptor);
}

static void free_bytes(void) {
  free(bytes);
}

TestSuite(snapshot_file, .init = write_two, .fini = free_bytes);

static void forget(void) {
  for (uint32_t i = 0; i < file.world_count; i++) {
    free(file.worlds[i].state);
    free(file.worlds[i].keys);
  }
}

Test(snapshot_file, has_the_worlds_and_what_their_modules_keep) {
  cr_assert_eq(snapshot_file_read(&file, bytes, count), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(file.number, 7);
  cr_assert_eq(file.world_count, 2);
  cr_assert_null(snapshot_file_find(&file, "third"));
  const snapshot_file_world *other = snapshot_file_find(&file, "other");
  cr_assert_not_null(other);
  cr_assert_eq(other->sim_now_ns, 2000);
  cr_assert_eq(other->info.agents, 9);
  cr_assert_eq(other->state_bytes, sizeof kept);
  cr_assert(memcmp(other->state, kept, sizeof kept) == 0);
  struct keys keys = {0};
  cr_assert_null(snapshot_file_find(&file, "one")->keys);
  cr_assert(other->keys && keys_take(&keys, other->keys, other->keys_bytes), "%s", muster_last_error());
  const key_entry *entry = keys_find(&keys, "a-key");
  cr_assert(entry && entry->status == 201 && entry->bytes == 4 && memcmp(entry->body, "done", 4) == 0);
  keys_close(&keys);
  forget();
}

Test(snapshot_file, that_was_cut_anywhere_is_refused) {
  for (size_t i = 0; i < count; i++) {
    SCOPED(free_memory) unsigned char *cut = exact_copy(bytes, i);
    cr_assert_eq(snapshot_file_read(&file, cut, i), MUSTER_E_INPUT, "%zu of %zu bytes", i, count);
  }
}

Test(snapshot_file, of_which_any_bit_was_flipped_is_refused) {
  enum { FLIPS = 10000 };
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < FLIPS; i++) {
    size_t bit = next_random(&random) % (count * 8);
    turn_bit(bytes, bit);
    cr_assert_eq(snapshot_file_read(&file, bytes, count), MUSTER_E_INPUT, "bit %zu of byte %zu", bit % 8, bit / 8);
    turn_bit(bytes, bit);
  }
  cr_assert_eq(snapshot_file_read(&file, bytes, count), MUSTER_OK);
  forget();
}

/* Of this process: also what is mapped and was looked at. */
static long most_memory_kb(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void expect_refused(const char *path, const char *says) {
  cr_expect_eq(snapshot_file_open(&file, path), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), says), "%s", muster_last_error());
}

Test(snapshot_file, of_a_hundred_gigabytes_of_nothing_is_refused_without_being_read) {
  const off_t vast = (off_t)100 << 30;
  const long most_kb = 256 << 10;
  char path[] = "/tmp/muster-vast-XXXXXX";
  uint64_t end[2];
  int descriptor = mkstemp(path);
  memcpy(end, bytes + count - sizeof end, sizeof end);
  const size_t index = count - sizeof end - end[0];
  const uint64_t far[2] = {(uint64_t)vast, ~(uint64_t)vast};
  long before_kb = most_memory_kb();
  if (ftruncate(descriptor, vast) != 0) SKIP_TEST("%s: no file of 100 GB can be made there", path);
  expect_refused(path, "it is cut, or none of musterd's");
  cr_assert_eq(pwrite(descriptor, far, sizeof far, vast), sizeof far);
  expect_refused(path, "snapshot file: ");
  cr_assert_eq(pwrite(descriptor, bytes + end[0], index, vast), (ssize_t)index);
  cr_assert_eq(pwrite(descriptor, far, sizeof far, vast + (off_t)index), sizeof far);
  expect_refused(path, "this is not a Muster file");
  cr_assert_eq(pwrite(descriptor, bytes, end[0], 0), (ssize_t)end[0]);
  expect_refused(path, "there is something between its worlds and its index");
  cr_expect_lt(most_memory_kb() - before_kb, most_kb);
  close(descriptor);
  unlink(path);
}

static bool refuse(const void *written, size_t bytes_written, void *user) {
  (void)written, (void)bytes_written, (void)user;
  return false;
}

Test(snapshot_file, modules_without_both_functions_are_not_taken) {
  muster_module other = module;
  cr_assert(snapshot_file_takes(&other));
  other.resume = NULL;
  cr_assert_not(snapshot_file_takes(&other));
  cr_assert_eq(save(NULL, NULL, refuse, NULL), MUSTER_E_SYSTEM);
}

Test(snapshot_file, of_an_end_alone_is_told_from_one_that_was_cut) {
  const uint64_t end[2] = {0, ~0ull};
  cr_assert_eq(snapshot_file_read(&file, end, sizeof end), MUSTER_E_INPUT);
  cr_assert_not(strstr(muster_last_error(), "it is cut"), "%s", muster_last_error());
  cr_assert_eq(snapshot_file_read(&file, end, sizeof end - 1), MUSTER_E_INPUT);
  cr_assert(strstr(muster_last_error(), "it is cut"), "%s", muster_last_error());
}
