/* The same seed gives the same world: on any number of workers, after a snapshot, and in the order of tables. */
#include "scripts/script_host.h"
#include "support/sanitized.h"

/* Perception, messages, births, deaths, long updates, errors and tables with keys of every kind. */
static const char lively[] =
    "local hare = muster.type { name = 'hare', period = '20ms', period_max = '100ms', spawns_max = 1,\n"
    "  publishes = {'fear'}, messages = {waiting_max = 8, sends_max = 4} }\n"
    "function hare:spawned() self.seen = {} self.age = self.age or 0 end\n"
    "function hare:sense()\n"
    "  self.near = 0\n"
    "  for id, distance in muster.nearby(20, hare, 8) do\n"
    "    self.near = self.near + (muster.read(id, 'fear') or 0) + distance\n"
    "    self.seen[id] = distance self.seen['k' .. id % 7] = distance self.last = id\n"
    "  end\n"
    "end\n"
    "function hare:think()\n"
    "  for sender, value in muster.messages() do self.heard = (self.heard or 0) + value[1] end\n"
    "  local sum = 0\n"
    "  for k, v in pairs(self.seen) do sum = sum * 31 % 1e6 + v if math.random() < 0.3 then self.seen[k] = nil end "
    "end\n"
    "  self.age = self.age + self.elapsed\n"
    "  muster.publish('fear', sum % 10)\n"
    "  if self.last then pcall(muster.send, self.last, {sum % 5, name = 'x'}) end\n"
    "  muster.move((self.x + math.random() * 4 - 2) % 200, (self.y + math.random() * 4 - 2) % 200)\n"
    "  if math.random() < 0.02 then error('now and then') end\n"
    "end\n"
    "function hare:act()\n"
    "  if self.last and math.random() < 0.02 then self.ate = muster.remove(self.last) end\n"
    "  if math.random() < 0.03 then muster.spawn(hare, {x = self.x, y = self.y}, {mother = self.id, age = -1}) end\n"
    "end\n"
    "local thinker = muster.type { name = 'thinker', period = '100ms', cuts_max = 100 }\n"
    "function thinker:think()\n"
    "  local sum = 0\n"
    "  for i = 1, 60000 do sum = (sum * 3 + i) % 10007 end\n"
    "  self.sum, self.done = sum + math.random(100), (self.done or 0) + 1\n"
    "end\n"
    "muster.world { agents = 400, agents_max = 2000, start = function(world)\n"
    "  for i = 1, world.agents do muster.spawn(hare, {x = math.random() * 200, y = math.random() * 200}) end\n"
    "  for i = 1, 20 do muster.spawn(thinker, {x = 0, y = 0}) end\n"
    "end }\n";

typedef struct script_outcome {
  uint64_t hash;
  double tables, errors, suspended;
} script_outcome;

/* What comes of a world after so many frames more. */
static script_outcome run_to_end(script_host *host, uint32_t frames) {
  script_run(host, frames);
  script_outcome now = {muster_world_hash(host->world), script_figure(host, "scripts_hash"),
                        script_figure(host, "scripts_errors_total"), script_figure(host, "scripts_cut_updates")};
  script_end(host);
  return now;
}

Test(determinism, any_number_of_workers_gives_the_same_world) {
  script_outcome first = {0};
  for (uint32_t workers = 1; workers <= (UNDER_THREAD_SANITIZER ? 8 : 64); workers *= 8) {
    script_outcome now = run_to_end(script_on(workers, lively), 120);
    if (workers == 1) first = now;
    cr_assert_gt(now.errors, 0);
    cr_assert_gt(now.suspended, 0, "no update was cut");
    cr_assert(now.hash == first.hash && now.tables == first.tables && now.errors == first.errors, "with %u workers",
              workers);
  }
}

/* How tables grow whose fields come and go, and when a short text is there already, follows from the seed of a state's
 * hashes, which is another one in each. Where updates are cut must not: `n`, `k` and `sum` tell. */
