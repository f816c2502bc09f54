/* service/supervise/own_files.h - the files of a world that are Muster's own (its snapshots, its journals, its flight
 * recorder), told from those of its module by their names. They have a bound of their own: what is kept for people
 * goes first, the oldest before the others, and the world is not made to suffer for the rest.
 *
 *     FILE, FILE.previous, ...          the newest snapshots               needed
 *     FILE.WORLD-7.journal, ...         the journal, by its newest numbers needed
 *     FILE.WORLD-incident-3.journal     of a crash that is over            for people
 *     FILE.damaged-1, ...               refused and put aside              for people
 *
 * A module may write files of such names, too, but no more than there can be: older numbers of journals, and all other
 * names, count as its own. Loop's thread: a folder is read, and files are removed. */
#ifndef SERVICE_SUPERVISE_OWN_FILES_H
#define SERVICE_SUPERVISE_OWN_FILES_H

#include "service/settings.h"

enum { OWN_NAME_BYTES = 256 };

/* The names that others begin with, without folders; "" = there are no such files. */
typedef struct own_names {
  char snapshot[OWN_NAME_BYTES], journal[OWN_NAME_BYTES], flight[OWN_NAME_BYTES];
} own_names;

typedef struct own_use {
  uint64_t needed_bytes, kept_bytes; /* what the world goes on from; what is for people */
  uint64_t other_bytes;              /* of the module */
  uint32_t files;                    /* all */
} own_use;

/* The names of a world's files, by the settings of the whole daemon. */
void own_files_name(const struct settings *settings, const char *world, own_names *names);

/* Counts the files of a folder, and what they take of the disk: no more than `most` + 1. Processes that are confined
 * can make no folders. */
void own_files_read(const char *folder, const own_names *names, uint32_t most, own_use *use);

/* Removes the oldest of those for people, with the other file of the same crash; its name. False: there is none. */
bool own_files_remove_oldest(const char *folder, const own_names *names, char removed[OWN_NAME_BYTES]);

#endif
