/* Which shared objects the service loads, and why it refuses the others. */
#include "served.h"
#include "service/modules.h"

/* A folder of modules of its own for one test. */
static char folder[64];
static struct modules modules;

/* Commands of the shell. */
__attribute__((format(printf, 1, 2))) static void run(const char *format, ...) {
  char command[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  cr_assert(system(command) == 0, "%s", command);
}

/* The same in the folder. */
static void run_there(const char *command) {
  run("cd %s && %s", folder, command);
}

static void put_up(void) {
  strcpy(folder, "/tmp/musterd-modules-XXXXXX");
  cr_assert(mkdtemp(folder) != NULL);
  run("cp %s/*.so %s && chmod go-w %s/*", getenv("ODD_MODULES"), folder, folder);
  cr_assert(modules_open(&modules, folder) == MUSTER_OK, "%s", muster_last_error());
}

static void take_down(void) {
  stop();
  modules_close(&modules);
  run("rm -r %s", folder);
}

TestSuite(modules, .init = put_up, .fini = take_down);

static void expect_refused(const char *name, const char *says) {
  uint32_t before = modules.count;
  cr_expect(modules_load(&modules, name) == NULL, "%s was loaded", name);
  cr_expect(strstr(muster_last_error(), says) != NULL, "\"%s\" is not in: %s", says, muster_last_error());
  cr_expect(strstr(muster_last_error(), "/proc/") == NULL, "%s", muster_last_error());
  cr_expect(modules.count == before);
}

/* Refused after something was done to its file. */
static void spoil(const char *command, const char *name, const char *says) {
  run_there(command);
  expect_refused(name, says);
}

static void expect_loaded(const char *name, const char *calls_itself) {
  const muster_module *module = modules_load(&modules, name);
  cr_assert(module != NULL, "%s", muster_last_error());
  cr_expect(strcmp(module->name, calls_itself) == 0, "%s calls itself %s", name, module->name);
  cr_expect(modules_load(&modules, name) == module, "a second time it is another one");
}

Test(modules, a_good_one_is_loaded_once_and_several_are_kept_apart) {
  EACH_PAIR(expect_loaded, {"plain", "odd"}, {"second", "second"});
  cr_expect(modules.count == 2);
}

/* Programs that the service starts do not get it. */
Test(modules, of_a_folder_alone_and_for_this_process_alone_are_opened) {
  static const char *const bad[] = {"/etc/passwd", "/nowhere/at/all"};
  cr_expect(fcntl(modules.descriptor, F_GETFD) & FD_CLOEXEC);
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    modules_close(&modules);
    cr_expect_eq(modules_open(&modules, bad[i]), MUSTER_E_SYSTEM);
    cr_expect_lt(modules.descriptor, 0);
    cr_expect(strstr(muster_last_error(), bad[i]), "%s", muster_last_error());
  }
}

Test(modules, one_that_does_not_fit_is_refused_with_its_reason) {
  EACH_PAIR(expect_refused, {"other_abi", "module 'other_abi': it was built for ABI 2, this program is for 1"},
            {"other_size", "its size is 1048576 bytes"}, {"hollow", "it lacks one of name, summary, open"},
            {"unruly", "module 'unruly': metric 'odd-ones': a name has at most 40 lower-case letters"},
            {"mute", "it exports no muster_module_get"}, {"empty", "its muster_module_get gives no module"},
            {"unresolved", "undefined symbol: muster_of_another_version"}, {"absent", "absent.so in /tmp/"});
  expect_loaded("second", "second");
}

Test(modules, one_of_another_header_is_taken_as_far_as_both_know_it) {
  const muster_module *plain = modules_load(&modules, "plain");
  cr_assert(plain && plain->skip_ns, "%s", muster_last_error());
  const muster_module *older = modules_load(&modules, "older");
  cr_assert(older && older->open, "%s", muster_last_error());
  cr_expect(!older->skip_ns, "what lies behind an older module is not read");
  expect_loaded("newer", "odd");
  expect_refused("newest", "module 'newest': muster_module: byte");
}

