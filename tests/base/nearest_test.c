/* Which name was probably meant, and options by their exact names. */
#include "base/nearest.h"
#include "support/with.h"

#include <criterion/criterion.h>

static const char *const names[] = {"wildlife", "townsfolk", "pathstorm", "pathstorm-whole", "herd"};

static const char *nearest(const char *typed) {
  const char *found = nearest_name(typed, names, COUNT_OF(names));
  return found ? found : "(none)";
}

Test(nearest, finds_what_few_edits_make_of_it_or_the_only_name_that_begins_so) {
  cr_expect_str_eq(nearest("wildlive"), "wildlife");
  cr_expect_str_eq(nearest("heard"), "herd");
  cr_expect_str_eq(nearest("town"), "townsfolk");
  cr_expect_str_eq(nearest("path"), "(none)", "two begin so");
  cr_expect_str_eq(nearest("w"), "(none)", "one letter is no begin");
  cr_expect_str_eq(nearest("wild"), "wildlife", "and not herd");
  cr_expect_str_eq(nearest("moon"), "(none)");
}

static const struct option known[] = {{"agents", required_argument, NULL, 1},
                                      {"check", no_argument, NULL, 2},
                                      {"audit", optional_argument, NULL, 3},
                                      {0}};

/* The first unknown one of a line. */
static const char *unknown(int count, char *const *arguments) {
  int at = 1;
  const char *found = nearest_unknown_option(known, count, arguments, &at);
  return found ? found : "(none)";
}

#define UNKNOWN(...) unknown(sizeof((char *[]){"p", __VA_ARGS__}) / sizeof(char *), (char *[]){"p", __VA_ARGS__})

Test(nearest, an_option_is_known_by_its_whole_name_alone) {
  cr_expect_str_eq(UNKNOWN("--agents", "5", "--check", "file", "--audit=yes"), "(none)");
  cr_expect_str_eq(UNKNOWN("--agent", "5"), "--agent");
  cr_expect_str_eq(UNKNOWN("--agents=5", "--chec"), "--chec");
  cr_expect_str_eq(UNKNOWN("file", "--checks=3"), "--checks=3");
}

Test(nearest, a_value_is_no_option_and_nothing_is_behind_help_or_two_dashes) {
  cr_expect_str_eq(UNKNOWN("--agents", "--odd"), "(none)");
  cr_expect_str_eq(UNKNOWN("--agents=1", "--odd"), "--odd");
  cr_expect_str_eq(UNKNOWN("--help", "--odd"), "(none)");
  cr_expect_str_eq(UNKNOWN("-h", "--odd"), "(none)");
  cr_expect_str_eq(UNKNOWN("--", "--odd"), "(none)");
}

Test(nearest, tells_every_unknown_option_in_turn) {
  char *arguments[] = {"p", "--one", "--agents", "3", "--two=2"};
  int at = 1;
  cr_expect_str_eq(nearest_unknown_option(known, 5, arguments, &at), "--one");
  cr_expect_str_eq(nearest_unknown_option(known, 5, arguments, &at), "--two=2");
  cr_expect_null(nearest_unknown_option(known, 5, arguments, &at));
  cr_expect_str_eq(nearest_option(known, "--agent=5"), "agents");
  cr_expect_null(nearest_option(known, "--moon"));
}