Test(determinism, what_a_state_makes_of_its_memory_does_not_tell_where_updates_are_cut) {
  enum { WORLDS = 8 };
  static const char greedy[] =
      "local greedy = muster.type { name = 'greedy', period = '20ms', cuts_max = 100000, memory = '4MB', asks = 3 }\n"
      "local pad = ('x'):rep(100)\n"
      "function greedy:think()\n"
      "  self.n, self.sum = self.n or 0, 0\n"
      "  for i = 1, 4000 do\n"
      "    local t, text = {}, ''\n"
      "    for k = 1, 40 do self.k = k t['k' .. i + k] = k t['k' .. i + k - 3] = nil text = text .. pad .. k end\n"
      "    for key in pairs(t) do self.sum = self.sum + #key end\n"
      "    t = {text, {i}, text .. text} self.n = self.n + #t self.sum = self.sum + i\n"
      "  end\n"
      "end\n"
      "muster.world { agents = 8, start = function() for i = 1, 8 do muster.spawn(greedy, {x = i, y = 0}) end end }\n";
  double first = 0.0;
  void *between[WORLDS];
  if (UNDER_THREAD_SANITIZER) return; /* one thread does it all */
  for (int i = 0; i < WORLDS; i++) {
    between[i] = malloc(1000 + 5000 * (size_t)i); /* so that the next state lies elsewhere */
    script_host *host = script_start(greedy);
    script_run(host, 30);
    double tables = script_figure(host, "scripts_hash");
    cr_assert_gt(script_figure(host, "scripts_cuts_total"), 100);
    cr_assert_eq(script_figure(host, "scripts_errors_total"), 0, "%s", script_said(host));
    script_end(host);
    if (i == 0) first = tables;
    cr_assert_eq(tables, first, "world %d", i);
  }
  for (int i = 0; i < WORLDS; i++) free(between[i]);
}

/* -------------------------------------------------------------------------------------------------------- snapshots */

Test(determinism, a_world_that_was_saved_goes_on_alike_with_updates_that_were_cut) {
  for (uint32_t before = 59; before < (UNDER_THREAD_SANITIZER ? 60 : 63); before++) {
    script_host *host = script_on(2, lively);
    script_run(host, before);
    cr_assert_gt(script_figure(host, "scripts_cut_updates"), 0);
    SCOPED_SAVED saved = script_save(host);
    double hash = script_figure(host, "scripts_hash");
    script_outcome went_on = run_to_end(host, 80);
    host = script_load(lively, &saved, 2);
    cr_assert_eq(script_figure(host, "scripts_hash"), hash);
    script_outcome loaded = run_to_end(host, 80);
    cr_assert_eq(loaded.hash, went_on.hash);
    cr_assert_eq(loaded.tables, went_on.tables);
  }
}

/* A world that ships with Muster, with `by` put behind the one line `behind` of its text; null = nothing. */
static char *shipped(const char *name, const char *behind, const char *by) {
  enum { ROOM = 1 << 16 };
  char *text = malloc(2 * ROOM);
  SCOPED(free_memory) char *whole = malloc(ROOM);
  const char *path = formed(MUSTER_SOURCE_DIR "/tools/lua/worlds/%s", name);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  whole[fread(whole, 1, ROOM - 1, file)] = 0;
  fclose(file);
  strcpy(text, whole);
  if (behind) {
    const char *place = strstr(whole, behind);
    cr_assert(place && !strstr(place + 1, behind), "one place of %s is '%s'", name, behind);
    size_t before = (size_t)(place - whole) + strlen(behind);
    sprintf(text + before, "%s%s", by, whole + before);
  }
  return text;
}

static void goes_on_alike(const char *name, const char *behind) {
  char *text = shipped(name, behind, "\n  for i = 1, 10000 do end\n"), *agents = strstr(text, "agents = 10000,");
  if (agents) memcpy(agents, "agents = 02000,", strlen("agents = 02000,")); /* as many as show it */
  script_host *host = script_on(2, text);
  uint32_t frames = 0;
  do {
    script_run(host, 1);
    cr_assert_lt(++frames, 200, "no update of %s was cut", name);
  } while (frames < 60 || script_figure(host, "scripts_cut_updates") < 2);
  SCOPED_SAVED saved = script_save(host);
  script_run(host, 150);
  cr_assert_eq(script_figure(host, "scripts_errors_total"), 0, "%s", script_said(host));
  script_outcome went_on = run_to_end(host, 0), loaded = run_to_end(script_load(text, &saved, 2), 150);
  cr_assert_eq(loaded.hash, went_on.hash, "%s", name);
  cr_assert_eq(loaded.tables, went_on.tables, "%s", name);
  free(text);
}

