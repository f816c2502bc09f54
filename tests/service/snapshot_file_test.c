/* A file of snapshots is read as a whole or not at all. */
#include "service/snapshot_file.h"
#include "support/little_world.h"
#include "support/skip.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

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
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  muster_world *world = muster_world_create(&def);
  muster_type_def type = type_with(atoms, 1);
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster_type_register(world, &type);
  for (uint32_t i = 0; i < agents; i++) muster_agent_spawn(world, &agent);
  cr_assert_eq(muster_frame_run(world, &(muster_frame){1000, 1000000}), MUSTER_OK);
  return world;
}

/* Two worlds in memory, in a file without a name. */
static unsigned char *write_two(size_t *count) {
  uint64_t bytes;
  struct keys keys = {0};
  key_entry entry = {.key = "a-key", .status = 201, .body_kind = KEY_BODY_TEXT, .frame = 7, .body = "done", .bytes = 4};
  cr_assert(keys_begin(&keys));
  keys_finish(&keys, &entry);
  snapshot_source sources[2] = {{"one", "module", &module, NULL, world_of(5), 1000, NULL},
                                {"other", "module", &module, NULL, world_of(9), 2000, &keys}};
  int descriptor = memfd_create("snapshot", MFD_CLOEXEC);
  cr_assert_eq(snapshot_file_write(descriptor, 7, sources, 2, &bytes), MUSTER_OK, "%s", muster_last_error());
  for (int i = 0; i < 2; i++) muster_world_destroy(sources[i].world);
  keys_close(&keys);
  unsigned char *text = malloc(bytes);
  cr_assert_eq(pread(descriptor, text, bytes, 0), (ssize_t)bytes);
  close(descriptor);
  *count = bytes;
  return text;
}

static void forget(struct snapshot_file *file) {
  for (uint32_t i = 0; i < file->world_count; i++) {
    free(file->worlds[i].state);
    free(file->worlds[i].keys);
  }
}

Test(snapshot_file, has_the_worlds_and_what_their_modules_keep) {
  size_t count;
  unsigned char *bytes = write_two(&count);
  struct snapshot_file file;
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
  forget(&file);
  free(bytes);
}

Test(snapshot_file, that_was_cut_anywhere_is_refused) {
  size_t count;
  unsigned char *bytes = write_two(&count);
  struct snapshot_file file;
  for (size_t i = 0; i < count; i++) {
    unsigned char *cut = malloc(i + 1); /* so that a sanitizer sees what is read behind the end */
    memcpy(cut, bytes, i);
    cr_assert_eq(snapshot_file_read(&file, cut, i), MUSTER_E_INPUT, "%zu of %zu bytes", i, count);
    free(cut);
  }
  free(bytes);
}

Test(snapshot_file, of_which_any_bit_was_flipped_is_refused) {
  enum { FLIPS = 10000 };
  size_t count;
  unsigned char *bytes = write_two(&count);
  struct snapshot_file file;
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < FLIPS; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    size_t bit = random % (count * 8);
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    cr_assert_eq(snapshot_file_read(&file, bytes, count), MUSTER_E_INPUT, "bit %zu of byte %zu", bit % 8, bit / 8);
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  cr_assert_eq(snapshot_file_read(&file, bytes, count), MUSTER_OK);
  forget(&file);
  free(bytes);
}

/* Of this process: also what is mapped and was looked at. */
static long most_memory_kb(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void expect_refused(const char *path, const char *says) {
  struct snapshot_file file;
  cr_expect_eq(snapshot_file_open(&file, path), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), says), "%s", muster_last_error());
}

Test(snapshot_file, of_a_hundred_gigabytes_of_nothing_is_refused_without_being_read) {
  const off_t vast = (off_t)100 << 30;
  const long most_kb = 256 << 10;
  char path[] = "/tmp/muster-vast-XXXXXX";
  size_t count;
  uint64_t end[2];
  int descriptor = mkstemp(path);
  unsigned char *bytes = write_two(&count);
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
  free(bytes);
}

static bool refuse(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
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
  struct snapshot_file file;
  const uint64_t end[2] = {0, ~0ull};
  cr_assert_eq(snapshot_file_read(&file, end, sizeof end), MUSTER_E_INPUT);
  cr_assert_not(strstr(muster_last_error(), "it is cut"), "%s", muster_last_error());
  cr_assert_eq(snapshot_file_read(&file, end, sizeof end - 1), MUSTER_E_INPUT);
  cr_assert(strstr(muster_last_error(), "it is cut"), "%s", muster_last_error());
}
