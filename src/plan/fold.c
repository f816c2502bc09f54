#include "plan/fold.h"

fold_result fold_membrane(const agent_store *store) {
  return (fold_result){.represented = store->active_count, .leaves = store->active_count};
}
