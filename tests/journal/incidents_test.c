/* Journals of crashes that are kept: as many as are asked for, also of more than a few, and the newest. */
#include "support/journal_files.h"
#include "support/journal_inside.h"
#include "support/with.h"

enum { OF_A_CRASH = 7 };

static void put_file(const char *path, const char *what, uint64_t number, const char *ending) {
  journal_name name;
  file_write(journal_file_name(path, what, number, ending, name), "cut", 3);
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
  for (size_t i = 0; i < COUNT_OF(most); i++) {
    SCOPED(place_remove) journal_place place = place_make();
    const char *path = place.path;
    for (uint64_t number = 1; number <= most[i] + 1; number++) put_file(path, "incident-", number, ".journal");
    put_file(path, "", OF_A_CRASH, ".journal");
    put_file(path, "", OF_A_CRASH, ".snapshot");
    journal_files_retire(path, OF_A_CRASH + 1, most[i]);
    expect_kept(path, 3, most[i] + 2);
  }
}
