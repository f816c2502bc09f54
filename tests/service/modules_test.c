/* Which shared objects the service loads, and why it refuses the others. */
#include "daemon.h"
#include "service/modules.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of modules of its own for one test. */
struct shelf {
  char folder[64];
  struct modules modules;
};

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...) {
  char command[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  cr_assert(system(command) == 0, "%s", command);
}

static void take_down(struct shelf *shelf) {
  modules_close(&shelf->modules);
  run("rm -r %s", shelf->folder);
}

static void make_folder(struct shelf *shelf) {
  *shelf = (struct shelf){.folder = "/tmp/musterd-modules-XXXXXX"};
  cr_assert(mkdtemp(shelf->folder) != NULL);
  run("cp %s/*.so %s && chmod go-w %s/*", getenv("ODD_MODULES"), shelf->folder, shelf->folder);
}

static void put_up(struct shelf *shelf) {
  make_folder(shelf);
  cr_assert(modules_open(&shelf->modules, shelf->folder) == MUSTER_OK, "%s", muster_last_error());
}

static void expect_refused(struct shelf *shelf, const char *name, const char *says) {
  uint32_t before = shelf->modules.count;
  cr_expect(modules_load(&shelf->modules, name) == NULL, "%s was loaded", name);
  cr_expect(strstr(muster_last_error(), says) != NULL, "\"%s\" is not in: %s", says, muster_last_error());
  cr_expect(strstr(muster_last_error(), "/proc/") == NULL, "%s", muster_last_error());
  cr_expect(shelf->modules.count == before);
}

static void expect_loaded(struct shelf *shelf, const char *name, const char *calls_itself) {
  const muster_module *module = modules_load(&shelf->modules, name);
  cr_assert(module != NULL, "%s", muster_last_error());
  cr_expect(strcmp(module->name, calls_itself) == 0, "%s calls itself %s", name, module->name);
  cr_expect(modules_load(&shelf->modules, name) == module, "a second time it is another one");
}

Test(modules, a_good_one_is_loaded_once_and_several_are_kept_apart) {
  struct shelf shelf;
  put_up(&shelf);
  expect_loaded(&shelf, "plain", "odd");
  expect_loaded(&shelf, "second", "second");
  cr_expect(shelf.modules.count == 2);
  take_down(&shelf);
}

/* Programs that the service starts do not get it. */
Test(modules, of_a_folder_alone_and_for_this_process_alone_are_opened) {
  static struct modules modules;
  cr_assert_eq(modules_open(&modules, MUSTER_TEST_MODULES), MUSTER_OK, "%s", muster_last_error());
  cr_expect(fcntl(modules.descriptor, F_GETFD) & FD_CLOEXEC);
  close(modules.descriptor);
  static const char *const bad[] = {"/etc/passwd", "/nowhere/at/all"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cr_expect_eq(modules_open(&modules, bad[i]), MUSTER_E_SYSTEM);
    cr_expect_lt(modules.descriptor, 0);
    cr_expect(strstr(muster_last_error(), bad[i]), "%s", muster_last_error());
  }
}

Test(modules, one_that_does_not_fit_is_refused_with_its_reason) {
  struct shelf shelf;
  put_up(&shelf);
  expect_refused(&shelf, "other_abi", "module 'other_abi': it was built for ABI 2, this service is for 1");
  expect_refused(&shelf, "other_size", "its size is 1048576 bytes");
  expect_refused(&shelf, "hollow", "it lacks one of name, summary, open");
  expect_refused(&shelf, "unruly", "module 'unruly': metric 'odd-ones': a name has at most 40 lower-case letters");
  expect_refused(&shelf, "mute", "it exports no muster_module_get");
  expect_refused(&shelf, "empty", "its muster_module_get gives no module");
  expect_refused(&shelf, "unresolved", "undefined symbol: muster_of_another_version");
  expect_refused(&shelf, "absent", "absent.so in /tmp/");
  expect_loaded(&shelf, "second", "second");
  take_down(&shelf);
}

Test(modules, one_of_another_header_is_taken_as_far_as_both_know_it) {
  struct shelf shelf;
  put_up(&shelf);
  const muster_module *plain = modules_load(&shelf.modules, "plain");
  cr_assert(plain && plain->skip_ns, "%s", muster_last_error());
  const muster_module *older = modules_load(&shelf.modules, "older");
  cr_assert(older && older->open, "%s", muster_last_error());
  cr_expect(!older->skip_ns, "what lies behind an older module is not read");
  expect_loaded(&shelf, "newer", "odd");
  expect_refused(&shelf, "newest", "module 'newest': muster_module: byte");
  take_down(&shelf);
}

/* The loader knows an object by the number of its descriptor, which is used again. */
Test(modules, one_that_was_refused_is_not_mistaken_for_the_next) {
  struct shelf shelf;
  put_up(&shelf);
  for (int i = 0; i < 100; i++) expect_refused(&shelf, "other_abi", "ABI");
  expect_loaded(&shelf, "plain", "odd");
  expect_refused(&shelf, "empty", "gives no module");
  expect_loaded(&shelf, "second", "second");
  int next = dup(0);
  cr_expect(next < 32, "descriptors are left open: the next is %d", next);
  close(next);
  take_down(&shelf);
}

Test(modules, names_that_are_paths_or_none_are_refused) {
  static const char *const names[] = {
      "", ".", "..", "../plain", "/tmp/plain", "plain.so", "pl ain", "plain\n", "a23456789012345678901234567890123"};
  struct shelf shelf;
  put_up(&shelf);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) expect_refused(&shelf, names[i], "is no name of a module");
  take_down(&shelf);
}

