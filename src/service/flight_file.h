/* service/flight_file.h - the file of the flight recorder: what the service writes around the worlds' parts, and the
 * reader of the file of a dead service.
 *
 *     flight_head                          a section (base/flight_format.h): the worlds, how often types have crashed
 *                                          the service, and which requests; behind it how the run ended
 *     a world's part, at a page's begin    muster/flight.h
 *     ...
 *
 * The reader trusts nothing. */
#ifndef SERVICE_FLIGHT_FILE_H
#define SERVICE_FLIGHT_FILE_H

#include "base/flight_format.h"
#include "service/keys.h"
#include "service/settings.h"

#include <muster/flight.h>

enum {
  FLIGHT_COUNTS_MAX = 128,
  FLIGHT_INSIDE_MAX = 64,
  FLIGHT_POISONS_MAX = 32,
  FLIGHT_DEATHS = 2,
  FLIGHT_TEXT_BYTES = 320,
  FLIGHT_FILE_BYTES_MAX = 64 << 20
};

/* How often a type has crashed the service since it was reinstated. */
typedef struct flight_count {
  char world[NAME_BYTES];
  char type[MUSTER_FLIGHT_NAME_BYTES];
  uint64_t crashes;
} flight_count;

typedef struct flight_counts {
  uint64_t count;
  flight_count counts[FLIGHT_COUNTS_MAX];
} flight_counts;

typedef struct flight_part {
  char world[NAME_BYTES], module[NAME_BYTES];
  uint64_t offset, bytes; /* in the file */
} flight_part;

/* A function of a module that the frames' thread calls itself. */
typedef enum flight_function {
  FLIGHT_NO_FUNCTION = 0,
  FLIGHT_OPEN,
  FLIGHT_POPULATE,
  FLIGHT_RESUME,
  FLIGHT_BEFORE_FRAME,
  FLIGHT_SKIP,
  FLIGHT_COMMAND,
  FLIGHT_METRICS,
  FLIGHT_FUNCTIONS
} flight_function;

typedef struct flight_call {
  char world[NAME_BYTES], module[NAME_BYTES];
  uint32_t function; /* flight_function under way; 0 = none */
  uint32_t hit;      /* a fatal signal came on the frames' thread meanwhile */
} flight_call;

/* A change with a key (service/api_once.h) that the frames' thread carries out. */
typedef struct flight_request {
  char world[NAME_BYTES], key[KEY_BYTES_MAX + 1];
  unsigned char digest[KEYS_DIGEST_BYTES];
  uint32_t under_way;
  uint32_t hit; /* a fatal signal came on the frames' thread meanwhile */
} flight_request;

/* A change that was under way when a run ended. It is poisoned, and not carried out again, from FLIGHT_DEATHS deaths
 * on. A fatal signal in it counts for all of them. Any other end counts for one: the run may have been killed from
 * outside, or by the kernel for what the change does. */
typedef struct flight_poison {
  char world[NAME_BYTES], key[KEY_BYTES_MAX + 1];
  unsigned char digest[KEYS_DIGEST_BYTES];
  uint32_t deaths, signal; /* the last run's; 0 = it ended without a trace */
  uint64_t process;
} flight_poison;

/* The oldest goes for a new one. */
typedef struct flight_poisons {
  uint64_t count;
  flight_poison poisons[FLIGHT_POISONS_MAX];
} flight_poisons;

/* The beginning of the file. */
typedef struct flight_head {
  unsigned char before[CHUNKS_SEAL_BEFORE];
  uint64_t process;
  uint64_t started_ns; /* Unix time */
  uint64_t part_count;
  flight_part parts[WORLDS_MAX];
  flight_counts counts;
  flight_poisons poisons;
  unsigned char after[CHUNKS_SEAL_AFTER]; /* the end of what is checked */
  uint32_t clean;                         /* 1 = the service ended in good order */
  uint32_t signal;                        /* fatal, on a thread that was in no callback of an agent; 0 = none */
  flight_call call;
  flight_request request;
} flight_head;

/* A worker that was inside a callback when the service died. */
typedef struct flight_inside {
  char world[NAME_BYTES], module[NAME_BYTES];
  muster_flight_entry entry;
} flight_inside;

/* How the last run ended. */
typedef struct flight_report {
  bool known;      /* false: there was no file, or it was damaged */
  bool clean;      /* the run ended in good order: the rest is empty */
  uint32_t signal; /* the signal that ended the run, if known; 0 = it was killed, or ended without a trace */
  uint64_t process, started_ns;
  flight_call call;       /* the module call in which it died; its function is 0 when there was none */
  flight_request request; /* that was under way; its key is "" when there was none */
  uint32_t culprit_count; /* the first of `inside`: the signal was on their thread */
  uint32_t inside_count;
  flight_inside inside[FLIGHT_INSIDE_MAX];
  uint32_t damaged_parts; /* worlds' parts that cannot be read */
} flight_report;

/* Prepares a head without worlds. */
void flight_head_begin(flight_head *head, uint64_t process, uint64_t started_ns, const flight_counts *counts,
                       const flight_poisons *poisons);

/* Where the next part begins: at a page. */
uint64_t flight_head_next_offset(const flight_head *head);

/* Adds an entry for another part. The head must have room. */
void flight_head_add_part(flight_head *head, const char *world, const char *module, uint64_t bytes);

/* How a run ended that no signal ended: marks of a line beside those of signals. */
enum { FLIGHT_EXITED = 127 };

/* Updates the check; call it after the counts were changed. */
void flight_head_renew_check(flight_head *head);

/* Reads a file's bytes, which may be anything; `poisons` may be null. MUSTER_E_INPUT, with the reason and nothing
 * written, when it is no such file or damaged. */
muster_result flight_file_read(const void *bytes, size_t size, flight_report *report, flight_counts *counts,
                               flight_poisons *poisons);

/* A worker's line and where it stands in the file. */
typedef struct flight_place {
  uint64_t offset;
  muster_flight_line line;
} flight_place;

/* Copies the lines that are inside a callback, of a file's bytes, which may be anything; returns how many there are, at
 * most `capacity`. */
uint32_t flight_file_places(const void *bytes, size_t size, flight_place *places, uint32_t capacity);

/* Reads a whole file that another process may write or damage meanwhile. Null, with the reason in muster_last_error().
 * free() it. */
void *flight_file_load(int descriptor, size_t *size);

/* Says whose callback it is, such as "world main (module crasher): agent 1 (generation 1) of type 'bomb', in atom 1,
 * frame 9, worker 0". */
void flight_describe(const flight_inside *inside, char *text, size_t bytes);

/* How a run ended, by its signal (0 = none is known), such as "died of SIGSEGV". */
const char *flight_describe_end(uint32_t signal, char *text, size_t bytes);

/* The function's name in muster_module. */
const char *flight_function_name(uint32_t function);

/* The count of a type, or null. */
flight_count *flight_counts_find(flight_counts *counts, const char *world, const char *type);

/* Counts each type once that the report finds guilty; false when there was no room for some. */
bool flight_counts_add(flight_counts *counts, const flight_report *report);

/* Forgets a type; returns how often it had crashed the service. */
uint64_t flight_counts_forget(flight_counts *counts, const char *world, const char *type);

/* Counts the death of the request that the report finds under way; null when it finds none. */
const flight_poison *flight_poisons_add(flight_poisons *poisons, const flight_report *report);

/* Forgets a request; false when it was not known. */
bool flight_poisons_forget(flight_poisons *poisons, const char *world, const char *key);

#endif
