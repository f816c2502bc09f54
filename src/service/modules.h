/* service/modules.h - behaviour modules (muster/module.h) as shared objects out of one folder.
 *
 * A module's code runs with all rights of the service, so it must be as trustworthy as the service itself:
 *   - it has a bare name (letters, digits, - and _) and lies as NAME.so in the configured folder; no path comes from
 *     anywhere else, and a symbolic link in place of the file is refused
 *   - folder and file belong to root or to the service's own user, and no other user may write them
 *   - the folder is opened once, at the start; a file is opened once, and what was checked is what is loaded: a copy in
 *     memory (module_image.h). The file may be overwritten, cut or removed afterwards.
 *   - it must need nothing that the service does not have, export muster_module_get, and be built for this ABI
 * A refused module changes nothing. */
#ifndef SERVICE_MODULES_H
#define SERVICE_MODULES_H

#include "service/settings.h"

#include <muster/module.h>

enum { MODULES_MAX = 64 };

/* A module stays loaded until the end: its code may be on some thread's stack. */
typedef struct loaded_module {
  char name[NAME_BYTES];
  int descriptor; /* of the image; it stays open, since the loader knows the object by this number */
  void *handle;
  muster_module module; /* in this service's layout: members that an older header did not have are null */
} loaded_module;

struct modules {
  char folder[PATH_BYTES];
  int descriptor; /* of the folder; -1 = it was refused, or is not open */
  uint32_t count;
  loaded_module loaded[MODULES_MAX];
};

/* Opens the folder; no module is loaded yet. On failure the reason is in muster_last_error(), and every module will be
 * refused. Frames' thread, like all functions below without a note. */
muster_result modules_open(struct modules *modules, const char *folder);

/* The module of that name; loads it if it is not loaded yet; null with the reason in muster_last_error(), and nothing
 * has changed. */
const muster_module *modules_load(struct modules *modules, const char *name);

/* Checks by its file alone whether that module could be loaded from that folder; none of its code is run. On failure
 * MUSTER_E_INPUT or MUSTER_E_SYSTEM with the reason. Any thread. */
muster_result modules_check(const char *folder, const char *name);

/* Whether a world's `path` is a regular file that can be read, or "": a module would wait for ever at the other end of
 * a FIFO. Else MUSTER_E_INPUT with the reason. Any thread. */
muster_result modules_check_path(const char *path);

/* Unloads all modules; no instance may be open. A second call is a no-op. */
void modules_close(struct modules *modules);

/* Whether a name is a valid name of a module: letters, digits, - and _, at most NAME_BYTES - 1. Any thread. */
bool modules_name_is_good(const char *name);

#endif
