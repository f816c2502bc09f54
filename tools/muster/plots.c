#include "plots.h"

#include "complaint.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char script_path[PATH_MAX]; /* of the figure that is being described */

bool plots_prepare(const char *folder) {
  struct stat status;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    complain_failure("cannot make the folder '%s': %s", folder, strerror(errno));
    return false;
  }
  if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode)) errno = ENOTDIR;
  if (S_ISDIR(status.st_mode) && access(folder, W_OK | X_OK) == 0) return true;
  complain_failure("cannot write into the folder '%s': %s", folder, strerror(errno));
  return false;
}

/* A folder's name may hold what a quoted string of gnuplot gives a meaning: an apostrophe is written twice. */
static void print_quoted(FILE *stream, const char *text) {
  fputc('\'', stream);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', stream);
    fputc(*text, stream);
  }
  fputc('\'', stream);
}

FILE *plot_begin(const char *folder, const char *name, int width, int height) {
  char image[PATH_MAX];
  int length = snprintf(script_path, sizeof script_path, "%s/%s.gp", folder, name);
  snprintf(image, sizeof image, "%s/%s.png", folder, name);
  FILE *script = length < (int)sizeof script_path ? fopen(script_path, "we") : NULL;
  if (!script) {
    complain_failure("cannot write '%s': %s", script_path, strerror(errno));
    return NULL;
  }
  fprintf(script, "set terminal png size %d,%d\nset output ", width, height);
  print_quoted(script, image);
  fputc('\n', script);
  return script;
}

static bool run_gnuplot(void) {
  char program[] = "gnuplot";
  char *arguments[] = {program, script_path, NULL};
  pid_t child;
  int ended;
  int refused = posix_spawnp(&child, program, NULL, NULL, arguments, environ);
  if (refused == ENOENT) {
    fprintf(stderr, "muster: gnuplot is not installed (Debian: gnuplot-nox); '%s' will draw the figure with it\n",
            script_path);
    return true;
  }
  if (refused == 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return true;
  complain_failure("gnuplot could not draw '%s'%s%s", script_path, refused ? ": " : "",
                   refused ? strerror(refused) : "");
  return false;
}

bool plot_end(FILE *script) {
  bool failed = ferror(script) != 0;
  failed |= fclose(script) != 0;
  if (!failed) return run_gnuplot();
  complain_failure("cannot write '%s'", script_path);
  return false;
}
