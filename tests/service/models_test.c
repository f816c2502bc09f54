/* Tables of the service against plain models of them, over some thousand random operations: what one that was written
 * down in a few lines would hold, the table holds after each step. */
#include "json_rows.h"
#include "service/flight_file.h"
#include "service/frame_mailbox.h"
#include "service/health.h"
#include "service/history.h"
#include "service/holds.h"
#include "service/keys.h"
#include "service/ranking.h"
#include "service/timings.h"
#include "support/little_world.h"

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t bound) {
  return (uint32_t)(next_random(&state) >> 16) % bound;
}

/* -------------------------------------------------------------------------------------------------------- the keys */

enum { IDS = 6000, KEY_STEPS = 30000, KEPT_BYTES = 40 };

typedef struct known_key {
  bool there, held;
  uint64_t at, frame; /* at: its number among all that were kept */
  uint32_t status, bytes, kind;
} known_key;

static struct {
  known_key keys[IDS];
  uint32_t ids[KEY_STEPS]; /* of those that were kept, by their numbers */
  uint64_t count, noted;
} known;

static const char *key_of(uint32_t id) {
  static char key[KEY_BYTES_MAX + 1];
  snprintf(key, sizeof key, "%u-of-many", id);
  return key;
}

static char letter_of(uint32_t id) {
  return (char)('a' + id % 26);
}

static void expect_key(const struct keys *keys, uint32_t id, bool handed_out) {
  const char *name = key_of(id);
  const known_key *wanted = &known.keys[id];
  const key_entry *found = keys_find(keys, name);
  cr_assert_eq(found != NULL, wanted->there, "%s", name);
  if (!found) return;
  cr_assert(found->status == wanted->status && found->frame == wanted->frame && found->bytes == wanted->bytes, "%s",
            name);
  cr_assert(found->body_kind == wanted->kind && found->held == (wanted->held && !handed_out), "%s", name);
  for (uint32_t i = 0; i < found->bytes; i++) cr_assert_eq(((const char *)found->body)[i], letter_of(id), "%s", name);
  for (uint32_t i = 0; i < KEYS_DIGEST_BYTES; i++) cr_assert_eq(found->digest[i], id % 251, "%s", name);
}

static void keep_key(struct keys *keys, uint32_t id) {
  char body[KEPT_BYTES];
  known_key *one = &known.keys[id];
  memset(body, letter_of(id), sizeof body);
  key_entry entry = {.status = (uint16_t)(200 + below(400)),
                     .body_kind = (uint8_t)(1 + below(KEY_BODIES - 1)),
                     .held = below(2),
                     .frame = below(1000),
                     .body = body,
                     .bytes = below(KEPT_BYTES + 1)};
  strcpy(entry.key, key_of(id));
  memset(entry.digest, (int)(id % 251), sizeof entry.digest);
  cr_assert(keys_begin(keys));
  keys_finish(keys, &entry);
  if (!one->there) {
    known.ids[one->at = known.count++] = id;
    known_key *oldest = known.count > KEYS_MAX ? &known.keys[known.ids[known.count - 1 - KEYS_MAX]] : NULL;
    if (oldest && oldest != one && oldest->at == known.count - 1 - KEYS_MAX) oldest->there = false;
  }
  *one = (known_key){true, entry.held, one->at, entry.frame, entry.status, entry.bytes, entry.body_kind};
}

/* What is noted next is the oldest that is there and was not noted. */
static void note_key(struct keys *keys) {
  static unsigned char record[KEYS_RECORD_MAX];
  struct keys back = {0};
  size_t room = KEYS_NOTED_MAX;
  if (known.count > KEYS_MAX && known.noted < known.count - KEYS_MAX) known.noted = known.count - KEYS_MAX;
  for (; known.noted < known.count; known.noted++) {
    const known_key *one = &known.keys[known.ids[known.noted]];
    if (one->there && one->at == known.noted) break;
  }
  size_t bytes = keys_note(keys, &room, record);
  cr_assert_eq(bytes > 0, known.noted < known.count);
  if (!bytes) return;
  cr_assert(keys_take(&back, record, bytes), "%s", muster_last_error());
  cr_assert_eq(back.count, 1);
  expect_key(&back, known.ids[known.noted], true);
  cr_assert_eq(room, KEYS_NOTED_MAX - known.keys[known.ids[known.noted++]].bytes, "what is left for others");
  keys_close(&back);
}

