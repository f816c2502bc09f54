#include "bench_noise.h"

#include "text.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds_of(int who) {
  struct rusage usage;
  if (getrusage(who, &usage) != 0) return 0;
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

bench_noise bench_noise_begin(void) {
  bench_noise noise = {.own = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
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

void bench_noise_end(const bench_noise *begin, double *others_share, double *stolen_share) {
  bench_noise end = bench_noise_begin();
  double seconds = end.seconds - begin->seconds;
  *others_share = *stolen_share = 0;
  if (!begin->known || !end.known || seconds <= 0) return;
  double others = (end.busy - begin->busy) - (end.own - begin->own);
  *others_share = others > 0 ? others / seconds : 0;
  *stolen_share = (end.stolen - begin->stolen) / seconds;
}

void bench_noise_print(double others_share, double stolen_share) {
  char others[TEXT_BYTES], stolen[TEXT_BYTES];
  bool noisy = others_share > 0.05 || stolen_share > 0.02;
  printf("meanwhile other processes took %s of the processors and the host %s%s\n", text_share(others, others_share),
         text_share(stolen, stolen_share), noisy ? ": NOT QUIET, measure again" : "");
}
