/* nomads.c - a behaviour module for the tests of zones: animals that walk over a whole ground, across the borders of
 * its zones, are born and die, and keep books. MUSTER_TEST_MODULES has it beside those that crash.
 *
 *     [world west]
 *     module = nomads
 *     agents = 100                    in this zone at first
 *     module.ground = 0 0 300 100     all zones together
 *     module.speed = 20               m/s
 *     module.life = 60                s, a quarter more or less; 0 = they live for ever
 *     module.books = 1                0: none are kept, and there may be many animals
 *
 * Each has one child, at half its life: soon there are twice as many as in the beginning, and so it stays.
 * An animal walks straight from place to place; which they are, follows from its name, and its name from its mother's.
 * It counts the time that its updates were told: from birth to its last update, that must be what went by, wherever it
 * was. It tells its mother a number each second, one higher each time, and a mother notices a number that comes twice
 * or is left out. All of this is in its state, which it publishes.
 *
 * The books have each birth and each death of the zone in order; they are saved with the world. Commands:
 *
 *     books FROM       INDEX b|d AGENT EPOCH AT_NS            a line each, from an index on
 *     stands AFTER     AGENT HOP NAME and numbers, below      a line each, of all that are here with an id above
 *     rest yes|no      from now on they stay where they are, live on, and are neither born nor die
 *
 * Both lists end after so many lines; "end" is the last line of the last part. */
#include "nomads.h"

#include <inttypes.h>
#include <math.h>
#include <muster/module.h>
#include <muster/random.h>
#include <muster/zone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 5000, LINE_BYTES = 350, SECOND_NS = 1000000000 };

typedef struct book_line {
  uint64_t agent, at_ns;
  uint32_t epoch, died;
} book_line;

typedef struct nomads {
  double x0, y0, x1, y1, speed;
  uint64_t life_ns, seed;
  uint32_t agents, rests;
  bool keeps;
  muster_type type;
  const muster_world *world;
  book_line *books;
  uint64_t count, room;
} nomads;

static const muster_module_setting settings[] = {
    {"ground", MUSTER_MODULE_TEXT, 0, 100, "0 0 100 100", "all zones together: X0 Y0 X1 Y1, in metres"},
    {"speed", MUSTER_MODULE_REAL, 0, 1000, "2", "how fast they walk, in m/s"},
    {"life", MUSTER_MODULE_REAL, 0, 1e6, "0", "how long they live, in seconds, a quarter more or less; 0 = for ever"},
    {"books", MUSTER_MODULE_INTEGER, 0, 1, "1", "1: births and deaths are kept"},
    {0},
};

/* ------------------------------------------------------------------------------------------------------------ books */

static void write_book(nomads *self, muster_agent agent, uint64_t at_ns, bool died) {
  muster_zone_def zone = {0};
  if (!self->keeps) return;
  muster_zone_read(self->world, &zone); /* of a world that is no zone the epoch is 0 */
  if (self->count == self->room) {
    uint64_t room = self->room ? 2 * self->room : 1024;
    book_line *books = realloc(self->books, room * sizeof *books);
    if (!books) abort();
    self->books = books;
    self->room = room;
  }
  self->books[self->count++] = (book_line){agent.value, at_ns, zone.epoch, died};
}

static void begin_life(muster_update *update) {
  nomad *own = update->state;
  own->born_ns = own->at_ns = update->now_ns;
  memcpy(update->published, own, sizeof *own);
  write_book(update->type_user, update->agent, update->now_ns, false);
}

static void end_life(muster_update *update) {
  write_book(update->type_user, update->agent, update->now_ns, true);
}

/* ------------------------------------------------------------------------------------------------------------- life */

/* What follows from a name: the n-th number. */
static uint64_t number_of(uint64_t name, uint64_t n) {
  return muster_random_mix(muster_random_mix(name) + n * 0x9e3779b97f4a7c15u);
}

