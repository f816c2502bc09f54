/* The rooms of src, and who may know whom: by include and by call. */
#include "tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOMS_MAX = 16, BELOW_MAX = 14, FACE_MAX = 3 };

/* An arrow goes from a room to one that stands above it in this table, so there is no circle. `below` says to which.
 * Other rooms include the headers of its face alone; without any named, all of them. */
typedef struct room {
  const char *name;
  const char *below[BELOW_MAX];
  const char *face[FACE_MAX];
} room;

static const room rooms[] = {
    {"base", {NULL}, {NULL}},
    {"agents", {"base"}, {NULL}},
    {"plan", {"base", "agents"}, {NULL}},
    {"pool", {"base"}, {NULL}},
    {"run", {"base", "agents", "pool"}, {NULL}},
    {"record", {"base", "agents", "pool", "run"}, {"recorder.h", "recorder_fields.h"}},
    {"world", {"base", "agents", "plan", "pool", "run", "record"}, {NULL}},
    {"herds", {"base", "agents", "plan", "pool", "run", "record", "world"}, {"herds.h"}},
    {"frame", {"base", "agents", "plan", "pool", "run", "record", "world", "herds"}, {"frame.h", "frame_record.h"}},
    {"observe", {"base", "agents", "plan", "pool", "run", "record", "world", "herds"}, {"report.h"}},
    {"api", {"base", "agents", "plan", "pool", "run", "record", "world", "herds", "frame"}, {"calls.h"}},
    {"replay", {"base", "agents", "pool", "run", "record", "world", "frame", "observe", "api"}, {"replay.h"}},
    {"snapshot",
     {"base", "agents", "plan", "pool", "run", "record", "world", "herds", "frame", "observe"},
     {"snapshot.h"}},
    {"scenarios", {NULL}, {NULL}},
    {"service", {"base"}, {NULL}},
};
enum { ROOM_COUNT = sizeof rooms / sizeof *rooms };

/* A function. */
typedef struct callee {
  const char *name;
  size_t length;
  int room;
  bool shared;         /* other files can call it */
  size_t source, user; /* where it stands; 1 + the last file that was seen to use it */
} callee;

typedef struct room_run {
  tidy_run *tidy;
  callee *callees; /* sorted by name */
  size_t callee_count;
  size_t includes[ROOM_COUNT][ROOM_COUNT], calls[ROOM_COUNT][ROOM_COUNT];
} room_run;

static int room_named(const char *name, size_t length) {
  for (int i = 0; i < ROOM_COUNT; i++)
    if (strlen(rooms[i].name) == length && strncmp(rooms[i].name, name, length) == 0) return i;
  return -1;
}

/* The room of a path from src, such as base/arena.h; -1 when it is in none. */
static int room_of_path(const char *path, size_t length) {
  const char *slash = memchr(path, '/', length);
  return slash ? room_named(path, (size_t)(slash - path)) : -1;
}

/* The room that a file of src stands in; -1 when it is in none. */
static int room_of(const tidy_source *source) {
  static const char folder[] = "src/";
  if (!source_in(source, folder)) return -1;
  const char *path = source->path + sizeof folder - 1;
  return room_of_path(path, strlen(path));
}

static bool may_use(int user, int used) {
  if (user == used) return true;
  for (const char *const *below = rooms[user].below; *below; below++)
    if (strcmp(*below, rooms[used].name) == 0) return true;
  return false;
}

/* --------------------------------------------------------------------------------------------------------- includes */

/* Whether another room may include this header, by its path from src. */
static bool is_face(int used, const tidy_include *include) {
  size_t folder = strlen(rooms[used].name) + 1;
  for (const char *const *face = rooms[used].face; *face; face++)
    if (strlen(*face) == include->length - folder && strncmp(include->start + folder, *face, strlen(*face)) == 0)
      return true;
  return !*rooms[used].face;
}

static void check_includes(room_run *run, const tidy_source *source, int user) {
  tidy_include include;
  for (size_t line = 0; source_next_include(source, line, &include); line = include.line + 1) {
    if (include.open != '"') continue;
    int used = room_of_path(include.start, include.length);
    if (used < 0) {
      tidy_report(run->tidy, source, include.line, "rooms", "include by path from src, not \"%.*s\"",
                  (int)include.length, include.start);
      continue;
    }
    if (used != user) run->includes[user][used]++;
    if (used == user || (may_use(user, used) && is_face(used, &include))) continue;
    if (may_use(user, used))
      tidy_report(run->tidy, source, include.line, "rooms", "\"%.*s\" is no face of its room", (int)include.length,
                  include.start);
    else
      tidy_report(run->tidy, source, include.line, "rooms", "%s may not include \"%.*s\": move what is needed down",
                  rooms[user].name, (int)include.length, include.start);
  }
}

/* ------------------------------------------------------------------------------------------------------------ calls */

