/* The rooms (folders) of src, and which room may use which: by include and by call. */
#include "tidy.h"

#include <stdio.h>
#include <string.h>

enum { ROOMS_MAX = 18, BELOW_MAX = 14, FACE_MAX = 48 };

/* An arrow goes from a room to one that stands above it in this table, so there is no circle. `below` says to which.
 * Other rooms include the headers of its face alone, and each of these is included by some; a room without a face is
 * included by none. The headers of base do not use each other: each of them belongs to its face. */
struct room {
  const char *name;
  const char *below[BELOW_MAX];
  const char *face[FACE_MAX];
};

static const struct room rooms[] = {
    {"base", {NULL}, {"*"}},
    {"agents",
     {"base"},
     {"store.h", "agents_sound.h", "batch.h", "companions.h", "elapsed.h", "herds.h", "mailbox.h", "nearby.h",
      "observer_query.h", "observers.h", "overrun.h", "passes.h", "sets.h", "shards.h", "space.h", "space_moves.h",
      "spawn.h", "types.h"}},
    {"plan",
     {"base", "agents"},
     {"bands.h", "calling.h",    "classes.h",       "controller.h", "costs.h",    "due.h",        "factors.h",
      "fold.h",  "importance.h", "overrun_table.h", "periods.h",    "phases.h",   "plan_sound.h", "rank.h",
      "rates.h", "ready.h",      "retime.h",        "score.h",      "shedding.h", "timers.h",     "usage.h"}},
    {"pool", {"base"}, {"pool.h", "atomics.h", "identity.h", "leaving.h", "ring.h", "team.h", "ticket.h", "worker.h"}},
    {"run",
     {"base", "agents", "pool"},
     {"runner.h", "acts.h", "callback.h", "channels.h", "flight.h", "herd_ids.h", "intake_queues.h", "occupancy.h",
      "overrun_check.h", "passes.h", "recent.h", "removals.h", "spawn_log.h", "syncer.h", "timeline.h", "track.h",
      "wakes.h", "watchdog.h", "zone_ids.h"}},
    {"record", {"base", "agents", "pool", "run"}, {"recorder.h", "recorder_fields.h"}},
    {"world",
     {"base", "agents", "plan", "pool", "run", "record"},
     {"world.h",         "cost_learning.h", "overruns_state.h", "overruns_log.h",    "penalties.h",
      "flight.h",        "frame_state.h",   "ghosts.h",         "guard.h",           "herd_links.h",
      "lifecycle.h",     "messages.h",      "observer_ids.h",   "planner_state.h",   "reactions.h",
      "saved_agent.h",   "section.h",       "serial.h",         "timing.h",          "trace.h",
      "tune.h",          "workers.h",       "world_acts.h",     "world_commands.h",  "world_fold.h",
      "world_herds.h",   "world_learnt.h",  "world_links.h",    "world_observers.h", "world_plan.h",
      "world_queues.h",  "world_record.h",  "world_score.h",    "world_sound.h",     "world_zone.h",
      "zone_delivery.h", "zone_mail.h",     "zone_order.h",     "world_sums.h",      "world_teams.h",
      "world_whole.h"}},
    {"herds", {"base", "agents", "plan", "pool", "run", "record", "world"}, {"herds.h"}},
    {"frame", {"base", "agents", "plan", "pool", "run", "record", "world", "herds"}, {"frame.h", "frame_record.h"}},
    {"observe", {"base", "agents", "plan", "pool", "run", "record", "world", "herds"}, {"report.h"}},
    {"api", {"base", "agents", "plan", "pool", "run", "record", "world", "herds", "frame"}, {"calls.h"}},
    {"snapshot",
     {"base", "agents", "plan", "pool", "run", "record", "world", "herds", "frame", "observe"},
     {"crossing.h", "prepare.h"}},
    {"replay",
     {"base", "agents", "pool", "run", "record", "world", "frame", "observe", "api", "snapshot"},
     {"records.h"}},
    {"journal", {"base", "pool", "run", "record", "world", "snapshot", "replay"}, {NULL}},
    {"scenarios", {NULL}, {NULL}},
    {"lua", {"base"}, {NULL}},
    {"service", {"base"}, {NULL}},
};
enum { ROOM_COUNT = sizeof rooms / sizeof *rooms };

typedef struct room_run {
  tidy_run *tidy;
  size_t includes[ROOM_COUNT][ROOM_COUNT], calls[ROOM_COUNT][ROOM_COUNT];
} room_run;

static int room_named(tidy_word name) {
  for (int i = 0; i < ROOM_COUNT; i++)
    if (word_is(name, rooms[i].name)) return i;
  return -1;
}

/* The room of a path from src, such as base/arena.h; -1 when it is in none. */
static int room_of_path(tidy_word path) {
  const char *slash = memchr(path.start, '/', path.length);
  return slash ? room_named((tidy_word){.start = path.start, .length = (size_t)(slash - path.start)}) : -1;
}

/* The path from src of a file there. */
static tidy_word path_of(const tidy_source *source) {
  const char *path = source->path + strlen("src/");
  return (tidy_word){.start = path, .length = strlen(path)};
}

int tidy_room_of(const tidy_source *source) {
  return source_in(source, "src/") ? room_of_path(path_of(source)) : -1;
}

const char *tidy_room_name(int room) {
  return room < ROOM_COUNT ? rooms[room].name : NULL;
}

static bool may_use(int user, int used) {
  if (user == used) return true;
  for (const char *const *below = rooms[user].below; *below; below++)
    if (strcmp(*below, rooms[used].name) == 0) return true;
  return false;
}

/* --------------------------------------------------------------------------------------------------------- includes */

