/* muster/common.h - what every Muster header shares: its version, results and their messages, memory, logging.
 *
 * Conventions of the whole public interface:
 *   - Durations and points in time are unsigned 64-bit nanoseconds and end in _ns, lengths are metres and end
 *     in _m, parts of a whole are 0..1 floats, sizes end in _bytes.
 *   - A definition is a struct that begins with its own size. Fill it with its muster_..._default() function
 *     first, then change what you need. So do structs that the library fills, such as reports. The size says which
 *     header the program was built with, and a struct grows only at its end:
 *       a smaller size   the program is older than the library. Fields that it does not know have their defaults, and
 *                        are not written
 *       a larger size    the program is newer. A definition is accepted when the part that the library does not know is
 *                        zero, and refused with MUSTER_E_ARGUMENT when it is not; in a struct that the library fills,
 *                        that part stays as it was
 *       no such size     zero, less than the struct ever had, or more than 64 KiB: the struct was not filled by its
 *                        default function, and is refused with MUSTER_E_NOT_INITIALISED
 *     Structs without a size are fixed for good.
 *   - Ids are values. The zero id is null; the id of an agent or observer that is gone is stale and never names another
 *     one. Where null has no meaning of its own, a null agent or observer is refused as a stale one is.
 *   - A function that can fail returns a muster_result, or a null id or pointer, or a count that is too small. It
 *     leaves its result in muster_last_result() and a sentence that says what was wrong in muster_last_error(). A
 *     refusal costs some tens of nanoseconds, so a call that may fail may simply be tried, also inside an atom. An
 *     empty answer (muster_agent_next() after the last agent, the published state of an agent that is gone) is no
 *     failure and leaves both as they were. Overload is normal operation and is reported, not an error.
 *   - The headers are C11, C17, C++17 and C++20, for compilers that know __attribute__ (gcc and clang).
 *   - A pointer may be null only where its function says so. Elsewhere null is refused, with a sentence:
 *     MUSTER_E_ARGUMENT (a definition or a struct to fill: MUSTER_E_NOT_INITIALISED); a function without a result does
 *     nothing, and returns null, false or 0 where it returns something.
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

/* The version of these headers. MUSTER_VERSION is the three numbers as text, such as "1.2.3". */
#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 9
#define MUSTER_VERSION_PATCH 0

#define MUSTER_VERSION         MUSTER_DOTTED(MUSTER_VERSION_MAJOR, MUSTER_VERSION_MINOR, MUSTER_VERSION_PATCH)
#define MUSTER_DOTTED(a, b, c) MUSTER_QUOTED(a) "." MUSTER_QUOTED(b) "." MUSTER_QUOTED(c)
#define MUSTER_QUOTED(text)    #text

/* The version of the library that runs, such as "1.2.3"; MUSTER_VERSION is that of the headers that the program was
 * built with. They may differ: see the sizes of structs above. Any thread. */
MUSTER_API const char *muster_version(void);

/* A struct with every field zero, and an assertion, in both languages. */
#ifdef __cplusplus
#define MUSTER_STATIC_ASSERT static_assert
#define MUSTER_ZERO                                                                                                    \
  {}
#else
#define MUSTER_STATIC_ASSERT _Static_assert
#define MUSTER_ZERO                                                                                                    \
  { 0 }
#endif

/* Declares the default function of a struct that begins with its size, such as muster_world_def_default(); and the
 * exported function behind it, for languages that cannot call inline ones: muster_world_def_init(&def, bytes) sets all
 * `bytes` bytes of the struct, as the caller knows it, to their defaults. They are those of the library that runs.
 * Fewer than 4 bytes or null: nothing is set. Any thread. */
#define MUSTER_DEFAULTS(type)                                                                                          \
  MUSTER_API void type##_init(type *given, size_t bytes);                                                              \
  static inline type type##_default(void) {                                                                            \
    type given;                                                                                                        \
    type##_init(&given, sizeof given);                                                                                 \
    return given;                                                                                                      \
  }                                                                                                                    \
  MUSTER_STATIC_ASSERT(sizeof(type) < 65536, "a size that is no mistake")

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
  MUSTER_E_INPUT            /* a file or a text that is damaged or of another kind */
} muster_result;

/* The sentence of the last failure on the calling thread; "" when there was none. A call that succeeds leaves it as it
 * is. It is written when it is asked for, in about a microsecond, and valid until the next failing call on the same
 * thread. Any thread. */
MUSTER_API const char *muster_last_error(void);

/* The result of the last failure on the calling thread; MUSTER_OK when there was none. A call that succeeds leaves it
 * as it is, so ask only when a call has just returned a null id or pointer:
 *
 *     muster_agent agent = muster_agent_spawn(world, &def);
 *     if (muster_agent_is_null(agent) && muster_last_result() == MUSTER_E_FULL) wait_for_room();
 *
 * Any thread. */
MUSTER_API muster_result muster_last_result(void);

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
 * error. Called on the thread that logs; the message is valid during the call. */
typedef struct muster_log_sink {
  void (*write)(muster_log_level level, const char *message, void *user);
  void *user;
} muster_log_sink;

#ifdef __cplusplus
}
#endif

#endif
