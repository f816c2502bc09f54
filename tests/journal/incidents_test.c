/* Journals of crashes that are kept: as many as are asked for, also of more than a few, and the newest. */
#include "journal/journal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { OF_A_CRASH = 7 };

static void put_file(const char *path, const char *what, uint64_t number, const char *ending) {
  journal_name name;
  FILE *file = fopen(journal_file_name(path, what, number, ending, name), "we");
  cr_assert_not_null(file);
  fputs("cut", file);
  fclose(file);
}

/* Of these numbers, without one between them. */
static void expect_kept(const char *path, uint64_t first, uint64_t last) {
  journal_numbers kept;
  journal_name name;
  cr_assert_eq(journal_files_list(path, "incident-", ".journal", &kept), MUSTER_OK);
  cr_expect_eq(kept.count, last - first + 1);
  cr_expect(kept.numbers[0] == last && kept.numbers[kept.count - 1] == first, "%lu .. %lu",
            kept.numbers[kept.count - 1], kept.numbers[0]);
  cr_expect(access(journal_file_name(path, "incident-", last, ".snapshot", name), F_OK) == 0, "with its snapshot");
}

Test(incidents, are_kept_up_to_the_number_that_is_asked_for) {
  static const uint32_t most[] = {1, 4, 63, 64, 65, 100, INCIDENTS_MOST};
  for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
    char folder[] = "/tmp/muster-test-incidents-XXXXXX", path[64], command[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/world", folder);
    for (uint64_t number = 1; number <= most[i] + 1; number++) put_file(path, "incident-", number, ".journal");
    put_file(path, "", OF_A_CRASH, ".journal");
    put_file(path, "", OF_A_CRASH, ".snapshot");
    journal_files_retire(path, OF_A_CRASH + 1, most[i]);
    expect_kept(path, 3, most[i] + 2);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
  }
}
