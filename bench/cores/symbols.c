#include "symbols.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's file, as the linker made it; it stays mapped. */
typedef struct symbols_file {
  const uint8_t *bytes; /* null: not mapped */
  const ElfW(Sym) * first, *end;
  const char *names;
  bool read;
} symbols_file;

static symbols_file file;

static void symbols_map(void) {
  struct stat status;
  int opened = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (opened < 0) return;
  if (fstat(opened, &status) == 0) {
    void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, opened, 0);
    if (mapped != MAP_FAILED) file.bytes = mapped;
  }
  close(opened);
}

static void symbols_read(void) {
  file.read = true;
  symbols_map();
  if (!file.bytes) return;
  const ElfW(Ehdr) *head = (const void *)file.bytes;
  const ElfW(Shdr) *sections = (const void *)(file.bytes + head->e_shoff);
  for (uint32_t i = 0; i < head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    file.first = (const void *)(file.bytes + sections[i].sh_offset);
    file.end = file.first + sections[i].sh_size / sizeof *file.first;
    file.names = (const char *)file.bytes + sections[sections[i].sh_link].sh_offset;
  }
}

/* Where the program was loaded: it comes first. */
static int symbols_take_base(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  *(uintptr_t *)base = info->dlpi_addr;
  return 1;
}

const char *symbols_name(uintptr_t address) {
  uintptr_t base = 0;
  if (!file.read) symbols_read();
  dl_iterate_phdr(symbols_take_base, &base);
  for (const ElfW(Sym) *symbol = file.first; symbol < file.end; symbol++)
    if ((symbol->st_info & 15) == STT_FUNC && base + symbol->st_value == address) return file.names + symbol->st_name;
  return NULL;
}
