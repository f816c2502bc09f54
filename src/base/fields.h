/* base/fields.h - tables of fields of structs: their names, places, kinds and ranges, stated once, and what reads them:
 * checks, tunings, snapshots, records, JSON and command lines. The tables are those of the definitions of muster.h,
 * whose comments say what the fields mean and whose muster_..._default() say their defaults. Any thread. */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <muster/common.h>

/* The kind of a field says its type in C, and the unit of its range. */
typedef enum field_kind {
  FIELD_COUNT = 0, /* uint32_t */
  FIELD_NUMBER,    /* uint64_t */
  FIELD_TIME,      /* uint64_t in nanoseconds */
  FIELD_RATE,      /* uint64_t in thousandths */
  FIELD_FLOAT,     /* float */
  FIELD_DOUBLE,    /* double */
  FIELD_SWITCH,    /* bool */
  FIELD_CHOICE,    /* an enum: 0 .. most */
  FIELD_LEVELS,    /* float[MUSTER_LEVELS - 1]; its rule is its owner's */
  FIELD_TEXT,      /* char[]: least .. most bytes without the zero */
  FIELD_POSITION   /* muster_position */
} field_kind;

enum { FIELD_WORDS = 96 }; /* bytes of text */

/* What is special about a field. Those from FIELD_OF_FACTORS on are groups that count only in some definitions. */
enum {
  FIELD_OR_ZERO = 1,      /* 0 is allowed beside the range */
  FIELD_LOCAL = 2,        /* of one process: no record has it */
  FIELD_SAME = 4,         /* a snapshot fits only where it is the same */
  FIELD_REQUIRED = 8,     /* JSON must give it */
  FIELD_UNBOUNDED = 16,   /* the range is that of tunings; a definition may have any value */
  FIELD_RANKS = 32,       /* it decides in which order agents run */
  FIELD_WEIGHT = 64,      /* a weight that policies set */
  FIELD_WEIGHS = 128,     /* it decides how important staleness is */
  FIELD_OF_FACTORS = 256, /* of worlds with MUSTER_IMPORTANCE_FACTORS */
  FIELD_OF_PLANNER = 512, /* of worlds with planner_workers */
  FIELD_OF_SETS = 1024,   /* of types with sets */
  FIELD_BROUGHT = 2048    /* a snapshot or a record brings its own */
};

typedef struct field_row {
  const char *name;   /* in JSON and settings, */
  const char *member; /* and in C; null = the same */
  uint32_t offset;    /* in the definition */
  uint32_t tuned;     /* in the tuning of the same things; 0 = it is not live */
  field_kind kind;
  double least, most; /* both included; -INFINITY = any negative value stands for a default */
  uint32_t uses;
} field_row;

/* Tables end with a row without a name. */
extern const field_row fields_world[];     /* muster_world_def, live by muster_world_tuning */
extern const field_row fields_type[];      /* muster_type_def */
extern const field_row fields_herd_type[]; /* muster_herd_type_def */
extern const field_row fields_agent[];     /* muster_agent_def, live by muster_agent_tuning */
extern const field_row fields_frame[];     /* muster_frame */

/* Whether a part of a definition that is room for fields of later versions is 0, as it must be. */
bool fields_are_reserved(const void *part, size_t bytes);
#define FIELDS_RESERVED(group) fields_are_reserved((group).reserved, sizeof(group).reserved)

/* Ranges that the programs have, too. A rate is of frames, in thousandths of a second. */
enum {
  AGENTS_MOST = 16000000,
  ZONE_AGENTS_MAX = 1 << 20, /* of a world that is a zone */
  OBSERVERS_MOST = 65536,
  TRACE_FRAMES_MOST = 4096,
  ACTIVATION_DELAY_MAX = 64,
  PARTITION_MOST = 65535,
  ELASTICITY_MOST = 1024,
  BRANCHING_MOST = 32,
  BUDGET_LEAST_NS = 10000,
  RATE_LEAST = 100,
  RATE_MOST = 10000000
};

#define BUDGET_MOST_NS 10000000000u

/* How many bytes of its struct a field takes. A text takes what its range says, and a zero. */
size_t field_bytes(const field_row *field);

/* The value at `place`, as a double, or exactly where it is whole. Of a text or a position it is 0. */
double field_value(const field_row *field, const void *place);
uint64_t field_whole(const field_row *field, const void *place);

/* Writes a value; and the range, as "must be 1 ms .. 1 h". Both return `words`. */
const char *field_words(const field_row *field, const void *place, char words[FIELD_WORDS]);
const char *field_range_words(const field_row *field, char words[FIELD_WORDS]);

/* Whether a value is in the field's range; what is no number is in none. */
bool field_allows(const field_row *field, double value);

/* Checks all fields of a definition but those of the groups `without`. The message says what it is ("type") and its
 * name (null = it has none), the field, its value and its range. */
muster_result fields_check(const field_row *fields, const char *what, const char *name, const void *def,
                           uint32_t without);

/* Checks what a tuning gives; `defaults` is a tuning that gives nothing. */
muster_result fields_check_tuning(const field_row *fields, const char *what, const void *tuning, const void *defaults);

/* Takes what a tuning gives into a definition; returns the uses of all fields that changed. */
uint32_t fields_tune(const field_row *fields, void *def, const void *tuning, const void *defaults);

/* Fills the live fields of a tuning from a definition, but those of the groups `without`. */
void fields_describe(const field_row *fields, const void *def, void *tuning, uint32_t without);

/* Reads a number, a duration or a rate with its unit, within the field's range. The message says what to give. */
muster_result field_read_text(const field_row *field, const char *text, void *place);

#endif