static double between(uint64_t number, double from, double to) {
  return from + (double)(number >> 11) * 0x1p-53 * (to - from);
}

static muster_position goal_of(const nomads *self, const nomad *own) {
  return (muster_position){between(number_of(own->name, 2 * own->leg), self->x0, self->x1),
                           between(number_of(own->name, 2 * own->leg + 1), self->y0, self->y1), 0};
}

static muster_position walk_on(const nomads *self, nomad *own, muster_position place, uint64_t elapsed_ns) {
  double left_m = self->speed * (double)elapsed_ns * 1e-9;
  for (int legs = 0; legs < 64 && left_m > 0; legs++) {
    muster_position goal = goal_of(self, own);
    double x = goal.x - place.x, y = goal.y - place.y, way_m = sqrt(x * x + y * y);
    if (way_m > left_m) {
      place.x += x / way_m * left_m;
      place.y += y / way_m * left_m;
      return place;
    }
    left_m -= way_m;
    place = goal;
    own->leg++;
  }
  return place;
}

/* The time that it is told must begin where the last one ended. */
static void count_time(nomad *own, const muster_update *update) {
  uint64_t begins_ns = update->now_ns - update->elapsed_ns;
  own->lived_ns += update->elapsed_ns;
  if (begins_ns < own->at_ns) own->twice_ns += own->at_ns - begins_ns;
  if (begins_ns > own->at_ns) own->missed_ns += begins_ns - own->at_ns;
  own->at_ns = update->now_ns;
}

/* A number behind the highest was heard before, or is late. */
static void hear_lower(nomad *own, uint64_t number) {
  uint64_t behind = own->heard - number, bit = behind < 64 ? 1ull << behind : 0;
  if (bit == 0 || own->heard_bits & bit) {
    own->repeated++;
    return;
  }
  own->heard_bits |= bit;
  own->late++;
  own->skipped--;
}

static void listen(nomad *own, const muster_update *update) {
  muster_message messages[NOMAD_MESSAGES];
  uint32_t count = muster_update_messages(update, messages, NOMAD_MESSAGES);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t number = *(const uint64_t *)messages[i].bytes, ahead = number - own->heard;
    if (number <= own->heard) {
      hear_lower(own, number);
      continue;
    }
    own->skipped += ahead - 1;
    if (ahead > 1) own->gap = number, own->gap_ns = update->now_ns;
    own->heard_bits = (ahead < 64 ? own->heard_bits << ahead : 0) | 1;
    own->heard = number;
  }
}

static void tell_mother(nomad *own, muster_update *update) {
  uint64_t number = own->told + 1;
  muster_agent mother = {own->mother};
  own->lost += muster_update_messages_lost(update);
  if (mother.value == 0 || own->at_ns - own->born_ns < number * SECOND_NS) return;
  muster_result result = muster_update_send(update, mother, &number, sizeof number);
  if (result == MUSTER_OK) own->told = number;
  if (result == MUSTER_E_STALE) own->unknown++; /* far away, or dead */
}

static void bear_child(const nomads *self, nomad *own, muster_update *update) {
  muster_agent_def child = muster_agent_def_default();
  nomad state = {.name = number_of(own->name, UINT64_MAX), .mother = update->agent.value};
  child.type = self->type;
  child.state = &state;
  child.position = update->position;
  if (!muster_agent_is_null(muster_update_spawn(update, &child))) own->children++;
}

static muster_atom_result live(muster_update *update) {
  const nomads *self = update->type_user;
  nomad *own = update->state;
  count_time(own, update);
  listen(own, update);
  if (!self->rests) {
    tell_mother(own, update);
    muster_update_move(update, walk_on(self, own, update->position, update->elapsed_ns));
    uint64_t life_ns = (uint64_t)((double)self->life_ns * between(number_of(own->name, UINT64_MAX - 3), 0.75, 1.25));
    if (life_ns && own->children == 0 && own->lived_ns >= life_ns / 2) bear_child(self, own, update);
    if (life_ns && own->children && own->lived_ns >= life_ns) muster_update_remove(update, update->agent);
  }
  memcpy(update->published, own, sizeof *own);
  return MUSTER_ATOM_NEXT;
}

