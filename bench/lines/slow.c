/* The clocks, as many times slower as noting makes the library. So a frame's budget holds as many updates as it would
 * otherwise, beside stages that take as large a part of it: what is touched depends on that, since agents that do not
 * fit wait. Updates take their time by these clocks, too.
 *
 * The linker puts these functions in the place of those of base/clock.h (--wrap). */
#include "base/clock.h"

#include "slow.h"

uint64_t __real_clock_now(const clock_source *source);
uint64_t __wrap_clock_now(const clock_source *source);
uint64_t __real_clock_system(void);
uint64_t __wrap_clock_system(void);
uint64_t __real_clock_thread_cpu(void);
uint64_t __wrap_clock_thread_cpu(void);
clock_source __real_clock_calibrate(void);
clock_source __wrap_clock_calibrate(void);

uint64_t __wrap_clock_now(const clock_source *source) {
  return __real_clock_now(source) / SLOW_TIMES;
}

uint64_t __wrap_clock_system(void) {
  return __real_clock_system() / SLOW_TIMES;
}

uint64_t __wrap_clock_thread_cpu(void) {
  return __real_clock_thread_cpu() / SLOW_TIMES;
}

clock_source __wrap_clock_calibrate(void) {
  clock_source source = __real_clock_calibrate();
  source.read_ns /= SLOW_TIMES;
  source.thread_cpu_ns /= SLOW_TIMES;
  return source;
}
