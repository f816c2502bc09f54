#include "journal/rotation.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "journal/journal.h"
#include "pool/pool.h"
#include "run/runner.h"
#include "world/guard.h"
#include "world/world_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A snapshot may be taken from this part of the limit on; it costs at most this part of the time of all processors. */
enum {
  NEARLY_PERCENT = 75,
  PLACE_PERCENT = 100,
  COST_PART = 50,
  LOOKS_MAX = 8,
  RETRY_FRAMES = 120,
  WRITE_ROOM = 1 << 20
};

/* The result that the process writes to the pipe at its end, in one write. */
struct verdict {
  uint64_t bytes, took_ns;
  uint64_t cpu_ns; /* of its processor */
  bool good;
  char reason[160];
};

/* ------------------------------------------------------------------------------------------------------- prediction */

/* Loading reads a snapshot twice, to check it and to take it; and the state of each agent is a cache miss. */
void rotation_learn(muster_journal *journal, uint64_t bytes, uint64_t cpu_ns) {
  journal->status.snapshot_bytes = bytes;
  journal->snapshot_cpu_ns = cpu_ns;
  journal->load_ns = 2 * cpu_ns;
}

/* Most of what a snapshot takes is for the file. */
void rotation_guess_place(muster_journal *journal) {
  if (!journal->place.measured) journal->place.took_ns = journal->snapshot_cpu_ns / 4;
}

uint64_t rotation_predict(const muster_journal *journal) {
  return journal->def.start_ns + journal->load_ns + journal->current.replay_ns;
}

/* What the snapshot costs, spread over the time since the last one and over the processors. */
static bool is_affordable(const muster_journal *journal, uint64_t now_ns) {
  uint64_t workers = journal->world->runner->workers;
  uint64_t cost_ns = journal->status.pause_ns * workers + journal->snapshot_cpu_ns;
  return (now_ns - journal->begun_ns) * workers >= cost_ns * COST_PART;
}

static void warn_of_limit(muster_journal *journal) {
  if (journal->warned) return;
  journal->warned = true;
  log_write(
      &journal->world->def.log, MUSTER_LOG_WARNING,
      "journal %s: a recovery may take %.2f s, recovery_max is %.2f s: loading a snapshot of %.1f MB takes %.2f s, "
      "and more of them would cost more than a %dth of the time",
      journal->path, (double)rotation_predict(journal) * 1e-9, (double)journal->def.recovery_max_ns * 1e-9,
      (double)journal->status.snapshot_bytes * 1e-6, (double)journal->load_ns * 1e-9, COST_PART);
}

/* Of the frames in which a snapshot is nearly due, one with few suspended updates is chosen. */
static bool rotation_is_calm(muster_journal *journal) {
  uint32_t suspended = journal->world->sums->report.preempted;
  bool calm = suspended <= journal->fewest || journal->looks >= LOOKS_MAX;
  if (!journal->looks || suspended < journal->fewest) journal->fewest = suspended;
  return journal->looks++ > 0 && calm;
}

/* `good`: this is as good a moment as any. */
static bool rotation_is_due(muster_journal *journal, bool good) {
  uint64_t predicted_ns = rotation_predict(journal), most_ns = journal->def.recovery_max_ns, now_ns = clock_system();
  if (journal->world->frames < journal->retry_frame || journal->current.replay_ns == 0) return false;
  if (predicted_ns < most_ns / 100 * NEARLY_PERCENT) return false;
  bool affordable = is_affordable(journal, now_ns), beyond = predicted_ns >= most_ns;
  if (beyond && !affordable) warn_of_limit(journal);
  if (affordable && !beyond) journal->warned = false;
  return affordable && (beyond || (good && rotation_is_calm(journal)));
}

/* ------------------------------------------------------------------------------------------------------ the process */

