/* Answers that a browser may be led to: none of them acts as the page, also where a module answers in the place of its
 * world. */
#include "served.h"

enum { TRIES_MAX = 2000 };

static bool has_header(const char *name, const char *wanted) {
  char value[128];
  return daemon_header(&reply, name, value, sizeof value) && strcmp(value, wanted) == 0;
}

static void expect_no_page(const char *path) {
  cr_expect(has_header("X-Content-Type-Options", "nosniff"), "%s: %s", path, reply.text);
  cr_expect(has_header("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"), "%s: %s",
            path, reply.text);
}

/* The process's own thread takes some of the connections; each change has one of its own. */
static void ask_impostor(void) {
  for (int tries = 0; tries < TRIES_MAX; tries++) {
    fetch("PATCH", WORLD, "{\"paused\": true}");
    if (strstr(reply.body, "<script>")) return;
  }
  cr_assert(false, "the module never answered: %s", reply.text);
}

static void expect_type(const char *given, const char *wanted) {
  daemon_prepare(&service);
  daemon_write(&service, "type", given);
  launch_ready("--isolation process --modules " MUSTER_TEST_MODULES " --world main=impostor --path @/type");
  ask_impostor();
  cr_expect(has_header("Content-Type", wanted), "%s: %s", given, reply.text);
  cr_expect(has_header("Content-Disposition", "attachment"), "%s: %s", given, reply.text);
  expect_no_page(given);
}

TestSuite(impostor, .fini = stop, .timeout = 120);

Test(impostor, that_answers_with_a_page_gives_bytes) {
  expect_type("text/html; charset=utf-8\n", "application/octet-stream");
}

Test(impostor, that_answers_with_an_image_that_runs_scripts_gives_bytes) {
  expect_type("image/svg+xml\n", "application/octet-stream");
}

Test(impostor, whose_type_only_begins_well_gives_bytes) {
  expect_type("application/jsonhtml\n", "application/octet-stream");
}

Test(impostor, that_says_no_type_gives_bytes) {
  expect_type("\n", "application/octet-stream");
}

Test(impostor, that_says_json_gives_that_and_nothing_beside_it) {
  expect_type("Application/JSON; charset=utf-7\n", "application/json");
}

/* By whichever process: answers, refusals and streams. */
Test(impostor, is_none_the_daemon_and_yet_no_answer_of_it_acts_as_a_page) {
  static const char *const paths[] = {"/v1",      "/v1/worlds", WORLD,      WORLD "/map",
                                      "/metrics", "/healthz",   "/nowhere", WORLD "/agents/x"};
  daemon_start(&service, "--world main=wildlife --agents 50");
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    fetch("GET", paths[i], NULL);
    expect_no_page(paths[i]);
  }
  fetch("GET", "/", NULL);
  cr_expect(has_header("Cross-Origin-Opener-Policy", "same-origin"), "%s", reply.text);
}