Test(modules, a_file_that_others_may_write_is_refused) {
  struct shelf shelf;
  put_up(&shelf);
  run("chmod o+w %s/plain.so && chmod g+w %s/second.so", shelf.folder, shelf.folder);
  expect_refused(&shelf, "plain", "module 'plain': others may write it; take that away with chmod go-w");
  expect_refused(&shelf, "second", "others may write it");
  run("chmod go-w %s/plain.so", shelf.folder);
  expect_loaded(&shelf, "plain", "odd");
  take_down(&shelf);
}

Test(modules, what_is_no_regular_file_is_refused) {
  struct shelf shelf;
  put_up(&shelf);
  run("mv %s/plain.so %s/real", shelf.folder, shelf.folder);
  run("ln -s real %s/plain.so", shelf.folder);
  expect_refused(&shelf, "plain", "it is a symbolic link");
  run("rm %s/second.so && mkfifo -m 600 %s/second.so", shelf.folder, shelf.folder);
  expect_refused(&shelf, "second", "second.so in /tmp/");
  expect_refused(&shelf, "second", "it is a FIFO, not a regular file");
  run("mkdir -m 700 %s/folder.so", shelf.folder);
  expect_refused(&shelf, "folder", "it is a folder");
  run("echo nonsense >%s/text.so && chmod 600 %s/text.so", shelf.folder, shelf.folder);
  expect_refused(&shelf, "text", "module 'text': it is no shared object");
  run("truncate -s 100G %s/vast.so && chmod 600 %s/vast.so", shelf.folder, shelf.folder);
  expect_refused(&shelf, "vast", "it has more than 256 MiB");
  take_down(&shelf);
}

/* As many bytes of plain.so as a copy in progress has; what is not there yet is absent or, where the file was made in
 * its full length first, zero. */
static void copy_in_part(const struct shelf *shelf, long bytes, bool full_length) {
  run("head -c %ld %s/plain.so >%s/part.so && chmod 600 %s/part.so", bytes, shelf->folder, shelf->folder,
      shelf->folder);
  if (full_length) run("truncate -r %s/plain.so %s/part.so", shelf->folder, shelf->folder);
}

Test(modules, one_that_is_still_being_copied_is_refused_wherever_it_is_cut, .timeout = 120) {
  struct shelf shelf;
  struct stat status;
  char path[128];
  put_up(&shelf);
  snprintf(path, sizeof path, "%s/plain.so", shelf.folder);
  cr_assert_eq(stat(path, &status), 0);
  for (long bytes = 0; bytes < status.st_size; bytes += bytes < status.st_size - 1500 ? 1499 : 97) {
    copy_in_part(&shelf, bytes, false);
    expect_refused(&shelf, "part", "module 'part': it is ");
    copy_in_part(&shelf, bytes - bytes % 4096, true);
    expect_refused(&shelf, "part", "module 'part': it is ");
  }
  copy_in_part(&shelf, status.st_size, false);
  expect_loaded(&shelf, "part", "odd");
  take_down(&shelf);
}

/* As `cp` does it to a module that is in use. */
Test(modules, one_that_is_loaded_stays_whole_when_its_file_is_cut_and_overwritten) {
  struct shelf shelf;
  put_up(&shelf);
  const muster_module *module = modules_load(&shelf.modules, "plain");
  cr_assert_not_null(module, "%s", muster_last_error());
  run("truncate -s 0 %s/plain.so", shelf.folder);
  muster_module_options options = muster_module_options_default();
  muster_module_needs needs = {.size = sizeof needs};
  void *instance = NULL;
  cr_expect_eq(module->open(&options, &instance, &needs), MUSTER_OK);
  cr_expect_eq(needs.agents, 10);
  module->close(instance);
  run("head -c 8192 /dev/urandom >%s/plain.so", shelf.folder);
  cr_expect_eq(module->open(&options, &instance, &needs), MUSTER_OK);
  expect_loaded(&shelf, "plain", "odd");
  take_down(&shelf);
}

static uint32_t open_files(void) {
  uint32_t count = 0;
  for (int file = 0; file < 256; file++) count += fcntl(file, F_GETFD) >= 0;
  return count;
}