static bool begins(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* In a source, static functions are for that file alone; in a header, every function is for those who include it. */
static bool is_shared(const tidy_source *source, const tidy_declaration *declaration) {
  static const char *const own[] = {"static", "INLINE", "PREFETCH_FUNCTION"};
  if (source_ends(source, ".h")) return true;
  tidy_identifier word = {0};
  for (size_t at = declaration->start; source_next_identifier(source->code, declaration->name.offset, at, &word);
       at = word.offset + word.length)
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
      if (strlen(own[i]) == word.length && begins(source->code + word.offset, own[i])) return false;
  return true;
}

static int compare_callees(const void *one, const void *other) {
  const callee *a = one, *b = other;
  int order = strncmp(a->name, b->name, a->length < b->length ? a->length : b->length);
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void add_callee(room_run *run, const callee *added) {
  enum { STEP = 256 };
  if (run->callee_count % STEP == 0)
    run->callees = realloc(run->callees, (run->callee_count + STEP) * sizeof *run->callees);
  if (!run->callees) {
    fputs("tidy: out of memory\n", stderr);
    exit(2);
  }
  run->callees[run->callee_count++] = *added;
}

static void list_callees(room_run *run) {
  for (size_t i = 0; i < run->tidy->source_count; i++) {
    const tidy_source *source = &run->tidy->sources[i];
    int room = room_of(source);
    if (room < 0) continue;
    tidy_declaration declaration;
    for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end)
      if (declaration.kind == DECLARATION_FUNCTION)
        add_callee(run, &(callee){.name = source->code + declaration.name.offset,
                                  .length = declaration.name.length,
                                  .room = room,
                                  .shared = is_shared(source, &declaration),
                                  .source = i});
  }
  if (run->callee_count) qsort(run->callees, run->callee_count, sizeof *run->callees, compare_callees);
}

/* A member of a struct may have a function's name. */
static bool is_member(const char *code, size_t offset) {
  if (offset > 0 && code[offset - 1] == '.') return true;
  return offset > 1 && code[offset - 1] == '>' && code[offset - 2] == '-';
}

static bool is_outside(int room) {
  return strcmp(rooms[room].name, "scenarios") == 0 || strcmp(rooms[room].name, "service") == 0;
}

/* Scenarios and the service know the public functions, wherever these stand. */
static bool is_public_to(int user, const callee *used) {
  return is_outside(user) && begins(used->name, "muster_");
}

/* What a name means in a room: a function that other files can call, of this room or of another; null when there is
 * none. The library is linked without the scenarios and the service. */
static callee *find_callee(const room_run *run, const char *name, size_t length, int user) {
  callee wanted = {.name = name, .length = length}, *end = run->callees + run->callee_count, *found = NULL;
  if (!run->callee_count) return NULL;
  callee *at = bsearch(&wanted, run->callees, run->callee_count, sizeof wanted, compare_callees);
  while (at && at > run->callees && compare_callees(at - 1, &wanted) == 0) at--;
  for (; at && at < end && compare_callees(at, &wanted) == 0; at++) {
    if (at->room == user) return at;
    if (at->shared && !is_outside(at->room)) found = at;
  }
  return found;
}

static void check_calls(room_run *run, size_t number, int user) {
  const tidy_source *source = &run->tidy->sources[number];
  tidy_identifier word = {0};
  for (size_t at = 0; source_next_identifier(source->code, source->length, at, &word); at = word.offset + word.length) {
    callee *used = find_callee(run, source->code + word.offset, word.length, user);
    if (!used || used->room == user || used->user == number + 1 || is_member(source->code, word.offset)) continue;
    if (is_outside(user) && source->code[word.offset + word.length] != '(') continue; /* a variable's name */
    if (is_public_to(user, used)) continue;
    used->user = number + 1;
    run->calls[user][used->room]++;
    if (may_use(user, used->room)) continue;
    tidy_report(run->tidy, source, source_line_at(source, word.offset), "rooms",
                "%s may not use %.*s of %s: move what is needed down", rooms[user].name, (int)used->length, used->name,
                run->tidy->sources[used->source].path);
  }
}

/* ------------------------------------------------------------------------------------------------------------ rules */

/* Rooms know only rooms that stand before them, or the table is none. */
static void check_table(room_run *run) {
  for (int i = 0; i < ROOM_COUNT; i++)
    for (const char *const *below = rooms[i].below; *below; below++) {
      int used = room_named(*below, strlen(*below));
      if (used >= 0 && used < i) continue;
      run->tidy->findings++;
      printf("tools/tidy/rooms.c:1: rooms: %s does not stand before %s\n", *below, rooms[i].name);
    }
}

static void look(room_run *run) {
  check_table(run);
  list_callees(run);
  for (size_t i = 0; i < run->tidy->source_count; i++) {
    const tidy_source *source = &run->tidy->sources[i];
    int room = room_of(source);
    if (room >= 0) {
      check_includes(run, source, room);
      check_calls(run, i, room);
    } else if (source_in(source, "src/")) {
      tidy_report(run->tidy, source, 0, "rooms",
                  "this folder is no room: move the file, or name the room in the table");
    }
  }
}

void rule_rooms(tidy_run *tidy) {
  room_run run = {.tidy = tidy};
  look(&run);
  free(run.callees);
}

static void print_room(const room_run *run, int room) {
  size_t files = 0, lines = 0;
  for (size_t i = 0; i < run->tidy->source_count; i++) {
    if (room_of(&run->tidy->sources[i]) != room) continue;
    files++;
    lines += run->tidy->sources[i].line_count;
  }
  printf("%-10s %4zu files %6zu lines\n", rooms[room].name, files, lines);
  tidy_print_sizes(run->tidy, rooms[room].name);
  for (int used = 0; used < ROOM_COUNT; used++)
    if (run->includes[room][used] || run->calls[room][used])
      printf("  %s %-10s %4zu includes %5zu calls\n", may_use(room, used) ? "->" : "!!", rooms[used].name,
             run->includes[room][used], run->calls[room][used]);
}

void tidy_print_rooms(tidy_run *tidy) {
  room_run run = {.tidy = tidy};
  look(&run);
  for (int room = 0; room < ROOM_COUNT; room++) print_room(&run, room);
  free(run.callees);
}