/* ----------------------------------------------------------------------------------------------------------- module */

static muster_result open_nomads(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  nomads *self = calloc(1, sizeof *self);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "nomads: no memory");
  const char *ground = muster_module_text(options, "ground", "0 0 100 100");
  if (sscanf(ground, "%lf %lf %lf %lf", &self->x0, &self->y0, &self->x1, &self->y1) != 4) {
    free(self);
    return muster_module_fail(MUSTER_E_ARGUMENT, "nomads: ground is four numbers");
  }
  self->speed = muster_module_number(options, "speed", 2);
  self->life_ns = (uint64_t)(muster_module_number(options, "life", 0) * SECOND_NS);
  self->seed = options->seed;
  self->agents = needs->agents = options->agents;
  self->keeps = muster_module_number(options, "books", 1) != 0;
  /* All may come to one zone, be seen in it, and be born again. */
  uint32_t of_few = 128 * self->agents, of_many = 2 * self->agents + 50000;
  needs->agents_max = (of_few < of_many ? of_few : of_many) + 1024;
  *instance = self;
  return MUSTER_OK;
}

static muster_result register_types(void *instance, muster_world *world) {
  static const muster_atom atom = {.run = live, .model_ns = 2000};
  nomads *self = instance;
  muster_type_def type = muster_type_def_default();
  type.name = "nomad";
  type.atoms = &atom;
  type.atom_count = 1;
  type.state_bytes = type.published_bytes = sizeof(nomad);
  type.on_spawned = begin_life;
  type.on_removed = end_life;
  type.period_ns = SECOND_NS / 10;
  type.spawns_max = 1;
  type.messages.waiting_max = NOMAD_MESSAGES;
  type.messages.bytes_max = sizeof(uint64_t);
  type.messages.sends_max = 1;
  type.user = self;
  self->world = world;
  self->type = muster_type_register(world, &type);
  return self->type.index ? MUSTER_OK : MUSTER_E_FULL;
}