static bool put_saved(const void *bytes, size_t count, void *user) {
  unsigned char **end = user;
  *end = mempcpy(*end, bytes, count);
  return true;
}

Test(models, of_the_keys_of_requests_is_what_the_table_holds) {
  struct keys keys = {0}, back = {0};
  for (uint32_t step = 0; step < KEY_STEPS; step++) {
    uint32_t id = below(IDS), what = below(20);
    if (what < 14) keep_key(&keys, id);
    if (what >= 14 && what < 16) keys_forget(&keys, key_of(id)), known.keys[id].there = false;
    if (what >= 16 && what < 18) keys_hand_out(&keys, key_of(id)), known.keys[id].held = false;
    if (what >= 18) note_key(&keys);
    expect_key(&keys, id, false);
    expect_key(&keys, below(IDS), false);
  }
  const size_t bytes = keys_saved_bytes(&keys);
  SCOPED(free_memory) unsigned char *saved = malloc(bytes);
  unsigned char *end = saved;
  cr_assert(keys_save(&keys, put_saved, &end) && end == saved + bytes);
  cr_assert(keys_take(&back, saved, bytes), "%s", muster_last_error());
  for (uint32_t id = 0; id < IDS; id++) expect_key(&keys, id, false), expect_key(&back, id, true);
  keys_close(&keys), keys_close(&back);
}

/* ------------------------------------------------------------------------------------------------------ the mailbox */

enum { ERRANDS = 3000, LEVELS = 12 };

typedef struct level_errand {
  mailbox_request request; /* first: it is the errand */
  uint32_t number, level;  /* it may go from a level on; 0 = it need not wait */
} level_errand;

static struct {
  level_errand errands[ERRANDS];
  uint32_t ran[ERRANDS], done[ERRANDS], held[ERRANDS]; /* numbers, in order: as they were, and as they should be */
  uint32_t wanted_ran[ERRANDS], wanted_done[ERRANDS];
  uint32_t ran_count, done_count, held_count, wanted_ran_count, wanted_done_count, waiting_from, level;
} box;

static void run_errand(mailbox_request *request, struct service *service) {
  (void)service;
  box.ran[box.ran_count++] = ((level_errand *)request)->number;
}

static void end_errand(mailbox_request *request) {
  box.done[box.done_count++] = ((level_errand *)request)->number;
}

static bool errand_may_go(mailbox_request *request) {
  return ((level_errand *)request)->level <= box.level;
}

static void end_or_hold(uint32_t number) {
  if (box.errands[number].level <= box.level)
    box.wanted_done[box.wanted_done_count++] = number;
  else
    box.held[box.held_count++] = number;
}

static void serve_box(struct frame_mailbox *mailbox, uv_loop_t *loop, uint32_t posted, bool woken) {
  const uint32_t held = box.held_count;
  box.held_count = 0;
  for (uint32_t i = 0; i < held; i++) end_or_hold(box.held[i]);
  for (; !woken && box.waiting_from < posted; box.waiting_from++) {
    box.wanted_ran[box.wanted_ran_count++] = box.waiting_from;
    end_or_hold(box.waiting_from);
  }
  if (woken) frame_mailbox_wake(mailbox);
  frame_mailbox_serve(mailbox, NULL, 0, UINT64_MAX / 2);
  uv_run(loop, UV_RUN_NOWAIT);
}

