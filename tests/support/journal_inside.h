/* tests/support/journal_inside.h - the fields of a journal, for tests that set what is measured otherwise. The memory
 * for a snapshot has another name here: what tests call journal_place is a folder. */
#ifndef JOURNAL_INSIDE_H
#define JOURNAL_INSIDE_H

#define journal_place journal_memory
#include "journal/journal.h"
#undef journal_place

#endif
