/* What a journal takes of the system it gives back, however it ends: descriptors, threads, processes, memory and files.
 * Each case twice, in the same world. */
#include "support/journal_inside.h"
#include "support/journal_town.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

/* What this process has; `parts` are mappings of the journal's files and of memory that no child gets, `heap` is what
 * malloc() has given. */
typedef struct holdings {
  uint32_t descriptors, threads, parts;
  size_t heap;
} holdings;

enum { HEAP_CACHED = 1000, NOTE = 4000 };

static uint32_t count_entries(const char *path) {
  uint32_t count = 0;
  DIR *folder = opendir(path);
  cr_assert_not_null(folder);
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

static uint32_t count_parts(void) {
  char line[4096];
  uint32_t count = 0;
  FILE *maps = fopen("/proc/self/smaps", "re");
  cr_assert_not_null(maps);
  while (fgets(line, sizeof line, maps))
    count += strstr(line, "muster-test-journal") || (strncmp(line, "VmFlags", 7) == 0 && strstr(line, " dc"));
  fclose(maps);
  return count;
}

static holdings holdings_now(void) {
  struct mallinfo2 heap = mallinfo2();
  return (holdings){count_entries("/proc/self/fd"), count_entries("/proc/self/task"), count_parts(),
                    heap.uordblks + heap.hblkhd};
}

/* How the host answers what the snapshots ask for. */
typedef struct keeping {
  journal_place place;
  little_world little;
  pid_t frames_process;
  enum { SAVES, REFUSES, DIES, STAYS } saves; /* what a process of its own does */
  size_t bytes;                               /* that the host keeps */
  uint32_t frame;
} keeping;

enum { HOST_FEW = 4, HOST_MANY = 3000000 };

static unsigned char host_bytes[HOST_MANY];

static bool keeping_save(muster_journal_put put, void *put_user, void *user) {
  const keeping *keeps = user;
  if (getpid() != keeps->frames_process && keeps->saves == REFUSES) return false;
  if (getpid() != keeps->frames_process && keeps->saves == DIES) die();
  while (getpid() != keeps->frames_process && keeps->saves == STAYS) pause();
  for (size_t at = 0; at < keeps->bytes; at += 1000)
    if (!put(host_bytes + at, keeps->bytes - at < 1000 ? keeps->bytes - at : 1000, put_user)) return false;
  return true;
}

static muster_journal_def keeping_def(keeping *keeps) {
  keeps->saves = SAVES;
  keeps->bytes = HOST_FEW;
  return WITH(muster_journal_def, it.save_host = keeping_save, it.user = keeps, it.incidents_max = 0);
}

static muster_journal *keeping_begin(const keeping *keeps, muster_journal_def def) {
  return journal_begin_as(&keeps->little, def, keeps->place.path);
}

static void keeping_frames(keeping *keeps, uint32_t frames) {
  for (; frames > 0; frames--) town_frame(&keeps->little, keeps->frame++);
}

static void keeping_end(muster_journal *journal, bool remove) {
  cr_assert_eq(muster_journal_end(journal, remove), MUSTER_OK, "%s", muster_last_error());
}

static void keep_two_frames(keeping *keeps, bool remove) {
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  keeping_frames(keeps, 2);
  keeping_end(journal, remove);
}

static void ends(keeping *keeps) {
  keep_two_frames(keeps, false);
}

static void is_removed(keeping *keeps) {
  keep_two_frames(keeps, true);
}

static uint64_t give_no_name(muster_agent agent, void *agent_user, void *user) {
  (void)agent, (void)agent_user, (void)user;
  return 0;
}

static void is_refused(keeping *keeps) {
  muster_journal *journal = NULL;
  const muster_agent_def agent = WITH(muster_agent_def, it.type = keeps->little.type, it.user = keeps);
  muster_journal_def def = CHANGED(keeping_def(keeps), it.name_user = give_no_name, it.path = keeps->place.path);
  muster_agent named = muster_agent_spawn(keeps->little.world, &agent);
  run_frame(&keeps->little);
  for (uint32_t i = 0; i < 2; i++) {
    def.begins_beside = false;
    cr_assert_eq(muster_journal_begin(keeps->little.world, &def, &journal), MUSTER_E_ARGUMENT);
  }
  muster_agent_remove(keeps->little.world, named);
  run_frame(&keeps->little);
}

static muster_journal *keeping_begin_beside(keeping *keeps, int saves) {
  muster_journal_def def = CHANGED(keeping_def(keeps), it.begins_beside = true);
  keeps->saves = saves;
  return keeping_begin(keeps, def);
}

static void begins_beside_and_ends(keeping *keeps) {
  keeping_end(keeping_begin_beside(keeps, SAVES), false);
}

static void begins_beside_and_is_removed(keeping *keeps) {
  keeping_end(keeping_begin_beside(keeps, STAYS), true);
}

static void begins_beside_in_vain(keeping *keeps) {
  muster_journal *journal = keeping_begin_beside(keeps, REFUSES);
  AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).runs);
  cr_expect_not_null(strstr(journal_status(journal).ended_by, "failed: what the host keeps could not be written"));
  keeping_end(journal, true);
}

