/* Each thread that the library starts has a name that says what it is for: in debuggers, profilers and top. */
#include "support/await.h"
#include "support/journal_files.h"
#include "support/little_world.h"
#include "support/thread_names.h"

#include <muster/journal.h>

#include <sched.h>

/* Each thread names itself when it begins, which may be after the call that started it. */
static void await_name(const char *name, uint32_t count) {
  AWAIT(thread_names_count(getpid(), name) == count);
}

Test(thread_names, every_thread_of_the_library_has_one) {
  journal_place place = place_make();
  muster_world_def world_def = muster_world_def_default();
  little_world little = little_world_create(2, &world_def);
  const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  muster_journal_def def = muster_journal_def_default();
  def.path = place.path;
  def.sync = MUSTER_JOURNAL_SYNC_SECOND;
  muster_journal *journal = NULL;
  cr_assert_eq(muster_journal_begin(little.world, &def, &journal), MUSTER_OK, "%s", muster_last_error());
  await_name("muster-1\n", 1);
  await_name("muster-watch\n", 1);
  await_name("muster-journal\n", 1);
  await_name("muster-", 3);
  cr_assert_eq(muster_journal_end(journal, true), MUSTER_OK, "%s", muster_last_error());
  little_world_destroy(&little);
  await_name("muster-", 0);
  place_remove(&place);
}
