/* printed.h - what the program muster prints about the one daemon of a file (served.h). */
#ifndef PRINTED_H
#define PRINTED_H

#include "served.h"
#include "tools/program.h"

/* `muster LINE` ends with this status, and prints the text, or complains by it where that is not 0. */
static inline void expect_printed(const char *line, int status, const char *text) {
  SCOPED(free_memory) program_run *run = program_start(line);
  cr_expect_eq(run->status, status, "muster %s: status %d: %s%s", line, run->status, run->output, run->errors);
  cr_expect(strstr(status ? run->errors : run->output, text), "muster %s: no \"%s\" in: %s%s", line, text, run->output,
            run->errors);
}

#endif
