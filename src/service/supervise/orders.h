/* service/supervise/orders.h - what the supervisor says to the process of a world, by its environment and by
 * descriptors that it inherits. Such a process is this same program with the same command line, which serves one world
 * of the settings at a socket that the supervisor made, keeps its files in a folder of its own, and tells the
 * supervisor how it is in the words of sd_notify(3). */
#ifndef SERVICE_SUPERVISE_ORDERS_H
#define SERVICE_SUPERVISE_ORDERS_H

#include "service/supervise/deal.h"

/* Numbers of the inherited descriptors. */
enum { ORDERS_SOCKET = 3, ORDERS_NOTIFY = 4, ORDERS_ZONE = 5 /* of a zone's process alone: zones/wire.h */ };

#define ORDERS_WORLD "MUSTERD_WORLD" /* its name; not set: this process is no world's */

/* The world that this process is to serve; null: it was started by a person. */
const char *orders_world(void);

/* Leaves that world alone in the settings, with its files in its folder and the workers that it is dealt. False: the
 * settings have it no more. */
bool orders_apply(struct settings *settings, const char *world);

/* Lets the calling thread, and those that it starts, use only the processors that the world is dealt. Does nothing in a
 * process that a person started. */
void orders_bind_thread(void);

/* What the worlds of the settings are dealt on this machine. */
void orders_deal(const struct settings *settings, deal *dealt);

/* The folder of a world's files beside `file`, such as /var/lib/musterd/main beside /var/lib/musterd/worlds.snapshot,
 * and the file's path in there; "" stays "". False: the path is too long. */
bool orders_path(const char *file, const char *world, char folder[PATH_BYTES], char path[PATH_BYTES]);

/* The folder of a world's journals below journal_folder; "" where they lie with the snapshots. False: it is too long.
 */
bool orders_journals(const struct settings *settings, const char *world, char folder[PATH_BYTES]);

/* The same of its flight recorder. A world has one in any case, so that the supervisor can tell who ended it: without
 * `flight_file` it lies beside the world's socket, for as long as the supervisor runs. */
bool orders_flight_path(const struct settings *settings, const char *world, char folder[PATH_BYTES],
                        char path[PATH_BYTES]);

/* Opens it, to read and to mark; -1 = it cannot be opened. The world may have put anything in its place: only a regular
 * file is opened. */
int orders_open_flight(const struct settings *settings, const char *world);

/* Removes a recorder that lies beside the world's socket. */
void orders_forget_flight(const struct settings *settings, const char *world);

#endif
