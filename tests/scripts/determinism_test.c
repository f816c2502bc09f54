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

static script_outcome outcome_now(script_host *host) {
  return (script_outcome){muster_world_hash(host->world), script_figure(host, "scripts_hash"),
                          script_figure(host, "scripts_errors_total"), script_figure(host, "scripts_cut_updates")};
}

Test(determinism, any_number_of_workers_gives_the_same_world) {
  script_outcome first = {0};
  for (uint32_t workers = 1; workers <= (UNDER_THREAD_SANITIZER ? 8 : 64); workers *= 8) {
    script_host *host = script_begin(lively, workers, MUSTER_CLOCK_VIRTUAL);
    script_run(host, 120);
    script_outcome now = outcome_now(host);
    script_end(host);
    if (workers == 1) first = now;
    cr_assert_gt(now.errors, 0);
    cr_assert_gt(now.suspended, 0, "no update was cut");
    cr_assert_eq(now.hash, first.hash, "with %u workers", workers);
    cr_assert_eq(now.tables, first.tables, "with %u workers", workers);
    cr_assert_eq(now.errors, first.errors, "with %u workers", workers);
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
    script_host *host = script_begin(greedy, 1, MUSTER_CLOCK_VIRTUAL);
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

typedef struct script_bytes {
  unsigned char *bytes;
  size_t count, room;
} script_bytes;

static bool keep_script_bytes(const void *bytes, size_t count, void *user) {
  script_bytes *kept = user;
  if (kept->count + count > kept->room) {
    kept->room = 2 * (kept->room + count);
    kept->bytes = realloc(kept->bytes, kept->room);
  }
  memcpy(kept->bytes + kept->count, bytes, count);
  kept->count += count;
  return true;
}

static void save_both(script_host *host, script_bytes *world, script_bytes *tables) {
  muster_save_def def = muster_save_def_default();
  def.write = keep_script_bytes;
  def.user = world;
  cr_assert_eq(muster_world_save(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(host->module->save(host->instance, host->world, keep_script_bytes, tables), MUSTER_OK, "%s",
               muster_last_error());
}

/* A world of the text that goes on where the snapshot is. */
static script_host *script_load(const char *text, const script_bytes *world, const script_bytes *tables,
                                uint64_t now_ns) {
  script_host *host = malloc(sizeof *host);
  muster_module_needs needs;
  cr_assert_eq(script_open(host, text, &needs), MUSTER_OK);
  script_world_create(host, &needs, 2, MUSTER_CLOCK_VIRTUAL);
  cr_assert_eq(host->module->resume(host->instance, host->world, tables->bytes, tables->count), MUSTER_OK, "%s",
               muster_last_error());
  muster_load_def def = muster_load_def_default();
  def.bytes = world->bytes;
  def.count = world->count;
  cr_assert_eq(muster_world_load(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  host->now_ns = now_ns;
  return host;
}

Test(determinism, a_world_that_was_saved_goes_on_alike_with_updates_that_were_cut) {
  for (uint32_t before = 59; before < (UNDER_THREAD_SANITIZER ? 60 : 63); before++) {
    script_bytes world = {0}, tables = {0};
    script_host *host = script_begin(lively, 2, MUSTER_CLOCK_VIRTUAL);
    script_run(host, before);
    cr_assert_gt(script_figure(host, "scripts_cut_updates"), 0);
    save_both(host, &world, &tables);
    uint64_t now_ns = host->now_ns;
    double saved = script_figure(host, "scripts_hash");
    script_run(host, 80);
    script_outcome went_on = outcome_now(host);
    script_end(host);
    host = script_load(lively, &world, &tables, now_ns);
    cr_assert_eq(script_figure(host, "scripts_hash"), saved);
    script_run(host, 80);
    script_outcome loaded = outcome_now(host);
    script_end(host);
    cr_assert_eq(loaded.hash, went_on.hash);
    cr_assert_eq(loaded.tables, went_on.tables);
    free(world.bytes);
    free(tables.bytes);
  }
}

/* A world that ships with Muster, with `by` put behind the one line `behind` of its text; null = nothing. */
static char *shipped(const char *name, const char *behind, const char *by) {
  enum { ROOM = 1 << 16 };
  char path[512], *text = malloc(2 * ROOM), *whole = malloc(ROOM);
  snprintf(path, sizeof path, MUSTER_SOURCE_DIR "/tools/lua/worlds/%s", name);
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
  free(whole);
  return text;
}

static void goes_on_alike(const char *name, const char *behind) {
  char *text = shipped(name, behind, "\n  for i = 1, 10000 do end\n"), *agents = strstr(text, "agents = 10000,");
  if (agents) memcpy(agents, "agents = 02000,", strlen("agents = 02000,")); /* as many as show it */
  script_bytes world = {0}, tables = {0};
  script_host *host = script_begin(text, 2, MUSTER_CLOCK_VIRTUAL);
  uint32_t frames = 0;
  do {
    script_run(host, 1);
    cr_assert_lt(++frames, 200, "no update of %s was cut", name);
  } while (frames < 60 || script_figure(host, "scripts_cut_updates") < 2);
  save_both(host, &world, &tables);
  uint64_t now_ns = host->now_ns;
  script_run(host, 150);
  script_outcome went_on = outcome_now(host);
  cr_assert_eq(went_on.errors, 0, "%s", script_said(host));
  script_end(host);
  host = script_load(text, &world, &tables, now_ns);
  script_run(host, 150);
  script_outcome loaded = outcome_now(host);
  script_end(host);
  cr_assert_eq(loaded.hash, went_on.hash, "%s", name);
  cr_assert_eq(loaded.tables, went_on.tables, "%s", name);
  free(world.bytes);
  free(tables.bytes);
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
  static char text[2048];
  snprintf(text, sizeof text,
           "local a = muster.type { name = 'a' }\nfunction a:spawned() %s end\n"
           "function a:think() if self.check then print(self:check() and 'kept' or 'lost') self.check = nil end end\n"
           "function a:look() local t = self.t return t.again == t and t.other[1] == t.other[2] and t.other[1].n == 5\n"
           "  and t[true] == 1.5 and t[-3] == 'minus' and t[2.5] == self.id end\n"
           "function a:act() if self.t and muster.now() > 0.5 then print(self:look() and 'kept' or 'lost') end end\n"
           "muster.world { agents = 1, start = function() muster.spawn(a, {x = 0, y = 0}) end }\n",
           body);
  return script_begin(text, 1, MUSTER_CLOCK_VIRTUAL);
}

Test(determinism, tables_circles_and_shared_references_are_kept) {
  script_bytes world = {0}, tables = {0};
  script_host *host = keeping("local one = {n = 5} self.t = {other = {one, one}, [true] = 1.5, [-3] = 'minus',\n"
                              "[2.5] = self.id} self.t.again = self.t");
  script_run(host, 20);
  save_both(host, &world, &tables);
  uint64_t now_ns = host->now_ns;
  char *text = strdup(host->path);
  FILE *file = fopen(text, "r");
  static char script[4096];
  script[fread(script, 1, sizeof script - 1, file)] = 0;
  fclose(file);
  free(text);
  script_end(host);
  host = script_load(script, &world, &tables, now_ns);
  script_run(host, 60);
  cr_assert_geq(script_says(host, "kept"), 1, "%s", script_said(host));
  cr_assert_eq(script_says(host, "lost"), 0);
  script_end(host);
  free(world.bytes);
  free(tables.bytes);
}

Test(determinism, what_cannot_be_kept_is_refused_with_its_path) {
  static const struct {
    const char *body, *message;
  } cases[] = {{"self.deep = {call = {print}}", "type 'a': self.deep.call[1] is a function"},
               {"rawset(self, 'o', setmetatable({}, {}))", "type 'a': self.o is a table with a metatable"},
               {"self.t = {[{}] = 1}", "type 'a': self.t is a table with a table or a function as a key"},
               {"rawset(self, 'm', math)", "type 'a': self.m is a table of the scripts"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    script_bytes tables = {0};
    script_host *host = keeping(cases[i].body);
    script_run(host, 5);
    cr_assert_neq(host->module->save(host->instance, host->world, keep_script_bytes, &tables), MUSTER_OK);
    cr_assert_not_null(strstr(muster_last_error(), cases[i].message), "%s", muster_last_error());
    script_end(host);
    free(tables.bytes);
  }
}

Test(determinism, damaged_tables_are_refused) {
  script_bytes world = {0}, tables = {0};
  script_host *host = script_begin(lively, 1, MUSTER_CLOCK_VIRTUAL);
  script_run(host, 20);
  save_both(host, &world, &tables);
  script_end(host);
  for (size_t cut = 0; cut < tables.count; cut += 1 + tables.count / 50) {
    muster_module_needs needs;
    host = malloc(sizeof *host);
    cr_assert_eq(script_open(host, lively, &needs), MUSTER_OK);
    cr_assert_eq(host->module->resume(host->instance, NULL, tables.bytes, cut), MUSTER_E_INPUT, "cut at %zu", cut);
    script_end(host);
  }
  free(world.bytes);
  free(tables.bytes);
}

/* ------------------------------------------------------------------------------------------------------------ order */

Test(determinism, tables_are_walked_in_the_order_of_their_keys) {
  script_host *host =
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
  script_end(host);
}

/* ----------------------------------------------------------------------------------------------------------- reload */

static const char counting[] =
    "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
    "function a:think() self.n = (self.n or 0) + 1 self.by = %d end\n"
    "function a:act() if muster.now() > 2.005 then print('n', self.n, self.by) muster.remove() end end\n"
    "muster.world { agents = 100, start = function()\n"
    " for i = 1, 100 do muster.spawn(a, {x = i, y = 0}) end end }\n";

Test(determinism, reloads_under_load_lose_no_agent_and_no_update) {
  char text[2048], said[64];
  snprintf(text, sizeof text, counting, 0);
  script_host *host = script_begin(text, 2, MUSTER_CLOCK_VIRTUAL);
  script_run(host, 10);
  for (int i = 1; i <= 100; i++) {
    bool broken = i % 5 == 0;
    snprintf(text, sizeof text, counting, i);
    if (broken) strcat(text, "\nlocal = 5\n");
    cr_assert_eq(script_reload(host, text), broken ? MUSTER_E_INPUT : MUSTER_OK, "%s", muster_last_error());
    if (broken) cr_assert_not_null(strstr(muster_last_error(), "main.lua:7"), "%s", muster_last_error());
    script_run(host, 2);
  }
  script_run(host, 20);
  uint32_t agents = script_says(host, "n\t");
  cr_assert_eq(agents, 100, "%s", script_said(host));
  /* Every frame updates each: the first update is in the first ten milliseconds of its life. */
  snprintf(said, sizeof said, "n\t%d\t96", 200);
  cr_assert_geq(script_says(host, said), 90, "%s", script_said(host));
  script_end(host);
}

Test(determinism, a_reload_cannot_change_the_types) {
  char text[2048];
  snprintf(text, sizeof text, counting, 0);
  script_host *host = script_begin(text, 1, MUSTER_CLOCK_VIRTUAL);
  script_run(host, 10);
  cr_assert_neq(script_reload(host, "muster.type { name = 'b' }"), MUSTER_OK);
  strcat(text, "muster.type { name = 'b' }");
  cr_assert_neq(script_reload(host, text), MUSTER_OK);
  script_run(host, 10);
  script_end(host);
}
