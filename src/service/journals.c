#include "service/journals.h"

muster_result journals_snapshot(struct hosted_world *world) {
  (void)world;
  return MUSTER_E_STATE;
}

muster_result journals_note(struct hosted_world *world, char kind, const void *bytes, size_t count) {
  (void)world, (void)kind, (void)bytes, (void)count;
  return MUSTER_E_STATE;
}

/* Until the library has it. */
muster_result muster_journal_status_read(muster_journal *journal, muster_journal_status *status) {
  (void)journal, (void)status;
  return MUSTER_E_STATE;
}

/* Until the library has it. */
void muster_journal_status_init(muster_journal_status *given, size_t bytes) {
  *given = (muster_journal_status){.size = (uint32_t)bytes};
}
