#include "journaling.h"

#include "catalog.h"
#include "complaint.h"
#include "pacing.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- writing */

static bool save_host(muster_journal_put put, void *put_user, void *user) {
  const struct journaling *journaling = user;
  const struct host *host = journaling->host;
  if (!put(&host->skipped_ns, sizeof host->skipped_ns, put_user)) return false;
  return !host->module->save || host->module->save(host->instance, host->world, put, put_user) == MUSTER_OK;
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

void journaling_turn(struct journaling *journaling) {
  if (journaling->journal) muster_journal_turn(journaling->journal);
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
  const char *end = count ? memchr(bytes, '\0', count) : NULL;
  if (!end || count > sizeof found->note) return false;
  memcpy(found->note, bytes, count);
  return run_note_read(&found->options, &found->skipped_ns, found->note);
}

static bool found_host(const void *bytes, size_t count, void *user) {
  struct journal_found *found = user;
  if (count < sizeof found->skipped_ns) return false;
  found->host = malloc(count);
  if (!found->host) return false;
  memcpy(found->host, bytes, count);
  memcpy(&found->skipped_ns, bytes, sizeof found->skipped_ns);
  found->host_bytes = count;
  return true;
}

muster_result journal_found_open(struct journal_found *found, const char *path) {
  int status;
  const char *file;
  muster_journal_look_def look = muster_journal_look_def_default();
  *found = (struct journal_found){.path = path, .info = muster_journal_info_default()};
  look.path = path;
  look.take_note = found_note;
  look.take_host = found_host;
  look.user = found;
  muster_result result = muster_journal_look(&look, &found->info, NULL);
  if (!result && !found->host) result = muster_module_fail(MUSTER_E_INPUT, "'%s' is no journal of `muster run`", path);
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
  free(found->host);
  found->host = NULL;
}

void journal_found_prepare(const struct journal_found *found, host_setup *setup) {
  setup->state = found->host + sizeof found->skipped_ns;
  setup->state_bytes = found->host_bytes - sizeof found->skipped_ns;
  setup->skipped_ns = found->skipped_ns;
}

/* A host whose frames come from the journal. */
struct repeated {
  struct host *host;
  void (*ran)(void *user);
  void *user;
};

static void before_repeated(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  const struct repeated *repeated = user;
  const struct host *host = repeated->host;
  (void)frame;
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
  struct repeated repeated = {host, ran, user};
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  recover.path = found->path;
  recover.before_frame = before_repeated;
  recover.after_frame = after_repeated;
  recover.user = &repeated;
  return muster_journal_recover(host->world, &recover, &found->info) == MUSTER_OK;
}
