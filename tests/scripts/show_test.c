/* What the command `show` says of an agent. */
#include "scripts/script_host.h"

/* The id of the only agent of type 'a'. */
static const char *id_of(const script_host *host) {
  muster_agent_info info = muster_agent_info_default();
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(host->world, agent));)
    if (muster_agent_read(host->world, agent, &info) == MUSTER_OK && info.type.index == 1)
      return formed("%u.%u", muster_agent_index(agent), muster_agent_generation(agent));
  return "";
}

static script_answer shown;

/* Runs a world of one agent whose spawned() and think() are these; it is shown as `lines`, below the first. */
static void shows(const char *methods, const char *lines) {
  SCOPED_HOST *host = script_start(formed("list = {5}\n" SCRIPT_FAST "%s\n" SCRIPT_ONE, methods));
  script_run(host, 5);
  const char *id = id_of(host);
  uint64_t hash = muster_world_hash(host->world);
  double allocated = script_figure(host, "scripts_allocated_bytes_total");
  cr_assert_eq(script_command(host, "show", id, &shown), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(host->world), hash);
  cr_assert_eq(script_figure(host, "scripts_allocated_bytes_total"), allocated, "looking sets the collector going");
  const char *first = formed("agent %s of type 'a', ", id), *end = strchr(shown.text, '\n');
  cr_assert(end && strncmp(shown.text, first, strlen(first)) == 0, "%s", shown.text);
  cr_assert_str_eq(end + 1, lines, "%s", shown.text);
}

Test(show, fields_stand_in_their_order_each_on_a_line) {
  shows("function a:spawned() self.wolf, self.bear, self.pack = true, 'brown', {7, 8, x = 1.5} self[2] = 1 end\n"
        "function a:think() end",
        "  [2] = 1\n  bear = \"brown\"\n  pack = {7, 8, x = 1.5}\n  wolf = true\n");
}

Test(show, what_is_no_plain_value_and_what_has_no_end_is_named) {
  shows(
      "function a:spawned() rawset(self, 'run', a.think) rawset(self, 'me', self) rawset(self, 'seven', list)\n"
      " self['not a name'] = {} self.keyed = {[{}] = 1} end\n"
      "function a:think() end",
      "  keyed = {...}\n"
      "  me = {keyed = {...}, me = {keyed = {...}, me = {keyed = {...}, me = {...}, [\"not a name\"] = {...}, "
      "run = a function, seven = a table of the scripts}, [\"not a name\"] = {}, run = a function, seven = a table of "
      "the scripts}, [\"not a name\"] = {}, run = a function, seven = a table of the scripts}\n"
      "  [\"not a name\"] = {}\n"
      "  run = a function\n"
      "  seven = a table of the scripts\n");
}

Test(show, a_terminal_gets_no_control_bytes) {
  shows("function a:spawned() self.text = 'x\\27[2J\"\\n' self.long = ('y'):rep(207) end\nfunction a:think() end",
        "  long = \""
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
        "\" and 7 bytes more\n  text = \"x\\027[2J\\\"\\010\"\n");
}

/* Shows the agent of a world of one, whose think() this is, after so many frames. */
static void show_after(const char *think, uint32_t frames) {
  SCOPED_HOST *host = script_start(formed("local a = muster.type { name = 'a', period = '10ms', cuts_max = 1000 }\n"
                                          "function a:think() %s end\n" SCRIPT_ONE,
                                          think));
  script_run(host, frames);
  cr_assert_eq(script_command(host, "show", id_of(host), &shown), MUSTER_OK, "%s", muster_last_error());
}

Test(show, an_update_that_was_cut_is_told_with_its_line) {
  show_after("\n while true do self.n = (self.n or 0) + 1 end\n", 20);
  cr_assert(strstr(shown.text, "an update was cut in ") && strstr(shown.text, "main.lua:3:"), "%s", shown.text);
}

Test(show, a_table_without_end_is_cut) {
  show_after("for i = 1, 99 do self[i] = ('x'):rep(200) end", 200);
  size_t bytes = strlen(shown.text);
  cr_assert(bytes > 16000 && strcmp(shown.text + bytes - 4, "...\n") == 0, "%zu: %s", bytes, shown.text + bytes - 9);
}

Test(show, what_is_no_agent_of_the_scripts_is_refused) {
  static const struct {
    const char *id, *says;
  } wrong[] = {{"", "INDEX.GENERATION"},
               {"7", "INDEX.GENERATION"},
               {"1.1x", "INDEX.GENERATION"},
               {"99999999.1", "99999999"},
               {"1.99", "1"},
               {"0.1", "not of a type of the scripts"}};
  SCOPED_HOST *host =
      script_start("local a = muster.type { name = 'a', period = '10ms' }\nfunction a:think() end\n" SCRIPT_ONE);
  script_run(host, 5);
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    cr_assert_neq(script_command(host, "show", wrong[i].id, &shown), MUSTER_OK, "%s: %s", wrong[i].id, shown.text);
    cr_assert(strstr(muster_last_error(), wrong[i].says), "%s: %s", wrong[i].id, muster_last_error());
  }
}

Test(show, names_and_texts_are_told_as_a_text_would_write_them) {
  char line[256], letters[201];
  memset(letters, 'y', 200);
  letters[200] = '\0';
  snprintf(line, sizeof line, "  [\"7up\"] = true\n  [\"_-\"] = \"\\127\"\n  _x = \"%s\"\n", letters);
  shows("function a:spawned() self['7up'], self['_-'], self._x = true, '\\127', ('y'):rep(200) end\n"
        "function a:think() end",
        line);
}
