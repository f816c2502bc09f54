/* Only regular files are opened; opening anything else never blocks. */
#include "base/files.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[32];

static const char *in_folder(const char *name) {
  static char path[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void make_socket(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  cr_assert_eq(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
  close(descriptor);
}

static void make_all(void) {
  strcpy(folder, "/tmp/muster-files-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(mkfifo(in_folder("fifo"), 0600), 0);
  cr_assert_eq(mkdir(in_folder("folder"), 0700), 0);
  make_socket(in_folder("socket"));
  FILE *file = fopen(in_folder("file"), "we");
  cr_assert(file && fputs("twelve bytes", file) >= 0 && fclose(file) == 0);
  cr_assert_eq(symlink("file", in_folder("link")), 0);
  cr_assert_eq(symlink("fifo", in_folder("way")), 0);
}

static void remove_all(void) {
  static const char *const names[] = {"fifo", "socket", "file", "link", "way", "fresh"};
  for (size_t i = 0; i < COUNT_OF(names); i++) unlink(in_folder(names[i]));
  rmdir(in_folder("folder"));
  cr_assert_eq(rmdir(folder), 0);
}

TestSuite(files, .init = make_all, .fini = remove_all, .timeout = 60);

static void expect_refused(const char *path, int flags, const char *says) {
  cr_expect_eq(files_open_regular(AT_FDCWD, path, flags, 0600), -1, "%s was opened", path);
  cr_expect_eq(errno, EINVAL);
  cr_expect(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
}

Test(files, what_is_none_is_refused_with_words_however_it_is_opened) {
  static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_TRUNC, O_RDONLY | O_NOFOLLOW};
  for (size_t i = 0; i < COUNT_OF(flags); i++) {
    expect_refused(in_folder("fifo"), flags[i], "it is a FIFO, not a regular file");
    expect_refused(in_folder("folder"), flags[i], "it is a folder");
    expect_refused(in_folder("socket"), flags[i], "it is a socket");
    expect_refused("/dev/null", flags[i], "it is a device");
  }
  expect_refused(in_folder("way"), O_RDONLY, "it is a FIFO");
  expect_refused(in_folder("link"), O_RDONLY | O_NOFOLLOW, "it is a symbolic link");
}

Test(files, a_fifo_with_a_reader_is_refused_too) {
  int reader = open(in_folder("fifo"), O_RDONLY | O_NONBLOCK);
  cr_assert_geq(reader, 0);
  expect_refused(in_folder("fifo"), O_WRONLY, "it is a FIFO");
  close(reader);
}

Test(files, one_that_is_absent_can_be_told_apart) {
  cr_expect_eq(files_open_regular(AT_FDCWD, in_folder("fresh"), O_RDONLY, 0), -1);
  cr_expect_eq(errno, ENOENT);
  cr_expect_str_eq(muster_last_error(), "cannot be opened: No such file or directory");
}

Test(files, regular_ones_are_opened_from_a_folder_made_and_cut) {
  struct stat status;
  int from = open(folder, O_RDONLY | O_DIRECTORY);
  int file = files_open_regular(from, "link", O_RDWR, 0);
  cr_assert_geq(file, 0, "%s", muster_last_error());
  cr_expect(fcntl(file, F_GETFD) & FD_CLOEXEC);
  cr_assert(fstat(file, &status) == 0 && status.st_size == 12);
  close(file);
  file = files_open_regular(from, "file", O_WRONLY | O_TRUNC | O_NOFOLLOW, 0);
  cr_assert(file >= 0 && fstat(file, &status) == 0 && status.st_size == 0);
  close(file);
  file = files_open_regular(from, "fresh", O_RDWR | O_CREAT | O_EXCL, 0640);
  cr_assert(file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0177) == 0040);
  close(file);
  close(from);
}

Test(files, nothing_but_a_regular_file_may_be_replaced) {
  cr_expect_eq(files_check_replaceable(in_folder("file")), MUSTER_OK);
  cr_expect_eq(files_check_replaceable(in_folder("fresh")), MUSTER_OK);
  cr_expect_eq(files_check_replaceable("/dev/null"), MUSTER_E_INPUT);
  cr_expect(strstr(muster_last_error(), "it is a device"), "%s", muster_last_error());
  cr_expect_eq(files_check_replaceable(in_folder("link")), MUSTER_E_INPUT);
  cr_expect_eq(files_check_replaceable(in_folder("fifo")), MUSTER_E_INPUT);
}
