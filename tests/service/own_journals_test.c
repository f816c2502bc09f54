/* The service's part in journals, beside worlds that this test runs itself: after every frame it is written down what
 * must come back with that frame, and a world that died has all of it, in each of two worlds. And what becomes of a
 * journal that the system refuses, and of losses. */
#include "room.h"
#include "service/frames.h"
#include "service/held.h"
#include "service/hosting.h"
#include "service/journals_pieces.h"
#include "service/publish.h"
#include "service/service.h"
#include "support/journals.h"

#include "base/clock.h"

#include <sys/stat.h>

enum { WORLDS = 2, FRAMES_MAX = 160, KEYS = 40, WATCHERS = 6, LIVES = 6, PATIENCE = 20000 };

static struct service service;
static little_world little[WORLDS];
static journal_place place;
static uint64_t state;

static uint32_t below(uint32_t bound) {
  return (uint32_t)(next_random(&state) >> 16) % bound;
}

/* -------------------------------------------------------------------------------------------------------- a module */

/* What the instance of a world saves: what it was told, and what it counts itself. */
typedef struct ledger {
  uint64_t sum, commands, frames, last_ns;
} ledger;

static ledger ledgers[WORLDS];

static muster_result command(void *instance, muster_world *world, const muster_module_call *call,
                             muster_module_answer answer, void *answer_user) {
  ledger *self = instance;
  (void)world;
  self->sum = 3 * self->sum + strtoul(call->body, NULL, 10) + call->bytes + call->json;
  self->commands++;
  return answer(200, false, "done", 4, answer_user) ? MUSTER_OK : MUSTER_E_FULL;
}

static bool take_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  (void)status, (void)json, (void)text, (void)bytes, (void)user;
  return true;
}

/* In which order commands and frames come is in the sum. */
static void before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  ledger *self = instance;
  (void)world;
  self->frames++;
  self->sum = 5 * self->sum + self->frames;
  self->last_ns = sim_now_ns;
}

static uint64_t skip(void *instance, uint64_t sim_now_ns) {
  (void)instance;
  return sim_now_ns / 1000000 % 7 ? 0 : 3000000;
}

static muster_result resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_type_def def = WITH(muster_type_def, it.atoms = &atom, it.atom_count = 1, it.name = "hen");
  if (!muster_type_register(world, &def).index) return MUSTER_E_FULL;
  if (count != sizeof(ledger)) return count ? muster_module_fail(MUSTER_E_INPUT, "this is no ledger") : MUSTER_OK;
  memcpy(instance, bytes, count);
  return MUSTER_OK;
}

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  (void)world;
  return write(instance, sizeof(ledger), write_user) ? MUSTER_OK : MUSTER_E_SYSTEM;
}

static void close_nothing(void *instance) {
  (void)instance;
}

static const muster_module bank = {.size = sizeof bank,
                                   .name = "bank",
                                   .summary = "",
                                   .before_frame = before_frame,
                                   .skip_ns = skip,
                                   .save = save,
                                   .resume = resume,
                                   .close = close_nothing,
                                   .command = command};

/* ---------------------------------------------------------------------------------------------------------- worlds */

/* As hosting opens one: nothing is in it. */
static hosted_world *open_world(uint32_t number, uint64_t budget_ns) {
  static const char *const names[] = {"west", "east"};
  hosted_world *world = &service.worlds[number];
  memset(world, 0, sizeof *world);
  ledgers[number] = (ledger){0};
  little[number] = little_world_create(1, NULL);
  little[number].provokes_idle = true;
  cr_assert_eq(uv_mutex_init(&world->mutex), 0);
  settings_default_world(&world->settings);
  strcpy(world->name, names[number]), strcpy(world->settings.name, names[number]);
  strcpy(world->settings.module, "bank");
  world->settings.budget_ns = world->budget_ns = budget_ns;
  world->period_ns = settings_period_ns(world->settings.rate);
  world->world = little[number].world;
  world->module = &bank;
  world->instance = &ledgers[number];
  world->parts.count = 1;
  world->parts.parts[0] = (module_part){.name = {"module", "bank"}, .module = &bank, .instance = &ledgers[number]};
  journals_find_lost(&service.settings, world);
  return world;
}

