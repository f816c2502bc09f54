#include "service/modules.h"

#include "service/module_image.h"

#include "base/error.h"
#include "base/files.h"
#include "base/module_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_BYTES = 40 };

bool modules_name_is_good(const char *name) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  size_t length = strlen(name);
  return length > 0 && length < NAME_BYTES && strspn(name, allowed) == length;
}

/* ------------------------------------------------------------------------------------------------------------ trust */

/* `what` begins the message: the folder, or the module. */
static muster_result check_trust(int descriptor, const char *what) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return error_set(MUSTER_E_SYSTEM, "%s: cannot be looked at: %s", what, strerror(errno));
  if (status.st_uid != 0 && status.st_uid != geteuid())
    return error_set(MUSTER_E_INPUT, "%s: it belongs to user %u; it must belong to root or to the service's user %u",
                     what, (unsigned)status.st_uid, (unsigned)geteuid());
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return error_set(MUSTER_E_INPUT, "%s: others may write it; take that away with chmod go-w", what);
  return MUSTER_OK;
}

muster_result modules_open(struct modules *modules, const char *folder) {
  char what[PATH_BYTES + 32];
  *modules = (struct modules){0};
  snprintf(modules->folder, sizeof modules->folder, "%s", folder);
  snprintf(what, sizeof what, "the folder of modules %s", folder);
  modules->descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (modules->descriptor < 0) return error_set(MUSTER_E_SYSTEM, "%s: %s", what, strerror(errno));
  muster_result result = check_trust(modules->descriptor, what);
  if (result == MUSTER_OK) return MUSTER_OK;
  close(modules->descriptor);
  modules->descriptor = -1;
  return result;
}

/* -1 with the reason in muster_last_error(). */
static int open_file(const struct modules *modules, const char *name, const char *what) {
  char file[NAME_BYTES + 8];
  snprintf(file, sizeof file, "%s.so", name);
  int descriptor = files_open_regular(modules->descriptor, file, O_RDONLY | O_NOFOLLOW, 0);
  if (descriptor < 0) {
    error_set(MUSTER_E_INPUT, "%s: %s in %s: %s", what, file, modules->folder, muster_last_error());
    return -1;
  }
  if (check_trust(descriptor, what) == MUSTER_OK) return descriptor;
  close(descriptor);
  return -1;
}

/* The same check, of a copy that can no longer be changed. */
static int open_image(const struct modules *modules, const char *name, const char *what) {
  int file = open_file(modules, name, what);
  if (file < 0) return -1;
  int image = module_image_make(file, name);
  if (image < 0) error_set(MUSTER_E_INPUT, "%s: %s", what, muster_last_error());
  close(file);
  return image;
}

muster_result modules_check(const char *folder, const char *name) {
  struct modules modules;
  char what[NAME_BYTES + 16];
  snprintf(what, sizeof what, "module '%s'", name);
  muster_result result = modules_open(&modules, folder);
  if (result) return result;
  int image = open_image(&modules, name, what);
  if (image >= 0) close(image);
  modules_close(&modules);
  return image < 0 ? MUSTER_E_INPUT : MUSTER_OK;
}

muster_result modules_check_path(const char *path) {
  int file = *path ? files_open_regular(AT_FDCWD, path, O_RDONLY, 0) : -1;
  if (*path && file < 0) return error_set(MUSTER_E_INPUT, "path %s: %s", path, muster_last_error());
  if (file >= 0) close(file);
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- code */

/* The loader names the object by the path that it was given, which tells people nothing. */
static const char *reason_of(const char *message, const char *link) {
  size_t length = strlen(link);
  return strncmp(message, link, length) == 0 && message[length] == ':' ? message + length + 2 : message;
}

/* The path that the loader gets: a debugger, which opens the path by itself, finds the code there, too. */
static void name_image(const loaded_module *loaded, char link[LINK_BYTES]) {
  snprintf(link, LINK_BYTES, "/proc/%d/fd/%d", (int)getpid(), loaded->descriptor);
}

/* The number of a descriptor may be reused only when the object of that path is unloaded: otherwise the loader would
 * take the new object for the old one. */
static void unload(loaded_module *loaded) {
  char link[LINK_BYTES];
  name_image(loaded, link);
  if (loaded->handle) dlclose(loaded->handle);
  void *resident = dlopen(link, RTLD_NOW | RTLD_NOLOAD);
  if (resident)
    dlclose(resident);
  else
    close(loaded->descriptor);
}

/* Fills in `loaded` as far as it gets, also on failure. */
static muster_result service_modules_load(loaded_module *loaded, const char *what) {
  char link[LINK_BYTES];
  name_image(loaded, link);
  loaded->handle = dlopen(link, RTLD_NOW | RTLD_LOCAL);
  if (!loaded->handle) return error_set(MUSTER_E_INPUT, "%s: %s", what, reason_of(dlerror(), link));
  return module_take(loaded->handle, what, &loaded->module);
}

static muster_result check_request(const struct modules *modules, const char *name) {
  if (!modules_name_is_good(name))
    return error_set(MUSTER_E_ARGUMENT, "'%.40s' is no name of a module: give at most %u letters, digits, - and _",
                     name, NAME_BYTES - 1u);
  if (modules->descriptor < 0)
    return error_set(MUSTER_E_STATE, "module '%s': the folder of modules %s was refused", name, modules->folder);
  if (modules->count == MODULES_MAX)
    return error_set(MUSTER_E_FULL, "module '%s': %u are loaded already, the most", name, (unsigned)MODULES_MAX);
  return MUSTER_OK;
}

const muster_module *modules_load(struct modules *modules, const char *name) {
  char what[NAME_BYTES + 16];
  for (uint32_t i = 0; i < modules->count; i++)
    if (strcmp(modules->loaded[i].name, name) == 0) return &modules->loaded[i].module;
  if (check_request(modules, name)) return NULL;
  snprintf(what, sizeof what, "module '%s'", name);
  loaded_module loaded = {.descriptor = open_image(modules, name, what)};
  if (loaded.descriptor < 0) return NULL;
  if (service_modules_load(&loaded, what)) {
    unload(&loaded);
    return NULL;
  }
  snprintf(loaded.name, sizeof loaded.name, "%s", name);
  modules->loaded[modules->count] = loaded;
  return &modules->loaded[modules->count++].module;
}

void modules_close(struct modules *modules) {
  while (modules->count > 0) unload(&modules->loaded[--modules->count]);
  if (modules->descriptor >= 0) close(modules->descriptor);
  modules->descriptor = -1;
}
