/* base/files.h - opens regular files only. A path out of a configuration may name anything: a FIFO, on which open()
 * waits for ever; a device, which the mere opening may change; a folder. Anything but a regular file is refused with
 * words that say what it is, and is neither waited for, nor opened, nor renamed. Any thread. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <muster/common.h>
#include <sys/types.h>

/* Opens a regular file as openat(2) does: `path` from `folder`, or from AT_FDCWD. `flags` may have O_CREAT (with
 * `mode`), O_TRUNC and O_NOFOLLOW; the descriptor is closed by exec. On failure -1, with the reason in
 * muster_last_error() ("it is a FIFO, not a regular file"), which does not repeat the path, and errno, which is ENOENT
 * when there is no such file. */
int files_open_regular(int folder, const char *path, int flags, mode_t mode);

/* Opens a folder to read it, or to write down its entries; -1 with errno. */
int files_open_folder(const char *path);

/* Writes down the entries of the folder in which a file of this path lies, so that its name is there after a power
 * failure. False with errno. */
bool files_sync_folder_of(const char *path);

/* Whether a new file may take this name: nothing has it now, or a regular file has. Else MUSTER_E_INPUT with the
 * reason. A path that cannot be examined passes: the later opening reports the error. */
muster_result files_check_replaceable(const char *path);

#endif