static const char *path_of(const char *name) {
  return formed("%s/%s", place.folder, name);
}

static void begin(void) {
  place = place_make();
  service.world_count = WORLDS;
  settings_default(&service.settings);
  settings_add_world(&service.settings, "west"), settings_add_world(&service.settings, "east");
  strcpy(service.settings.snapshot_file, path_of("state"));
  cr_assert_eq(uv_mutex_init(&service.snapshots.mutex), 0);
}

static void end(void) {
  place_remove(&place);
}

TestSuite(own_journals, .init = begin, .fini = end, .timeout = 120);

static void close_worlds(void) {
  for (uint32_t i = 0; i < WORLDS; i++) {
    journals_end(&service, &service.worlds[i]);
    keys_close(&service.worlds[i].keys);
    little_world_destroy(&little[i]);
  }
}

/* ------------------------------------------------------------------------------------------------------- come back */

/* What a world is behind a frame. */
typedef struct written_down {
  uint64_t budget_ns, period_ns, sim_now_ns, hash;
  uint32_t steps_left;
  bool paused;
  ledger ledger;
  struct holds holds;
  uint16_t statuses[KEYS]; /* of what was carried out; 0 = nothing was */
} written_down;

static struct {
  written_down worlds[WORLDS][FRAMES_MAX + 1];
  uint64_t safe[WORLDS], last[WORLDS], seed;
} * told;

/* For processes that die as well, which make no checks of the test's. */
static const char *key_of(uint32_t number) {
  static char key[KEY_BYTES_MAX + 1];
  snprintf(key, sizeof key, "key-%u", number);
  return key;
}

static void carry_out(hosted_world *world) {
  key_entry entry = {.status = (uint16_t)(200 + below(300)), .body_kind = KEY_BODY_JSON, .frame = world->frames + 1};
  strcpy(entry.key, key_of(below(KEYS)));
  cr_assert(keys_begin(&world->keys));
  keys_forget(&world->keys, entry.key);
  keys_finish(&world->keys, &entry);
}

static void give_command(hosted_world *world) {
  char body[16];
  snprintf(body, sizeof body, "%u", below(100000));
  const muster_module_call call = {
      .size = sizeof call, .command = "add", .body = body, .bytes = strlen(body), .json = below(2)};
  must(bank.command(world->instance, world->world, &call, take_answer, NULL) == MUSTER_OK, "no command");
  journals_note_command(world, "module", &call);
}

static void change_something(hosted_world *world, const muster_observer *watchers) {
  muster_observer watcher = watchers[below(WATCHERS)];
  const uint32_t what = below(12);
  if (what == 0) world->budget_ns = 1000000 * (1 + below(9)), world->period_ns = 10000000 * (1 + below(9));
  if (what == 1) world->paused = true, world->steps_left = 1 + below(6);
  if (what == 2) world->paused = false, world->steps_left = 0;
  if (what == 3)
    must(holds_put(&world->holds, watcher, (muster_position){below(100), below(100), 0}) == MUSTER_OK, "no hold");
  if (what == 4) holds_drop(&world->holds, watcher);
  if (what == 5 || what == 6) give_command(world);
  if (what == 7 || what == 8) carry_out(world);
}

static written_down write_down(uint32_t number) {
  const hosted_world *world = &service.worlds[number];
  written_down now = {.budget_ns = world->budget_ns,
                      .period_ns = world->period_ns,
                      .sim_now_ns = world->sim_now_ns,
                      .hash = muster_world_hash(world->world),
                      .steps_left = world->steps_left,
                      .paused = world->paused,
                      .ledger = ledgers[number],
                      .holds = world->holds};
  for (uint32_t i = 0; i < KEYS; i++) {
    const key_entry *known = keys_find(&world->keys, key_of(i));
    now.statuses[i] = known ? known->status : 0;
  }
  return now;
}

