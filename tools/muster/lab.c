/* `muster bench` and `muster repro`: commands of muster-lab, another program, which may come in another package. */
#include "commands.h"
#include "complaint.h"
#include "program.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 256 };

int lab_command(int count, char **arguments) {
  char path[PATH_MAX], *words[WORDS_MAX + 2] = {(char[]){"muster-lab"}};
  if (count > WORDS_MAX) return complain_usage("%s: more than %d words", arguments[0], WORDS_MAX);
  memcpy(words + 1, arguments, (size_t)count * sizeof *words);
  execvp(program_beside("muster-lab", path), words);
  if (errno == ENOENT)
    return complain_usage(
        "`muster %s` needs muster-lab, which is not there: install the package muster-lab, or build the "
        "target muster_lab",
        arguments[0]);
  return complain_failure("muster-lab cannot be run: %s", strerror(errno));
}
