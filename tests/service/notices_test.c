/* What others are told in passing: the manager of services by its socket, whoever reads the log by its level, and the
 * next run by the flight recorder, of what is under way and of nothing that is over. */
#include "service/flight.h"
#include "service/log.h"
#include "service/notify.h"

#include "own_folder.h"

TestSuite(notices, .init = folder_begin, .fini = folder_end);

/* ---------------------------------------------------------------------------------------------------------- manager */

static void expect_notice(int notices, const char *wanted) {
  char notice[512];
  ssize_t length = recv(notices, notice, sizeof notice - 1, 0);
  notice[length > 0 ? length : 0] = '\0';
  cr_expect(strncmp(notice, wanted, strlen(wanted)) == 0, "%s instead of %s", notice, wanted);
}

/* At a path, or at a name of no file. */
Test(notices, reach_the_manager_wherever_it_listens) {
  for (int abstract = 0; abstract < 2; abstract++) {
    const char *name = abstract ? formed("@musterd-notices-%d", (int)getpid()) : path_of("notices");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, name);
    if (abstract) address.sun_path[0] = '\0';
    const size_t bytes = offsetof(struct sockaddr_un, sun_path) + strlen(name);
    int notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    cr_assert(notices >= 0 && bind(notices, (struct sockaddr *)&address, (socklen_t)bytes) == 0);
    setenv("NOTIFY_SOCKET", name, 1);
    notify_ready("2 worlds run");
    expect_notice(notices, "READY=1\nSTATUS=2 worlds run");
    notify_reloading();
    expect_notice(notices, "RELOADING=1\nMONOTONIC_USEC=");
    notify_stopping();
    expect_notice(notices, "STOPPING=1");
    notify_problem("a full disk");
    expect_notice(notices, "STATUS=a full disk");
    notify_progress("7 of 8");
    expect_notice(notices, "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=7 of 8");
    notify_alive();
    expect_notice(notices, "WATCHDOG=1");
    close(notices);
  }
}

/* Two signs come within the time in which it waits for one. */
Test(notices, give_signs_of_life_twice_as_often_as_is_asked) {
  setenv("WATCHDOG_USEC", "30000000", 1);
  unsetenv("WATCHDOG_PID");
  cr_expect_eq(notify_alive_gap_ms(), 15000);
  setenv("WATCHDOG_PID", "1", 1);
  cr_expect_eq(notify_alive_gap_ms(), 0, "another process is meant");
  unsetenv("WATCHDOG_PID"), unsetenv("WATCHDOG_USEC");
  cr_expect_eq(notify_alive_gap_ms(), 0);
}

/* -------------------------------------------------------------------------------------------------------------- log */

/* The least level that is written is the one that was set last, higher or lower. */
Test(notices, are_logged_from_the_level_on_that_was_set_last) {
  static const muster_log_level levels[] = {MUSTER_LOG_INFO,  MUSTER_LOG_ERROR,   MUSTER_LOG_WARNING, MUSTER_LOG_INFO,
                                            MUSTER_LOG_ERROR, MUSTER_LOG_WARNING, MUSTER_LOG_ERROR};
  for (size_t i = 0; i < COUNT_OF(levels); i++) {
    log_set_level(levels[i]);
    errors_begin();
    log_line(MUSTER_LOG_INFO, "line 0"), log_line(MUSTER_LOG_WARNING, "line 1"), log_line(MUSTER_LOG_ERROR, "line 2");
    const char *text = errors_end();
    for (int line = 0; line < 3; line++)
      cr_expect_eq(strstr(text, formed("line %d\n", line)) != NULL, line >= (int)levels[i], "%d of: %s", line, text);
  }
}

/* --------------------------------------------------------------------------------------------------------- recorder */

static struct flight flight;
static flight_report report;

/* What a run would read that finds this one dead: the thread was hit in a function, where one was under way. */
static void read_left(void) {
  static flight_counts counts;
  static flight_poisons poisons;
  size_t size;
  flight.head->call.hit = 1;
  int file = open(path_of("recorder"), O_RDONLY | O_CLOEXEC);
  cr_assert_geq(file, 0);
  SCOPED(free_memory) void *bytes = flight_file_load(file, &size);
  cr_assert(bytes && flight_file_read(bytes, size, &report, &counts, &poisons) == MUSTER_OK, "%s", muster_last_error());
  close(file);
}

Test(notices, of_a_recorder_are_of_what_is_under_way_alone_each_time) {
  unsigned char digest[KEYS_DIGEST_BYTES];
  cr_assert_eq(flight_open(&flight, path_of("recorder"), 3), MUSTER_OK, "%s", muster_last_error());
  for (uint32_t i = 1; i < FLIGHT_FUNCTIONS; i++) {
    const char *world = formed("world%u", i), *key = formed("key%u", i);
    memset(digest, (int)i, sizeof digest);
    read_left();
    cr_expect(!report.clean && !report.call.function && !*report.request.key, "nothing is under way");
    flight_request_begin(world, key, digest);
    read_left();
    cr_expect(!report.call.function && strcmp(report.request.key, key) == 0 &&
              strcmp(report.request.world, world) == 0);
    cr_expect_eq(memcmp(report.request.digest, digest, sizeof digest), 0);
    flight_call_begin(world, "module", (flight_function)i);
    read_left();
    cr_expect(report.call.function == i && strcmp(report.call.world, world) == 0 && *report.request.key);
    flight_call_end();
    read_left();
    cr_expect(!report.call.function && *report.request.key, "the function is over, and not the request");
    flight_request_end();
  }
  read_left();
  cr_expect(!report.clean && !report.call.function && !*report.request.key);
  flight_end(&flight);
  read_left();
  cr_expect(report.clean);
  flight_close(&flight);
}