Test(determinism, the_village_goes_on_alike_with_bakers_that_were_cut) {
  goes_on_alike("village.lua", "function baker:think()");
}

Test(determinism, wildlife_goes_on_alike_with_bobcats_that_were_cut) {
  goes_on_alike("wildlife.lua", "if self.species == BOBCAT then react_bobcat(self)");
}

/* A world of one agent with this in its self. */
static script_host *keeping(const char *body) {
  return script_start(formed(
      "local a = muster.type { name = 'a' }\nfunction a:spawned() %s end\n"
      "function a:think() if self.check then print(self:check() and 'kept' or 'lost') self.check = nil end end\n"
      "function a:look() local t = self.t return t.again == t and t.other[1] == t.other[2] and t.other[1].n == 5\n"
      "  and t[true] == 1.5 and t[-3] == 'minus' and t[2.5] == self.id end\n"
      "function a:act() if self.t and muster.now() > 0.5 then print(self:look() and 'kept' or 'lost') end "
      "end\n" SCRIPT_ONE,
      body));
}

Test(determinism, tables_circles_and_shared_references_are_kept) {
  script_host *host = keeping("local one = {n = 5} self.t = {other = {one, one}, [true] = 1.5, [-3] = 'minus',\n"
                              "[2.5] = self.id} self.t.again = self.t");
  script_run(host, 20);
  SCOPED_SAVED saved = script_save(host);
  FILE *file = fopen(host->path, "r");
  static char script[4096];
  script[fread(script, 1, sizeof script - 1, file)] = 0;
  fclose(file);
  script_end(host);
  host = script_load(script, &saved, 2);
  script_run(host, 60);
  cr_assert_geq(script_says(host, "kept"), 1, "%s", script_said(host));
  cr_assert_eq(script_says(host, "lost"), 0);
  script_end(host);
}

