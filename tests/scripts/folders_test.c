/* Scripts of several files: which are run, in which order and how often; what one says of a name counts in all; and
 * which bounds a folder has. */
#include "scripts/script_host.h"

#include "lua/source_files.h"

#include <dirent.h>
#include <sys/stat.h>

typedef struct folders_file {
  const char *name, *text;
} folders_file;

#define FILES(...) ((const folders_file[]){__VA_ARGS__, {NULL, NULL}})

static void folders_put(const char *folder, const char *name, const char *text, size_t bytes) {
  const char *path = formed("%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  cr_assert(file && fwrite(text, 1, bytes, file) == bytes && fclose(file) == 0, "%s", path);
}

static void folders_drop(const char *folder) {
  DIR *open = opendir(folder);
  cr_assert_not_null(open);
  for (const struct dirent *entry; (entry = readdir(open));) {
    const char *path = formed("%s/%s", folder, entry->d_name);
    if (unlink(path)) rmdir(path);
  }
  closedir(open);
  cr_assert_eq(rmdir(folder), 0);
}

static char folders_message[1024]; /* of the last folder that was refused */

/* Opens a folder of these files, up to one without a name. What is said is in `said`; the instance is closed again. */
static muster_result folders_open(const folders_file *files, char *said, size_t room) {
  char folder[] = "/tmp/muster-folder-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  for (; files->name; files++) folders_put(folder, files->name, files->text, strlen(files->text));
  SCOPED_HOST *host = script_open(SCRIPT_FAST);
  cr_assert_eq(host->opened, MUSTER_OK);
  host->module->close(host->instance);
  host->instance = NULL;
  const muster_module_options options = WITH(muster_module_options, it.path = folder);
  muster_result result = host->module->open(&options, &host->instance, &host->needs);
  snprintf(said, room, "%s", script_said(host));
  snprintf(folders_message, sizeof folders_message, "%s", result ? muster_last_error() : "");
  if (result) host->instance = NULL;
  folders_drop(folder);
  return result;
}

/* Where the scripts are must be told so that a service finds it, too. */
Test(folders, that_there_are_none_is_told_with_what_may_be_wrong) {
  static const char hint[] = "; in the settings of a service the path must begin with /";
  static const char *const paths[] = {"/none/there", "none/there", "none.lua"};
  const muster_module *module = muster_module_lua();
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    muster_module_needs needs = {.size = sizeof needs};
    muster_module_options options = muster_module_options_default();
    void *instance = NULL;
    options.path = paths[i];
    cr_expect_eq(module->open(&options, &instance, &needs), MUSTER_E_INPUT, "%s", paths[i]);
    const char *said = muster_last_error();
    cr_expect(strstr(said, "cannot read the scripts '") && strstr(said, paths[i]), "%s", said);
    cr_expect_eq(strstr(said, hint) != NULL, *paths[i] != '/', "%s", said);
  }
}

/* The folder is taken, and says these lines and no others. */
static void folders_say(const folders_file *files, const char *lines) {
  char said[4096];
  cr_assert_eq(folders_open(files, said, sizeof said), MUSTER_OK, "%s", folders_message);
  cr_expect_str_eq(said, lines);
}

static void folders_refuse(const folders_file *files, const char *words) {
  char said[4096];
  cr_assert_eq(folders_open(files, said, sizeof said), MUSTER_E_INPUT, "%s", words);
  cr_expect(strstr(folders_message, words) != NULL, "not said: %s\n%s", words, folders_message);
}

