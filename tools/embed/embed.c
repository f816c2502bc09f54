/* embed - writes files as a C source of bytes, for programs that bring their files along.
 *
 *     embed OUTPUT FILE...
 *
 * OUTPUT defines page_files[] of service/page_files.h: each file by its name without folder, its media type by the
 * name's end, and a tag that changes with its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const struct {
  const char *end, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".yaml", "application/yaml"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *type_of(const char *path) {
  const char *end = strrchr(name_of(path), '.');
  for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
    if (strcmp(end, types[i].end) == 0) return types[i].type;
  return NULL;
}

/* The whole file; null after a complaint. */
static unsigned char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  unsigned char *all = size >= 0 ? malloc((size_t)size + 1) : NULL;
  if (all) rewind(file);
  *bytes = all ? fread(all, 1, (size_t)size, file) : 0;
  if (file) fclose(file);
  if (all && *bytes == (size_t)size) return all;
  fprintf(stderr, "embed: cannot read %s\n", path);
  free(all);
  return NULL;
}

static void write_bytes(FILE *out, int number, const unsigned char *all, size_t bytes) {
  fprintf(out, "static const unsigned char file_%d[] = {", number);
  for (size_t i = 0; i < bytes; i++) fprintf(out, "%s%u,", i % 32 ? "" : "\n", all[i]);
  fprintf(out, "0};\n");
}

static int write_all(FILE *out, int count, char **paths) {
  fputs("/* Made by tools/embed. */\n#include \"service/page_files.h\"\n\n", out);
  char *table = NULL;
  size_t table_bytes;
  FILE *entries = open_memstream(&table, &table_bytes);
  for (int i = 0; i < count; i++) {
    size_t bytes;
    const char *type = type_of(paths[i]);
    if (!type) fprintf(stderr, "embed: %s: no media type is known for this name\n", paths[i]);
    unsigned char *all = type ? read_file(paths[i], &bytes) : NULL;
    if (!all) return EXIT_FAILURE;
    write_bytes(out, i, all, bytes);
    fprintf(entries, "    {\"/%s\", \"%s\", \"\\\"%016llx\\\"\", file_%d, %zu},\n", name_of(paths[i]), type,
            (unsigned long long)XXH3_64bits(all, bytes), i, bytes);
    free(all);
  }
  fclose(entries);
  fprintf(out, "\nconst page_file page_files[] = {\n%s    {0},\n};\nconst unsigned page_file_count = %d;\n", table,
          count);
  free(table);
  return EXIT_SUCCESS;
}

int main(int count, char **arguments) {
  if (count < 3) {
    fputs("usage: embed OUTPUT FILE...\n", stderr);
    return EXIT_FAILURE;
  }
  FILE *out = fopen(arguments[1], "w");
  if (!out) {
    fprintf(stderr, "embed: cannot write %s\n", arguments[1]);
    return EXIT_FAILURE;
  }
  int status = write_all(out, count - 2, arguments + 2);
  if (fclose(out) != 0) status = EXIT_FAILURE;
  if (status) remove(arguments[1]);
  return status;
}
