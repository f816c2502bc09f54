#include "service/modules.h"

#include "base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_BYTES = 40, MODULE_SIZE_MAX = 4096 };

bool modules_name_is_good(const char *name) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  size_t length = strlen(name);
  return length > 0 && length < NAME_BYTES && strspn(name, allowed) == length;
}

/* ------------------------------------------------------------------------------------------------------------- trust
 */

/* `what` begins the message: the folder, or the module. */
static muster_result check_trust(int descriptor, bool folder, const char *what) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return error_set(MUSTER_E_SYSTEM, "%s: cannot be looked at: %s", what, strerror(errno));
  if (!folder && !S_ISREG(status.st_mode)) return error_set(MUSTER_E_INPUT, "%s: it is no regular file", what);
  if (status.st_uid != 0 && status.st_uid != geteuid())
    return error_set(MUSTER_E_INPUT, "%s: it belongs to user %u; it must belong to root or to the service's user %u",
                     what, (unsigned)status.st_uid, (unsigned)geteuid());
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return error_set(MUSTER_E_INPUT, "%s: others may write it; take that away with chmod go-w", what);
  return MUSTER_OK;
}

muster_result modules_open(modules *modules, const char *folder) {
  char what[PATH_BYTES + 32];
  *modules = (struct modules){0};
  snprintf(modules->folder, sizeof modules->folder, "%s", folder);
  snprintf(what, sizeof what, "the folder of modules %s", folder);
  modules->descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (modules->descriptor < 0) return error_set(MUSTER_E_SYSTEM, "%s: %s", what, strerror(errno));
  muster_result result = check_trust(modules->descriptor, true, what);
  if (result == MUSTER_OK) return MUSTER_OK;
  close(modules->descriptor);
  modules->descriptor = -1;
  return result;
}

/* -1 with the reason in muster_last_error(). A pipe does not make it wait. */
static int open_file(const modules *modules, const char *name, const char *what) {
  char file[NAME_BYTES + 8];
  snprintf(file, sizeof file, "%s.so", name);
  int descriptor = openat(modules->descriptor, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    error_set(MUSTER_E_INPUT, "%s: %s in %s: %s", what, file, modules->folder,
              errno == ELOOP ? "it is a symbolic link; put the file itself there" : strerror(errno));
    return -1;
  }
  if (check_trust(descriptor, false, what) == MUSTER_OK) return descriptor;
  close(descriptor);
  return -1;
}

/* ------------------------------------------------------------------------------------------------------------- code */

/* Whoever was built with a header of this ABI has at least what stood in it first. */
static muster_result check_interface(const muster_module *module, const char *what) {
  if (!module) return error_set(MUSTER_E_INPUT, "%s: its muster_module_get gives no module", what);
  if (module->abi != MUSTER_MODULE_ABI)
    return error_set(MUSTER_E_INPUT, "%s: it was built for ABI %u, this service is for %u; build it anew", what,
                     module->abi, MUSTER_MODULE_ABI);
  if (module->size < offsetof(muster_module, takes_cost) || module->size > MODULE_SIZE_MAX)
    return error_set(MUSTER_E_INPUT, "%s: its size is %u bytes, which no header ever had; set it to sizeof", what,
                     module->size);
  if (!module->name || !module->summary || !module->open || !module->populate || !module->close)
    return error_set(MUSTER_E_INPUT, "%s: it lacks one of name, summary, open, populate and close", what);
  return MUSTER_OK;
}

static const muster_module *find_interface(void *handle, const char *what) {
  muster_module_get_function get;
  void *symbol = dlsym(handle, "muster_module_get");
  if (!symbol) {
    error_set(MUSTER_E_INPUT, "%s: it exports no muster_module_get", what);
    return NULL;
  }
  memcpy(&get, &symbol, sizeof get);
  const muster_module *module = get();
  return check_interface(module, what) == MUSTER_OK ? module : NULL;
}

/* The loader says which object it means by the path that it was given, which says nothing to people. */
static const char *reason_of(const char *message, const char *link) {
  size_t length = strlen(link);
  return strncmp(message, link, length) == 0 && message[length] == ':' ? message + length + 2 : message;
}

/* The number of a descriptor may only be used again when the object of that name is gone: the loader would take the
 * new one for it. */
static void unload(loaded_module *loaded) {
  char link[LINK_BYTES];
  snprintf(link, sizeof link, "/proc/self/fd/%d", loaded->descriptor);
  if (loaded->handle) dlclose(loaded->handle);
  void *resident = dlopen(link, RTLD_NOW | RTLD_NOLOAD);
  if (resident)
    dlclose(resident);
  else
    close(loaded->descriptor);
}

/* Fills in what it takes of `loaded`, also on failure. */
static muster_result load(loaded_module *loaded, const char *what) {
  char link[LINK_BYTES];
  snprintf(link, sizeof link, "/proc/self/fd/%d", loaded->descriptor);
  loaded->handle = dlopen(link, RTLD_NOW | RTLD_LOCAL);
  if (!loaded->handle) return error_set(MUSTER_E_INPUT, "%s: %s", what, reason_of(dlerror(), link));
  loaded->module = find_interface(loaded->handle, what);
  return loaded->module ? MUSTER_OK : MUSTER_E_INPUT;
}

static muster_result check_request(const modules *modules, const char *name) {
  if (!modules_name_is_good(name))
    return error_set(MUSTER_E_ARGUMENT, "'%.40s' is no name of a module: give at most %u letters, digits, - and _",
                     name, NAME_BYTES - 1u);
  if (modules->descriptor < 0)
    return error_set(MUSTER_E_STATE, "module '%s': the folder of modules %s was refused", name, modules->folder);
  if (modules->count == MODULES_MAX)
    return error_set(MUSTER_E_FULL, "module '%s': %u are loaded already, the most", name, (unsigned)MODULES_MAX);
  return MUSTER_OK;
}

const muster_module *modules_load(modules *modules, const char *name) {
  char what[NAME_BYTES + 16];
  for (uint32_t i = 0; i < modules->count; i++)
    if (strcmp(modules->loaded[i].name, name) == 0) return modules->loaded[i].module;
  if (check_request(modules, name)) return NULL;
  snprintf(what, sizeof what, "module '%s'", name);
  loaded_module loaded = {.descriptor = open_file(modules, name, what)};
  if (loaded.descriptor < 0) return NULL;
  if (load(&loaded, what)) {
    unload(&loaded);
    return NULL;
  }
  snprintf(loaded.name, sizeof loaded.name, "%s", name);
  modules->loaded[modules->count++] = loaded;
  return loaded.module;
}

void modules_close(modules *modules) {
  while (modules->count > 0) unload(&modules->loaded[--modules->count]);
  if (modules->descriptor >= 0) close(modules->descriptor);
  modules->descriptor = -1;
}
