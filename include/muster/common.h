/* muster/common.h - what every Muster header shares: results and their messages, memory, logging.
 *
 * Conventions of the whole public interface:
 *   - Durations and points in time are unsigned 64-bit nanoseconds and end in _ns, lengths are metres and end
 *     in _m, shares are 0..1 floats, sizes end in _bytes.
 *   - A definition is a struct that begins with its own size. Fill it with its muster_default_..._def()
 *     first, then change what you need; a definition whose size is zero is refused as not initialised. The
 *     library reads no further than that size, so a program built against an older header keeps working.
 *   - Ids are values. The zero id is null; an id of something that is gone is stale, never somebody else.
 *   - A function that can fail returns a muster_result (or a null id or pointer) and leaves a sentence that says
 *     what was wrong in muster_last_error(). Overload is normal operation and is reported, not an error.
 */
#ifndef MUSTER_COMMON_H
#define MUSTER_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_API __attribute__((visibility("default")))

typedef enum muster_result {
  MUSTER_OK = 0,
  MUSTER_E_ARGUMENT,        /* a value outside its documented range */
  MUSTER_E_NOT_INITIALISED, /* a definition that was not filled by its default function */
  MUSTER_E_STALE,           /* the agent, type or observer that the id named is gone, or never was */
  MUSTER_E_FULL,            /* a maximum of the definition is reached; nothing was changed */
  MUSTER_E_MEMORY,          /* the allocator refused */
  MUSTER_E_STATE,           /* the call is not allowed at this moment (inside a frame, or outside one) */
  MUSTER_E_TIME,            /* simulation time went backwards */
  MUSTER_E_SYSTEM,          /* the operating system refused */
  MUSTER_E_INPUT            /* a file or a text that cannot be read as what it should be */
} muster_result;

/* The sentence of the last failure on the calling thread; "" when there was none. Valid until the next failing
 * call on the same thread. Any thread. */
MUSTER_API const char *muster_last_error(void);

/* The name of a result, such as "MUSTER_E_FULL". Any thread. */
MUSTER_API const char *muster_result_name(muster_result result);

/* Memory from the host. Every field null (the default) means that Muster reserves address space from the operating
 * system and lets it commit pages as they are touched. With a host allocator, all the space that the maxima of a
 * definition ask for is allocated when the object is created, and room for its agents' state when a type is registered.
 * The memory must come zeroed. Muster calls both functions only from the thread that creates or destroys the object. */
typedef struct muster_allocator {
  void *(*allocate)(size_t bytes, size_t alignment, void *user); /* zeroed memory, or null when refused */
  void (*release)(void *memory, size_t bytes, void *user);
  void *user;
} muster_allocator;

typedef enum muster_log_level { MUSTER_LOG_INFO = 0, MUSTER_LOG_WARNING, MUSTER_LOG_ERROR } muster_log_level;

/* Where log lines go. A null write (the default) drops information and sends warnings and errors to standard
 * error. Called from the thread that has something to say; the message is valid during the call. */
typedef struct muster_log_sink {
  void (*write)(muster_log_level level, const char *message, void *user);
  void *user;
} muster_log_sink;

#ifdef __cplusplus
}
#endif

#endif