/* A life of both worlds that ends in the middle. */
static void live(void *unused) {
  muster_observer watchers[WORLDS][WATCHERS];
  (void)unused;
  state = told->seed;
  for (uint32_t i = 0; i < WORLDS; i++) {
    const hosted_world *world = open_world(i, 5000000);
    muster_observer_def def = muster_observer_def_default();
    must(resume(world->instance, world->world, NULL, 0) == MUSTER_OK, "no types");
    little[i].type = (muster_type){1};
    for (int k = 0; k < 20; k++) spawn_at(&little[i], k);
    for (uint32_t k = 0; k < WATCHERS; k++) watchers[i][k] = muster_observer_add(world->world, &def);
  }
  journals_begin(&service);
  uint32_t frames = 2 + below(WORLDS * FRAMES_MAX - 2);
  for (uint32_t i = 0; i < frames; i++) {
    uint32_t number = below(WORLDS);
    hosted_world *world = &service.worlds[number];
    must(world->journal != NULL, "it has no journal: %s", world->kept.why);
    if (world->frames == FRAMES_MAX) continue;
    for (uint32_t changes = below(4); changes > 0; changes--) change_something(world, watchers[number]);
    if (world->paused && !world->steps_left) world->paused = false;
    must(hosting_run_frame(world) == MUSTER_OK, "no frame");
    world->frames++;
    if (world->paused) world->steps_left--;
    told->worlds[number][world->frames] = write_down(number);
    told->last[number] = world->frames;
    if (!below(40)) must(journals_snapshot(world) == MUSTER_OK, "no snapshot");
    journals_turn(&service, 1000000);
    must(world->kept.noted_bytes <= world->kept.noted_room, "what was noted has no room");
    for (uint32_t k = 0; k < WORLDS; k++) {
      muster_journal_status status = muster_journal_status_default();
      muster_result result = muster_journal_status_read(service.worlds[k].journal, &status);
      must(result == MUSTER_OK && status.runs, "it runs no more");
      told->safe[k] = status.frames_safe;
    }
  }
}

/* `same`: the settings have the same pace as before: else they count, and not what was set by command. */
static void expect_back(uint32_t number, bool same) {
  hosted_world *world = open_world(number, same ? 5000000 : 6000000);
  bool back = false;
  cr_assert_eq(journals_bring_back(&service, world, NULL, NULL, &back), MUSTER_OK, "%s", muster_last_error());
  cr_assert(back, "%s does not come back", world->name);
  uint64_t frame = world->kept.recovered_frame;
  cr_assert(frame >= told->safe[number] && frame <= told->last[number] && world->kept.goes_on, "frame %lu of %lu",
            frame, told->last[number]);
  if (frame == 0) return;
  const written_down *was = &told->worlds[number][frame], is = write_down(number);
  cr_expect_eq(is.hash, was->hash, "frame %lu", frame);
  cr_expect_eq(memcmp(&is.ledger, &was->ledger, sizeof is.ledger), 0, "%lu commands", is.ledger.commands);
  cr_expect_eq(is.sim_now_ns, was->sim_now_ns);
  cr_expect_eq(is.budget_ns, same ? was->budget_ns : 6000000);
  cr_expect_eq(is.period_ns, same ? was->period_ns : settings_period_ns(world->settings.rate));
  cr_expect(is.paused == was->paused && is.steps_left == was->steps_left, "%u steps left", is.steps_left);
  cr_expect_eq(memcmp(&is.holds, &was->holds, sizeof is.holds), 0, "%u are held", is.holds.count);
  for (uint32_t i = 0; i < KEYS; i++) {
    const key_entry *known = keys_find(&world->keys, key_of(i));
    cr_expect_eq(is.statuses[i], was->statuses[i], "key %u", i);
    cr_expect(!known || !known->held);
  }
}

Test(own_journals, bring_back_all_that_a_world_was_behind_its_last_frame) {
  told = shared_memory(sizeof *told);
  for (uint32_t i = 0; i < LIVES; i++) {
    memset(told, 0, sizeof *told);
    told->seed = 88172645463325252u + 1000003 * i;
    live_until_death(live, NULL);
    for (uint32_t number = 0; number < WORLDS; number++) expect_back(number, i % 3 != 2);
    close_worlds();
    place_each(&place, "", "", place_unlink, NULL);
  }
  munmap(told, sizeof *told);
}

/* ---------------------------------------------------------------------------------------------------------- refused */

static void be_due(hosted_world *world) {
  cr_assert_gt(world->kept.again_ns, 1);
  world->kept.again_ns = 1;
}

static bool is_on(hosted_world *world) {
  journal_published published;
  journals_publish(world, &published);
  cr_expect_eq(published.broken, world->kept.broken);
  return published.on;
}

