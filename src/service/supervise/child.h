/* service/supervise/child.h - the beginning of a world's process, before it opens anything. */
#ifndef SERVICE_SUPERVISE_CHILD_H
#define SERVICE_SUPERVISE_CHILD_H

#include "service/settings.h"

enum { CHILD_NOTE_BYTES = 32768 }; /* of the longest note */

/* Takes over what the supervisor handed on, ends with the supervisor, and confines itself (confine.h) to the files that
 * its world needs. `file` is the settings' file, or null. MUSTER_E_SYSTEM with the reason: the process must end. */
muster_result child_begin(const struct settings *settings, const char *file);

/* Sends a descriptor over a socket, with a text; and takes one: -1 when none came. Returns the text's bytes, -1 = there
 * was nothing. */
bool child_send(int socket, const char *text, int descriptor);
int child_receive(int socket, char *text, int bytes, int *descriptor);

#endif
