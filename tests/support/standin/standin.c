/* standin.c - runs the tests of a program instead of Criterion, as criterion/criterion.h says.
 *
 *   PROGRAM [-jN] [--verbose]     all tests
 *   PROGRAM --filter PATTERN      those whose SUITE/NAME is like it, such as '@(one|another)/' and an asterisk
 *   PROGRAM --list                prints their names
 *
 * N, or else CRITERION_JOBS, says how many run at a time; default: one for each processor. */
#include <criterion/criterion.h>

#include <fnmatch.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static cr_entry *first, **last = &first;
static bool failed_here;
static unsigned long elsewhere, *checks = &elsewhere; /* carried out, also in other threads and processes */

void cr_register(cr_entry *entry) {
  *last = entry;
  last = &entry->next;
}

void cr_hold(void) {
  __atomic_fetch_add(checks, 1, __ATOMIC_RELAXED);
}

void cr_fail(const char *file, int line, const char *text, bool fatal, const char *format, ...) {
  cr_hold();
  failed_here = true;
  fprintf(stderr, "%s:%d: failed: %s", file, line, text);
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    fputs(": ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
  }
  fputc('\n', stderr);
  if (fatal) exit(1);
}

static const cr_options *options_of_suite(const char *suite) {
  static const cr_options none;
  for (const cr_entry *entry = first; entry; entry = entry->next)
    if (!entry->run && strcmp(entry->suite, suite) == 0) return &entry->options;
  return &none;
}

static void run(const cr_entry *test) {
  const cr_options *own = &test->options, *suite = options_of_suite(test->suite);
  if (suite->init) suite->init();
  if (own->init) own->init();
  test->run();
  if (own->fini) own->fini();
  if (suite->fini) suite->fini();
}

/* ------------------------------------------------------------------------------------------------------- processes */

enum { MOST_AT_A_TIME = 64 };

static struct child {
  pid_t process; /* 0: none */
  const cr_entry *test;
  double begin_s;
} children[MOST_AT_A_TIME];

static unsigned passed, failed;
static unsigned long *checks_of; /* of each child, which shares them */

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void start(struct child *child, const cr_entry *test) {
  fflush(NULL);
  checks = &checks_of[child - children];
  *checks = 0;
  *child = (struct child){fork(), test, now_s()};
  if (child->process < 0) {
    perror("fork");
    exit(2);
  }
  if (child->process > 0) return;
  run(test);
  exit(failed_here ? 1 : 0); /* not _exit: the sanitizer turns its reports into an exit code here */
}

static void await_one(void) {
  int status = 0;
  pid_t ended = wait(&status);
  if (ended < 0) {
    perror("wait");
    exit(2);
  }
  for (struct child *child = children; child < children + MOST_AT_A_TIME; child++) {
    if (child->process != ended) continue;
    printf("%s: %s: %s (%lu checks, %.1f s)\n", status ? "FAILED" : "passed", child->test->suite, child->test->name,
           checks_of[child - children], now_s() - child->begin_s);
    if (WIFSIGNALED(status)) printf("  it died of signal %d\n", WTERMSIG(status));
    status ? failed++ : passed++;
    child->process = 0;
    return;
  }
}

static struct child *free_child(long most) {
  for (;;) {
    for (long i = 0; i < most; i++)
      if (!children[i].process) return &children[i];
    await_one();
  }
}

/* --------------------------------------------------------------------------------------------------------- options */

static const char *pattern = "*", *jobs;
static bool listed;

static bool read_options(int count, char *words[]) {
  jobs = getenv("CRITERION_JOBS");
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--filter") == 0 && i + 1 < count)
      pattern = words[++i];
    else if (strncmp(words[i], "-j", 2) == 0)
      jobs = words[i] + 2;
    else if (strcmp(words[i], "--list") == 0)
      listed = true;
    else if (strcmp(words[i], "--verbose") != 0)
      return false; /* what tests print is shown anyway */
  }
  return true;
}

static long most_at_a_time(void) {
  long most = jobs ? strtol(jobs, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
  return most < 1 ? 1 : most > MOST_AT_A_TIME ? MOST_AT_A_TIME : most;
}

static const char *full_name(const cr_entry *test) {
  static char name[512];
  snprintf(name, sizeof name, "%s/%s", test->suite, test->name);
  return name;
}

int main(int count, char *words[]) {
  if (!read_options(count, words)) {
    fprintf(stderr, "%s: understands -jN, --filter PATTERN, --list and --verbose\n", words[0]);
    return 2;
  }
  long most = most_at_a_time();
  checks_of = mmap(NULL, MOST_AT_A_TIME * sizeof *checks_of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (checks_of == MAP_FAILED) {
    perror("mmap");
    return 2;
  }
  for (const cr_entry *test = first; test; test = test->next) {
    if (!test->run || test->options.disabled || fnmatch(pattern, full_name(test), FNM_EXTMATCH) != 0) continue;
    if (listed)
      puts(full_name(test));
    else
      start(free_child(most), test);
  }
  for (long i = 0; i < most; i++)
    while (children[i].process) await_one();
  if (!listed) printf("%u passed, %u failed\n", passed, failed);
  return !listed && (failed > 0 || passed == 0);
}
