#include "service/module_image.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3 */
#endif

enum { OBJECT_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

/* A file, and how long it is. */
typedef struct object_file {
  int descriptor;
  uint64_t bytes;
} object_file;

static bool has(const object_file *file, uint64_t offset, uint64_t bytes) {
  return offset <= file->bytes && bytes <= file->bytes - offset;
}

static bool read_at(const object_file *file, uint64_t offset, void *to, size_t bytes) {
  return has(file, offset, bytes) && pread(file->descriptor, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static muster_result cut(const object_file *file, const char *what) {
  return error_set(MUSTER_E_INPUT,
                   "it is cut: %s is not in its %lu bytes; was it still being copied? Put it there with `install`",
                   what, file->bytes);
}

/* The loader would map bytes that the file does not have, and the first access to them would end the process. */
static muster_result check_segments(const object_file *file, const ElfW(Ehdr) * head) {
  ElfW(Phdr) segment;
  for (uint32_t i = 0; i < head->e_phnum; i++) {
    if (!read_at(file, head->e_phoff + i * sizeof segment, &segment, sizeof segment))
      return cut(file, "the table of its segments");
    if (!has(file, segment.p_offset, segment.p_filesz)) return cut(file, "a segment");
  }
  return MUSTER_OK;
}

/* The table of sections stands last, and running needs nothing of it. Its presence shows that everything before it was
 * written, too, even in a file that got its full length before it was filled. Some tools remove it. */
static muster_result check_sections(const object_file *file, const ElfW(Ehdr) * head) {
  ElfW(Shdr) names;
  if (!head->e_shoff || !head->e_shnum) return MUSTER_OK;
  if (!has(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof names)) return cut(file, "the table of its sections");
  if (head->e_shstrndx == SHN_UNDEF || head->e_shstrndx >= head->e_shnum) return MUSTER_OK;
  bool read = read_at(file, head->e_shoff + head->e_shstrndx * sizeof names, &names, sizeof names);
  return read && names.sh_type == SHT_STRTAB ? MUSTER_OK : cut(file, "the table of its sections");
}

static muster_result check_object(const object_file *file) {
  ElfW(Ehdr) head;
  if (!read_at(file, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return error_set(MUSTER_E_INPUT, "it is no shared object: it does not begin with the head of one");
  if (head.e_ident[EI_CLASS] != OBJECT_CLASS || head.e_type != ET_DYN || head.e_phentsize != sizeof(ElfW(Phdr)))
    return error_set(MUSTER_E_INPUT, "it is no shared object for this machine; build it with -shared -fPIC");
  muster_result result = check_segments(file, &head);
  return result ? result : check_sections(file, &head);
}

/* Older systems do not know the flag, and need none. */
static int make_memory(const char *name) {
  char file[64];
  snprintf(file, sizeof file, "%s.so", name);
  int memory = memfd_create(file, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  return memory < 0 && errno == EINVAL ? memfd_create(file, MFD_CLOEXEC | MFD_ALLOW_SEALING) : memory;
}

/* False when the file ends early, or the system refuses: then errno says why. */
static bool copy(int file, int memory, uint64_t bytes) {
  off_t at = 0;
  errno = 0;
  while ((uint64_t)at < bytes) {
    ssize_t sent = sendfile(memory, file, &at, (size_t)(bytes - (uint64_t)at));
    if (sent == 0 || (sent < 0 && errno != EINTR)) return false;
  }
  return true;
}

static bool is_unchanged(int file, const struct stat *before) {
  struct stat now;
  return fstat(file, &now) == 0 && now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* Fills and seals the memory. */
static muster_result module_image_fill(int memory, int file, const struct stat *status) {
  const object_file image = {memory, (uint64_t)status->st_size};
  bool copied = copy(file, memory, image.bytes);
  if (!copied && errno) return error_set(MUSTER_E_SYSTEM, "it cannot be copied into memory: %s", strerror(errno));
  if (!copied || !is_unchanged(file, status))
    return error_set(MUSTER_E_INPUT, "it is being written; put it there with `install`");
  if (fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return error_set(MUSTER_E_SYSTEM, "its copy in memory cannot be sealed: %s", strerror(errno));
  return check_object(&image);
}

/* Checks the file before the copy, so that no large file is copied that is no module, and the copy after it, since only
 * the copy stays as it is. */
int module_image_make(int file, const char *name) {
  struct stat status;
  if (fstat(file, &status) != 0) return error_set(MUSTER_E_SYSTEM, "%s", strerror(errno)), -1;
  if (status.st_size > MODULE_IMAGE_BYTES_MAX)
    return error_set(MUSTER_E_INPUT, "it has more than %d MiB, which no module has", MODULE_IMAGE_BYTES_MAX >> 20), -1;
  if (check_object(&(object_file){file, (uint64_t)status.st_size})) return -1;
  int memory = make_memory(name);
  if (memory < 0) {
    error_set(MUSTER_E_SYSTEM, "no executable memory for its copy: %s; vm.memfd_noexec must be 0 or 1",
              strerror(errno));
    return -1;
  }
  if (module_image_fill(memory, file, &status) == MUSTER_OK) return memory;
  close(memory);
  return -1;
}