/* Scattered over the zone; those of different zones have different names. */
static muster_result populate(void *instance, muster_world *world) {
  const nomads *self = instance;
  muster_zone_def zone = {0};
  muster_agent_def agent = muster_agent_def_default();
  if (muster_zone_read(world, &zone) != MUSTER_OK) {
    zone.x_min = self->x0, zone.y_min = self->y0;
    zone.x_max = self->x1, zone.y_max = self->y1;
  }
  agent.type = self->type;
  for (uint32_t i = 0; i < self->agents; i++) {
    nomad state = {.name = number_of(self->seed, (uint64_t)zone.number << 32 | i)};
    agent.state = &state;
    agent.position = (muster_position){between(number_of(state.name, UINT64_MAX - 1), zone.x_min, zone.x_max),
                                       between(number_of(state.name, UINT64_MAX - 2), zone.y_min, zone.y_max), 0};
    if (muster_agent_is_null(muster_agent_spawn(world, &agent))) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  const nomads *self = instance;
  (void)world;
  bool good = write(&self->rests, sizeof self->rests, write_user) &&
              (self->count == 0 || write(self->books, self->count * sizeof *self->books, write_user));
  return good ? MUSTER_OK : muster_module_fail(MUSTER_E_SYSTEM, "nomads: it was not written");
}

static muster_result resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  nomads *self = instance;
  size_t books = count - sizeof self->rests;
  (void)world;
  if (count < sizeof self->rests || books % sizeof *self->books)
    return muster_module_fail(MUSTER_E_INPUT, "nomads: cut");
  memcpy(&self->rests, bytes, sizeof self->rests);
  self->books = malloc(books + 1);
  if (!self->books) return muster_module_fail(MUSTER_E_MEMORY, "nomads: no memory");
  memcpy(self->books, (const char *)bytes + sizeof self->rests, books);
  self->count = self->room = books / sizeof *self->books;
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- commands */

static size_t list_books(const nomads *self, uint64_t from, char *text) {
  size_t length = 0;
  uint64_t end = self->count > from + LINES_MAX ? from + LINES_MAX : self->count;
  for (uint64_t i = from; i < end; i++) {
    const book_line *line = &self->books[i];
    length += (size_t)sprintf(text + length, "%" PRIu64 " %c %" PRIu64 " %u %" PRIu64 "\n", i, line->died ? 'd' : 'b',
                              line->agent, line->epoch, line->at_ns);
  }
  return length + (size_t)sprintf(text + length, "%s", end == self->count ? "end\n" : "");
}

/* The next agent by its id's value: a world's own order is another one, of which a list in parts could miss some. */
static muster_agent next_by_id(const muster_world *world, uint64_t after) {
  muster_agent next = {0};
  for (muster_agent at = muster_agent_next(world, next); !muster_agent_is_null(at); at = muster_agent_next(world, at))
    if (at.value > after && (next.value == 0 || at.value < next.value)) next = at;
  return next;
}

static size_t describe_nomad(const muster_world *world, muster_agent agent, char *text) {
  muster_agent_info info = muster_agent_info_default();
  uint32_t hop = 0;
  if (muster_agent_read(world, agent, &info) != MUSTER_OK || !info.published) return 0;
  muster_agent_hop(world, agent, &hop);
  const nomad *own = info.published;
  return (size_t)sprintf(
      text,
      "%" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
      " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
      agent.value, hop, own->name, own->born_ns, own->at_ns, own->lived_ns, own->twice_ns, own->missed_ns, own->told,
      own->heard, own->repeated, own->skipped, own->late, own->lost, own->gap, own->gap_ns);
}

static size_t list_standing(const muster_world *world, uint64_t after, char *text) {
  size_t length = 0;
  for (uint32_t lines = 0; lines < LINES_MAX; lines++) {
    muster_agent agent = next_by_id(world, after);
    if (muster_agent_is_null(agent)) return length + (size_t)sprintf(text + length, "end\n");
    length += describe_nomad(world, agent, text + length);
    after = agent.value;
  }
  return length;
}

static muster_result command(void *instance, muster_world *world, const muster_module_call *call,
                             muster_module_answer answer, void *answer_user) {
  nomads *self = instance;
  uint64_t number = strtoull(call->body, NULL, 10);
  char *text = malloc((size_t)LINES_MAX * LINE_BYTES + 16);
  if (!text) return muster_module_fail(MUSTER_E_MEMORY, "nomads: no memory");
  size_t length = 0;
  if (strcmp(call->command, "rest") == 0)
    self->rests = strcmp(call->body, "yes") == 0;
  else
    length = strcmp(call->command, "books") == 0 ? list_books(self, number, text) : list_standing(world, number, text);
  answer(200, false, text, length, answer_user);
  free(text);
  return MUSTER_OK;
}

static void close_nomads(void *instance) {
  nomads *self = instance;
  free(self->books);
  free(self);
}

MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  static const muster_module_command commands[] = {{"books", "births and deaths, from an index on"},
                                                   {"stands", "who is here, above an id"},
                                                   {"rest", "yes: they stay where they are"},
                                                   {0}};
  static const muster_module module = {.size = sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "nomads",
                                       .summary = "animals that walk across zones and keep books, for tests",
                                       .open = open_nomads,
                                       .register_types = register_types,
                                       .populate = populate,
                                       .save = save,
                                       .resume = resume,
                                       .settings = settings,
                                       .commands = commands,
                                       .command = command,
                                       .close = close_nomads};
  return &module;
}
