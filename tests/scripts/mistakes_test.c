/* What a designer does by mistake: it is told, and the world goes on. */
#include "scripts/script_host.h"

static void mistakes_says(const char *text, const char *line) {
  script_expect(text, 20, line);
}

static bool drop_mistake_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

Test(mistakes, an_error_ends_the_update) {
  static const char *const fails[] = {"sense", "think"};
  for (int i = 0; i < 2; i++) {
    SCOPED_HOST *host = script_start(formed(
        SCRIPT_FAST "function a:sense() self.n = (self.n or 0) + 1 end\n"
                    "function a:think() self.thought = self.n end\n"
                    "function a:act() print('acts on', self.n, self.thought) end\n"
                    "local good = a.%s\nfunction a:%s() good(self) if self.n %% 2 == 0 then local x = self.none.x "
                    "end end\n" SCRIPT_ONE,
        fails[i], fails[i]));
    script_run(host, 41);
    cr_assert_geq(script_says(host, "acts on\t"), 19, "%s", script_said(host));
    for (int n = 2; n < 40; n += 2) SCRIPT_EXPECT_SAID(host, {formed("acts on\t%d\t", n), 0});
  }
}

Test(mistakes, a_nil_is_neither_oneself_nor_any_type) {
  mistakes_says(SCRIPT_FAST "function a:act() muster.remove(self.prey) end\n" SCRIPT_ONE,
                "bad argument #1 to 'remove'");
  mistakes_says(SCRIPT_FAST "function a:act() muster.wake_at(1, self.prey) end\n" SCRIPT_ONE,
                "bad argument #2 to 'wake_at'");
  mistakes_says(SCRIPT_FAST "function a:think() muster.nearest(9, wolff) end\n" SCRIPT_ONE,
                "muster.nearest: the type is nil");
  mistakes_says(SCRIPT_FAST "function a:think() for _ in muster.nearby(9, wolff, 3) do end end\n" SCRIPT_ONE,
                "muster.nearby: the type is nil");
  mistakes_says(SCRIPT_FAST
                "function a:act() if self.x == 0 then for _ in muster.nearby(9, 'any') do end muster.nearest(9)\n"
                " print('goes') muster.remove() end end\n" SCRIPT_ONE,
                "goes");
  mistakes_says(SCRIPT_FAST "function a:think() self.elapsed = 1 end\n" SCRIPT_ONE,
                "self.elapsed is told by Muster and cannot be set\n");
}

Test(mistakes, what_is_twice_or_nowhere_is_told) {
  script_refused(SCRIPT_FAST SCRIPT_ONE SCRIPT_ONE, "main.lua:3: muster.world: it was called before");
  script_refused("muster.type { name = 'a', publishes = {'x', 'y', 'x'} }", "publishes: 'x' stands twice");
  script_refused("muster.type { name = 'a', elapsed = 'event' }", "there are: delta, events");
  script_refused("local a = 1\nlocal = 2\n", "main.lua:2: <name> expected");
  mistakes_says(SCRIPT_FAST, "no muster.world with a start function");
  mistakes_says("\xef\xbb\xbf" SCRIPT_FAST "function a:think() print('marked') end\n" SCRIPT_ONE, "marked");
}