/* The loader knows an object by the number of its descriptor, which is used again. */
Test(modules, one_that_was_refused_is_not_mistaken_for_the_next) {
  for (int i = 0; i < 100; i++) expect_refused("other_abi", "ABI");
  expect_loaded("plain", "odd");
  expect_refused("empty", "gives no module");
  expect_loaded("second", "second");
  int next = dup(0);
  cr_expect(next < 32, "descriptors are left open: the next is %d", next);
  close(next);
}

Test(modules, names_that_are_paths_or_none_are_refused) {
  static const char *const names[] = {
      "", ".", "..", "../plain", "/tmp/plain", "plain.so", "pl ain", "plain\n", "a23456789012345678901234567890123"};
  for (size_t i = 0; i < COUNT_OF(names); i++) expect_refused(names[i], "is no name of a module");
}

Test(modules, a_file_that_others_may_write_is_refused) {
  spoil("chmod o+w plain.so && chmod g+w second.so", "plain",
        "module 'plain': others may write it; take that away with chmod go-w");
  expect_refused("second", "others may write it");
  run_there("chmod go-w plain.so");
  expect_loaded("plain", "odd");
}

Test(modules, what_is_no_regular_file_is_refused) {
  run_there("mv plain.so real");
  spoil("ln -s real plain.so", "plain", "it is a symbolic link");
  spoil("rm second.so && mkfifo -m 600 second.so", "second", "second.so in /tmp/");
  expect_refused("second", "it is a FIFO, not a regular file");
  spoil("mkdir -m 700 folder.so", "folder", "it is a folder");
  spoil("echo nonsense >text.so && chmod 600 text.so", "text", "module 'text': it is no shared object");
  spoil("truncate -s 100G vast.so && chmod 600 vast.so", "vast", "it has more than 256 MiB");
}

/* As many bytes of plain.so as a copy in progress has; the rest is absent or, where the file was made in full length,
 * zero. */
static void copy_in_part(long bytes, bool full_length) {
  run_there(formed("head -c %ld plain.so >part.so && chmod 600 part.so", bytes));
  if (full_length) run_there("truncate -r plain.so part.so");
}

Test(modules, one_that_is_still_being_copied_is_refused_wherever_it_is_cut, .timeout = 120) {
  struct stat status;
  cr_assert_eq(stat(formed("%s/plain.so", folder), &status), 0);
  for (long bytes = 0; bytes < status.st_size; bytes += bytes < status.st_size - 1500 ? 1499 : 97) {
    copy_in_part(bytes, false);
    expect_refused("part", "module 'part': it is ");
    copy_in_part(bytes - bytes % 4096, true);
    expect_refused("part", "module 'part': it is ");
  }
  copy_in_part(status.st_size, false);
  expect_loaded("part", "odd");
}

/* As `cp` does it to a module that is in use. */
Test(modules, one_that_is_loaded_stays_whole_when_its_file_is_cut_and_overwritten) {
  const muster_module *module = modules_load(&modules, "plain");
  cr_assert_not_null(module, "%s", muster_last_error());
  run_there("truncate -s 0 plain.so");
  muster_module_options options = muster_module_options_default();
  muster_module_needs needs = {.size = sizeof needs};
  void *instance = NULL;
  cr_expect_eq(module->open(&options, &instance, &needs), MUSTER_OK);
  cr_expect_eq(needs.agents, 10);
  module->close(instance);
  run_there("head -c 8192 /dev/urandom >plain.so");
  cr_expect_eq(module->open(&options, &instance, &needs), MUSTER_OK);
  expect_loaded("plain", "odd");
}

static uint32_t open_files(void) {
  uint32_t count = 0;
  for (int file = 0; file < 256; file++) count += fcntl(file, F_GETFD) >= 0;
  return count;
}