Test(folders, each_file_is_run_in_the_order_of_names_or_main_alone) {
  folders_say(FILES({"b.lua", "print('b')"}, {"a.lua", SCRIPT_FAST "print('a')"}, {"C.lua", "print('C')"},
                    {"c.lua", "\xef\xbb\xbfprint('c')"}, {"c0.lua", "\xef\xbb\xbf"}, {"a10.lua", "print('a10')"},
                    {".hidden.lua", "print('hidden')"}, {".lua", "print('nothing')"}, {"d.txt", "print('text')"},
                    {"e.lua.bak", "print('old')"}),
              "muster lua: C\nmuster lua: a\nmuster lua: a10\nmuster lua: b\nmuster lua: c\n");
  folders_say(FILES({"a.lua", "print('a')"}, {"main.lua", SCRIPT_FAST "print('main')"}, {"z.lua", "print('z')"}),
              "muster lua: main\n");
  folders_say(FILES({"main2.lua", SCRIPT_FAST "print('2')"}, {"a.lua", "print('a')"}),
              "muster lua: a\nmuster lua: 2\n");
}

Test(folders, a_file_runs_once_however_often_it_is_required) {
  folders_say((const folders_file[]){{"main.lua", SCRIPT_FAST
                                      "local one, again = require 'list', require 'list'\n"
                                      "print(one == again, one.n, require 'nothing', require 'nothing', require 'no')\n"
                                      "print(require 'round', require 'five', pcall(require, 'lists'))\n"
                                      "print(pcall(require, 'list.lua')) print(require 'main')"},
                                     {"list.lua", "print('list') return {n = 5}"},
                                     {"nothing.lua", "print('nothing') return nil"},
                                     {"no.lua", "print('no') return false"},
                                     {"round.lua", "print('round', require 'other') return 'r'"},
                                     {"other.lua", "print('other', require 'round') return 'o'"},
                                     {"five.lua", "return 5, 6"},
                                     {NULL, NULL}},
              "muster lua: list\nmuster lua: nothing\nmuster lua: no\n"
              "muster lua: true\t5\ttrue\ttrue\tfalse\n"
              "muster lua: other\ttrue\nmuster lua: round\to\n"
              "muster lua: r\t5\tfalse\trequire: there is no script 'lists' in the folder; did you mean 'list'?\n"
              "muster lua: false\trequire: there is no script 'list.lua' in the folder; write its name without .lua\n"
              "muster lua: true\n");
}

