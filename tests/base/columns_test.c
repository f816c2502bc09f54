/* Text that is broken so that it fits. */
#include "base/columns.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, int columns, const char *wanted) {
  char printed[1024] = "";
  FILE *stream = fmemopen(printed, sizeof printed, "w");
  columns_print(stream, text, columns);
  fclose(stream);
  cr_expect_str_eq(printed, wanted);
}

Test(columns, what_fits_stays_as_it_is) {
  expect("one\n\n  two  three\n", 12, "one\n\n  two  three\n");
  expect("no line end", 20, "no line end\n");
}

Test(columns, the_rest_of_a_line_stands_below_its_last_column) {
  expect("Promise   kept in most frames\n", 20, "Promise   kept in\n          most\n          frames\n");
  expect("  --one N  what it does\n", 16, "  --one N  what\n    it does\n");
  expect("    an indent is kept so\n", 16, "    an indent is\n      kept so\n");
  expect("a paragraph of words\n", 12, "a paragraph\nof words\n");
}

Test(columns, and_so_does_that_of_a_text_under_a_long_option) {
  expect("  --a-long-option NAME\n            aaa bbb ccc", 20,
         "  --a-long-option\n    NAME\n            aaa bbb\n            ccc\n");
  expect("    aaa bbb ccc", 12, "    aaa bbb\n      ccc\n");
}

Test(columns, words_that_do_not_fit_stay_whole) {
  expect("a 0123456789abcdef b\n", 8, "a\n0123456789abcdef\nb\n");
}

Test(columns, characters_are_counted_and_not_bytes) {
  expect("\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\xc3\xb6\n", 7,
         "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\xc3\xb6\n");
}

Test(columns, the_environment_says_how_many_there_are_within_reason) {
  setenv("COLUMNS", "60", 1);
  cr_expect_eq(columns_of(-1), 60);
  setenv("COLUMNS", "7", 1);
  cr_expect_eq(columns_of(-1), COLUMNS_LEAST);
  setenv("COLUMNS", "500", 1);
  cr_expect_eq(columns_of(-1), COLUMNS_USUAL);
  unsetenv("COLUMNS");
  cr_expect_eq(columns_of(-1), COLUMNS_USUAL, "nothing is known");
}
