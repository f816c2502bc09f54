#include "service/modules.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void modules_open(modules *modules, const char *folder) {
  *modules = (struct modules){0};
  snprintf(modules->folder, sizeof modules->folder, "%s", folder);
}

bool modules_name_is_good(const char *name) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  size_t length = strlen(name);
  return length > 0 && length < NAME_BYTES && strspn(name, allowed) == length;
}

static const muster_module *get_module(void *handle, const char *name) {
  muster_module_get_function get;
  void *symbol = dlsym(handle, "muster_module_get");
  if (!symbol) {
    error_set(MUSTER_E_INPUT, "module '%s': it exports no muster_module_get", name);
    return NULL;
  }
  memcpy(&get, &symbol, sizeof get);
  const muster_module *module = get();
  if (module && module->abi == MUSTER_MODULE_ABI) return module;
  error_set(MUSTER_E_INPUT, "module '%s': built for ABI %u, this program is for %u", name, module ? module->abi : 0,
            MUSTER_MODULE_ABI);
  return NULL;
}

const muster_module *modules_load(modules *modules, const char *name) {
  char path[PATH_BYTES + NAME_BYTES + 8];
  for (uint32_t i = 0; i < modules->count; i++)
    if (strcmp(modules->loaded[i].name, name) == 0) return modules->loaded[i].module;
  if (!modules_name_is_good(name) || modules->count == MODULES_MAX) {
    error_set(MUSTER_E_ARGUMENT, "module '%s': a name has letters, digits, - and _ only; there are at most %u modules",
              name, (unsigned)MODULES_MAX);
    return NULL;
  }
  snprintf(path, sizeof path, "%s/%s.so", modules->folder, name);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error_set(MUSTER_E_SYSTEM, "module '%s': %s", name, dlerror());
    return NULL;
  }
  const muster_module *module = get_module(handle, name);
  if (!module) {
    dlclose(handle);
    return NULL;
  }
  loaded_module *loaded = &modules->loaded[modules->count++];
  *loaded = (loaded_module){.handle = handle, .module = module};
  snprintf(loaded->name, sizeof loaded->name, "%s", name);
  return module;
}

void modules_close(modules *modules) {
  while (modules->count > 0) dlclose(modules->loaded[--modules->count].handle);
}