/* A world that is saved often begins updates anew that were cut: one without an end is found all the same. */
Test(mistakes, an_endless_update_is_found_although_the_world_is_saved) {
  SCOPED_HOST *host = script_start(SCRIPT_FAST "function a:think() while true do end end\n" SCRIPT_ONE);
  const muster_save_def def = WITH(muster_save_def, it.write = drop_mistake_bytes);
  for (int i = 0; i < 12; i++) {
    script_run(host, 5);
    cr_assert_eq(muster_world_save(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  }
  SCRIPT_EXPECT_SAID(host, {"goes into quarantine: its update did not end in 20 frames", 1}, {"__safepoint", 0},
                     {"main.lua:2: in function", 1 | OR_MORE});
}

Test(mistakes, a_reload_says_what_it_cannot_change) {
  static const char *const others[][2] = {
      {"muster.type { name = 'a', period = '20ms' }", "type 'a' has another 'period'"},
      {"muster.type { name = 'a', publishes = {'x'} }", "type 'a' has another 'publishes'"},
      {"muster.type { name = 'a', messages = {waiting_max = 1} }", "type 'a' has another 'waiting_max'"},
      {"muster.type { name = 'b' }", "type 'b' is new here: a running world keeps its types, in their order"},
      {"muster.type { name = 'b' } a = muster.type { name = 'a' }", "type 'b' is new here: a running world keeps"},
      {"muster.type { name = 'a' } muster.type { name = 'b' }", "type 'b' is new here: a running world keeps its"},
      {"muster.type { name = 'a' } function a:sense() end", "type 'a': its method 'sense' is new"}};
  SCOPED_HOST *host =
      script_start("a = muster.type { name = 'a' }\n"
                   "function a:think() print('old') end function a:act() print('acts') end\n" SCRIPT_ONE);
  script_run(host, 20);
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    const char *text = formed("a = %s\nfunction a:think() print('bad') end\n" SCRIPT_ONE, others[i][0]);
    cr_assert_eq(script_reload(host, text), MUSTER_E_INPUT, "%s", text);
    cr_assert_not_null(strstr(muster_last_error(), others[i][1]), "%s", muster_last_error());
    script_run(host, 20);
  }
  cr_assert_eq(script_says(host, "bad"), 0);
  /* A method less is none that fails. */
  cr_assert_eq(script_reload(host, "a = muster.type { name = 'a' }\nfunction a:think() print('new') end\n" SCRIPT_ONE),
               MUSTER_OK);
  uint32_t acts = script_says(host, "acts");
  script_run(host, 40);
  SCRIPT_EXPECT_SAID(host, {"new", 3 | OR_MORE}, {"traceback", 0});
  cr_assert_leq(script_says(host, "acts"), acts + 1);
}

Test(mistakes, a_reload_reaches_methods_and_the_function_of_muster_world) {
  static const char world[] =
      SCRIPT_FAST "function a:think() print('think %s') end\n"
                  "muster.world { agents = 1, start = function() muster.spawn(a, {x = 0, y = 0}) end,\n"
                  "  frame = function() print('frame %s') end }\n";
  SCOPED_HOST *host = script_start(formed(world, "old", "old"));
  script_run(host, 5);
  uint32_t frames = script_says(host, "frame old"), thinks = script_says(host, "think old");
  cr_assert(frames > 0 && thinks > 0, "%s", script_said(host));
  cr_assert_eq(script_reload(host, formed(world, "new", "new")), MUSTER_OK, "%s", muster_last_error());
  script_run(host, 5);
  SCRIPT_EXPECT_SAID(host, {"frame old", frames}, {"frame new", 5}, {"think old", thinks}, {"think new", 5});
  cr_assert_eq(script_reload(host, SCRIPT_FAST "function a:think() end\n" SCRIPT_ONE), MUSTER_OK, "%s",
               muster_last_error());
  script_run(host, 5);
  cr_expect_eq(script_says(host, "frame new"), 5, "new texts have it no more: %s", script_said(host));
}

/* What was cut ends with the old method, and is not kept for ever. */
Test(mistakes, a_cut_update_ends_although_new_texts_lack_its_method) {
  SCOPED_HOST *host = script_start("a = muster.type { name = 'a', cuts_max = 100 }\n"
                                   "function a:sense() for i = 1, 20000 do end print('old') end\n"
                                   "function a:think() print('thinks') end\n" SCRIPT_ONE);
  while (script_figure(host, "scripts_cut_updates") == 0) script_run(host, 1);
  uint32_t old = script_says(host, "old");
  cr_assert_eq(script_reload(host, "a = muster.type { name = 'a', cuts_max = 100 }\n"
                                   "function a:think() print('thinks') end\n" SCRIPT_ONE),
               MUSTER_OK);
  script_run(host, 200);
  SCRIPT_EXPECT_SAID(host, {"old", old + 1}, {"thinks", 5 | OR_MORE});
  cr_assert_eq(script_figure(host, "scripts_cut_updates"), 0);
}

/* tests/scripts/wrong_test.c has what `muster run` says of many more. */
Test(mistakes, what_nobody_calls_and_what_is_nowhere_is_refused) {
  script_refused(SCRIPT_FAST "function a:thnik() end\n" SCRIPT_ONE,
                 "main.lua:2: a has no 'thnik'; did you mean 'think'?");
  script_refused(SCRIPT_FAST "a.period = '20ms'\n" SCRIPT_ONE, "its 'period' is set behind muster.type");
  script_refused("muster.type { name = 'a', perod = '20ms' }\n" SCRIPT_ONE, "did you mean 'period'?");
  script_refused(SCRIPT_FAST "local function think() end\n" SCRIPT_ONE, "main.lua:2: this 'think' belongs to no type");
  mistakes_says(SCRIPT_FAST "a[''] = function() end\n" SCRIPT_ONE, "main.lua:2: nobody calls '' of type 'a'");
  mistakes_says(SCRIPT_FAST
                "function a:helped() return 7 end\nfunction a:think() print('helps', self:helped()) end\n" SCRIPT_ONE,
                "helps\t7");
  mistakes_says(SCRIPT_FAST "function a:act() muster.spawn(a, {10, 5}) end\n" SCRIPT_ONE,
                "{x = 10, y = 5}, not {10, 5}");
}

/* Each is found in its own line, whatever stands above it; and what only looks like one is let be. */
Test(mistakes, what_is_put_into_position_is_refused_in_its_line) {
  static const char above[] = SCRIPT_FAST "local function one() return 1 end\nlocal function two() return one() end\n\n"
                                          "function a:sense() self.n = two() end\n";
  static const char *const lets_be[] = {"self.position.w = 1", "self.position.seen = 1", "self.positions.x = 1",
                                        "self.n = self.position.y == 1", "self.other.position.z = 1"};
  for (const char *name = "xyz"; *name; name++)
    script_refused(
        formed("%sfunction a:think()\n  local n = 1\n  self.position.%c = n\nend\n" SCRIPT_ONE, above, *name),
        "main.lua:8: self.position is a new table each time: to move, call muster.move(x, y)");
  script_refused(formed("%s\nlocal function think(self) end\n" SCRIPT_ONE, above),
                 "main.lua:7: this 'think' belongs to no type");
  for (size_t i = 0; i < COUNT_OF(lets_be); i++) {
    SCOPED_HOST *host =
        script_start(formed("%sfunction a:think() if self.n == 0 then %s end end\n" SCRIPT_ONE, above, lets_be[i]));
    cr_expect_eq(script_says(host, "position"), 0, "%s\n%s", lets_be[i], script_said(host));
  }
}

/* Only what the word local stands before is a local: a name that is used below is none. */
Test(mistakes, a_local_below_is_told_and_nothing_else_for_one) {
  static const char stands[] = "the local 'pritn' stands below, in line 4", near[] = "did you mean 'print'?";
  static const struct {
    const char *below, *says;
  } rows[] = {{"local pritn = 1", stands},
              {"local function pritn() end", stands},
              {"function a:act() pritn(2) end", near},
              {"local n = function(m) return pritn(m) end", near},
              {"local n = pritn", near}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    mistakes_says(
        formed(SCRIPT_FAST "function a:think() pritn(1) end\nlocal first = 1\n%s\n" SCRIPT_ONE, rows[i].below),
        rows[i].says);
}

/* Of the names that all types publish 256 are looked at. */
Test(mistakes, of_very_many_published_names_some_are_looked_at) {
  SCOPED_HOST *host = script_start(
      "local all = {}\n"
      "for i = 0, 16 do local names = {}\n"
      "  for k = 0, 15 do names[k + 1] = string.char(97 + i):rep(6) .. string.char(97 + k):rep(6) end\n"
      "  all[i] = muster.type { name = 't' .. i, publishes = names, period = '10ms', period_max = '10ms' } end\n"
      "local function ask(id, name) print(pcall(muster.read, id, name)) end\n"
      "all[0].think = function(self) ask(self.id, 'ppppppppppp_') ask(self.id, 'qqqqqqaaaaa_') end\n"
      "muster.world { agents = 1, start = function() muster.spawn('t0', {x = 0, y = 0}) end }\n");
  script_run(host, 5);
  SCRIPT_EXPECT_SAID(host, {"no type publishes 'ppppppppppp_'; did you mean 'pppppppppppp'?\n", 1 | OR_MORE},
                     {"no type publishes 'qqqqqqaaaaa_'\n", 1 | OR_MORE});
}

Test(mistakes, a_start_that_fails_is_a_fault_of_the_text) {
  static const char *const fails[] = {"error('no')", "local x = nothing.x", "muster.spawn(a, {x = 0 / 0, y = 0})"};
  for (size_t i = 0; i < COUNT_OF(fails); i++) {
    SCOPED_HOST *host =
        script_open(formed(SCRIPT_FAST "muster.world { agents = 1, start = function() %s end }\n", fails[i]));
    script_world_create(host, 1, MUSTER_CLOCK_VIRTUAL);
    cr_expect_eq(host->module->populate(host->instance, host->world), MUSTER_E_INPUT, "%s", fails[i]);
    cr_expect(strncmp(muster_last_error(), "muster.world.start: ", 20) == 0, "%s", muster_last_error());
  }
}

/* A folder of helpers that nobody calls fills no log. */
Test(mistakes, functions_that_nobody_calls_are_told_some_times) {
  SCOPED_HOST *host = script_start(SCRIPT_FAST "for i = 1, 30 do a['f' .. i] = function() end end\n" SCRIPT_ONE);
  SCRIPT_EXPECT_SAID(host, {"main.lua:2: nobody calls 'f", 8}, {"and nobody calls 22 more functions of type 'a'", 1});
  cr_assert_eq(script_reload(host, SCRIPT_FAST SCRIPT_ONE), MUSTER_OK, "%s", muster_last_error());
}

Test(mistakes, what_cannot_be_kept_is_found_where_it_lies) {
  mistakes_says(SCRIPT_FAST "function a:think() self.run = print end\n" SCRIPT_ONE,
                "main.lua:2: self.run is a function");
  mistakes_says(SCRIPT_FAST "function a:think() self[7] = print end\n" SCRIPT_ONE, "main.lua:2: self.7 is a function");
  mistakes_says(SCRIPT_FAST "function a:think() self[true] = print end\n" SCRIPT_ONE,
                "main.lua:2: self.true is a function");
  mistakes_says(SCRIPT_FAST "function a:think() self[2.5] = muster end\n" SCRIPT_ONE,
                "main.lua:2: self.2.5 is a table of the scripts");
  mistakes_says(SCRIPT_FAST "function a:think() self.deep = {{}, {run = print}} end\n" SCRIPT_ONE,
                "a: self.deep[2].run: it is a function");
  /* Long after the first updates: each 252nd is looked behind. */
  SCOPED_HOST *host = script_start(SCRIPT_FAST "function a:think() self.list = self.list or {}\n"
                                               " if muster.now() > 3 then self.list.run = print end end\n" SCRIPT_ONE);
  script_run(host, 290);
  cr_assert_eq(script_says(host, "cannot be kept"), 0, "%s", script_said(host));
  script_run(host, 300);
  cr_assert_eq(script_says(host, "a: self.list.run: it is a function"), 1, "%s", script_said(host));
  cr_assert_geq(script_figure(host, "scripts_errors_total"), 1);
}

Test(mistakes, what_is_for_loading_and_for_the_world_is_refused_elsewhere) {
  static const char *const calls[][2] = {
      {"muster.type, {name = 'b'}", "muster.type: only while the scripts are loaded"},
      {"muster.world, {}", "muster.world: only while the scripts are loaded"},
      {"muster.observe, {x = 0, y = 0}", "muster.observe: only in the functions of muster.world"}};
  for (size_t i = 0; i < COUNT_OF(calls); i++)
    mistakes_says(formed(SCRIPT_FAST "function a:think() print(pcall(%s)) end\n" SCRIPT_ONE, calls[i][0]), calls[i][1]);
}

/* All names are told where they are 24 at most. */
Test(mistakes, names_are_told_where_they_are_few) {
  for (int types = 24; types <= 25; types++)
    mistakes_says(formed(SCRIPT_FAST
                         "for i = 2, %d do muster.type { name = 'a' .. i } end\n"
                         "function a:think() print(pcall(muster.nearest, 9, 'none of them')) end\n" SCRIPT_ONE,
                         types),
                  types == 24 ? "there is no type 'none of them'; there are: a, a2" : "type 'none of them'\n");
}

/* The variable that is meant is the last one of its name; and a short name is close to too many. */
Test(mistakes, fields_are_looked_for_in_what_is_meant) {
  static const char *const bodies[][2] = {
      {"local t = {hide = 1} local t = {flee = 1} t.n = 2 * t.fle", "; t has no 'fle'; did you mean 'flee'?"},
      {"self.n = 2 * self.levle", "; a has no 'levle'; did you mean 'level'?"},
      {"self.n = 2 * self.leve", "(field 'leve')\n"}};
  for (size_t i = 0; i < COUNT_OF(bodies); i++)
    mistakes_says(formed(SCRIPT_FAST "function a:think() %s end\n" SCRIPT_ONE, bodies[i][0]), bodies[i][1]);
}

/* What is near the place where it does not compile tells which language was meant. */
Test(mistakes, signs_of_other_languages_are_told) {
  static const char *const texts[][2] = {{"if a && b then end", "; Lua writes and for &&"},
                                         {"if a || b then end", "; Lua writes or for ||"},
                                         {"a -= 1", "; Lua has neither -= nor --: write x = x - 1"},
                                         {"function a() {", "; Lua's blocks begin with then, do or a function's head"},
                                         {"let n = 1", "; Lua writes local"},
                                         {"const n = 1", "; Lua writes local NAME <const> = ..."},
                                         {"def n()", "; Lua writes function NAME() ... end"}};
  for (size_t i = 0; i < COUNT_OF(texts); i++) script_refused(texts[i][0], texts[i][1]);
  SCOPED_HOST *host = script_open("if 1 then\nelse\n if 2 then\n end\n"); /* an else with an if below it is none */
  cr_expect(host->opened == MUSTER_E_INPUT && !strstr(muster_last_error(), "elseif"), "%s", muster_last_error());
}

Test(mistakes, what_stands_in_the_line_tells_what_was_meant) {
  static const char *const texts[][2] = {
      {"function a:think() for _, m in ipairs(muster.messages()) do end end", "; muster.messages is for a loop: for"},
      {"local os = os function a:think() self.n = os.time() end",
       "(upvalue 'os'); scripts have no 'os': muster.now()"}};
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    mistakes_says(
        formed("local a = muster.type { name = 'a', messages = {waiting_max = 1} }\n%s\n" SCRIPT_ONE, texts[i][0]),
        texts[i][1]);
}