Test(models, of_the_mailbox_is_what_it_does) {
  struct frame_mailbox mailbox;
  uv_loop_t loop;
  uint32_t posted = 0, refused = 0;
  cr_assert(uv_loop_init(&loop) == 0 && frame_mailbox_open(&mailbox, &loop) == MUSTER_OK);
  while (posted < ERRANDS) {
    for (uint32_t left = below(40); left > 0 && posted < ERRANDS; left--) {
      bool full = posted - box.waiting_from + box.held_count >= MAILBOX_WAITING_MAX;
      level_errand *one = &box.errands[posted];
      *one =
          (level_errand){.request = {.run = run_errand, .done = end_errand, .may_go = below(3) ? errand_may_go : NULL},
                         .number = posted};
      if (one->request.may_go) one->level = below(2) ? LEVELS : below(LEVELS);
      cr_assert_eq(frame_mailbox_post(&mailbox, &one->request), full ? MUSTER_E_FULL : MUSTER_OK);
      posted += !full, refused += full;
    }
    if (!below(3)) box.level = below(60) ? below(LEVELS) : LEVELS;
    serve_box(&mailbox, &loop, posted, !below(4));
    mailbox_counts counts = frame_mailbox_read_counts(&mailbox);
    cr_assert(counts.posted == posted && counts.refused == refused && counts.run == box.wanted_ran_count);
    cr_assert(counts.waiting == posted - box.waiting_from && counts.held == box.held_count, "%u and %u held",
              counts.held, box.held_count);
    cr_assert_eq(frame_mailbox_holds(&mailbox), box.held_count > 0);
    cr_assert(box.ran_count == box.wanted_ran_count && box.done_count == box.wanted_done_count);
  }
  cr_assert_eq(memcmp(box.ran, box.wanted_ran, sizeof box.ran), 0);
  cr_assert_eq(memcmp(box.done, box.wanted_done, sizeof box.done), 0);
  cr_expect(refused > 0 && box.done_count < posted);
  frame_mailbox_close(&mailbox);
  cr_expect_eq(box.done_count, posted, "what was held or waited is done at the end");
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(uv_loop_close(&loop), 0);
}

/* ------------------------------------------------------------------------------------------------------ the history */

enum { HISTORY_FRAMES = 6000, SECOND = 1000000000 };

static history_second seconds[HISTORY_SECONDS], wanted[HISTORY_FRAMES];
static struct history past;

/* A world's sums go on, or are cleared now and then. */
static void go_on(muster_statistics *sums) {
  if (!below(50)) *sums = muster_statistics_default();
  sums->estimates_mended += below(3);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    sums->bands[band].completed += below(30);
    sums->bands[band].agent_time_ns += below(1000000);
  }
}

static void fill_report(muster_frame_report *report) {
  report->frame += 1;
  report->wall_ns = below(1000000), report->budget_ns = below(1000), report->carried = below(1000);
  report->agents = below(1000), report->agents_beyond_wish = below(1000), report->agents_quarantined = below(1000);
  report->utilisation_nominal = (float)below(1000), report->utilisation_desired = (float)below(1000);
  report->pressure = (float)below(1000), report->important_load = (float)below(1000);
  report->overrun_wall_ns = below(1000), report->update_cpu_ns = below(1000), report->released = below(1000);
  report->completed = below(1000), report->preempted = below(1000);
  report->overrun_own_ns = below(2) ? 0 : 50000000, report->longest_atom_ns = 0;
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) report->idle_ns[i] = below(3) ? 0 : below(100);
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) report->levels[i] = below(100);
}

/* What a second has, from its frames one after the other. */
static void add_wanted(history_second *second, const muster_frame_report *report, bool late, bool audited) {
  second->frames++, second->late += late, second->judged += audited;
  second->broken += audited && report->overrun_own_ns > 0;
  if (report->overrun_wall_ns > second->overrun_max_ns) second->overrun_max_ns = report->overrun_wall_ns;
  second->updates_cpu_ns += report->update_cpu_ns, second->released += report->released;
  second->completed += report->completed, second->preempted += report->preempted;
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) second->idle_ns[i] += report->idle_ns[i];
  second->idle_faults += report->idle_ns[MUSTER_IDLE_FAULT] > 0;
  second->frame = report->frame, second->budget_ns = report->budget_ns, second->carried = report->carried;
  second->agents = report->agents, second->beyond_wish = report->agents_beyond_wish;
  second->quarantined = report->agents_quarantined;
  second->wants = report->utilisation_nominal, second->has = report->utilisation_desired;
  second->pressure = report->pressure, second->important_load = report->important_load;
  memcpy(second->levels, report->levels, sizeof second->levels);
}

/* What the sums have grown by since the second before; all that they have, where they went back. */
static void close_wanted(history_second *second, const struct histogram *walls, const muster_statistics *sums,
                         const muster_statistics *before) {
  const bool cleared = sums->estimates_mended < before->estimates_mended;
  second->wall_p50_ns = histogram_quantile(walls, 0.5), second->wall_p99_ns = histogram_quantile(walls, 0.99);
  second->wall_max_ns = walls->maximum;
  second->mended = (uint32_t)(sums->estimates_mended - (cleared ? 0 : before->estimates_mended));
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    const muster_band *is = &sums->bands[i], *was = &before->bands[i];
    bool back = is->completed < was->completed || is->agent_time_ns < was->agent_time_ns;
    second->band_completed[i] = (uint32_t)(is->completed - (back ? 0 : was->completed));
    second->band_agent_s[i] = (float)((is->agent_time_ns - (back ? 0 : was->agent_time_ns)) / 1e9);
  }
}