static uint64_t snapshots_tried(muster_journal *journal) {
  return journal_status(journal).snapshots + journal_status(journal).snapshots_failed;
}

/* Snapshots in processes of their own, of which some come to nothing. */
static void forks(keeping *keeps) {
  static const int saves[] = {SAVES, DIES, REFUSES, SAVES, STAYS};
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  for (uint32_t i = 0; i < COUNT_OF(saves); i++) {
    keeps->saves = saves[i];
    keeping_frames(keeps, 1);
    cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
    AWAIT_WITH(muster_journal_turn(journal, 0), snapshots_tried(journal) == i + (keeps->saves == STAYS ? 1u : 2u) &&
                                                    journal_status(journal).writes == (keeps->saves == STAYS));
  }
  cr_assert_eq(journal_status(journal).snapshots_failed, 2);
  keeping_end(journal, true);
}

/* One is due, whatever it costs, or is on its way. */
static void be_due(muster_journal *journal, keeping *keeps) {
  usleep(200);
  if (!journal_status(journal).writes) {
    keeping_frames(keeps, 1);
    journal->snapshot_cpu_ns = journal->retry_frame = journal->status.snapshot_ns = 0;
    journal->status.pause_ns = 1;
  }
  muster_journal_turn(journal, 1000000000u);
}

static uint64_t placed(muster_journal *journal) {
  return journal_status(journal).snapshots - 1 - journal_status(journal).forked;
}

static bool take_host(const void *bytes, size_t count, void *user) {
  const keeping *keeps = user;
  return count == keeps->bytes && memcmp(bytes, host_bytes, count) == 0;
}

static void expect_host(keeping *keeps) {
  const muster_journal_look_def look =
      WITH(muster_journal_look_def, it.path = keeps->place.path, it.take_host = take_host, it.user = keeps);
  cr_expect_eq(muster_journal_look(&look, NULL, NULL), MUSTER_OK, "%s", muster_last_error());
}

/* What the host keeps grows beyond the memory for a snapshot: a process writes one, and the next has room again. */
static void places(keeping *keeps) {
  muster_journal_def def = CHANGED(keeping_def(keeps), it.recovery_max_ns = it.start_ns = 10000000);
  muster_journal *journal = keeping_begin(keeps, def);
  AWAIT_WITH(be_due(journal, keeps), placed(journal) == 2);
  AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).writes);
  expect_host(keeps);
  const muster_journal_status before = journal_status(journal);
  cr_expect_eq(before.snapshots_failed, 0);
  keeps->bytes = HOST_MANY;
  AWAIT_WITH(be_due(journal, keeps), journal_status(journal).snapshots_failed == 1);
  AWAIT_WITH(be_due(journal, keeps), placed(journal) == 3);
  AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).writes);
  const muster_journal_status status = journal_status(journal);
  cr_expect_gt(status.forked, before.forked);
  cr_expect_eq(status.snapshots_failed, 1);
  cr_expect_eq(status.pause_ns, 0, "nothing is forked for one that is put into memory");
  cr_expect_gt(status.snapshot_bytes, HOST_MANY);
  cr_expect_gt(status.snapshot_ns, 0);
  expect_host(keeps);
  keeping_end(journal, false);
  expect_host(keeps);
}

/* A folder is in the way of the file of one that was put into memory: it has failed; the next one does not. */
static void places_in_vain(keeping *keeps) {
  char name[PLACE_BYTES];
  muster_journal_def def = CHANGED(keeping_def(keeps), it.recovery_max_ns = it.start_ns = 10000000);
  muster_journal *journal = keeping_begin(keeps, def);
  AWAIT_WITH(be_due(journal, keeps), placed(journal) == 1 && !journal_status(journal).writes);
  const muster_journal_status before = journal_status(journal);
  snprintf(name, sizeof name, "%s-%lu.snapshot.new", keeps->place.path, journal->current.number + 1);
  cr_assert_eq(mkdir(name, 0700), 0);
  AWAIT_WITH(be_due(journal, keeps), journal_status(journal).snapshots_failed == 1);
  cr_expect_eq(journal_status(journal).snapshots, before.snapshots);
  cr_expect_eq(rmdir(name), 0);
  expect_host(keeps);
  AWAIT_WITH(be_due(journal, keeps), placed(journal) == 2 && !journal_status(journal).writes);
  cr_expect_eq(journal_status(journal).snapshots_failed, 1);
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  AWAIT_WITH(be_due(journal, keeps), journal_status(journal).writes && journal->place.used);
  keeping_end(journal, false); /* while it is written */
}

