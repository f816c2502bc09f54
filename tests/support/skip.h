/* tests/support/skip.h - a test that cannot be run here says why. Criterion passes it without a word; tools/test counts
 * the words, and takes them for a failure unless tests/skips has them. */
#ifndef SKIP_H
#define SKIP_H

#include <criterion/criterion.h>
#include <stdio.h>

/* Ends the test, which prints the reason in printf's manner. Before anything has failed. */
#define SKIP_TEST(...) (fputs("skipped: ", stderr), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), cr_skip_test())

#endif