static void expect_history(uint32_t closed, uint64_t after, uint64_t now_ns) {
  uint32_t from = closed;
  while (from > 0 && closed - from < HISTORY_SECONDS && wanted[from - 1].second > after &&
         wanted[from - 1].second + HISTORY_SECONDS >= now_ns / SECOND)
    from--;
  cr_assert_eq(history_read(&past, after, now_ns, seconds), closed - from);
  cr_assert_eq(memcmp(seconds, &wanted[from], (closed - from) * sizeof *seconds), 0, "of %u seconds", closed - from);
}

Test(models, of_the_history_is_what_it_tells) {
  static struct histogram walls;
  muster_frame_report report = muster_frame_report_default();
  muster_statistics sums = muster_statistics_default(), before = sums;
  uint64_t now_ns = 700ull * SECOND;
  uint32_t closed = 0;
  for (uint32_t i = 0; i < HISTORY_FRAMES; i++) {
    now_ns += below(40) ? below(400000000) : below(4) * 5000000000ull;
    bool late = !below(5), audited = below(2), over = wanted[closed].second && wanted[closed].second < now_ns / SECOND;
    if (over) {
      close_wanted(&wanted[closed++], &walls, &sums, &before);
      walls = (struct histogram){0}, before = sums;
    }
    bool looks = over && below(2); /* somebody does before its next frame */
    if (looks) history_close_second(&past, now_ns);
    if (over) expect_history(looks ? closed : closed - 1, below(8) ? 0 : wanted[below(closed)].second, now_ns);
    fill_report(&report);
    go_on(&sums);
    history_add(&past, &(history_frame){now_ns, late, audited, &report, &sums});
    wanted[closed].second = now_ns / SECOND;
    histogram_add(&walls, report.wall_ns);
    add_wanted(&wanted[closed], &report, late, audited);
    expect_history(closed, below(4) || !closed ? 0 : wanted[below(closed)].second, now_ns);
  }
  cr_expect_gt(closed, HISTORY_SECONDS);
}

/* ------------------------------------------------------------------------------------------------- crashes, poisons */

enum { REPORTS = 4000, WORLDS = 3, TYPES = 60, KEYS = 20 };

static void name_type(uint32_t world, uint32_t type, flight_inside *inside) {
  *inside = (flight_inside){0};
  snprintf(inside->world, sizeof inside->world, "world%u", world);
  snprintf(inside->entry.type_name, sizeof inside->entry.type_name, "type%u", type);
}

Test(models, of_crashes_are_what_is_counted) {
  static flight_report report;
  static flight_counts counts;
  uint64_t crashes[WORLDS][TYPES] = {{0}}, all = 0;
  for (uint32_t i = 0; i < REPORTS; i++) {
    bool guilty[WORLDS][TYPES] = {{false}}, fits = true;
    report.culprit_count = below(5), report.inside_count = report.culprit_count + below(3);
    for (uint32_t k = 0; k < report.inside_count; k++) {
      uint32_t world = below(WORLDS), type = below(3) ? below(4) : below(TYPES);
      name_type(world, type, &report.inside[k]);
      if (k >= report.culprit_count || guilty[world][type]) continue;
      guilty[world][type] = true;
      if (!crashes[world][type] && all == FLIGHT_COUNTS_MAX)
        fits = false;
      else
        all += !crashes[world][type]++;
    }
    cr_assert_eq(flight_counts_add(&counts, &report), fits);
    flight_inside named;
    uint32_t world = below(WORLDS), type = below(TYPES);
    name_type(world, type, &named);
    if (!below(4)) {
      cr_assert_eq(flight_counts_forget(&counts, named.world, named.entry.type_name), crashes[world][type]);
      all -= crashes[world][type] > 0;
      crashes[world][type] = 0;
    }
    cr_assert_eq(counts.count, all);
    const flight_count *found = flight_counts_find(&counts, named.world, named.entry.type_name);
    cr_assert_eq(found ? found->crashes : 0, crashes[world][type], "%s of %s", named.entry.type_name, named.world);
  }
  cr_expect_gt(all, FLIGHT_COUNTS_MAX / 2);
}