Test(modules, are_judged_without_being_loaded) {
  struct shelf shelf;
  put_up(&shelf);
  run("mkfifo -m 600 %s/pipe.so && head -c 5000 %s/plain.so >%s/part.so && chmod 600 %s/part.so", shelf.folder,
      shelf.folder, shelf.folder, shelf.folder);
  cr_expect_eq(modules_check(shelf.folder, "plain"), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(modules_check(shelf.folder, "pipe"), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "it is a FIFO"), "%s", muster_last_error());
  cr_expect_eq(modules_check(shelf.folder, "part"), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "was it still being copied?"), "%s", muster_last_error());
  cr_expect_eq(modules_check("/nonexistent", "plain"), MUSTER_E_SYSTEM);
  uint32_t before = open_files();
  for (int i = 0; i < 3; i++) modules_check(shelf.folder, i ? "plain" : "part");
  cr_expect_eq(open_files(), before, "files are left open");
  take_down(&shelf);
}

Test(modules, a_folder_that_others_may_write_is_refused_and_so_is_all_in_it) {
  struct shelf shelf;
  make_folder(&shelf);
  run("chmod g+w %s", shelf.folder);
  cr_expect(modules_open(&shelf.modules, shelf.folder) == MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "others may write it"), "%s", muster_last_error());
  expect_refused(&shelf, "plain", "was refused");
  cr_expect(modules_open(&shelf.modules, "/nonexistent") == MUSTER_E_SYSTEM);
  take_down(&shelf);
}

/* Only root can give files away. */
Test(modules, what_belongs_to_somebody_else_is_refused) {
  struct shelf shelf;
  put_up(&shelf);
  if (geteuid() == 0) {
    run("chown 12345 %s/plain.so", shelf.folder);
    expect_refused(&shelf, "plain", "it belongs to user 12345; it must belong to root or to the service's user 0");
    struct modules of_root;
    run("chmod 755 %s", shelf.folder);
    cr_assert_eq(seteuid(12345), 0);
    muster_result result = modules_open(&of_root, shelf.folder);
    cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(result, MUSTER_OK, "what is root's is good for any user: %s", muster_last_error());
    close(of_root.descriptor);
  }
  expect_loaded(&shelf, "second", "second");
  take_down(&shelf);
}

/* All of these are among the worlds of one service, which goes on with the one that is good. */
Test(modules, the_service_goes_on_without_worlds_whose_modules_are_refused) {
  musterd service;
  daemon_prepare(&service);
  run("mkdir -m 700 %s/m && cp %s/*.so %s/m && chmod go-w %s/m/*", service.folder, getenv("ODD_MODULES"),
      service.folder, service.folder);
  daemon_launch(
      &service,
      "--modules @/m --budget 1ms --world good=plain --world a=other_abi --world b=unresolved --world c=absent");
  cr_assert(daemon_await(&service, "READY=1"));
  daemon_await_log(&service, "world a is not hosted: module 'other_abi': it was built for ABI 2");
  daemon_await_log(&service, "world b is not hosted: module 'unresolved': undefined symbol");
  daemon_await_log(&service, "world c is not hosted: module 'absent': absent.so in ");
  daemon_await_log(&service, "world good: module plain");
  daemon_await_log(&service, "ready: 1 of 4 worlds run");
  static daemon_reply reply;
  daemon_ask(&service, "GET", "/v1/worlds/good/agents", NULL, &reply);
  cr_expect(reply.status == 200, "%s", reply.text);
  daemon_ask(&service, "GET", "/v1/worlds/a/agents", NULL, &reply);
  cr_expect(reply.status == 409 && strstr(reply.body, "was built for ABI 2"), "%s", reply.text);
  daemon_ask(&service, "POST", "/v1/modules", "{\"module\": \"mute\"}", &reply);
  cr_expect(reply.status == 409 && strstr(reply.body, "exports no muster_module_get"), "%s", reply.text);
  daemon_ask(&service, "POST", "/v1/modules", "{\"module\": \"second\"}", &reply);
  cr_expect(reply.status == 200, "%s", reply.text);
  daemon_stop(&service);
}

/* A module as its user builds it: out of this tree, with the public headers and nothing else. */
Test(modules, the_template_is_built_elsewhere_and_hosted) {
  musterd service;
  daemon_prepare(&service);
  run("mkdir -m 700 %s/m && cp " MUSTER_SOURCE_DIR "/tests/examples/template_module.c %s/walkers.c", service.folder,
      service.folder);
  run("cp -r " MUSTER_SOURCE_DIR "/include %s/include", service.folder);
  run("cd %s && %s -std=c17 -Wall -Wextra -Werror -O2 -shared -fPIC -I include walkers.c -o m/walkers.so && "
      "chmod 700 m/walkers.so",
      service.folder, getenv("COMPILER"));
  daemon_launch(&service, "--modules @/m --world main=walkers --agents 500");
  cr_assert(daemon_await(&service, "READY=1"));
  static daemon_reply reply;
  do {
    daemon_ask(&service, "GET", "/v1/worlds/main/types", NULL, &reply);
    cr_assert(reply.status == 200, "%s", reply.text);
  } while (!strstr(reply.body, "\"agents\": 500") ||
           strstr(reply.body, "\"samples\": 0")); /* until they have walked; ctest ends it when they never do */
  cr_expect(strstr(reply.body, "\"type\": \"walker\""), "%s", reply.body);
  daemon_stop(&service);
}
