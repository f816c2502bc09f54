/* service/module_image.h - the file of a module as a copy in memory that can no longer be changed.
 *
 * A loader maps a file; a program that truncates or overwrites that file afterwards (`cp` does both to an existing
 * file) takes the code away from the threads that run it, which ends the process by SIGBUS. And a file that is still
 * being copied has segments beyond its end. So a module is copied first, into sealed memory (memfd_create), and the
 * copy is checked: everything that its headers name must be there. Systems that allow no executable memory files
 * (vm.memfd_noexec = 2) are refused with a message.
 *
 * gdb finds the code by the name that the loader got; perf by its build id: `perf record --buildid-mmap`, and once
 * `perf buildid-cache --add NAME.so`. */
#ifndef SERVICE_MODULE_IMAGE_H
#define SERVICE_MODULE_IMAGE_H

#include <muster/common.h>

/* A file that is larger is refused: 256 MiB. */
enum { MODULE_IMAGE_BYTES_MAX = 1 << 28 };

/* Copies a file, which is open for reading, and returns the copy's descriptor; `name` is what /proc calls it. -1 with
 * the reason in muster_last_error(): the file is truncated, changes, is no shared object, or there is no memory. Any
 * thread. */
int module_image_make(int file, const char *name);

#endif