/* The oldest stand first, and go first. */
Test(models, of_requests_that_end_processes_are_what_is_kept) {
  static flight_report report;
  static flight_poisons poisons, model;
  for (uint32_t i = 0; i < REPORTS; i++) {
    flight_request *request = &report.request;
    uint32_t at = 0;
    *request = (flight_request){.hit = !below(3)};
    snprintf(request->world, sizeof request->world, "world%u", below(WORLDS));
    if (below(10)) snprintf(request->key, sizeof request->key, "key%u", below(KEYS));
    request->digest[KEYS_DIGEST_BYTES - 1] = (unsigned char)below(2);
    report.clean = !below(10), report.signal = below(32), report.process = i + 1;
    while (at < model.count &&
           (strcmp(model.poisons[at].world, request->world) != 0 || strcmp(model.poisons[at].key, request->key) != 0))
      at++;
    if (below(4) && *request->key) {
      const flight_poison *added = flight_poisons_add(&poisons, &report);
      cr_assert_eq(added == NULL, report.clean);
      if (report.clean) continue;
      flight_poison one = at < model.count ? model.poisons[at] : (flight_poison){0};
      bool same = memcmp(one.digest, request->digest, sizeof one.digest) == 0;
      one = (flight_poison){.deaths = (same ? one.deaths : 0) + (request->hit ? FLIGHT_DEATHS : 1),
                            .signal = report.signal,
                            .process = report.process};
      memcpy(one.world, request->world, sizeof one.world), memcpy(one.key, request->key, sizeof one.key);
      memcpy(one.digest, request->digest, sizeof one.digest);
      if (at == FLIGHT_POISONS_MAX) memmove(model.poisons, model.poisons + 1, --at * sizeof one), model.count--;
      model.poisons[at] = one;
      model.count += at == model.count;
      cr_assert_eq(memcmp(added, &one, sizeof one), 0);
    } else {
      cr_assert_eq(flight_poisons_forget(&poisons, request->world, request->key), at < model.count);
      if (at == model.count) continue;
      memmove(&model.poisons[at], &model.poisons[at + 1], (--model.count - at) * sizeof *model.poisons);
      model.poisons[model.count] = (flight_poison){0};
    }
    cr_assert_eq(memcmp(&poisons, &model, sizeof model), 0, "step %u", i);
  }
}

/* ------------------------------------------------------------------------------------------------- held observers */

enum { OBSERVERS = 90, HOLD_STEPS = 400 };

typedef struct one_observer {
  muster_observer id;
  bool held;
  double x; /* where it is held */
} one_observer;

static muster_observer observe(const little_world *little) {
  muster_observer_def def = muster_observer_def_default();
  muster_observer observer = muster_observer_add(little->world, &def);
  cr_assert_not(muster_observer_is_null(observer), "%s", muster_last_error());
  return observer;
}

