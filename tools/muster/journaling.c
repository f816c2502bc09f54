#include "journaling.h"

#include "catalog.h"
#include "complaint.h"
#include "pacing.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- writing */

/* In front of each piece of what a host keeps in a snapshot, as in musterd's. */
typedef struct kept_piece {
  uint64_t kind, bytes;
} kept_piece;

enum { PIECE_STATE = 'S' /* what the module saves */, PIECE_SKIPPED = 'T' /* see struct host */ };

static bool count_kept(const void *bytes, size_t count, void *user) {
  (void)bytes;
  *(uint64_t *)user += count;
  return true;
}

static bool save_state(const struct host *host, muster_journal_put put, void *put_user) {
  const muster_module *module = host->module;
  kept_piece piece = {.kind = PIECE_STATE};
  if (!module->save) return put(&piece, sizeof piece, put_user);
  return module->save(host->instance, host->world, count_kept, &piece.bytes) == MUSTER_OK &&
         put(&piece, sizeof piece, put_user) && module->save(host->instance, host->world, put, put_user) == MUSTER_OK;
}

static bool save_host(muster_journal_put put, void *put_user, void *user) {
  const struct journaling *journaling = user;
  const struct host *host = journaling->host;
  const kept_piece piece = {.kind = PIECE_SKIPPED, .bytes = sizeof host->skipped_ns};
  return put(&piece, sizeof piece, put_user) && put(&host->skipped_ns, sizeof host->skipped_ns, put_user) &&
         save_state(host, put, put_user);
}

static char *note_of_run(const run_options *options, const struct host *host, size_t *count) {
  char *note = NULL;
  FILE *stream = open_memstream(&note, count);
  bool noted = stream && run_note_write(options, host->skipped_ns, stream);
  if (!stream || fclose(stream) != 0) noted = muster_module_fail(MUSTER_E_MEMORY, "out of memory for the note") == 0;
  if (noted) return note;
  free(note);
  return NULL;
}

bool journaling_begin(struct journaling *journaling, const run_options *options, const struct host *host) {
  const muster_module *module = host->module;
  size_t count = 0;
  *journaling = (struct journaling){.path = options->journal, .host = host};
  if (!module->save && !module->register_types) {
    muster_module_fail(MUSTER_E_STATE, "'%s' cannot be saved, so it keeps no journal", module->name);
    return false;
  }
  char *note = note_of_run(options, host, &count);
  if (!note) return false;
  muster_journal_def def = muster_journal_def_default();
  def.path = options->journal;
  def.sync = options->journal_sync;
  def.note = note;
  def.note_bytes = (uint32_t)count;
  def.save_host = save_host;
  def.user = journaling;
  def.buffer_bytes = (size_t)8 << 30; /* of address space: room for the first frame of the largest population */
  bool begun = muster_journal_begin(host->world, &def, &journaling->journal) == MUSTER_OK;
  free(note);
  return begun;
}

void journaling_turn(struct journaling *journaling, uint64_t spare_ns) {
  if (journaling->journal) muster_journal_turn(journaling->journal, spare_ns);
}

bool journaling_end(struct journaling *journaling) {
  muster_journal_status status = muster_journal_status_default();
  if (!journaling->journal) return true;
  muster_journal_status_read(journaling->journal, &status);
  bool whole = muster_journal_end(journaling->journal, false) == MUSTER_OK;
  journaling->journal = NULL;
  if (!status.runs)
    complain_failure("the journal '%s' ended before the run did: %s", journaling->path, status.ended_by);
  else if (!whole)
    complain_failure("the journal '%s' is not ended: %s", journaling->path, muster_last_error());
  return status.runs && whole;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static bool found_note(const void *bytes, uint32_t count, void *user) {
  struct journal_found *found = user;
  run_options *options = &found->options;
  if (count >= sizeof found->note) return false;
  memcpy(found->note, bytes, count);
  found->note[count] = '\0';
  if (!run_note_read(options, &found->skipped_ns, found->note)) return false;
  if (options->frames == 0) options->frames = 1;
  if (options->workers == 0) options->workers = 1;
  return true;
}

static bool keep_state(struct journal_found *found, const unsigned char *bytes, size_t count) {
  found->state = malloc(count + 1);
  if (found->state) memcpy(found->state, bytes, count);
  found->state_bytes = count;
  return found->state;
}

static bool found_host(const void *bytes, size_t count, void *user) {
  struct journal_found *found = user;
  const unsigned char *at = bytes, *end = at + count;
  kept_piece piece;
  while ((size_t)(end - at) >= sizeof piece) {
    memcpy(&piece, at, sizeof piece);
    at += sizeof piece;
    if (piece.bytes > (size_t)(end - at)) return false;
    if (piece.kind == PIECE_SKIPPED && piece.bytes == sizeof found->skipped_ns)
      memcpy(&found->skipped_ns, at, sizeof found->skipped_ns);
    if (piece.kind == PIECE_STATE && !found->state && !keep_state(found, at, (size_t)piece.bytes)) return false;
    at += piece.bytes;
  }
  return at == end && found->state;
}

/* ---------------------------------------------------------------------------------------------------------- commands
 */

/* A note of musterd's: 'C', this, and the command's body. */
typedef struct kept_command {
  char instance[32], command[MUSTER_MODULE_NAME_MAX + 1];
  bool json;
} kept_command;

enum { NOTE_COMMAND = 'C' };

/* One that was given before a frame. */
struct journal_command {
  uint64_t frame;
  kept_command head;
  char *body; /* ends with a zero */
  size_t bytes;
};

static bool found_notes(const void *bytes, size_t count, uint64_t frame, void *user) {
  struct journal_found *found = user;
  const char *note = bytes;
  kept_command head;
  if (count < 1 + sizeof head || *note != NOTE_COMMAND) return true;
  memcpy(&head, note + 1, sizeof head);
  head.command[sizeof head.command - 1] = '\0';
  if (found->command_count == found->command_room) {
    size_t room = found->command_room ? 2 * found->command_room : 16;
    struct journal_command *more = realloc(found->commands, room * sizeof *more);
    if (!more) return false;
    found->commands = more;
    found->command_room = room;
  }
  size_t rest = count - 1 - sizeof head;
  char *body = malloc(rest + 1);
  if (!body) return false;
  memcpy(body, note + 1 + sizeof head, rest);
  body[rest] = '\0';
  found->commands[found->command_count++] = (struct journal_command){frame, head, body, rest};
  return true;
}

static bool drop_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  (void)status, (void)json, (void)text, (void)bytes, (void)user;
  return true;
}

