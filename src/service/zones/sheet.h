/* service/zones/sheet.h - a zone from above, coarsely: where its agents stand, and what its owner says of it. Drawn by
 * the zone's process while a page of some node shows the whole cluster (atlas.h), and told to all nodes. Pure: it is
 * given what came, and the time (CLOCK_BOOTTIME of this machine). */
#ifndef SERVICE_ZONES_SHEET_H
#define SERVICE_ZONES_SHEET_H

#include "service/settings.h"

enum { SHEET_SIDE = 32, SHEET_CELLS = SHEET_SIDE * SHEET_SIDE };

/* The bytes that go from the process to its supervisor. */
typedef struct zone_sheet {
  uint64_t arrived;             /* agents from other zones, since its process began */
  uint32_t agents;              /* that it runs, wherever they stand */
  uint32_t reserved;            /* 0 */
  uint16_t counts[SHEET_CELLS]; /* agents in each part of its rectangle, of the world's first partition: rows from y0
                                   on, each from x0 on; UINT16_MAX: so many, or more */
} zone_sheet;

/* Nodes tell each other these as numbers: new ones stand at the end. */
typedef enum sheet_state { SHEET_RUNS, SHEET_STANDS_STILL, SHEET_STARTS, SHEET_ENDS, SHEET_STATES } sheet_state;

/* What a node tells of a zone whose lease it has, as bytes; nodes of another version pass it over. */
typedef struct sheet_message {
  uint32_t version, zone;
  uint64_t epoch;
  uint32_t state; /* sheet_state */
  uint32_t reserved;
  char node[NAME_BYTES];
  zone_sheet sheet; /* left out of what is not drawn */
} sheet_message;

/* A zone, as it was told last. */
typedef struct sheet_entry {
  uint32_t zone, state; /* sheet_state */
  uint64_t epoch;
  uint64_t heard_ns; /* 0 = never */
  char node[NAME_BYTES];
  zone_sheet sheet; /* the newest, perhaps of an earlier owner: one that starts the zone draws none */
} sheet_entry;

/* Fills in what is told, without a sheet where that is null; returns its length. */
size_t sheet_write(sheet_message *message, uint32_t zone, uint64_t epoch, sheet_state state, const char *node,
                   const zone_sheet *sheet);

/* Takes what was told into the entry of its zone; false, and nothing has changed, when it cannot be read, is of no zone
 * of these, or of an epoch that is over: an earlier owner need not know yet that it has lost the zone. But when nobody
 * has told of an epoch for five seconds, a lower one counts: the brokers may have lost all, and begun anew. */
bool sheet_hear(sheet_entry *entries, uint32_t count, const void *bytes, size_t length, uint64_t now_ns);

#endif
