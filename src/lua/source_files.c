#include "lua/source_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether it is NAME.lua, with a name that `require` can be given. */
static bool is_script(const char *file) {
  size_t length = strlen(file);
  return *file != '.' && length > 4 && length < SCRIPT_NAME_BYTES && strcmp(file + length - 4, ".lua") == 0;
}

static muster_result source_read_text(const char *path, script_file *file) {
  FILE *stream = fopen(path, "rb");
  if (!stream) return muster_module_fail(MUSTER_E_INPUT, "cannot read the script '%s': %s", path, strerror(errno));
  file->text = malloc(SCRIPT_BYTES_MAX + 1);
  if (file->text) file->bytes = fread(file->text, 1, SCRIPT_BYTES_MAX + 1, stream);
  bool failed = ferror(stream) != 0;
  fclose(stream);
  if (!file->text) return muster_module_fail(MUSTER_E_MEMORY, "no memory for the script '%s'", path);
  if (failed) return muster_module_fail(MUSTER_E_INPUT, "cannot read the script '%s': %s", path, strerror(errno));
  if (file->bytes > SCRIPT_BYTES_MAX)
    return muster_module_fail(MUSTER_E_INPUT, "the script '%s' has more than %d bytes", path, SCRIPT_BYTES_MAX);
  if (file->bytes >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0) /* editors put it before UTF-8 */
    memmove(file->text, file->text + 3, file->bytes -= 3);
  char *less = realloc(file->text, file->bytes + 1);
  if (less) file->text = less;
  return MUSTER_OK;
}

/* Adds NAME.lua of a folder, or of the one file. */
static muster_result add_file(script_files *files, const char *path, const char *name) {
  if (files->count == SCRIPT_FILES_MAX)
    return muster_module_fail(MUSTER_E_INPUT, "more than %d scripts, with '%s'", SCRIPT_FILES_MAX, path);
  script_file *file = &files->files[files->count++];
  *file = (script_file){.main = true};
  snprintf(file->name, sizeof file->name, "%.*s", (int)(strlen(name) - 4), name);
  return source_read_text(path, file);
}

static int by_name(const void *one, const void *other) {
  return strcmp(((const script_file *)one)->name, ((const script_file *)other)->name);
}

static muster_result read_folder(const char *path, script_files *files) {
  DIR *folder = opendir(path);
  if (!folder) return muster_module_fail(MUSTER_E_INPUT, "cannot read the folder '%s': %s", path, strerror(errno));
  muster_result result = MUSTER_OK;
  for (const struct dirent *entry; result == MUSTER_OK && (entry = readdir(folder));) {
    char whole[4096];
    if (!is_script(entry->d_name)) continue;
    if (snprintf(whole, sizeof whole, "%s/%s", path, entry->d_name) >= (int)sizeof whole)
      result = muster_module_fail(MUSTER_E_INPUT, "the path '%s/%s' is too long", path, entry->d_name);
    else
      result = add_file(files, whole, entry->d_name);
  }
  closedir(folder);
  if (result) return result;
  if (!files->count)
    return muster_module_fail(MUSTER_E_INPUT, "there is no file with a name that ends in .lua in the folder '%s'",
                              path);
  qsort(files->files, files->count, sizeof *files->files, by_name);
  bool has_main = source_files_find(files, "main") != NULL;
  for (uint32_t i = 0; i < files->count && has_main; i++)
    files->files[i].main = strcmp(files->files[i].name, "main") == 0;
  return MUSTER_OK;
}

muster_result source_files_read(const char *path, script_files *files) {
  struct stat status;
  *files = (script_files){0};
  if (stat(path, &status) != 0)
    return muster_module_fail(MUSTER_E_INPUT, "cannot read the scripts '%s': %s%s", path, strerror(errno),
                              *path == '/' ? "" : "; in the settings of a service the path must begin with /");
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  muster_result result;
  if (S_ISDIR(status.st_mode))
    result = read_folder(path, files);
  else if (is_script(name))
    result = add_file(files, path, name);
  else
    result = muster_module_fail(MUSTER_E_INPUT, "'%s' is neither a folder nor a file NAME.lua", path);
  if (result) source_files_free(files);
  return result;
}

void source_files_free(script_files *files) {
  for (uint32_t i = 0; i < files->count; i++) free(files->files[i].text);
  files->count = 0;
}

const script_file *source_files_find(const script_files *files, const char *name) {
  for (uint32_t i = 0; i < files->count; i++)
    if (strcmp(files->files[i].name, name) == 0) return &files->files[i];
  return NULL;
}