/* One that is removed makes place for one of the same index, which is another one. */
Test(models, of_held_observers_are_where_they_stand) {
  static one_observer all[OBSERVERS];
  struct holds holds = {0};
  uint32_t held = 0, full = 0;
  /* so that an index which is free is taken again at once */
  muster_world_def world = WITH(muster_world_def, it.limits.observers_max = OBSERVERS);
  SCOPED(little_world_destroy) little_world little = little_world_create(1, &world);
  for (uint32_t i = 0; i < OBSERVERS; i++) all[i].id = observe(&little);
  for (uint32_t step = 0; step < HOLD_STEPS; step++) {
    if (!below(3)) { /* one that may be held goes, and another has its index */
      one_observer *one = &all[below(OBSERVERS)];
      cr_assert_eq(muster_observer_remove(little.world, one->id), MUSTER_OK);
      run_frame(&little);
      held -= one->held, one->held = false;
      one->id = observe(&little);
      cr_assert_not(holds_has(&holds, one->id), "another one was held");
      holds_apply(&holds, little.world); /* forgets the one that is gone */
      cr_assert_eq(holds.count, held);
    }
    for (uint32_t turn = below(8); turn > 0; turn--) {
      one_observer *one = &all[below(OBSERVERS)];
      bool room = one->held || held < HOLDS_MAX;
      double x = 1 + below(1000);
      if (below(5) == 0) {
        cr_assert_eq(holds_drop(&holds, one->id), one->held);
        held -= one->held, one->held = false;
        continue;
      }
      cr_assert_eq(holds_check(&holds, one->id), room ? MUSTER_OK : MUSTER_E_FULL);
      cr_assert_eq(holds_put(&holds, one->id, (muster_position){x, 2, 3}), room ? MUSTER_OK : MUSTER_E_FULL);
      full += !room;
      if (room) held += !one->held, one->held = true, one->x = x;
    }
    for (uint32_t i = 0; i < OBSERVERS; i++)
      cr_assert_eq(muster_observer_move(little.world, all[i].id, (muster_position){-1, 0, 0}), MUSTER_OK);
    holds_apply(&holds, little.world);
    run_frame(&little);
    cr_assert_eq(holds.count, held, "step %u", step);
    for (uint32_t i = 0; i < OBSERVERS; i++) {
      muster_observer_def def = muster_observer_def_default();
      cr_assert_eq(muster_observer_read(little.world, all[i].id, &def), MUSTER_OK);
      cr_assert_eq(holds_has(&holds, all[i].id), all[i].held);
      cr_assert(def.position.x == (all[i].held ? all[i].x : -1) && def.position.y == (all[i].held ? 2 : 0));
    }
  }
  cr_expect_gt(full, 0);
}

/* ------------------------------------------------------------------------------------------------ ranking, timings */

/* The greatest of all, the earlier of equals first: found one by one. */
Test(models, of_rankings_are_their_order) {
  enum { OFFERS = 300, ROUNDS = 60 };
  for (uint32_t round = 0; round < ROUNDS; round++) {
    static struct ranking ranking;
    double values[OFFERS];
    uint32_t limit = 1 + below(RANKING_MOST), count = 0;
    memset(&ranking, 0, sizeof ranking);
    for (uint32_t i = 0; i < OFFERS; i++) {
      values[i] = (double)below(40) - 5;
      ranking_offer(&ranking, limit, values[i], muster_agent_make(i, 1));
    }
    for (; count < limit; count++) {
      uint32_t best = 0;
      for (uint32_t i = 1; i < OFFERS; i++)
        if (values[i] > values[best]) best = i;
      if (!(values[best] > 0)) break;
      cr_assert(count < ranking.count && ranking.values[count] == values[best]);
      cr_assert_eq(muster_agent_index(ranking.agents[count]), best, "place %u", count);
      values[best] = -1;
    }
    cr_assert_eq(ranking.count, count);
  }
}

static void count_time(struct timing *timing, uint64_t value_ns) {
  uint32_t bucket = 0;
  while (timing_bound_ns(bucket) < value_ns) bucket++;
  timing->counts[bucket]++;
  timing->sum_ns += value_ns;
}

/* A value that is a bound belongs to the bucket that ends there, as Prometheus has it. */
static uint64_t some_time(void) {
  uint64_t bound_ns = timing_bound_ns(below(TIMING_BUCKETS - 1));
  return bound_ns + below(3) - 1;
}

Test(models, of_timings_are_their_counts) {
  static world_timings timings, model;
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < 5000; i++) {
    report.wall_ns = some_time(), report.overrun_wall_ns = some_time(), report.overrun_own_ns = some_time();
    report.used_cpu_ns = below(2), report.update_cpu_ns = below(1000), report.overhead_ns = below(1000);
    count_time(&model.frame, report.wall_ns);
    count_time(&model.overrun_wall, report.overrun_wall_ns);
    if (report.used_cpu_ns) count_time(&model.overrun_own, report.overrun_own_ns);
    for (uint32_t k = 0; k < MUSTER_STAGES; k++) count_time(&model.stages[k], report.stage_ns[k] = some_time());
    model.update_cpu_ns += report.update_cpu_ns, model.overhead_ns += report.overhead_ns;
    timings_add(&timings, &report);
  }
  cr_assert_eq(memcmp(&timings, &model, sizeof model), 0);
}

/* ------------------------------------------------------------------------------------------------------- readiness */

enum { HEALTHS = 1500, NOW_S = 5000 };

