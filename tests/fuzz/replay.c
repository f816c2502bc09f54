/* replay.c - runs a fuzz target without a fuzzer:
 *
 *     replay FOLDER MUTATIONS
 *
 * feeds it every file of the folder as it is, and then so many seeded random mutations of them. The same arguments give
 * the same inputs; a failure is a crash, with the input that caused it left in NAME.crash of the program. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { FILES_MAX = 256, BYTES_MAX = 1 << 16 };

struct input {
  uint8_t *data;
  size_t bytes;
};

static uint64_t random_state = 1;

/* xorshift64* */
static uint64_t next_random(uint64_t limit) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (random_state * 0x2545f4914f6cdd1du >> 32) % limit;
}

static bool read_input(const char *folder, const char *name, struct input *input) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  input->data = malloc(BYTES_MAX);
  input->bytes = input->data ? fread(input->data, 1, BYTES_MAX, file) : 0;
  bool failed = ferror(file) || !input->data;
  fclose(file);
  if (failed) free(input->data);
  return !failed;
}

static int compare_names(const struct dirent **left, const struct dirent **right) {
  return strcmp((*left)->d_name, (*right)->d_name); /* alphasort depends on the locale */
}

static int is_visible(const struct dirent *found) {
  return found->d_name[0] != '.';
}

/* Reads the folder's files in the order of their names; -1 when it cannot. */
static int read_folder(const char *folder, struct input *inputs) {
  struct dirent **found;
  int count = scandir(folder, &found, is_visible, compare_names), kept = 0;
  for (int i = 0; i < count; i++) {
    if (kept < FILES_MAX && read_input(folder, found[i]->d_name, &inputs[kept])) kept++;
    free(found[i]);
  }
  if (count < 0) return -1;
  free(found);
  return kept;
}

static void crash_path(char path[256]) {
  snprintf(path, 256, "%.200s.crash", program_invocation_short_name);
}

/* The file stays open: a file that is emptied and closed again for each input would be waited for, on the disk. */
static void note_input(const uint8_t *data, size_t bytes) {
  static int file = -1;
  char path[256];
  crash_path(path);
  if (file < 0) file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0 || pwrite(file, data, bytes, 0) != (ssize_t)bytes || ftruncate(file, (off_t)bytes) != 0) {
    fprintf(stderr, "replay: cannot write %s\n", path);
    abort();
  }
}

/* The input lies in memory of just its size, so that a sanitizer sees any step beyond. */
static void feed(const uint8_t *data, size_t bytes) {
  uint8_t *copy = malloc(bytes + !bytes);
  if (!copy) abort();
  memcpy(copy, data, bytes);
  note_input(data, bytes);
  LLVMFuzzerTestOneInput(copy, bytes);
  free(copy);
}

static size_t put(uint8_t *data, size_t bytes, size_t at, const char *text, size_t length) {
  if (bytes + length > BYTES_MAX) return bytes;
  memmove(data + at + length, data + at, bytes - at);
  memcpy(data + at, text, length);
  return bytes + length;
}

static size_t cut(uint8_t *data, size_t bytes, size_t at, size_t length) {
  if (length > bytes - at) length = bytes - at;
  memmove(data + at, data + at + length, bytes - at - length);
  return bytes - length;
}

static size_t mutate_once(uint8_t *data, size_t bytes, const struct input *other) {
  static const char *const words[] = {",",      "\"",    "\"\"", "\n",    "\r\n",
                                      "\r",     "nan",   "-inf", "1e999", "-",
                                      "x",      "y",     "z",    "kind",  "world",
                                      "patrol", "speed", "1e9",  "0x",    ".",
                                      "e-5",    "\xff",  " ",    "\t",    "99999999999999999999"};
  size_t at = (size_t)next_random(bytes + 1);
  switch (next_random(6)) {
  case 0:
    if (at < bytes) data[at] = (uint8_t)next_random(256);
    return bytes;
  case 1:
    if (at < bytes) data[at] ^= (uint8_t)(1u << next_random(8));
    return bytes;
  case 2:
    return cut(data, bytes, at, (size_t)next_random(16) + 1);
  case 3: {
    const char *word = words[next_random(sizeof words / sizeof *words)];
    return put(data, bytes, at, word, strlen(word));
  }
  case 4: {
    size_t from = (size_t)next_random(other->bytes + 1), length = (size_t)next_random(64);
    if (length > other->bytes - from) length = other->bytes - from;
    return put(data, bytes, at, (const char *)other->data + from, length);
  }
  default:
    return put(data, bytes, at, "", 1); /* a NUL byte */
  }
}

static void feed_mutations(const struct input *inputs, int count, unsigned long mutations) {
  static uint8_t data[BYTES_MAX];
  for (unsigned long i = 0; i < mutations; i++) {
    const struct input *base = &inputs[next_random((uint64_t)count)];
    size_t bytes = base->bytes;
    memcpy(data, base->data, bytes);
    for (uint64_t steps = next_random(6) + 1; steps > 0; steps--)
      bytes = mutate_once(data, bytes, &inputs[next_random((uint64_t)count)]);
    feed(data, bytes);
  }
}

int main(int argc, char **argv) {
  static struct input inputs[FILES_MAX];
  if (argc != 3) {
    fprintf(stderr, "replay: give a folder and a number of mutations\n");
    return 2;
  }
  int count = read_folder(argv[1], inputs);
  if (count <= 0) {
    fprintf(stderr, "replay: no files in %s\n", argv[1]);
    return 1;
  }
  for (int i = 0; i < count; i++) feed(inputs[i].data, inputs[i].bytes);
  unsigned long mutations = strtoul(argv[2], NULL, 10);
  feed_mutations(inputs, count, mutations);
  for (int i = 0; i < count; i++) free(inputs[i].data);
  char path[256];
  crash_path(path);
  remove(path);
  printf("%d files and %lu mutations\n", count, mutations);
  return 0;
}