/* What stands in one file counts for a type of another: names that are called, calls that wake, and mistakes. */
Test(folders, a_name_that_one_file_uses_is_used) {
  char said[4096];
#define FOLDERS_TWO(one, other)                                                                                        \
  FILES({"a.lua", "a = muster.type { name = 'a' }\nfunction a:think() end\n" one},                                     \
        {"b.lua", "local x, y = 1, 2\n" other})
  folders_say(FOLDERS_TWO("function a:flee() end", "function go(npc) npc:flee() end"), "");
  folders_say(FOLDERS_TWO("function a:flee() end", "local name = \"flee\""), "");
  folders_say(FOLDERS_TWO("function a:flee() end", "local name = 'flee'"), "");
  folders_say(FOLDERS_TWO("function a.flee() end", "ways = {flee = 1, a.flee}"), "");
  static const char nobody[] = "nobody calls 'flee' of type 'a': Muster calls spawned, sense, think, act and removed, "
                               "and no text calls it\n";
  static const char *const unused[] = {"local name = 'flees'",    "-- flee",
                                       "local text = [[flee]]",   "flee = 5",
                                       "function b_flee() end",   "local name = \"flee'",
                                       "local muster = math.flee"};
  for (size_t i = 0; i < COUNT_OF(unused); i++) {
    const char *text = formed("local x, y = 1, 2\n%s%s\n", unused[i], strchr(unused[i], '"') && i == 5 ? "\"" : "");
    folders_open((const folders_file[]){{"a.lua", "a = muster.type { name = 'a' }\nfunction a:flee() end"},
                                        {"b.lua", text},
                                        {NULL, NULL}},
                 said, sizeof said);
    cr_expect(strstr(said, nobody) != NULL, "%s: %s", unused[i], said);
  }
  static const char waits[] = "a2 = muster.type { name = 'w', elapsed = 'events' }\nfunction a2:think() end\n";
  folders_open(FILES({"a.lua", waits}, {"b.lua", "local w = 1"}), said, sizeof said);
  cr_expect(strstr(said, "type 'w' runs when it is woken (elapsed = \"events\"), and no text wakes") != NULL, "%s",
            said);
  static const char *const wakers[] = {"function go() muster.wake_at(1) end", "function go(id) muster.wake(id) end"};
  for (size_t i = 0; i < 2; i++) folders_say(FILES({"a.lua", waits}, {"b.lua", wakers[i]}), "");
  folders_say(FILES({"a.lua", "a = muster.type { name = 'w', elapsed = 'events', messages = {waiting_max = 1, "
                              "wake = true} }\nfunction a:think() end\n"},
                    {"b.lua", ""}),
              "");
  static const char *const axes[] = {"x", "y", "z"};
  for (size_t i = 0; i < 3; i++) {
    const char *text = formed("local n = 1\n\nfunction a:act()\n  self.position.%s = 5\nend\n", axes[i]);
    folders_refuse((const folders_file[]){{"a.lua", "a = muster.type { name = 'a' }\nfunction a:think() end\n\n\n\n"},
                                          {"b.lua", text},
                                          {NULL, NULL}},
                   "b.lua:4: self.position is a new table each time: to move, call muster.move(x, y)");
    const char *says = formed("function a:act() return self.position.%s == 5 end", axes[i]);
    folders_say((const folders_file[]){{"a.lua", "a = muster.type { name = 'a' }\nfunction a:think() end\n"},
                                       {"b.lua", says},
                                       {NULL, NULL}},
                "");
  }
  folders_refuse(
      (const folders_file[]){
          {"a.lua", "a = muster.type { name = 'a' }"}, {"b.lua", "x = 1\nfunction think() end"}, {NULL, NULL}},
      "b.lua:2: this 'think' belongs to no type, and nobody calls it: for type 'a' write function TYPE:think()");
  static const struct {
    const char *name, *meant;
  } misspelt[] = {{"onThink", "think"}, {"on_spawned", "spawned"}, {"update", "think"},  {"init", "spawned"},
                  {"died", "removed"},  {"despawn", "removed"},    {"sence", "sense"},   {"OnAct", "act"},
                  {"tick", "think"},    {"destroy", "removed"},    {"removd", "removed"}};
  for (size_t i = 0; i < COUNT_OF(misspelt); i++) {
    const char *text = formed("a = muster.type { name = 'a' }\nfunction a:%s() self.n = 1 end\n", misspelt[i].name);
    const char *says = formed("a.lua:2: a has no '%s'; did you mean '%s'?", misspelt[i].name, misspelt[i].meant);
    folders_refuse(FILES({"a.lua", text}, {"b.lua", ""}), says);
  }
}

/* A folder has at most 64 files of at most a megabyte each. */
Test(folders, have_as_many_files_and_bytes_as_there_is_room_for) {
  char folder[] = "/tmp/muster-folder-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  SCOPED(free_memory) script_files *files = malloc(sizeof *files);
  SCOPED(free_memory) char *text = malloc(SCRIPT_BYTES_MAX + 1);
  memset(text, ' ', SCRIPT_BYTES_MAX + 1);
  cr_expect_eq(source_files_read(folder, files), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "there is no file with a name that ends in .lua in the folder") != NULL);
  for (int i = 0; i < SCRIPT_FILES_MAX; i++) {
    int number = i * 37 % SCRIPT_FILES_MAX;
    folders_put(folder, formed("f%02d.lua", number), text, (size_t)number);
  }
  folders_put(folder, "f05.lua", text, SCRIPT_BYTES_MAX);
  cr_assert_eq(source_files_read(folder, files), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(files->count, SCRIPT_FILES_MAX);
  for (uint32_t i = 0; i < files->count; i++) {
    const char *name = formed("f%02u", i);
    cr_expect_str_eq(files->files[i].name, name);
    cr_expect(files->files[i].main);
    cr_expect_eq(files->files[i].bytes, i == 5 ? SCRIPT_BYTES_MAX : i);
    cr_expect_eq(source_files_find(files, name), &files->files[i]);
  }
  cr_expect_null(source_files_find(files, "f64"));
  cr_expect_null(source_files_find(files, "f0"));
  source_files_free(files);
  folders_put(folder, "f05.lua", text, SCRIPT_BYTES_MAX + 1);
  cr_expect_eq(source_files_read(folder, files), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "f05.lua' has more than 1048576 bytes") != NULL, "%s", muster_last_error());
  cr_expect_eq(files->count, 0);
  folders_put(folder, "f05.lua", text, 1);
  folders_put(folder, "g.lua", text, 1);
  cr_expect_eq(source_files_read(folder, files), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "more than 64 scripts, with '") != NULL, "%s", muster_last_error());
  cr_expect_eq(files->count, 0);
  folders_drop(folder);
  cr_expect_eq(source_files_read(folder, files), MUSTER_E_INPUT);
  const char *path = formed("%s.txt", folder);
  FILE *file = fopen(path, "w");
  cr_assert(file && fclose(file) == 0);
  cr_expect_eq(source_files_read(path, files), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "is neither a folder nor a file NAME.lua") != NULL, "%s", muster_last_error());
  unlink(path);
}