/* The file of the next record takes nothing more: frames go on in the other one. */
static void cannot_go_on_in_the_next(keeping *keeps) {
  int ends[2];
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  keeping_frames(keeps, 2);
  keeps->saves = STAYS;
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
  cr_assert_geq(dup2(ends[1], journal->next.descriptor), 0);
  close(ends[0]);
  close(ends[1]);
  keeping_frames(keeps, 2);
  muster_journal_status status = journal_status(journal);
  cr_expect(status.runs && !status.writes && status.snapshots_failed == 1, "%s", status.ended_by);
  keeping_frames(keeps, 2);
  muster_journal_info info = journal_seen(keeps->place.path);
  cr_expect_eq(info.frames, keeps->little.world->frames);
  cr_expect_eq(info.lost_bytes, 0);
  keeps->saves = SAVES;
  keeping_end(journal, true);
}

/* Not even its last note goes in. */
static void ends_by_itself(keeping *keeps) {
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  static char bytes[1 << 20];
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  while (muster_journal_note(journal, bytes, sizeof bytes) == MUSTER_OK) continue;
  keeping_frames(keeps, 1);
  AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).runs);
  cr_assert_eq(muster_journal_end(journal, false), MUSTER_OK);
  cr_expect_not(journal_seen(keeps->place.path).clean, "it did not end in order");
}