Test(modules, are_judged_without_being_loaded) {
  run_there("mkfifo -m 600 pipe.so && head -c 5000 plain.so >part.so && chmod 600 part.so");
  cr_expect_eq(modules_check(folder, "plain"), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(modules_check(folder, "pipe"), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "it is a FIFO"), "%s", muster_last_error());
  cr_expect_eq(modules_check(folder, "part"), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "was it still being copied?"), "%s", muster_last_error());
  cr_expect_eq(modules_check("/nonexistent", "plain"), MUSTER_E_SYSTEM);
  uint32_t before = open_files();
  for (int i = 0; i < 3; i++) modules_check(folder, i ? "plain" : "part");
  cr_expect_eq(open_files(), before, "files are left open");
}

Test(modules, a_folder_that_others_may_write_is_refused_and_so_is_all_in_it) {
  modules_close(&modules);
  run_there("chmod g+w .");
  cr_expect(modules_open(&modules, folder) == MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "others may write it"), "%s", muster_last_error());
  expect_refused("plain", "was refused");
  cr_expect(modules_open(&modules, "/nonexistent") == MUSTER_E_SYSTEM);
}

/* Only root can give files away. */
Test(modules, what_belongs_to_somebody_else_is_refused) {
  if (geteuid() == 0) {
    spoil("chown 12345 plain.so", "plain",
          "it belongs to user 12345; it must belong to root or to the service's user 0");
    struct modules of_root;
    run("chmod 755 %s", folder);
    cr_assert_eq(seteuid(12345), 0);
    muster_result result = modules_open(&of_root, folder);
    cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(result, MUSTER_OK, "what is root's is good for any user: %s", muster_last_error());
    close(of_root.descriptor);
  }
  expect_loaded("second", "second");
}

/* All of these are among the worlds of one service, which goes on with the one that is good. */
Test(modules, the_service_goes_on_without_worlds_whose_modules_are_refused) {
  daemon_prepare(&service);
  run("mkdir -m 700 %s/m && cp %s/*.so %s/m && chmod go-w %s/m/*", service.folder, getenv("ODD_MODULES"),
      service.folder, service.folder);
  launch_ready("--modules @/m --budget 1ms --world good=plain --world a=other_abi --world b=unresolved "
               "--world c=absent");
  EACH(await_log, "world a is not hosted: module 'other_abi': it was built for ABI 2",
       "world b is not hosted: module 'unresolved': undefined symbol",
       "world c is not hosted: module 'absent': absent.so in ", "world good: module plain", "ready: 1 of 4 worlds run");
  expect_answer("GET", "/v1/worlds/good/agents", NULL, 200, "");
  expect_answer("GET", "/v1/worlds/a/agents", NULL, 409, "was built for ABI 2");
  expect_answer("POST", "/v1/modules", "{\"module\": \"mute\"}", 409, "exports no muster_module_get");
  expect_answer("POST", "/v1/modules", "{\"module\": \"second\"}", 200, "");
}

/* A module as its user builds it: out of this tree, with the public headers and nothing else. */
Test(modules, the_template_is_built_elsewhere_and_hosted) {
  daemon_prepare(&service);
  run("mkdir -m 700 %s/m && cp " MUSTER_SOURCE_DIR "/tests/examples/template_module.c %s/walkers.c", service.folder,
      service.folder);
  run("cp -r " MUSTER_SOURCE_DIR "/include %s/include", service.folder);
  run("cd %s && %s -std=c17 -Wall -Wextra -Werror -O2 -shared -fPIC -I include walkers.c -o m/walkers.so && "
      "chmod 700 m/walkers.so",
      service.folder, getenv("COMPILER"));
  launch_ready("--modules @/m --world main=walkers --agents 500");
  do {
    fetch("GET", WORLD "/types", NULL);
    cr_assert(reply.status == 200, "%s", reply.text);
  } while (!strstr(reply.body, "\"agents\": 500") ||
           strstr(reply.body, "\"samples\": 0")); /* until they have walked; ctest ends it when they never do */
  cr_expect(strstr(reply.body, "\"type\": \"walker\""), "%s", reply.body);
}