static const char *text_at(const json_t *object, const char *name) {
  return json_string_value(json_object_get(object, name));
}

/* What a world's reasons are, in their order, as "CODE:WORLD "; the message has the words. */
static size_t expect_reasons(const json_t *reasons, size_t at, const health_world *world, service_stage stage,
                             bool *ready) {
  const uint64_t now_ns = NOW_S * (uint64_t)SECOND, silent_ns = now_ns - world->frame_end_ns;
  const uint64_t most_ns = 10 * world->period_ns > SECOND ? 10 * world->period_ns : SECOND;
  const bool runs = stage == SERVICE_RUNNING, awaited = runs && !world->failed && !world->paused;
  const struct {
    bool holds;
    const char *code, *words;
  } rules[] = {{stage == SERVICE_STARTING && world->recovery.all, "recovering", "7 of 70 frames"},
               {runs && world->failed, "failed", world->failure},
               {awaited && !world->frame_end_ns, "no_frame", "no frame"},
               {awaited && world->frame_end_ns && silent_ns > most_ns, "late", "the last frame ended"},
               {runs && world->lost, "lost", world->lost},
               {runs && world->degraded, "degraded", world->degraded},
               {runs && world->errors, "errors", world->errors},
               {runs && (world->idle || world->mended), "idle", "left budget"}};
  for (size_t i = 0; i < COUNT_OF(rules); i++) {
    if (!rules[i].holds) continue;
    const json_t *reason = json_array_get(reasons, at++);
    const char *code = text_at(reason, "code"), *words = text_at(reason, "message"), *name = text_at(reason, "world");
    cr_assert(code && strcmp(code, rules[i].code) == 0, "%s instead of %s", code ? code : "nothing", rules[i].code);
    cr_assert(name && strcmp(name, world->name) == 0 && words && strstr(words, rules[i].words), "%s: %s", name, words);
    if (i >= 1 && i <= 3) *ready = false;
  }
  return at;
}

Test(models, of_readiness_are_its_reasons) {
  static char text[HEALTH_BYTES];
  for (uint32_t i = 0; i < HEALTHS; i++) {
    health_world worlds[2];
    service_stage stage = below(3) ? SERVICE_RUNNING : (service_stage)below(3);
    const char *unsaved = below(4) ? NULL : "a full disk";
    bool ready = stage == SERVICE_RUNNING && !unsaved;
    size_t bytes, at = 0;
    for (uint32_t k = 0; k < 2; k++) {
      uint64_t period_ns = below(2) ? 30000000 : 500000000, silent_ns = SECOND / 2 * (uint64_t)below(14);
      worlds[k] = (health_world){.name = k ? "east" : "west",
                                 .paused = !below(5),
                                 .failed = !below(5),
                                 .recovery = {7, below(2) ? 70 : 0, 0},
                                 .failure = k ? "of the east" : "of the west",
                                 .period_ns = period_ns,
                                 .frame_end_ns = below(6) ? NOW_S * (uint64_t)SECOND - silent_ns : 0,
                                 .degraded = below(3) ? NULL : "no journal",
                                 .errors = below(3) ? NULL : "a script",
                                 .lost = below(3) ? NULL : "frames 1 to 7",
                                 .idle = !below(3),
                                 .mended = below(2)};
    }
    bool said = health_write(text, &bytes, stage, unsaved, worlds, 2, NOW_S * (uint64_t)SECOND);
    json_auto_t *answer = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    const json_t *reasons = json_object_get(answer, "reasons");
    static const char *const own[] = {"starting", NULL, "stopping"};
    const char *first = text_at(json_array_get(reasons, 0), "code");
    cr_assert(!own[stage] || (first && strcmp(first, own[stage]) == 0));
    at += own[stage] != NULL;
    if (unsaved && stage != SERVICE_STARTING) {
      cr_assert_str_eq(text_at(json_array_get(reasons, at), "code"), "unsaved");
      at++;
    }
    for (uint32_t k = 0; k < 2; k++) at = expect_reasons(reasons, at, &worlds[k], stage, &ready);
    at += unsaved && stage == SERVICE_STARTING; /* behind those that recover */
    cr_assert_eq(json_array_size(reasons), at);
    cr_assert(said == ready && json_is_true(json_object_get(answer, "ready")) == ready);
  }
}
