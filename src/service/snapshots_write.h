/* service/snapshots_write.h - the process that writes a snapshot. */
#ifndef SERVICE_SNAPSHOTS_WRITE_H
#define SERVICE_SNAPSHOTS_WRITE_H

#include "service/snapshots.h"

/* Called after the frames' thread forked a process: the loop watches it until its end. */
void snapshots_take_news(uv_async_t *news);

#endif
