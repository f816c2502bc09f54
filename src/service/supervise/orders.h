/* service/supervise/orders.h - what the supervisor says to the process of a world, by its environment and by
 * descriptors that it inherits. Such a process is this same program with the same command line, which serves one world
 * of the settings at a socket that the supervisor made, keeps its files in a folder of its own, and tells the
 * supervisor how it is in the words of sd_notify(3). */
#ifndef SERVICE_SUPERVISE_ORDERS_H
#define SERVICE_SUPERVISE_ORDERS_H

#include "service/settings.h"

/* Numbers of the inherited descriptors. */
enum { ORDERS_SOCKET = 3, ORDERS_NOTIFY = 4 };

#define ORDERS_WORLD "MUSTERD_WORLD" /* its name; not set: this process is no world's */

/* The world that this process is to serve; null: it was started by a person. */
const char *orders_world(void);

/* Leaves that world alone in the settings, with its files in its folder. False: the settings have it no more. */
bool orders_apply(struct settings *settings, const char *world);

/* The folder of a world's files beside `file`, such as /var/lib/musterd/main beside /var/lib/musterd/worlds.snapshot,
 * and the file's path in there; "" stays "". False: the path is too long. */
bool orders_path(const char *file, const char *world, char *folder, char *path, size_t bytes);

#endif