static bool shows_all(int room) {
  return *rooms[room].face && strcmp(*rooms[room].face, "*") == 0;
}

/* Whether another room may include this header, by its path from src. */
static bool is_face(int used, tidy_word path) {
  size_t folder = strlen(rooms[used].name) + 1;
  tidy_word name = {.start = path.start + folder, .length = path.length - folder};
  return word_is_any(name, rooms[used].face) || shows_all(used);
}

static void check_includes(room_run *run, const tidy_source *source, int user) {
  for (tidy_include include = {0}; source_next_include(source, &include);) {
    if (include.open != '"') continue;
    tidy_word path = include.path;
    int used = room_of_path(path);
    if (used < 0) {
      tidy_report(run->tidy, source, include.line, "rooms", "include by path from src, not \"%.*s\"", (int)path.length,
                  path.start);
      continue;
    }
    if (used != user) run->includes[user][used]++;
    if (used == user || (may_use(user, used) && is_face(used, path))) continue;
    if (may_use(user, used))
      tidy_report(run->tidy, source, include.line, "rooms", "\"%.*s\" is no face of its room", (int)path.length,
                  path.start);
    else
      tidy_report(run->tidy, source, include.line, "rooms", "%s may not include \"%.*s\": move what is needed down",
                  rooms[user].name, (int)path.length, path.start);
  }
}

/* Whether another room than the header's own includes it. */
static bool is_included_elsewhere(const tidy_run *tidy, const char *path, int room) {
  for (const tidy_source *source = tidy->sources; source->path; source++) {
    int user = tidy_room_of(source);
    if (user >= 0 && user != room && source_includes(source, path)) return true;
  }
  return false;
}

/* Each header of a face must be included by another room. */
static void check_face(room_run *run, const tidy_source *header, int room) {
  tidy_word path = path_of(header);
  if (shows_all(room) || !is_face(room, path) || is_included_elsewhere(run->tidy, path.start, room)) return;
  tidy_report(run->tidy, header, 0, "rooms", "no other room includes it: take it out of the face of %s",
              rooms[room].name);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

bool tidy_room_is_outside(int room) {
  static const char *const outside[] = {"scenarios", "lua", "service"};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
    if (strcmp(rooms[room].name, outside[i]) == 0) return true;
  return false;
}

/* Scenarios and the service know the public functions, wherever these stand. */
static bool is_public_to(int user, const tidy_function *used) {
  return tidy_room_is_outside(user) && word_begins(used->name, "muster_");
}

/* What a name means in a room: a function that other files can call, of this room or of another; null when there is
 * none. The library is linked without the scenarios and the service. */
static tidy_function *find_function(const room_run *run, tidy_word name, int user) {
  tidy_function *found = NULL;
  for (tidy_function *at = functions_find(run->tidy, name); at; at = functions_next(at)) {
    if (at->room == user) return at;
    if (at->shared && at->room >= 0 && !tidy_room_is_outside(at->room)) found = at;
  }
  return found;
}

static void check_calls(room_run *run, const tidy_source *source, int user) {
  for (tidy_word word = {0}; word_next(source->code, source->length, &word);) {
    tidy_function *used = find_function(run, word, user);
    if (!used || used->room == user || used->user == source || word_is_member(word)) continue;
    if (tidy_room_is_outside(user) && word.start[word.length] != '(') continue; /* a variable's name */
    if (is_public_to(user, used)) continue;
    used->user = source;
    run->calls[user][used->room]++;
    if (may_use(user, used->room)) continue;
    tidy_report(run->tidy, source, source_line_at(source, word.offset), "rooms",
                "%s may not use %.*s of %s: move what is needed down", rooms[user].name, (int)word.length, word.start,
                used->source->path);
  }
}

/* ------------------------------------------------------------------------------------------------------------ rules */

/* A room may use only rooms that stand before it in the table. */
static void check_table(room_run *run) {
  for (int i = 0; i < ROOM_COUNT; i++)
    for (const char *const *below = rooms[i].below; *below; below++) {
      int used = room_named((tidy_word){.start = *below, .length = strlen(*below)});
      if (used >= 0 && used < i) continue;
      run->tidy->findings++;
      printf("tools/tidy/rooms.c:1: rooms: %s does not stand before %s\n", *below, rooms[i].name);
    }
}

static void look(room_run *run) {
  check_table(run);
  for (const tidy_source *source = run->tidy->sources; source->path; source++) {
    int room = tidy_room_of(source);
    if (room >= 0) {
      check_includes(run, source, room);
      check_face(run, source, room);
      check_calls(run, source, room);
    } else if (source_in(source, "src/")) {
      tidy_report(run->tidy, source, 0, "rooms",
                  "this folder is no room: move the file, or name the room in the table");
    }
  }
}

void rule_rooms(tidy_run *tidy) {
  room_run run = {.tidy = tidy};
  look(&run);
}

static void print_room(const room_run *run, int room) {
  size_t files = 0, lines = 0;
  for (const tidy_source *source = run->tidy->sources; source->path; source++) {
    if (tidy_room_of(source) != room) continue;
    files++;
    lines += source->line_count;
  }
  printf("%-10s %4zu files %6zu lines\n", rooms[room].name, files, lines);
  tidy_print_sizes(run->tidy, room);
  for (int used = 0; used < ROOM_COUNT; used++)
    if (run->includes[room][used] || run->calls[room][used])
      printf("  %s %-10s %4zu includes %5zu calls\n", may_use(room, used) ? "->" : "!!", rooms[used].name,
             run->includes[room][used], run->calls[room][used]);
}

void tidy_print_rooms(tidy_run *tidy) {
  room_run run = {.tidy = tidy};
  look(&run);
  for (int room = 0; room < ROOM_COUNT; room++) print_room(&run, room);
}
