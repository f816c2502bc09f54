/* What a designer does by mistake: it is told, and the world goes on. */
#include "scripts/script_host.h"

#define ONE  "muster.world { agents = 1, start = function() muster.spawn('a', {x = 0, y = 0}) end }\n"
#define FAST "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"

static script_host *mistakes_begin(const char *text) {
  return script_begin(text, 1, MUSTER_CLOCK_VIRTUAL);
}

static void mistakes_says(const char *text, const char *line) {
  script_host *host = mistakes_begin(text);
  script_run(host, 20);
  cr_assert_geq(script_says(host, line), 1, "%s\n%s", text, script_said(host));
  script_end(host);
}

static bool drop_mistake_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes;
  (void)count;
  (void)user;
  return true;
}

Test(mistakes, an_error_ends_the_update) {
  static const char *const fails[] = {"sense", "think"};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        FAST
        "function a:sense() self.n = (self.n or 0) + 1 end\n"
        "function a:think() self.thought = self.n end\n"
        "function a:act() print('acts on', self.n, self.thought) end\n"
        "local good = a.%s\nfunction a:%s() good(self) if self.n %% 2 == 0 then local x = self.none.x end end\n" ONE,
        fails[i], fails[i]);
    script_host *host = mistakes_begin(text);
    script_run(host, 41);
    cr_assert_geq(script_says(host, "acts on\t"), 19, "%s", script_said(host));
    for (int n = 2; n < 40; n += 2) {
      char line[32];
      snprintf(line, sizeof line, "acts on\t%d\t", n);
      cr_assert_eq(script_says(host, line), 0, "%s", script_said(host));
    }
    script_end(host);
  }
}

Test(mistakes, a_nil_is_neither_oneself_nor_any_type) {
  mistakes_says(FAST "function a:act() muster.remove(self.prey) end\n" ONE, "bad argument #1 to 'remove'");
  mistakes_says(FAST "function a:act() muster.wake_at(1, self.prey) end\n" ONE, "bad argument #2 to 'wake_at'");
  mistakes_says(FAST "function a:think() muster.nearest(9, wolff) end\n" ONE, "muster.nearest: the type is nil");
  mistakes_says(FAST "function a:think() for _ in muster.nearby(9, wolff, 3) do end end\n" ONE,
                "muster.nearby: the type is nil");
  mistakes_says(FAST "function a:act() if self.x == 0 then for _ in muster.nearby(9, 'any') do end muster.nearest(9)\n"
                     " print('goes') muster.remove() end end\n" ONE,
                "goes");
  mistakes_says(FAST "function a:think() self.elapsed = 1 end\n" ONE,
                "self.elapsed is told by Muster and cannot be set\n");
}

Test(mistakes, what_is_twice_or_nowhere_is_told) {
  script_refused(FAST ONE ONE, "main.lua:3: muster.world: it was called before");
  script_refused("muster.type { name = 'a', publishes = {'x', 'y', 'x'} }", "publishes: 'x' stands twice");
  script_refused("muster.type { name = 'a', elapsed = 'event' }", "there are: delta, events");
  script_refused("local a = 1\nlocal = 2\n", "main.lua:2: <name> expected");
  mistakes_says(FAST, "no muster.world with a start function");
  mistakes_says("\xef\xbb\xbf" FAST "function a:think() print('marked') end\n" ONE, "marked");
}

