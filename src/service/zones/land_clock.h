/* service/zones/land_clock.h - land time: the simulation time of all zones of a cluster. Pure: state, event and time
 * in, what is to be done out; times are CLOCK_BOOTTIME of this machine, which nobody sets.
 *
 *     the leader, which has the balancer's lease       every other node
 *     land time is its boot clock and an offset        ASK, twice a second, with its own time
 *     ANSWER, at once, with land time           --->   half the round trip later it is that, within half a round trip
 *     notes land time in etcd, every two seconds       slews to the best of its last answers, by 0.1 % at most
 *
 * A new leader goes on from its own land time, as it has followed the last one's. So does every node while nobody
 * leads. Whoever does not know it yet (it has just begun) takes anybody's answer, or sees by the note that another one
 * comes, where NATS carries nothing; a leader that does not know it, since nobody runs who does, goes on from the note:
 * exactly, where that was written since this machine was started, else from the time at which it was written, two
 * seconds early at most. Of a land without a note time begins at 0.
 *
 * It never goes back. A node that is more than a second behind goes forward at once: its machine stood still. */
#ifndef SERVICE_ZONES_LAND_CLOCK_H
#define SERVICE_ZONES_LAND_CLOCK_H

#include "service/settings.h"

enum {
  LAND_TURN_MS = 500,
  LAND_NOTE_MS = 2000,
  LAND_SLEW_MOST = 1000, /* millionths */
  LAND_SAMPLES = 8,
  LAND_TEXT_BYTES = 160,
  LAND_BOOT_BYTES = 40 /* a text that changes with each start of a machine */
};

#define LAND_STEP_NS 1000000000 /* so far behind it is not slewed */

/* What tells land time for a while: a process is given this. */
typedef struct land_reading {
  uint64_t boot_ns, land_ns; /* at that time, it was that; */
  int64_t slew;              /* and goes so many millionths faster than the boot clock: -LAND_SLEW_MOST .. */
} land_reading;

/* Not earlier than at `boot_ns`. */
uint64_t land_reading_at(const land_reading *reading, uint64_t now_ns);

/* An answer: at `came_ns` land time was `offset_ns` more, or `error_ns` more or less than that. */
typedef struct land_sample {
  uint64_t came_ns, error_ns;
  int64_t offset_ns;
} land_sample;

typedef struct land_clock {
  char node[NAME_BYTES], leader[NAME_BYTES]; /* this one; that answered last */
  bool known;
  land_reading reading;
  uint64_t heard_ns, noted_ns;    /* the last answer of a leader; the last note; 0 = none */
  uint64_t seen_ns, seen_land_ns; /* when another's note was read last, and what it said; 0 = never */
  uint32_t sample_count, next;    /* a ring */
  land_sample samples[LAND_SAMPLES];
} land_clock;

typedef struct land_question {
  char node[NAME_BYTES];
  uint64_t sent_ns; /* by the clock of who asks */
  bool knows;       /* land time */
} land_question;

typedef struct land_answer {
  char node[NAME_BYTES];     /* that answers */
  uint64_t sent_ns, land_ns; /* as in the question; land time when it was answered */
  bool leads;
} land_answer;

/* In etcd. */
typedef struct land_note {
  uint64_t land_ns, boot_ns;
  char boot[LAND_BOOT_BYTES]; /* of the machine; "" = not known */
} land_note;

/* What a turn is to do. */
typedef struct land_turn {
  bool asks, reads, notes; /* tell the question; read the note; put it */
  land_question ask;
  land_note note;
} land_turn;

/* Begins without knowing land time. */
void land_clock_open(land_clock *clock, const char *node);

/* Land time, if it is known. */
uint64_t land_clock_at(const land_clock *clock, uint64_t now_ns);

/* Twice a second. `leads`: this node has the balancer's lease; `boot` is its machine's. */
land_turn land_clock_turn(land_clock *clock, uint64_t now_ns, bool leads, const char *boot);

/* A question has come. Whether this node answers it. */
bool land_clock_asked(const land_clock *clock, uint64_t now_ns, bool leads, const land_question *ask,
                      land_answer *answer);

/* An answer to a question of this node has come. */
void land_clock_answered(land_clock *clock, uint64_t now_ns, bool leads, const land_answer *answer);

/* The note was read; null = there is none. */
void land_clock_noted(land_clock *clock, uint64_t now_ns, bool leads, const char *boot, const land_note *note);

/* Texts of the three, and what they say; false = nothing of these, or of somebody else. */
void land_question_write(const land_question *ask, char text[LAND_TEXT_BYTES]);
bool land_question_read(const void *bytes, size_t count, land_question *ask);
void land_answer_write(const land_answer *answer, char text[LAND_TEXT_BYTES]);
bool land_answer_read(const void *bytes, size_t count, land_answer *answer);
void land_note_write(const land_note *note, char text[LAND_TEXT_BYTES]);
bool land_note_read(const char *text, land_note *note);

#endif