Test(folders, have_files_with_names_of_63_bytes_at_most) {
  char folder[] = "/tmp/muster-folder-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  SCOPED(free_memory) script_files *files = malloc(sizeof *files);
  for (int bytes = 63; bytes <= 64; bytes++) {
    const char *name = formed("%0*d.lua", bytes - 4, 0);
    folders_put(folder, name, " ", 1);
    cr_expect_eq(source_files_read(formed("%s/%s", folder, name), files), bytes == 63 ? MUSTER_OK : MUSTER_E_INPUT);
    source_files_free(files);
  }
  folders_drop(folder);
}

/* Whatever a function reaches is read-only, and none changes a variable outside of it, however deep it stands. */
Test(folders, what_functions_hold_is_read_only_however_they_hold_it) {
  static const char *const outside[] = {
      "local n = 0 function a:think() n = n + 1 end",
      "local m, n = 0, 0 function a:think() local f = function() n = m end f() end",
      "local l, m, n = 0, 0, 0 function a:think() return function() return function() n = l + m end end end",
      "local n = 0 local function add() n = n + 1 end function a:think() add() end",
      "local k, n = {}, 0 k.f = function() for i = 1, 2 do n = i end end function a:think() k.f() end",
      "local n = 0 local t = setmetatable({}, {__index = function() n = 1 end}) function a:think() return t.x end"};
  for (size_t i = 0; i < COUNT_OF(outside); i++)
    script_refused(formed(SCRIPT_FAST "%s\n", outside[i]),
                   "main.lua:2: this function changes 'n', a variable outside of it");
  static const char *const held[] = {
      "local b, c, d, e, t = 1, 2, 3, 4, {} function a:think() local x = b + c + d + e t.n = 1 end",
      "local key = {n = 0} local by = {[key] = 1} function a:think() for k in next, self.none or {} do end by[1] = 2 "
      "end",
      "local key = {n = 0} keys = {[key] = 1} local function of() return key end function a:think() of().n = 5 end",
      "local t = setmetatable({}, {__index = {list = {}}}) function a:think() t.list[1] = 5 end",
      "local function inner() local t = {} return function() return t end end local get = inner()\n"
      "function a:think() get().n = 1 end",
      "return_of = {deep = {deep = {deep = {}}}} function a:think() return_of.deep.deep.deep.n = 1 end",
      "a.list = {} function a:think() self.list[1] = 5 end",
      "function a:think() a.list = 5 end",
      "function a:think() table.insert(string, 5) end"};
  for (size_t i = 0; i < COUNT_OF(held); i++)
    script_expect(formed(SCRIPT_FAST "%s\n" SCRIPT_ONE, held[i]), 5,
                  "cannot be changed: what the scripts define is read-only");
}
