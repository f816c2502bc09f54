/* growth.h - whether memory and files grow while a land lives: of its daemons with their processes, and of the brokers.
 *
 *     growth *sizes = growth_open();
 *     growth_sample(sizes, all);                 some times a minute; what comes sooner is passed over
 *     bool bounded = growth_judge(sizes, out);
 *     growth_close(sizes);
 *
 * What is judged is the slope of each size after a warm-up: the median of the slopes between all pairs of samples, so
 * that deaths and garbage collections do not count, times the time that was watched. That must be no more than an
 * eighth of the median size, or 4 MB (20 open files): a kilobyte for each of 100,000 crossings would be 100 MB. Logs
 * are left out, and empty files that etcd makes in advance.
 */
#ifndef GROWTH_H
#define GROWTH_H

#include "land.h"

#include <stdio.h>

enum { GROWTH_GAP_S = 5, GROWTH_LEAST_S = 600 /* of time after the warm-up: less is printed, and not judged */ };

typedef struct growth growth;

growth *growth_open(void);
void growth_close(growth *sizes);

/* Notes the sizes as they are now. */
void growth_sample(growth *sizes, const land *all);

/* Prints all sizes with their slopes; whether none grows. The first quarter of the time is the warm-up. */
bool growth_judge(const growth *sizes, FILE *out);

/* Notes a size of a series by hand, at a time: for the test of the judgement. */
enum { GROWTH_SERIES = 7 };
void growth_note(growth *sizes, double at_s, const double values[GROWTH_SERIES]);

#endif
