/* columns.h - how wide a line may be, and text that is broken at blanks so that it fits. */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

enum { COLUMNS_LEAST = 40, COLUMNS_USUAL = 80 };

/* The columns of the terminal that a descriptor leads to: what $COLUMNS says, else what the terminal says; 0 when
 * neither does. */
int columns_known(int descriptor);

/* The same for text: COLUMNS_USUAL when nothing is known, and within COLUMNS_LEAST .. COLUMNS_USUAL, since longer lines
 * are hard to read. */
int columns_of(int descriptor);

/* Prints a text. A line that does not fit is broken at blanks. The rest stands below the line's last column, which is
 * the text behind two or more blanks; in a line without columns, two further than the line if that is indented. Words
 * that do not fit a line stay whole. */
void columns_print(FILE *stream, const char *text, int columns);

/* Prints what `write` writes in the same way, in the columns of standard output. False when memory is short. */
bool columns_print_all(void (*write)(FILE *stream, const void *user), const void *user);

/* The same for a help text. */
void columns_print_help(void (*show_help)(FILE *stream));

#endif
