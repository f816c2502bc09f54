/* Each thread that the library starts has a name that says what it is for: in debuggers, profilers and top. */
#include "support/journal_town.h"
#include "support/thread_names.h"

/* Each thread names itself when it begins, which may be after the call that started it. */
static void await_name(const char *name, uint32_t count) {
  AWAIT(thread_names_count(getpid(), name) == count);
}

Test(thread_names, every_thread_of_the_library_has_one) {
  kept_world kept = kept_world_of(town_of(2, MUSTER_CLOCK_WALL, town_type()),
                                  WITH(muster_journal_def, it.sync = MUSTER_JOURNAL_SYNC_SECOND));
  await_name("muster-1\n", 1);
  await_name("muster-watch\n", 1);
  await_name("muster-journal\n", 1);
  await_name("muster-", 3);
  kept_world_end(&kept);
  await_name("muster-", 0);
}