Test(determinism, what_cannot_be_kept_is_refused_with_its_path) {
  static const struct {
    const char *body, *message;
  } cases[] = {{"self.deep = {call = {print}}", "type 'a': self.deep.call[1] is a function"},
               {"rawset(self, 'o', setmetatable({}, {}))", "type 'a': self.o is a table with a metatable"},
               {"self.t = {[{}] = 1}", "type 'a': self.t is a table with a table or a function as a key"},
               {"rawset(self, 'm', math)", "type 'a': self.m is a table of the scripts"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    script_bytes tables = {0};
    SCOPED_HOST *host = keeping(cases[i].body);
    script_run(host, 5);
    cr_assert_neq(host->module->save(host->instance, host->world, keep_script_bytes, &tables), MUSTER_OK);
    cr_assert_not_null(strstr(muster_last_error(), cases[i].message), "%s", muster_last_error());
    free(tables.bytes);
  }
}

Test(determinism, damaged_tables_are_refused) {
  script_host *whole = script_start(lively);
  script_run(whole, 20);
  SCOPED_SAVED saved = script_save(whole);
  script_end(whole);
  for (size_t cut = 0; cut < saved.tables.count; cut += 1 + saved.tables.count / 50) {
    SCOPED_HOST *host = script_open(lively);
    cr_assert_eq(host->opened, MUSTER_OK);
    cr_assert_eq(host->module->resume(host->instance, NULL, saved.tables.bytes, cut), MUSTER_E_INPUT, "cut at %zu",
                 cut);
  }
}

/* ------------------------------------------------------------------------------------------------------------ order */

Test(determinism, tables_are_walked_in_the_order_of_their_keys) {
  SCOPED_HOST *host =
      keeping("local function walk(t) local s = '' for k in pairs(t) do s = s .. tostring(k) .. ' ' end\n"
              " local u, k = '', next(t) while k ~= nil do u = u .. tostring(k) .. ' ' k = next(t, k) end\n"
              " assert(s == u, s .. '/' .. u) return s end\n"
              "assert(walk {b = 1, a = 1, [3] = 1, [1] = 1, [-1] = 1, [0.5] = 1, [true] = 1, [false] = 1, B = 1} ==\n"
              " '1 3 -1 0.5 B a b false true ')\n"
              "assert(walk {1, 2, nil, 4, x = 1} == '1 2 4 x ' and walk {} == '' and walk {5, 6} == '1 2 ')\n"
              "local big, n = {}, 0 for i = 1, 400 do big['k' .. i] = i end for k, v in pairs(big) do n = n + 1 end "
              "assert(n == 400)\n"
              "local t, seen = {a = 1, b = 2, c = 3}, '' for k in pairs(t) do seen = seen .. k t.b = nil t.d = 4 end\n"
              "assert(seen == 'ac', seen)\n"
              "local function clears(t) local s = '' for k in pairs(t) do s = s .. k .. ' ' t[4] = nil t[7] = 7 end "
              "return s end\n"
              "local back = {} for i = 6, 1, -1 do back[i] = i end\n"
              "assert(clears {1, 2, 3, 4, 5, 6} == '1 2 3 5 6 ' and clears(back) == '1 2 3 5 6 ') print('ordered')");
  script_run(host, 5);
  cr_assert_eq(script_says(host, "ordered"), 1, "%s", script_said(host));
}

/* ----------------------------------------------------------------------------------------------------------- reload */

static const char counting[] =
    SCRIPT_FAST "function a:think() self.n = (self.n or 0) + 1 self.by = %d end\n"
                "function a:act() if muster.now() > 2.005 then print('n', self.n, self.by) muster.remove() end end\n"
                "muster.world { agents = 100, start = function()\n"
                " for i = 1, 100 do muster.spawn(a, {x = i, y = 0}) end end }\n";

Test(determinism, reloads_under_load_lose_no_agent_and_no_update) {
  SCOPED_HOST *host = script_on(2, formed(counting, 0));
  script_run(host, 10);
  for (int i = 1; i <= 100; i++) {
    bool broken = i % 5 == 0;
    const char *text = formed(counting, i);
    cr_assert_eq(script_reload(host, broken ? formed("%s\nlocal = 5\n", text) : text),
                 broken ? MUSTER_E_INPUT : MUSTER_OK, "%s", muster_last_error());
    if (broken) cr_assert_not_null(strstr(muster_last_error(), "main.lua:7"), "%s", muster_last_error());
    script_run(host, 2);
  }
  script_run(host, 20);
  /* Every frame updates each: the first update is in the first ten milliseconds of its life. */
  SCRIPT_EXPECT_SAID(host, {"n\t", 100}, {"n\t200\t96", 90 | OR_MORE});
}

Test(determinism, a_reload_cannot_change_the_types) {
  SCOPED_HOST *host = script_start(formed(counting, 0));
  script_run(host, 10);
  cr_assert_neq(script_reload(host, "muster.type { name = 'b' }"), MUSTER_OK);
  cr_assert_neq(script_reload(host, formed("%smuster.type { name = 'b' }", formed(counting, 0))), MUSTER_OK);
  script_run(host, 10);
}

/* Of a world of three agents of these methods. */
static double tables_hash(const char *methods) {
  SCOPED_HOST *host = script_start(formed(SCRIPT_FAST "%s\n" SCRIPT_CROWD(3), methods));
  script_run(host, 3);
  return script_figure(host, "scripts_hash");
}

/* By which this file tells whether worlds are the same. */
Test(determinism, the_hash_knows_each_byte_and_whose_it_is) {
  static const char text[] = "function a:spawned() self.text = ('x'):rep(%d) .. '%c' end",
                    leaves[] = "function a:act() if self.x == %d then muster.remove() end end";
  for (int before = 0; before < 20; before++)
    cr_expect_neq(tables_hash(formed(text, before, 'a')), tables_hash(formed(text, before, 'b')), "byte %d", before);
  cr_expect_neq(tables_hash(formed(leaves, 1)), tables_hash(formed(leaves, 2)));
  cr_expect_eq(tables_hash(formed(leaves, 1)), tables_hash(formed(leaves, 1)));
}