/* In the forked process, in which no other thread runs. */
_Noreturn static void rotation_be_writer(muster_journal *journal, pid_t parent, int pipe) {
  struct verdict verdict;
  memset(&verdict, 0, sizeof verdict);
  forked_begin(parent, journal->next.descriptor, pipe);
  uint64_t begin_ns = clock_system();
  verdict.good =
      journal_snapshot_write(journal, journal->note->mark, journal->next.descriptor, &verdict.bytes) == MUSTER_OK;
  verdict.took_ns = clock_system() - begin_ns;
  verdict.cpu_ns = clock_thread_cpu();
  if (!verdict.good) snprintf(verdict.reason, sizeof verdict.reason, "%s", muster_last_error());
  if (write(pipe, &verdict, sizeof verdict) < 0) _exit(1);
  _exit(0);
}

static bool fork_writer(muster_journal *journal) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) return false;
  pid_t parent = getpid(), process = fork();
  if (process == 0) rotation_be_writer(journal, parent, ends[1]);
  close(ends[1]);
  if (process < 0) close(ends[0]);
  if (process < 0) return false;
  journal->process = process;
  journal->pipe = ends[0];
  return true;
}

/* --------------------------------------------------------------------------------------------------------- rotation */

muster_result rotation_open(muster_journal *journal) {
  journal_name name;
  size_t count = 0;
  muster_result result = muster_world_settle(journal->world);
  if (result) return result;
  uint64_t number = journal->current.number + 1;
  int descriptor = journal_file_create(journal_file_name(journal->path, "", number, ".journal", name));
  if (descriptor < 0) return MUSTER_E_SYSTEM;
  journal->note->mark.number = number;
  const void *head = records_head(journal->world, &count);
  if (!head || !journal_file_write(descriptor, head, count)) {
    result = error_set(MUSTER_E_SYSTEM, "%s: its head cannot be written: %s", name, strerror(errno));
    close(descriptor);
    journal_files_remove(journal->path, number);
    return result;
  }
  journal->next = (struct journal_part){.number = number, .descriptor = descriptor};
  journal->changes_next = journal->changes;
  journal->status.bytes += count;
  return MUSTER_OK;
}

void rotation_adopt(muster_journal *journal) {
  int descriptor = journal->next.descriptor;
  journal->current = journal->next;
  journal->next = (struct journal_part){.descriptor = -1};
  journal->begun_ns = clock_system();
  journal->status.snapshots++;
  journal->status.changes_safe = journal->changes_next;
  journal->looks = 0;
  syncer_move(&journal->syncer, descriptor, journal->current.number);
  syncer_note(&journal->syncer, journal->frames); /* also where no other frame may come */
}

/* A process that had much memory takes long to end: frames do not wait for it. */
static void rotation_reap(muster_journal *journal, bool waits) {
  pid_t ended = journal->leaving;
  if (!journal->leaving) return;
  do ended = waitpid(journal->leaving, NULL, waits ? 0 : WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended) journal->leaving = 0;
}

static void stop_process(muster_journal *journal) {
  rotation_reap(journal, true);
  if (journal->pipe < 0) return;
  kill(journal->process, SIGKILL);
  while (waitpid(journal->process, NULL, 0) < 0 && errno == EINTR) continue;
  close(journal->pipe);
  journal->pipe = -1;
}

void rotation_give_up(muster_journal *journal, const char *why) {
  stop_process(journal);
  if (journal->place.used) syncer_did(&journal->syncer, true);
  journal->place.used = false;
  if (journal->next.descriptor < 0) return;
  close(journal->next.descriptor);
  journal_files_remove(journal->path, journal->next.number);
  journal->next = (struct journal_part){.descriptor = -1};
  if (!why) return;
  journal->status.snapshots_failed++;
  if (journal->current.descriptor < 0) { /* it was the first: there is nothing to go on from */
    snprintf(journal->status.ended_by, sizeof journal->status.ended_by, "its first snapshot failed: %s", why);
    return;
  }
  journal->retry_frame = journal->world->frames + RETRY_FRAMES;
  log_write(&journal->world->def.log, MUSTER_LOG_WARNING, "journal %s: no snapshot: %s; it goes on from the one before",
            journal->path, why);
}