static void wait_a_turn(void) {
  usleep(1000);
  journals_turn(&service, 1000000);
}

/* Where the folder is not there yet: the pauses double up to ten seconds, and begin anew for the next refusal; what
 * was promised before is no matter of the new journal. */
static void expect_refused(hosted_world *world, const char *folder) {
  uint64_t pause_ns = 500000000, before_ns = clock_system();
  journals_begin(&service);
  cr_assert(!world->journal && *world->kept.why && world->kept.broken && !is_on(world), "%s", world->kept.why);
  for (int tries = 0; tries < 7; tries++, pause_ns = pause_ns < 5000000000 ? 2 * pause_ns : 10000000000) {
    const uint64_t again_ns = world->kept.again_ns; /* a pause, less a quarter by chance */
    cr_expect_geq(again_ns, before_ns + pause_ns * 3 / 4, "%lu ns of %lu", again_ns - before_ns, pause_ns);
    cr_expect_leq(again_ns, clock_system() + pause_ns, "%lu ns of %lu", again_ns - before_ns, pause_ns);
    cr_expect_eq(world->kept.again_after_ns, pause_ns);
    cr_expect_geq(journals_next_turn_ns(&service, UINT64_MAX), again_ns);
    cr_expect_leq(journals_next_turn_ns(&service, UINT64_MAX), again_ns);
    world->kept.again_ns = UINT64_MAX;
    journals_turn(&service, 0);
    cr_expect(world->kept.again_ns == UINT64_MAX && world->kept.again_after_ns == pause_ns, "it is not time yet");
    be_due(world);
    before_ns = clock_system();
    journals_turn(&service, 0);
  }
  world->kept.changes = 7; /* of a journal before */
  cr_assert_eq(mkdir(folder, 0700), 0);
  be_due(world);
  journals_turn(&service, 0);
  cr_assert(world->journal && world->kept.anew && world->kept.broken && !is_on(world), "%s", world->kept.why);
  held_until until = held_begin(world);
  cr_expect(held_is_over(world, &until), "nothing is waited for meanwhile");
  for (int i = 0; i < PATIENCE && world->kept.anew; i++) wait_a_turn();
  cr_assert(!world->kept.anew && is_on(world) && !world->kept.broken, "its first snapshot does not come");
  cr_expect_str_empty(world->kept.why);
  cr_expect(!world->kept.again_ns && !world->kept.again_after_ns);
  world->paused = true;
  until = held_begin(world);
  bool over = false;
  for (int i = 0; i < PATIENCE && !(over = held_is_over(world, &until)); i++) wait_a_turn();
  cr_expect(over, "a change of a paused world is never safe");
}

/* Of two worlds the one that is said is refused: the other has its journal. */
static void refuse_one(uint32_t number) {
  const char *folder = path_of(number ? "later1" : "later0");
  for (uint32_t i = 0; i < WORLDS; i++) {
    const hosted_world *world = open_world(i, 5000000);
    cr_assert_eq(resume(world->instance, world->world, NULL, 0), MUSTER_OK);
    little[i].type = (muster_type){1};
    spawn_at(&little[i], 1);
  }
  strcpy(service.settings.journal_folder, folder);
  hosted_world *world = &service.worlds[number], *rests = &service.worlds[1 - number];
  strcpy(rests->kept.why, "none is wanted"); /* so that it has none, and begins none */
  journals_find_lost(&service.settings, world);
  expect_refused(world, folder);
  cr_expect(!rests->journal && !rests->kept.broken && !rests->kept.again_ns);
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_eq(hosting_run_frame(world), MUSTER_OK, "%s", muster_last_error());
    world->frames++;
    journals_turn(&service, 1000000);
  }
  close_worlds();
  cr_expect_eq(system(formed("rm -r %s", folder)), 0);
}

Test(own_journals, begin_again_when_the_system_lets_them_whichever_world_it_is) {
  for (uint32_t number = 0; number < WORLDS; number++) refuse_one(number);
}

/* ----------------------------------------------------------------------------------------------------------- losses */

