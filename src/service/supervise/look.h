/* service/supervise/look.h - looks at the processes of the worlds once a second: what each uses of memory, of copies of
 * itself and of the disk (bounds.h). One that uses more than it may is killed, with the reason told. It starts again as
 * after a crash, but not with a full disk: its files are there still, so that it stays down until a person has looked.
 * All functions are for the loop's thread. */
#ifndef SERVICE_SUPERVISE_LOOK_H
#define SERVICE_SUPERVISE_LOOK_H

#include "service/supervise/processes.h"

/* Begins to look. The timer is closed with the loop's other handles. */
void look_begin(struct processes *processes);

#endif
