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

FILE *plot_begin(const char *folder, const char *name, int width, int height) {
  int length = snprintf(script_path, sizeof script_path, "%s/%s.gp", folder, name);
  FILE *script = length < (int)sizeof script_path ? fopen(script_path, "we") : NULL;
  if (!script) {
    complain_failure("cannot write '%s': %s", script_path, strerror(errno));
    return NULL;
  }
  fprintf(script, "set terminal png size %d,%d\nset output '%s.png'\n", width, height, name);
  return script;
}

/* In the script's folder, so that script and picture can be moved together and name no folder. */
static bool run_gnuplot(void) {
  char *name = strrchr(script_path, '/') + 1;
  char program[] = "gnuplot", *arguments[] = {program, name, NULL}, folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", (int)(name - script_path), script_path);
  pid_t child;
  int ended;
  posix_spawn_file_actions_t there;
  int refused = posix_spawn_file_actions_init(&there);
  if (refused) {
    complain_failure("gnuplot could not draw '%s': %s", script_path, strerror(refused));
    return false;
  }
  refused = posix_spawn_file_actions_addchdir_np(&there, folder);
  if (!refused) refused = posix_spawnp(&child, program, &there, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&there);
  if (refused == ENOENT) {
    fprintf(
        stderr,
        "muster: gnuplot is not installed (Debian: gnuplot-nox); '%s' will draw the figure with it, in its folder\n",
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