/* Once more, before the frame before which it was given: what it asks of the world stands in the record, what it does
 * to its module does not. */
static void repeat_commands(struct journal_found *found, const struct host *host, uint64_t frame) {
  for (; found->command_next < found->command_count && found->commands[found->command_next].frame <= frame;
       found->command_next++) {
    const struct journal_command *given = &found->commands[found->command_next];
    const muster_module_call call = {.size = sizeof call,
                                     .command = given->head.command,
                                     .body = given->body,
                                     .bytes = given->bytes,
                                     .json = given->head.json};
    if (host->module->command) host->module->command(host->instance, host->world, &call, drop_answer, NULL);
  }
}

muster_result journal_found_open(struct journal_found *found, const char *path) {
  int status;
  const char *file;
  muster_journal_look_def look = muster_journal_look_def_default();
  *found =
      (struct journal_found){.path = path, .info = muster_journal_info_default(), .world = muster_world_def_default()};
  look.path = path;
  look.take_note = found_note;
  look.take_host = found_host;
  look.take_notes = found_notes;
  look.user = found;
  muster_result result = muster_journal_look(&look, &found->info, &found->world);
  if (!result && !found->state) result = muster_module_fail(MUSTER_E_INPUT, "'%s' is no journal of `muster run`", path);
  if (result) {
    journal_found_close(found);
    return result;
  }
  run_options *options = &found->options;
  options->module = catalog_find(options->path ? options->path : options->scenario, &file, &status);
  if (options->module) return MUSTER_OK;
  journal_found_close(found);
  return muster_module_fail(MUSTER_E_INPUT, "'%s' is of a scenario that this program does not have", path);
}

void journal_found_close(struct journal_found *found) {
  free(found->state);
  found->state = NULL;
  for (size_t i = 0; i < found->command_count; i++) free(found->commands[i].body);
  free(found->commands);
  found->commands = NULL;
  found->command_count = found->command_room = 0;
}

void journal_found_prepare(const struct journal_found *found, host_setup *setup) {
  setup->state = found->state;
  setup->state_bytes = found->state_bytes;
  setup->skipped_ns = found->skipped_ns;
  const muster_world_def own = setup->world;
  setup->world = found->world;
  setup->world.audit = own.audit; /* what is of one process is in no journal */
  setup->world.trace = own.trace;
  setup->world.shards = own.shards;
  setup->as_defined = true;
}

/* A host whose frames come from the journal. */
struct repeated {
  struct journal_found *found;
  struct host *host;
  void (*ran)(void *user);
  void *user;
};

static void before_repeated(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  const struct repeated *repeated = user;
  const struct host *host = repeated->host;
  repeat_commands(repeated->found, host, frame);
  if (host->module->before_frame) host->module->before_frame(host->instance, world, sim_now_ns);
}

static void after_repeated(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  const struct repeated *repeated = user;
  struct host *host = repeated->host;
  (void)world, (void)frame;
  if (host->module->skip_ns) host->skipped_ns += host->module->skip_ns(host->instance, sim_now_ns);
  if (repeated->ran) repeated->ran(repeated->user);
}

bool journal_found_recover(struct journal_found *found, struct host *host, void (*ran)(void *user), void *user) {
  struct repeated repeated = {found, host, ran, user};
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  recover.path = found->path;
  recover.before_frame = before_repeated;
  recover.after_frame = after_repeated;
  recover.user = &repeated;
  return muster_journal_recover(host->world, &recover, &found->info) == MUSTER_OK;
}