static bool refuse_note(const void *bytes, uint32_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

static bool refuse_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

static bool refuse_notes(const void *bytes, size_t count, uint64_t frame, void *user) {
  (void)bytes, (void)count, (void)frame, (void)user;
  return false;
}

/* Two pairs, of which each is read; and each callback refuses. */
static void is_looked_at(keeping *keeps) {
  muster_journal_info info;
  muster_journal_look_def look = muster_journal_look_def_default();
  char name[2][PLACE_BYTES];
  look.path = keeps->place.path;
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  cr_assert_eq(muster_journal_note(journal, "a", 1), MUSTER_OK);
  keeping_frames(keeps, 3);
  snprintf(name[0], PLACE_BYTES, "%s", place_find(&keeps->place, ".snapshot").path);
  snprintf(name[1], PLACE_BYTES, "%s-8888.snapshot", keeps->place.path);
  cr_assert_eq(link(name[0], name[1]), 0); /* it says of itself that it is another */
  cr_assert_eq(journal_look(keeps->place.path, &info), MUSTER_OK);
  cr_assert_eq(unlink(name[1]), 0);
  for (uint32_t i = 0; i < 3; i++) {
    look.take_note = i == 0 ? refuse_note : NULL;
    look.take_host = i == 1 ? refuse_bytes : NULL;
    look.take_notes = i == 2 ? refuse_notes : NULL;
    cr_expect_eq(muster_journal_look(&look, &info, NULL), MUSTER_E_INPUT, "callback %u", i);
    cr_expect_not_null(strstr(muster_last_error(), keeps->place.path), "%s", muster_last_error());
  }
  keeping_end(journal, true);
}

static void recovers(keeping *keeps) {
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  keeping_frames(keeps, 3);
  for (uint32_t i = 0; i < 3; i++) {
    little_world other = i == 2 ? little_world_create(1, NULL) : town();
    const muster_journal_recover_def def =
        WITH(muster_journal_recover_def, it.path = keeps->place.path, it.snapshot_only = i == 1);
    muster_journal_info info = muster_journal_info_default();
    cr_expect_eq(muster_journal_recover(other.world, &def, &info) == MUSTER_OK, i < 2, "%s", muster_last_error());
    muster_world_destroy(other.world);
    muster_pool_destroy(other.pool);
  }
  keeping_end(journal, true);
}

static uint64_t give_all(muster_world *world, uint64_t frame, void *user) {
  uint32_t *asked = user;
  (void)world, (void)frame;
  return ++*asked < 3;
}

static void is_followed(keeping *keeps) {
  uint32_t asked = 0;
  muster_journal *journal = keeping_begin(keeps, keeping_def(keeps));
  keeping_frames(keeps, 3);
  SCOPED(little_world_destroy) little_world other = town();
  const muster_journal_recover_def def =
      WITH(muster_journal_recover_def, it.path = keeps->place.path, it.more = give_all, it.user = &asked);
  cr_expect_eq(muster_journal_recover(other.world, &def, NULL), MUSTER_OK, "%s", muster_last_error());
  keeping_end(journal, true);
}

/* A signal interrupts each wait for a process once. */
static bool interrupts;

pid_t waitpid(pid_t process, int *status, int options) {
  static bool interrupted;
  void *found = dlsym(RTLD_NEXT, "waitpid");
  pid_t (*usual)(pid_t process, int *status, int options);
  memcpy(&usual, &found, sizeof usual);
  interrupted = interrupts && !interrupted && !(options & WNOHANG);
  if (!interrupted) return usual(process, status, options);
  errno = EINTR;
  return -1;
}

/* The next folder cannot be listed, for want of memory. */
static bool lists_nothing;

DIR *fdopendir(int folder) {
  void *found = dlsym(RTLD_NEXT, "fdopendir");
  DIR *(*usual)(int folder);
  memcpy(&usual, &found, sizeof usual);
  if (!lists_nothing) return usual(folder);
  lists_nothing = false;
  errno = ENOMEM;
  return NULL;
}

static void cannot_list_its_folder(keeping *keeps) {
  muster_journal_info info;
  lists_nothing = true;
  cr_expect_eq(journal_look(keeps->place.path, &info), MUSTER_E_SYSTEM);
  cr_expect_not_null(strstr(muster_last_error(), strerror(ENOMEM)), "%s", muster_last_error());
  cr_expect_not(lists_nothing);
}

typedef struct kept_case {
  const char *name;
  void (*run)(keeping *keeps);
  bool leaves; /* a snapshot and its record, and else nothing */
} kept_case;

static const kept_case kept_cases[] = {{"ends", ends, true},
                                       {"is removed", is_removed, false},
                                       {"is refused", is_refused, false},
                                       {"begins beside and ends", begins_beside_and_ends, true},
                                       {"begins beside and is removed", begins_beside_and_is_removed, false},
                                       {"begins beside in vain", begins_beside_in_vain, false},
                                       {"forks", forks, false},
                                       {"places", places, true},
                                       {"places in vain", places_in_vain, true},
                                       {"cannot go on", cannot_go_on_in_the_next, false},
                                       {"ends by itself", ends_by_itself, true},
                                       {"is followed", is_followed, false},
                                       {"is looked at", is_looked_at, false},
                                       {"recovers", recovers, false},
                                       {"cannot list its folder", cannot_list_its_folder, false}};

static void expect_kept(const kept_case *one, keeping *keeps, holdings before) {
  holdings held = holdings_now(); /* threads have a little of the heap for the next one */
  one->run(keeps);
  cr_expect(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "%s: a process is left", one->name);
  AWAIT(count_entries("/proc/self/task") <= before.threads); /* one that was joined may be listed for a moment */
  holdings after = holdings_now();
  cr_expect_eq(after.descriptors, before.descriptors, "%s: %d descriptors are left", one->name,
               (int)(after.descriptors - before.descriptors));
  cr_expect_eq(after.threads, before.threads, "%s", one->name);
  cr_expect_lt(after.heap, held.heap + HEAP_CACHED, "%s: %zu bytes are left", one->name, after.heap - held.heap);
  cr_expect_eq(after.parts, before.parts, "%s: %d mappings are left", one->name, (int)(after.parts - before.parts));
  cr_expect_eq(place_count(&keeps->place, "", ""), one->leaves ? 2 : 0, "%s: it leaves other files", one->name);
  cr_expect_eq(place_count(&keeps->place, "", ".snapshot"), one->leaves, "%s", one->name);
  cr_expect_eq(place_count(&keeps->place, "", ".journal"), one->leaves, "%s", one->name);
  place_each(&keeps->place, "", "", place_unlink, NULL);
}

Test(journal_kept, is_nothing_of_the_system_when_it_is_over) {
  signal(SIGPIPE, SIG_IGN);
  keeping keeps = {.place = place_make(), .little = peopled_town(), .frames_process = getpid()};
  for (size_t i = 0; i < HOST_MANY; i++) host_bytes[i] = (unsigned char)(i * 2654435761u >> 13);
  run_frame(&keeps.little);
  ends(&keeps);
  place_each(&keeps.place, "", "", place_unlink, NULL);
  holdings before = holdings_now();
  interrupts = true;
  for (uint32_t i = 0; i < 2 * COUNT_OF(kept_cases); i++) expect_kept(&kept_cases[i / 2], &keeps, before);
  little_world_destroy(&keeps.little);
  place_remove(&keeps.place);
}