/* The process has ended, or closed its end of the pipe: hears what came of it. */
static void rotation_hear(muster_journal *journal, const struct verdict *verdict, ssize_t got) {
  int status = 0;
  char reason[160];
  close(journal->pipe);
  journal->pipe = -1;
  if (got == (ssize_t)sizeof *verdict && verdict->good) {
    journal->leaving = journal->process;
    journal->status.snapshot_ns = verdict->took_ns;
    rotation_learn(journal, verdict->bytes, verdict->cpu_ns);
    rotation_guess_place(journal);
    journal->place.too_small = false;
    rotation_adopt(journal);
    return;
  }
  while (waitpid(journal->process, &status, 0) < 0 && errno == EINTR) continue;
  snprintf(reason, sizeof reason, "its process ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  rotation_give_up(journal, got == (ssize_t)sizeof *verdict ? verdict->reason : reason);
}

/* The thread of the syncer has written what stands in memory, or could not. */
static void look_at_place(muster_journal *journal) {
  char why[sizeof journal->place.problem];
  memcpy(why, journal->place.problem, sizeof why);
  journal->place.used = false;
  if (why[0])
    rotation_give_up(journal, why);
  else
    rotation_adopt(journal);
}

static void rotation_look(muster_journal *journal) {
  struct verdict verdict;
  if (journal->place.used && syncer_did(&journal->syncer, false)) look_at_place(journal);
  if (journal->pipe < 0) return;
  ssize_t got = read(journal->pipe, &verdict, sizeof verdict);
  if (got >= 0 || (errno != EAGAIN && errno != EINTR)) rotation_hear(journal, &verdict, got);
}

void rotation_wait(muster_journal *journal) {
  if (journal->place.used) syncer_did(&journal->syncer, true);
  rotation_look(journal);
  while (journal->pipe >= 0) {
    struct pollfd waits = {.fd = journal->pipe, .events = POLLIN};
    poll(&waits, 1, -1);
    rotation_look(journal);
  }
}

/* Whether a snapshot can be put into memory while the thread has nothing else to do. Memory for the next one is got
 * ahead. */
static bool has_place(muster_journal *journal, uint64_t spare_ns) {
  struct journal_place *place = &journal->place;
  size_t wanted = (size_t)journal->status.snapshot_bytes / 4 * 5 + WRITE_ROOM;
  if (!spare_ns || place->too_small || !syncer_did(&journal->syncer, false)) return false;
  if (place->wanted < wanted - wanted / 8) {
    place->wanted = wanted;
    syncer_do(&journal->syncer, (syncer_job){journal_place_prepare, journal});
    return false;
  }
  return place->bytes && place->took_ns / 100 * PLACE_PERCENT <= spare_ns;
}

/* No page of the world is shared with another process: the frames behind it have no page faults, as they have behind a
 * fork. */
static muster_result place_snapshot(muster_journal *journal) {
  struct journal_place *place = &journal->place;
  uint64_t begin_ns = clock_system(), begin_cpu_ns = clock_thread_cpu();
  muster_result result = rotation_open(journal);
  if (!result) result = journal_snapshot_place(journal);
  uint64_t took_ns = clock_system() - begin_ns;
  place->measured = true;
  place->took_ns = took_ns > place->took_ns ? took_ns : place->took_ns - (place->took_ns - took_ns) / 8;
  if (result == MUSTER_E_MEMORY)
    place->too_small = true; /* until one that has a process tells how large they are now */
  if (result) {
    rotation_give_up(journal, muster_last_error());
    return result;
  }
  journal->status.snapshot_ns = took_ns;
  journal->status.pause_ns = 0;
  rotation_learn(journal, place->count, clock_thread_cpu() - begin_cpu_ns);
  place->used = true;
  syncer_do(&journal->syncer, (syncer_job){journal_place_write, journal});
  return MUSTER_OK;
}

static muster_result fork_snapshot(muster_journal *journal) {
  rotation_reap(journal, true);
  uint64_t begin_ns = clock_system();
  muster_result result = rotation_open(journal);
  if (!result && !fork_writer(journal)) {
    result = error_set(MUSTER_E_SYSTEM, "journal: no process for a snapshot: %s", strerror(errno));
    rotation_give_up(journal, muster_last_error());
  }
  journal->status.pause_ns = clock_system() - begin_ns;
  if (!world_is_virtual(journal->world)) journal->world->sums->prepaid_ns += journal->status.pause_ns;
  if (result) journal->retry_frame = journal->world->frames + RETRY_FRAMES;
  journal->status.forked += !result;
  return result;
}

bool rotation_begin_beside(muster_journal *journal) {
  uint64_t begin_ns = clock_system();
  journal->next = journal->current;
  journal->current = (struct journal_part){.descriptor = -1};
  bool forked = fork_writer(journal);
  if (!forked) {
    journal->current = journal->next;
    journal->next = (struct journal_part){.descriptor = -1};
    return false;
  }
  journal->status.pause_ns = clock_system() - begin_ns;
  if (!world_is_virtual(journal->world)) journal->world->sums->prepaid_ns += journal->status.pause_ns;
  journal->status.forked++;
  return true;
}

muster_result muster_journal_snapshot(muster_journal *journal) {
  if (!journal) return error_missing("journal", "journal");
  muster_result result = guard_between_here(journal->world, "journal");
  if (result) return result;
  if (journal->status.ended_by[0]) return error_set(MUSTER_E_STATE, "journal: it has ended");
  journal->changes++;
  journal->asked = true;
  muster_journal_turn(journal, 0);
  return MUSTER_OK;
}

/* The record has ended by itself. Its files have all that was safe. */
static void end_by_itself(muster_journal *journal) {
  const struct recorder *recorder = journal->world->recorder;
  int problem = syncer_problem(&journal->syncer);
  char *why = journal->status.ended_by;
  if (problem) snprintf(why, sizeof journal->status.ended_by, "it cannot be synced: %s", strerror(problem));
  if (!why[0]) snprintf(why, sizeof journal->status.ended_by, "%s", recorder->trouble);
  rotation_give_up(journal, NULL);
  if (recorder_records(recorder)) records_end(journal->world);
  log_write(&journal->world->def.log, MUSTER_LOG_WARNING,
            "journal %s: it has ended after frame %llu: %s; after a crash the world goes back to what is safe",
            journal->path, (unsigned long long)journal->frames, why);
}

void rotation_count_frames(muster_journal *journal) {
  const muster_world *world = journal->world;
  if (journal->ended) return;
  if (!recorder_records(world->recorder) || syncer_problem(&journal->syncer) || journal->status.ended_by[0]) {
    journal->ended = true;
    end_by_itself(journal);
    return;
  }
  if (world->frames == journal->frames) return;
  journal->frames = world->frames;
  journal->current.replay_ns += world->sums->report.wall_ns;
  if (journal->next.descriptor >= 0) journal->next.replay_ns += world->sums->report.wall_ns;
  if (journal->current.descriptor >= 0) syncer_note(&journal->syncer, journal->frames);
}

void muster_journal_turn(muster_journal *journal, uint64_t spare_ns) {
  if (!journal || journal->ended || guard_between_here(journal->world, "journal")) return;
  rotation_count_frames(journal);
  if (journal->ended) return;
  rotation_reap(journal, false);
  rotation_look(journal);
  if (journal->status.ended_by[0]) rotation_count_frames(journal); /* its first snapshot failed */
  if (journal->ended || journal->next.descriptor >= 0 || syncer_moves(&journal->syncer)) return;
  bool placed = has_place(journal, spare_ns);
  if (!journal->asked && (journal->held || !rotation_is_due(journal, placed || !spare_ns))) return;
  journal->asked = false;
  if (placed)
    place_snapshot(journal);
  else
    fork_snapshot(journal);
}
