#include "noise.h"

#include "text.h"

#include "base/columns.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const double seconds_least = 0.2; /* twenty counts */

static double seconds_of(int who) {
  struct rusage usage;
  if (getrusage(who, &usage) != 0) return 0;
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

struct noise noise_begin(void) {
  struct noise noise = {.own = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
  double user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen;
  double unit = (double)sysconf(_SC_CLK_TCK);
  FILE *file = fopen("/proc/stat", "r");
  if (!file) return noise;
  int count = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &waiting, &interrupts,
                     &soft_interrupts, &stolen);
  fclose(file);
  if (count != 8 || unit <= 0) return noise;
  noise.known = true;
  noise.busy = (user + nice + system + interrupts + soft_interrupts) / unit;
  noise.stolen = stolen / unit;
  noise.seconds = noise.busy + noise.stolen + (idle + waiting) / unit;
  return noise;
}

bool noise_end(const struct noise *begin, double *others_share, double *stolen_share) {
  struct noise end = noise_begin();
  double seconds = end.seconds - begin->seconds;
  *others_share = *stolen_share = 0;
  if (!begin->known || !end.known || seconds < seconds_least) return false;
  double others = (end.busy - begin->busy) - (end.own - begin->own);
  *others_share = others > 0 ? others / seconds : 0;
  *stolen_share = (end.stolen - begin->stolen) / seconds;
  return true;
}

bool noise_is_loud(double others_share, double stolen_share) {
  return others_share > 0.05 || stolen_share > 0.02;
}

void noise_print(double others_share, double stolen_share) {
  char line[256];
  snprintf(line, sizeof line, "meanwhile other processes took %s of the processors and the host %s%s\n",
           text_share(others_share), text_share(stolen_share),
           noise_is_loud(others_share, stolen_share) ? ": NOT QUIET, measure again" : "");
  columns_print(stdout, line, columns_of(STDOUT_FILENO));
}