/* A world that is saved often begins updates anew that were cut: one without an end is found all the same. */
Test(mistakes, an_endless_update_is_found_although_the_world_is_saved) {
  script_host *host = mistakes_begin(FAST "function a:think() while true do end end\n" ONE);
  muster_save_def def = muster_save_def_default();
  def.write = drop_mistake_bytes;
  for (int i = 0; i < 12; i++) {
    script_run(host, 5);
    cr_assert_eq(muster_world_save(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  }
  cr_assert_eq(script_says(host, "goes into quarantine: its update did not end in 20 frames"), 1, "%s",
               script_said(host));
  cr_assert_eq(script_says(host, "__safepoint"), 0, "%s", script_said(host));
  cr_assert_geq(script_says(host, "main.lua:2: in function"), 1, "%s", script_said(host));
  script_end(host);
}

Test(mistakes, a_reload_says_what_it_cannot_change) {
  static const char *const others[][2] = {
      {"muster.type { name = 'a', period = '20ms' }", "type 'a' has another 'period'"},
      {"muster.type { name = 'a', publishes = {'x'} }", "type 'a' has another 'publishes'"},
      {"muster.type { name = 'a', messages = {waiting_max = 1} }", "type 'a' has another 'waiting_max'"},
      {"muster.type { name = 'a' } function a:sense() end", "type 'a': its method 'sense' is new"}};
  script_host *host = mistakes_begin("a = muster.type { name = 'a' }\n"
                                     "function a:think() print('old') end function a:act() print('acts') end\n" ONE);
  script_run(host, 20);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char text[512];
    snprintf(text, sizeof text, "a = %s\nfunction a:think() print('bad') end\n" ONE, others[i][0]);
    cr_assert_eq(script_reload(host, text), MUSTER_E_INPUT, "%s", text);
    cr_assert_not_null(strstr(muster_last_error(), others[i][1]), "%s", muster_last_error());
    script_run(host, 20);
  }
  cr_assert_eq(script_says(host, "bad"), 0);
  /* A method less is none that fails. */
  cr_assert_eq(script_reload(host, "a = muster.type { name = 'a' }\nfunction a:think() print('new') end\n" ONE),
               MUSTER_OK);
  uint32_t acts = script_says(host, "acts");
  script_run(host, 40);
  cr_assert_geq(script_says(host, "new"), 3, "%s", script_said(host));
  cr_assert_leq(script_says(host, "acts"), acts + 1);
  cr_assert_eq(script_says(host, "traceback"), 0, "%s", script_said(host));
  script_end(host);
}

Test(mistakes, a_reload_reaches_methods_and_the_function_of_muster_world) {
  static const char world[] =
      FAST "function a:think() print('think %s') end\n"
           "muster.world { agents = 1, start = function() muster.spawn(a, {x = 0, y = 0}) end,\n"
           "  frame = function() print('frame %s') end }\n";
  char text[512];
  snprintf(text, sizeof text, world, "old", "old");
  script_host *host = mistakes_begin(text);
  script_run(host, 5);
  uint32_t frames = script_says(host, "frame old"), thinks = script_says(host, "think old");
  cr_assert(frames > 0 && thinks > 0, "%s", script_said(host));
  snprintf(text, sizeof text, world, "new", "new");
  cr_assert_eq(script_reload(host, text), MUSTER_OK, "%s", muster_last_error());
  script_run(host, 5);
  cr_expect_eq(script_says(host, "frame old"), frames, "%s", script_said(host));
  cr_expect_eq(script_says(host, "frame new"), 5, "%s", script_said(host));
  cr_expect_eq(script_says(host, "think old"), thinks, "%s", script_said(host));
  cr_expect_eq(script_says(host, "think new"), 5, "%s", script_said(host));
  cr_assert_eq(script_reload(host, FAST "function a:think() end\n" ONE), MUSTER_OK, "%s", muster_last_error());
  script_run(host, 5);
  cr_expect_eq(script_says(host, "frame new"), 5, "new texts have it no more: %s", script_said(host));
  script_end(host);
}

/* What was cut ends with the old method, and is not kept for ever. */
Test(mistakes, a_cut_update_ends_although_new_texts_lack_its_method) {
  script_host *host = script_begin("a = muster.type { name = 'a', cuts_max = 100 }\n"
                                   "function a:sense() for i = 1, 20000 do end print('old') end\n"
                                   "function a:think() print('thinks') end\n" ONE,
                                   1, MUSTER_CLOCK_VIRTUAL);
  while (script_figure(host, "scripts_cut_updates") == 0) script_run(host, 1);
  uint32_t old = script_says(host, "old");
  cr_assert_eq(script_reload(host, "a = muster.type { name = 'a', cuts_max = 100 }\n"
                                   "function a:think() print('thinks') end\n" ONE),
               MUSTER_OK);
  script_run(host, 200);
  cr_assert_eq(script_says(host, "old"), old + 1, "%s", script_said(host));
  cr_assert_geq(script_says(host, "thinks"), 5, "%s", script_said(host));
  cr_assert_eq(script_figure(host, "scripts_cut_updates"), 0);
  script_end(host);
}

/* tests/scripts/wrong_test.c has what `muster run` says of many more. */
Test(mistakes, what_nobody_calls_and_what_is_nowhere_is_refused) {
  script_refused(FAST "function a:thnik() end\n" ONE, "main.lua:2: a has no 'thnik'; did you mean 'think'?");
  script_refused(FAST "a.period = '20ms'\n" ONE, "its 'period' is set behind muster.type");
  script_refused("muster.type { name = 'a', perod = '20ms' }\n" ONE, "did you mean 'period'?");
  script_refused(FAST "local function think() end\n" ONE, "main.lua:2: this 'think' belongs to no type");
  mistakes_says(FAST "function a:helped() return 7 end\nfunction a:think() print('helps', self:helped()) end\n" ONE,
                "helps\t7");
  mistakes_says(FAST "function a:act() muster.spawn(a, {10, 5}) end\n" ONE, "{x = 10, y = 5}, not {10, 5}");
}

/* A folder of helpers that nobody calls fills no log. */
Test(mistakes, functions_that_nobody_calls_are_told_some_times) {
  script_host *host = mistakes_begin(FAST "for i = 1, 30 do a['f' .. i] = function() end end\n" ONE);
  cr_assert_eq(script_says(host, "main.lua:2: nobody calls 'f"), 8, "%s", script_said(host));
  cr_assert_eq(script_says(host, "and nobody calls 22 more functions of type 'a'"), 1, "%s", script_said(host));
  cr_assert_eq(script_reload(host, FAST ONE), MUSTER_OK, "%s", muster_last_error());
  script_end(host);
}

Test(mistakes, what_cannot_be_kept_is_found_where_it_lies) {
  mistakes_says(FAST "function a:think() self.run = print end\n" ONE, "main.lua:2: self.run is a function");
  mistakes_says(FAST "function a:think() self.deep = {{}, {run = print}} end\n" ONE,
                "a: self.deep[2].run: it is a function");
  /* Long after the first updates: each 252nd is looked behind. */
  script_host *host = mistakes_begin(FAST "function a:think() self.list = self.list or {}\n"
                                          " if muster.now() > 3 then self.list.run = print end end\n" ONE);
  script_run(host, 290);
  cr_assert_eq(script_says(host, "cannot be kept"), 0, "%s", script_said(host));
  script_run(host, 300);
  cr_assert_eq(script_says(host, "a: self.list.run: it is a function"), 1, "%s", script_said(host));
  cr_assert_geq(script_figure(host, "scripts_errors_total"), 1);
  script_end(host);
}
