#include "plots.h"

#include "complaint.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

bool plot_begin(struct plot *plot, const char *folder, const char *name, int width, int height) {
  char image[PATH_MAX];
  int length = snprintf(plot->path, sizeof plot->path, "%s/%s.gp", folder, name);
  snprintf(image, sizeof image, "%s/%s.png", folder, name);
  plot->script = length < (int)sizeof plot->path ? fopen(plot->path, "we") : NULL;
  if (!plot->script) {
    complain_failure("cannot write '%s': %s", plot->path, strerror(errno));
    return false;
  }
  fprintf(plot->script, "set terminal png size %d,%d\nset output ", width, height);
  print_quoted(plot->script, image);
  fputc('\n', plot->script);
  return true;
}

static bool run_gnuplot(const char *script) {
  char program[] = "gnuplot", path[PATH_MAX];
  char *arguments[] = {program, path, NULL};
  pid_t child;
  int ended;
  snprintf(path, sizeof path, "%s", script);
  int refused = posix_spawnp(&child, program, NULL, NULL, arguments, environ);
  if (refused == ENOENT) {
    fprintf(stderr, "muster: gnuplot is not installed (Debian: gnuplot-nox); '%s' will draw the figure with it\n",
            script);
    return true;
  }
  if (refused == 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return true;
  complain_failure("gnuplot could not draw '%s'%s%s", script, refused ? ": " : "", refused ? strerror(refused) : "");
  return false;
}

bool plot_end(struct plot *plot) {
  bool failed = ferror(plot->script) != 0;
  failed |= fclose(plot->script) != 0;
  if (!failed) return run_gnuplot(plot->path);
  complain_failure("cannot write '%s'", plot->path);
  return false;
}
