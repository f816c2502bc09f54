/* service/modules.h - behaviour modules (muster/module.h) as shared objects out of one folder. */
#ifndef SERVICE_MODULES_H
#define SERVICE_MODULES_H

#include "service/settings.h"

#include <muster/module.h>

enum { MODULES_MAX = 64 };

/* A module stays loaded until the end: its code may be on some thread's stack. */
typedef struct loaded_module {
  char name[NAME_BYTES];
  void *handle;
  const muster_module *module;
} loaded_module;

typedef struct modules {
  char folder[PATH_BYTES];
  uint32_t count;
  loaded_module loaded[MODULES_MAX];
} modules;

/* Begins with no module. Frames' thread, as all that follows. */
void modules_open(modules *modules, const char *folder);

/* The module of that name, loaded when it is not yet; null with the reason in muster_last_error(), and nothing has
 * changed. */
const muster_module *modules_load(modules *modules, const char *name);

/* Unloads all; no instance is open any more. */
void modules_close(modules *modules);

/* Whether a name may be one of a module: letters, digits, - and _, at most NAME_BYTES - 1. Any thread. */
bool modules_name_is_good(const char *name);

#endif
