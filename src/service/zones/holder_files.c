/* holder_files.c - the files of a zone, which the brokers keep: one object of a snapshot and its record so far. */
#include "service/log.h"
#include "service/zones/holder_parts.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 16 };

/* Work on another thread. */
typedef struct stored_work {
  uv_work_t work;
  holding_call *call;
  char path[JOURNALS_PATH_BYTES];
  stored_head head;
  muster_result result;
  char problem[256];
} stored_work;

static bool stored_name(char name[JOURNALS_PATH_BYTES + 64], const char *path, uint64_t number, const char *ending) {
  return snprintf(name, JOURNALS_PATH_BYTES + 64, "%s-%" PRIu64 "%s", path, number, ending) < JOURNALS_PATH_BYTES + 64;
}

/* ----------------------------------------------------------------------------------------------------------- copies */

static muster_result copy_failed(const char *name) {
  return error_set(MUSTER_E_SYSTEM, "%s: %s", name, strerror(errno));
}

/* Copies so many bytes, or as many as there are. False with errno. */
static bool copy_some(int from, int to, uint64_t most, uint64_t *copied) {
  unsigned char buffer[COPY_BYTES];
  for (*copied = 0; *copied < most;) {
    size_t wanted = most - *copied < COPY_BYTES ? (size_t)(most - *copied) : COPY_BYTES;
    ssize_t got = read(from, buffer, wanted);
    if (got < 0) return false;
    if (got == 0) break;
    for (ssize_t written = 0; written < got;) {
      ssize_t count = write(to, buffer + written, (size_t)(got - written));
      if (count < 0) return false;
      written += count;
    }
    *copied += (uint64_t)got;
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- bring */

static muster_result unpack(const char *path, const stored_head *head) {
  char whole[JOURNALS_PATH_BYTES + 64], journal[JOURNALS_PATH_BYTES + 64], snapshot[JOURNALS_PATH_BYTES + 64],
      fresh[JOURNALS_PATH_BYTES + 64];
  uint64_t copied = 0, rest = 0;
  snprintf(whole, sizeof whole, "%s.fetched", path);
  if (!stored_name(journal, path, head->number, ".journal") ||
      !stored_name(snapshot, path, head->number, ".snapshot") ||
      !stored_name(fresh, path, head->number, ".snapshot.new"))
    return error_set(MUSTER_E_SYSTEM, "%s: the path is too long", path);
  int from = files_open_regular(AT_FDCWD, whole, O_RDONLY | O_NOFOLLOW, 0);
  int first = stored_create_file(fresh), second = stored_create_file(journal);
  bool good = from >= 0 && first >= 0 && second >= 0 && copy_some(from, first, head->snapshot_bytes, &copied) &&
              copy_some(from, second, head->journal_bytes, &rest);
  if (from >= 0) close(from);
  if (first >= 0) close(first);
  if (second >= 0) close(second);
  if (!good) return copy_failed(whole);
  if (copied != head->snapshot_bytes || rest != head->journal_bytes)
    return error_set(MUSTER_E_INPUT, "%s: it is cut", whole);
  unlink(whole);
  return rename(fresh, snapshot) ? copy_failed(snapshot) : MUSTER_OK;
}

static void work_unpack(uv_work_t *work) {
  stored_work *stored = work->data;
  stored->result = unpack(stored->path, &stored->head);
  if (stored->result) snprintf(stored->problem, sizeof stored->problem, "%s", muster_last_error());
}

static void take_unpacked(uv_work_t *work, int status) {
  stored_work *stored = work->data;
  struct holding *holding = stored->call->holding;
  bool good = holding_call_end(stored->call);
  holding->fetching = false;
  if (good && (stored->result || status)) {
    holding_tell(holding, false, "its files cannot be unpacked: %.80s", stored->problem);
    log_line(MUSTER_LOG_ERROR, "world %s: %s", holding->process->name, holding->process->standby);
    holding_bring_failed(holding, stored->problem);
  } else if (good) {
    log_line(MUSTER_LOG_INFO, "world %s: its snapshot of frame %lu was fetched, %.1f MB", holding->process->name,
             stored->head.frames, (double)(stored->head.snapshot_bytes + stored->head.journal_bytes) * 1e-6);
    journal_stream_read(holding);
  }
  free(stored);
}

static void start_unpacking(struct holding *holding) {
  stored_work *stored = calloc(1, sizeof *stored);
  holding_call *call = holding_call_begin(holding, NULL);
  if (stored) *stored = (stored_work){.call = call, .head = holding->stored_note.head, .work.data = stored};
  if (stored) snprintf(stored->path, sizeof stored->path, "%s", holding->path);
  holding->fetching =
      stored && call && uv_queue_work(holding->holder->loop, &stored->work, work_unpack, take_unpacked) == 0;
  if (holding->fetching) return;
  free(stored);
  free(call);
  holding_bring_failed(holding, "no memory to unpack its files");
}

static void begin_without_files(struct holding *holding) {
  holding->restores = false;
  log_line(MUSTER_LOG_WARNING, "world %s: nothing of its zone is stored: it begins anew", holding->process->name);
  holding_start(holding, false);
}

/* NATS has lost what etcd knows of, or damaged it: a person must say that it may begin anew. */
static void take_lost(struct holding *holding) {
  char why[PROCESS_STANDBY_BYTES];
  if (holding->restores) {
    begin_without_files(holding);
    return;
  }
  snprintf(why, sizeof why, "what is stored of its zone, last node %s's, is lost: `muster ctl restart %s` begins anew",
           holding->lease.last_owner, holding->process->name);
  log_line(MUSTER_LOG_ERROR, "world %s: %s", holding->process->name, why);
  holding_stand_by(holding, why);
}

static void take_fetched(muster_result result, const broker_object *object, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  (void)object;
  holding->fetching = false;
  if (!holding_call_end(call)) return;
  if (!result) {
    start_unpacking(holding);
  } else if (holding->follow.stage) { /* something else is stored by now, or too few servers are there */
    follow_drop(holding, "what is stored of the zone that it follows cannot be fetched");
  } else if (result == MUSTER_E_STALE || result == MUSTER_E_INPUT) {
    log_line(MUSTER_LOG_ERROR, "world %s: its files cannot be fetched: %s", holding->process->name,
             muster_last_error());
    take_lost(holding);
  } else {
    holding->brings_again = true; /* when there are servers enough */
  }
}

/* One after the other, since they have one name. */
static void fetch(struct holding *holding) {
  char fetched[JOURNALS_PATH_BYTES + 64];
  snprintf(fetched, sizeof fetched, "%s.fetched", holding->path);
  holding->brings_again = holding->fetching || !stored_note_partial(holding);
  if (holding->brings_again) return;
  holding_call *call = holding_call_begin(holding, NULL);
  holding->fetching = call && broker_fetch(holding->holder->broker, holding->name, &holding->stored_note.object,
                                           fetched, take_fetched, call) == MUSTER_OK;
  if (holding->fetching) return;
  free(call);
  holding->brings_again = true;
}

void stored_follow(struct holding *holding, const stored_note *note) {
  holding->stored_note = *note;
  stored_remove(holding);
  fetch(holding);
}

/* Read with the lease: nothing that another owner stores comes behind it. */
static void take_note_of_stored(muster_result result, const void *bytes, size_t count, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  memset(&holding->stored_note, 0, sizeof holding->stored_note);
  if (!result && bytes && count == sizeof holding->stored_note)
    memcpy(&holding->stored_note, bytes, count);
  else if (result || bytes) {
    holding_lose(holding, result ? muster_last_error() : "the note of what is stored is of another build");
    return;
  }
  bool stored = !place_is_none(holding->stored_note.object.version);
  if (!stored && holding->has_files) {
    holding_start(holding, true); /* nothing had gone out */
    return;
  }
  if (!stored) {
    begin_without_files(holding);
    return;
  }
  if (holding->has_files) stored_remove(holding);
  fetch(holding);
}

void stored_bring_again(struct holding *holding) {
  if (!holding->brings_again) return;
  holding->brings_again = false;
  fetch(holding);
}

/* The brokers know nothing of the zone, and this node had it: they have lost all. Whether to go on from these files is
 * for a person to say, who knows of the other nodes'. */
static bool is_to_be_restored(struct holding *holding, bool files, bool *this_boot) {
  uint64_t before = stored_read_epoch(holding, this_boot);
  if (holding->lease.epoch > before || !files) return false;
  if (holding->restores) { /* what crossed under the epochs before counts no more behind a higher one only */
    holding->above = before;
    holding_ask_again(holding);
    return true;
  }
  char why[PROCESS_STANDBY_BYTES];
  snprintf(why, sizeof why,
           "the brokers have lost its zone: `muster ctl zones restore %s` goes on from this node's files",
           holding->process->name);
  log_line(MUSTER_LOG_ERROR, "world %s: %s, of epoch %lu", holding->process->name, why, before);
  holding->restorable = true;
  holding_stand_by(holding, why);
  return true;
}

/* A process died while it ran the frames of these files again. Another try would do without the frames; what is stored
 * has them, too. */
static bool is_fetched_better(const struct holding *holding) {
  return holding->holder->settings.journal_stream && stored_are_replaying(holding);
}

/* Whether files that this node had as the last owner have all that had gone out: what was not brought to the disk is
 * lost with the machine's power. */
static bool are_whole(const struct holding *holding, bool this_boot) {
  bool synced = holding->holder->settings.journal_sync == MUSTER_JOURNAL_SYNC_FRAME;
  return holding->restores || ((this_boot || synced) && !is_fetched_better(holding));
}

/* Whether the last epoch was one of this state folder: another daemon of this name has other files, and so has a copy
 * of the folder. */
static bool was_last(const struct holding *holding) {
  const broker_lease *lease = &holding->lease;
  incarnation own = holding->holder->name.own.incarnation;
  return strcmp(lease->last_owner, holding->holder->settings.node) == 0 &&
         (incarnation_equal(lease->last_owned_by, own) || incarnation_follows(own, lease->last_owned_by));
}

/* This node's own files are newer than what is stored, unless another node has had the zone since, or they were not
 * whole yet. */
void stored_bring(struct holding *holding) {
  uint64_t number;
  bool files = stored_newest(holding, &number), this_boot;
  if (is_to_be_restored(holding, files, &this_boot)) return;
  bool own = files && (holding->restores || (was_last(holding) && !stored_are_partial(holding)));
  bool whole = own && are_whole(holding, this_boot);
  if (!own) stored_remove(holding);
  holding->has_files = own && !whole;
  holding->restores = holding->restores && !files; /* to begin anew */
  stored_write_epoch(holding);
  if (whole || holding->lease.epoch == 1) {
    holding_start(holding, whole);
    return;
  }
  holding_call *call = holding_call_begin(holding, NULL);
  if (call &&
      broker_read_stored(holding->holder->broker, holding->ground.number, take_note_of_stored, call) == MUSTER_OK)
    return;
  free(call);
  holding_lose(holding, "etcd cannot be asked");
}

/* ------------------------------------------------------------------------------------------------------------ store */

static muster_result pack(const char *path, stored_head *head) {
  char whole[JOURNALS_PATH_BYTES + 64], journal[JOURNALS_PATH_BYTES + 64], snapshot[JOURNALS_PATH_BYTES + 64];
  snprintf(whole, sizeof whole, "%s.storing", path);
  if (!stored_name(journal, path, head->number, ".journal") || !stored_name(snapshot, path, head->number, ".snapshot"))
    return error_set(MUSTER_E_SYSTEM, "%s: the path is too long", path);
  int to = stored_create_file(whole), first = files_open_regular(AT_FDCWD, snapshot, O_RDONLY | O_NOFOLLOW, 0),
      second = files_open_regular(AT_FDCWD, journal, O_RDONLY | O_NOFOLLOW, 0);
  bool good = to >= 0 && first >= 0 && second >= 0 && copy_some(first, to, UINT64_MAX, &head->snapshot_bytes) &&
              copy_some(second, to, UINT64_MAX, &head->journal_bytes);
  if (to >= 0) close(to);
  if (first >= 0) close(first);
  if (second >= 0) close(second);
  return good ? MUSTER_OK : copy_failed(to >= 0 && first < 0 ? snapshot : to >= 0 && second < 0 ? journal : whole);
}

static void work_pack(uv_work_t *work) {
  stored_work *stored = work->data;
  stored->result = pack(stored->path, &stored->head);
  if (stored->result) snprintf(stored->problem, sizeof stored->problem, "%s", muster_last_error());
}

static void store_failed(struct holding *holding, const char *problem) {
  holding->storing = false;
  holding->store_again = true; /* the next turn tries again */
  log_line(MUSTER_LOG_WARNING, "world %s: its snapshot was not stored: %s", holding->process->name, problem);
}

/* From here on it is what the next owner begins with. */
static void take_note_stored(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  if (result == MUSTER_E_STATE) {
    holding_lose(holding, "its lease is another's");
    return;
  }
  if (result) {
    store_failed(holding, muster_last_error());
    return;
  }
  holding->storing = false;
  holding->stored = true;
  holding->stored_ns = clock_system();
  holding->stored_note = holding->storing_note;
  pairs_cover(holding);
  births_stored(holding);
  broker_remove(holding->holder->broker, holding->name, &holding->storing_ends);
  journal_stream_stored(holding);
  pairs_publish(holding);
  holding_stored(holding);
  moves_go_on(holding);
}

static void take_kept(muster_result result, const broker_object *object, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  if (result) {
    store_failed(holding, muster_last_error());
    return;
  }
  holding->storing_note.object = *object;
  call = holding_call_begin(holding, NULL);
  size_t named = births_named_bytes(holding);
  if (call &&
      broker_note_stored(holding->holder->broker, &holding->lease, &holding->storing_note, sizeof holding->storing_note,
                         &holding->births.storing, named, take_note_stored, call) == MUSTER_OK)
    return;
  free(call);
  store_failed(holding, "etcd cannot be asked");
}

static void take_packed(uv_work_t *work, int status) {
  stored_work *stored = work->data;
  struct holding *holding = stored->call->holding;
  char whole[JOURNALS_PATH_BYTES + 64];
  bool late = stored->call->tenure != holding->tenure || holding->holder->closing;
  snprintf(whole, sizeof whole, "%s.storing", stored->path);
  bool good = !late && !stored->result && !status;
  if (good) holding->storing_note.head = stored->head;
  if (good &&
      broker_store(holding->holder->broker, holding->name, (zone_place){holding->lease.epoch, ++holding->store_count},
                   whole, take_kept, stored->call) == MUSTER_OK) {
    free(stored);
    return;
  }
  free(stored->call);
  if (!late) store_failed(holding, stored->result ? stored->problem : muster_last_error());
  free(stored);
}

static bool is_store_due(const struct holding *holding) {
  const struct settings *settings = &holding->holder->settings;
  bool other = holding->snapshots != holding->storing_snapshots;
  if (holding->store_again || !holding->stored || (other && settings->journal_stream)) return true;
  return other && clock_system() - holding->stored_ns >= settings->snapshot_interval_ns;
}

/* A zone whose journal needs no snapshot for long is asked for one: what is stored is not older than the settings say,
 * by much. */
void stored_want(struct holding *holding) {
  uint64_t now_ns = clock_system(), interval_ns = holding->holder->settings.snapshot_interval_ns;
  bool moves = holding->move.stage != MOVE_NONE && holding->move.stage != MOVE_OVER;
  bool old = holding->stored && !holding->storing && !moves && holding->snapshots == holding->storing_snapshots;
  if (!old || !interval_ns || now_ns - holding->stored_ns < interval_ns || now_ns - holding->wanted_ns < interval_ns)
    return;
  holding->wanted_ns = now_ns;
  holding_put(holding, (wire_head){.kind = WIRE_WANTED}, NULL);
}

void stored_put(struct holding *holding) {
  stored_work *stored;
  uint64_t number;
  if (holding->storing || !is_store_due(holding) || !stored_newest(holding, &number)) return;
  stored = calloc(1, sizeof *stored);
  holding_call *call = holding_call_begin(holding, NULL);
  if (!stored || !call) {
    free(stored);
    free(call);
    return;
  }
  *stored = (stored_work){.call = call, .head = {.number = number, .frames = holding->frames}, .work.data = stored};
  snprintf(stored->path, sizeof stored->path, "%s", holding->path);
  pairs_fill_note(holding, &holding->storing_note);
  births_store(holding);
  broker_read_ends(holding->holder->broker, &holding->storing_ends);
  holding->store_again = false;
  holding->storing_snapshots = holding->snapshots;
  holding->storing = uv_queue_work(holding->holder->loop, &stored->work, work_pack, take_packed) == 0;
  if (holding->storing) return;
  free(stored);
  free(call);
}
