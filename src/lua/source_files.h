/* lua/source_files.h - the texts of scripts: a file, or all NAME.lua of a folder, read once and completely. */
#ifndef LUA_SOURCE_FILES_H
#define LUA_SOURCE_FILES_H

#include <muster/module.h>

enum { SCRIPT_FILES_MAX = 64, SCRIPT_NAME_BYTES = 64, SCRIPT_BYTES_MAX = 1 << 20 };

typedef struct script_file {
  char name[SCRIPT_NAME_BYTES]; /* as `require` knows it: the file's name without .lua */
  char *text;
  size_t bytes;
  bool main; /* it is run by itself; others when they are required */
} script_file;

/* In the order of their names. */
typedef struct script_files {
  script_file files[SCRIPT_FILES_MAX];
  uint32_t count;
} script_files;

/* Reads the file or the folder at `path`. In a folder main.lua is run by itself, or each file where there is no
 * main.lua. MUSTER_E_INPUT with what is wrong and where; nothing is kept then. */
muster_result source_files_read(const char *path, script_files *files);

/* Frees the texts. */
void source_files_free(script_files *files);

/* The file that `require` means; null when there is none. */
const script_file *source_files_find(const script_files *files, const char *name);

#endif
