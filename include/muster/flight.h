/* muster/flight.h - the flight recorder: memory of the host, usually a mapped file, in which each worker notes the
 * agent whose callback it runs. When the process dies, the file stays, and names the agents whose callbacks ran. Part
 * of muster/muster.h.
 *
 *     at start:       open and map a file (MAP_SHARED) of muster_flight_bytes(); muster_flight_attach()
 *     in the handler  of SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT: muster_flight_mark(), then let the signal take
 *                     its course
 *     at next start:  muster_flight_read() of the old file, before a new one is written
 *
 * Several workers may be inside callbacks when one of them brings the process down; the mark tells which one did. A
 * line without a mark only names an agent whose callback was running: a process that is killed leaves such lines, too.
 *
 * Noted are atoms, actions, catch_up, on_spawned and on_removed, fold and unfold of herds, and run_block, which is the
 * atom of the blocks' type. Jobs that an atom waits for and runs itself count as part of the atom. Cost and importance
 * models are not noted.
 *
 * A note is two stores for an update and one for each further atom, to a cache line that is the worker's own: less than
 * 2 ns. A world without a recorder only checks a null pointer.
 *
 * The layout is fixed, little-endian on the machines that Muster runs on, and all offsets are from the beginning of the
 * memory:
 *
 *     0                                   muster_flight_header
 *     64                                  types_max names of MUSTER_FLIGHT_NAME_BYTES each, ended by a zero byte
 *     64 + types_max x name bytes         32 bytes that end what the check values cover
 *     behind these, rounded up to 64      `lines` times muster_flight_line
 */
#ifndef MUSTER_FLIGHT_H
#define MUSTER_FLIGHT_H

#include <muster/type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_FLIGHT_VERSION    2u
#define MUSTER_FLIGHT_NAME_BYTES 32u
#define MUSTER_FLIGHT_LINES_MAX  4096u /* more than there can be workers; a file with more is damaged */

/* Which callback a worker is in. */
typedef enum muster_flight_doing {
  MUSTER_FLIGHT_NOTHING = 0, /* none: between updates, or outside frames */
  MUSTER_FLIGHT_ATOM,        /* a perception or behaviour atom */
  MUSTER_FLIGHT_ACTION,      /* an action atom */
  MUSTER_FLIGHT_CATCH_UP,    /* from here on no atoms: their atom is 0 */
  MUSTER_FLIGHT_ON_SPAWNED,
  MUSTER_FLIGHT_ON_REMOVED,
  MUSTER_FLIGHT_HERD_CHANGE, /* fold or unfold of a herd: the type is the members' type, the agent is the parent, if
                                there is one */
  MUSTER_FLIGHT_DOINGS
} muster_flight_doing;

typedef struct muster_flight_header {
  char magic[8];          /* "MUSTERDF" */
  uint32_t version;       /* MUSTER_FLIGHT_VERSION */
  uint32_t layout;        /* bytes of a line */
  uint32_t mark, section; /* constants */
  uint64_t number, bytes; /* 0; from `lines` on to the last name */
  uint64_t check;         /* XXH3 of these bytes, seeded with that of the 32 bytes that end here, while this is 0 */
  uint32_t lines;         /* worker indices of the pool: muster_pool_indices() */
  uint32_t types_max;     /* of the world */
  uint32_t types;         /* registered */
  uint32_t unused;        /* 0 */
} muster_flight_header;

/* The line of one worker. All zero while it is in no callback, but for frame, thread, kernel_thread and signal. */
typedef struct muster_flight_line {
  uint64_t agent; /* generation << 32 | index */
  uint64_t
      place; /* muster_flight_doing << 56 | muster_type.index << 32 | number of the atom in its type; 0 = nothing */
  uint64_t frame;  /* muster_frame_report.frame, of the worker's last callback */
  uint64_t thread; /* pthread_self() of the worker */
  uint64_t signal; /* the signal that muster_flight_mark() was told in this callback; 0 = none */
  uint64_t
      kernel_thread; /* the kernel's number of that thread, gettid(): with it another process can read its CPU time */
  uint64_t unused[2];
} muster_flight_line;

/* A line, as it is read. This struct is fixed for good: it has no size field. */
typedef struct muster_flight_entry {
  uint32_t worker;
  muster_flight_doing doing;
  uint32_t signal; /* 0 = no fatal signal is known to have come from this worker */
  uint32_t atom;   /* index into the type's atoms */
  muster_agent agent;
  muster_type type;
  uint64_t frame;
  char type_name[MUSTER_FLIGHT_NAME_BYTES]; /* printable; other bytes are replaced by '?' */
} muster_flight_entry;

/* The bytes that the recorder of a world needs. Any thread. */
MUSTER_API size_t muster_flight_bytes(const muster_world *world);

/* Gives a world memory for its recorder: at least muster_flight_bytes(), at a multiple of 64. The host owns it and must
 * not use it for anything else until the world is destroyed or gets other memory. It is overwritten; types are entered
 * as they are registered. Null memory ends recording. MUSTER_E_ARGUMENT for memory that is too small or not aligned,
 * MUSTER_E_STATE inside a frame. Thread of the frames, between frames. */
MUSTER_API muster_result muster_flight_attach(muster_world *world, void *memory, size_t bytes);

/* For the host's handler of a fatal signal: marks the line of the calling thread when it is inside a callback, and
 * tells whether it is. Safe in signal handlers. `memory` is the memory that was given to a world; null is a no-op. Any
 * thread. */
MUSTER_API bool muster_flight_mark(void *memory, int signal);

/* Reads the recorder's memory that a process left: writes the lines that are inside a callback to `entries`, at most
 * `capacity` of them, and how many there are to `count`. The memory may hold anything: MUSTER_E_INPUT, with the reason
 * and nothing written, when it is damaged or not of a recorder. O(bytes). Any thread. */
MUSTER_API muster_result muster_flight_read(const void *memory, size_t bytes, muster_flight_entry *entries,
                                            uint32_t capacity, uint32_t *count);

/* What a worker does, in words, such as "on_spawned"; "nothing" for unknown values. Any thread. */
MUSTER_API const char *muster_flight_doing_name(muster_flight_doing doing);

#ifdef __cplusplus
}
#endif

#endif