static void expect_lost(const hosted_world *world, uint64_t losses, uint64_t frames, const char *words) {
  static hosted_world later;
  const journal_lost *lost = &world->kept.lost, *known = &later.kept.lost;
  memset(&later, 0, sizeof later);
  strcpy(later.name, world->name);
  journals_find_lost(&service.settings, &later);
  cr_expect(lost->losses == losses && lost->frames == frames && strcmp(lost->words, words) == 0, "%lu, %lu, %s",
            lost->losses, lost->frames, lost->words);
  cr_expect(known->losses == losses && known->frames == frames && known->at_s == lost->at_s, "%lu", known->losses);
  cr_expect_str_eq(known->words, words);
  if (losses) cr_expect(lost->at_s <= clock_real() / 1000000000u && lost->at_s + 60 > clock_real() / 1000000000u);
}

Test(own_journals, lose_what_is_summed_until_it_is_known_in_each_world) {
  hosted_world *west = open_world(0, 5000000), *east = open_world(1, 5000000);
  expect_lost(west, 0, 0, "");
  cr_expect_eq(journals_acknowledge(west), MUSTER_OK, "there is nothing");
  journals_lose(west, 7, "frames %d to %d", 1, 7);
  expect_lost(west, 1, 7, "frames 1 to 7");
  expect_lost(east, 0, 0, "");
  journals_lose(west, 7, "frames 1 to 7");
  expect_lost(west, 1, 7, "frames 1 to 7");
  journals_lose(east, 0, "all of\nit");
  expect_lost(east, 1, 0, "all of it");
  journals_lose(west, 5, "five more");
  journals_lose(west, 0, "who knows");
  expect_lost(west, 3, 12, "who knows");
  cr_expect_eq(journals_acknowledge(west), MUSTER_OK, "%s", muster_last_error());
  expect_lost(west, 0, 0, "");
  expect_lost(east, 1, 0, "all of it");
  journals_lose(west, 5, "five more");
  expect_lost(west, 1, 5, "five more");
  close_worlds();
}

/* ------------------------------------------------------------------------------------------------------------ files */

static void make_file(const char *name) {
  file_write(path_of(name), name, strlen(name));
}

/* A start that is cut short is no death of any world's frames; the journals stay. */
Test(own_journals, of_every_world_may_be_tried_again_behind_a_start_that_was_cut_short) {
  static const char *const marks[] = {"state.west-7.replaying", "state.west-12.replaying", "state.east-3.replaying"},
                           *const others[] = {"state.west-7.snapshot", "state.east-3.journal",
                                              "state.weste-3.replaying", "state.west-.replaying",
                                              "state.west-7.replaying-1"};
  for (size_t i = 0; i < COUNT_OF(marks); i++) make_file(marks[i]);
  for (size_t i = 0; i < COUNT_OF(others); i++) make_file(others[i]);
  journals_cut_short(&service.settings);
  for (size_t i = 0; i < COUNT_OF(marks); i++) cr_expect(access(path_of(marks[i]), F_OK), "%s", marks[i]);
  for (size_t i = 0; i < COUNT_OF(others); i++) cr_expect(!access(path_of(others[i]), F_OK), "%s", others[i]);
}

/* In whatever order a folder is read: the newest has the greatest number, and those of other worlds do not count. */
Test(own_journals, count_incidents_by_their_numbers) {
  char path[PLACE_BYTES];
  uint64_t newest = 1;
  snprintf(path, sizeof path, "%s/state.west", place.folder);
  cr_expect(journals_count_incidents(path, &newest) == 0 && newest == 0);
  uint64_t most = 0;
  for (uint32_t i = 1; i <= 40; i++) {
    uint64_t number = 1 + (i * 7919u) % 4001; /* all different */
    make_file(formed("state.west-incident-%lu.journal", number));
    make_file(formed("state.west-incident-%lu.snapshot", number + 5000));
    make_file(formed("state.west2-incident-%lu.journal", number + 6000));
    if (number > most) most = number;
    cr_expect_eq(journals_count_incidents(path, &newest), i);
    cr_expect_eq(newest, most);
  }
  cr_expect(!journals_put_aside(path, "other"), "incidents are nobody's journal in force");
  cr_expect_eq(journals_count_incidents(path, &newest), 40);
  cr_assert_eq(chdir(place.folder), 0);
  cr_expect(journals_count_incidents("state.west", &newest) == 40 && newest == most, "in the folder that it runs in");
}
