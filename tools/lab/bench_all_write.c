/* Writes the sections of `muster bench all`: into its report, and between the marks of documents. */
#include "bench_all.h"

#include "complaint.h"
#include "noise.h"
#include "text.h"
#include "whole.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "<!-- figures: ", mark_end[] = " -->\n", closing[] = "<!-- end of figures -->";

enum { FIGURE_BYTES = 64 };

/* ---------------------------------------------------------------------------------------------------------- figures */

/* Three significant digits unless decimals are given; whole numbers as they are. */
static const char *figure(char out[FIGURE_BYTES], double value, int decimals) {
  double size = fabs(value);
  if (decimals < 0 && (value == round(value) || size >= 999.5)) {
    snprintf(out, FIGURE_BYTES, "%s%s", value < 0 ? "-" : "", text_count((uint64_t)llround(size)));
    return out;
  }
  if (decimals < 0) decimals = size < 0.09995 ? 4 : size < 0.9995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  snprintf(out, FIGURE_BYTES, "%.*f", decimals, value);
  return out;
}

static void write_range(FILE *stream, double low, double high, int decimals) {
  char first[FIGURE_BYTES], last[FIGURE_BYTES];
  figure(first, low, decimals);
  figure(last, high, decimals);
  fputs(first, stream);
  if (strcmp(first, last) != 0) fprintf(stream, " - %s", last);
}

/* Of ratios of which more is better. */
static void write_verdict(FILE *stream, double low, double high) {
  static const double alike = 0.02;
  bool worse = high < 1;
  if (low > 1 - alike && high < 1 + alike) {
    fputs("alike", stream);
    return;
  }
  write_range(stream, worse ? 1 / high : low, worse ? 1 / low : high, 2);
  fputs(worse ? " x **worse**" : low < 1 ? " x, **not always better**" : " x better", stream);
}

static void write_figure(FILE *stream, const all_place *place, json_t *values) {
  size_t last = json_array_size(values);
  if (last == 0) {
    fputs("-", stream);
    return;
  }
  double low = json_number_value(json_array_get(values, 0)) * place->factor;
  double high = json_number_value(json_array_get(values, last - 1)) * place->factor;
  if (place->verdict)
    write_verdict(stream, low, high);
  else
    write_range(stream, low, high, place->decimals);
}

/* --------------------------------------------------------------------------------------------------------- sections */

static const char *word(json_t *machine, const char *name) {
  const char *text = json_string_value(json_object_get(machine, name));
  return text ? text : "unknown";
}

static double number(json_t *object, const char *name) {
  return json_number_value(json_object_get(object, name));
}

static void write_real_time(FILE *stream, json_t *steps) {
  const char *name, *before = "With real-time priority: ";
  json_t *step;
  json_object_foreach(steps, name, step) {
    if (!json_is_true(json_object_get(step, "real_time"))) continue;
    fprintf(stream, "%s%s", before, name);
    before = ", ";
  }
  fputs(*before == ',' ? ".\n" : "No step had real-time priority.\n", stream);
}

/* Steps that were measured anew (--only) on another machine than the rest. */
static void write_elsewhere(FILE *stream, json_t *document) {
  const char *name, *here = word(json_object_get(document, "machine"), "processor"), *before = "On another machine: ";
  json_t *step;
  json_object_foreach(json_object_get(document, "steps"), name, step) {
    const char *there = json_string_value(json_object_get(step, "processor"));
    if (!there || strcmp(there, here) == 0) continue;
    fprintf(stream, "%s%s (%s, %s)", before, name, there, word(step, "date"));
    before = ", ";
  }
  if (*before == ',') fputs(".\n", stream);
}

/* Where it was measured, when, and what else there was to do. */
static void write_machine(FILE *stream, json_t *document) {
  json_t *machine = json_object_get(document, "machine"), *step;
  double others = 0, stolen = 0;
  const char *name;
  json_object_foreach(json_object_get(document, "steps"), name, step) {
    if (number(step, "others_cpu_share") > others) others = number(step, "others_cpu_share");
    if (number(step, "stolen_cpu_share") > stolen) stolen = number(step, "stolen_cpu_share");
  }
  fprintf(stream, "Muster %s, %s, on %d processors (%s), Linux %s%s.\n", word(machine, "version"),
          word(machine, "date"), (int)number(machine, "processors"), word(machine, "processor"),
          word(machine, "kernel"), json_is_true(json_object_get(machine, "quick")) ? ", quick: they mean little" : "");
  fprintf(stream, "In the loudest step other programs took %s of the processors and the host %s%s.\n",
          text_share(others), text_share(stolen), noise_is_loud(others, stolen) ? ": **not quiet**" : "");
  write_elsewhere(stream, document);
  write_real_time(stream, json_object_get(document, "steps"));
}

static void write_part(FILE *stream, const char *text, json_t *figures) {
  all_place place;
  for (; all_place_next(text, &place); text = place.end) {
    fwrite(text, 1, (size_t)(place.begin - text), stream);
    write_figure(stream, &place, json_object_get(figures, place.name));
  }
  fputs(text, stream);
}

static void write_section(FILE *stream, const all_section *section, json_t *document) {
  json_t *figures = json_object_get(document, "figures");
  if (strcmp(section->name, "machine") == 0) write_machine(stream, document);
  all_reader reader = {.next = section->parts};
  for (const char *part; (part = all_read(&reader)) != NULL;) write_part(stream, part, figures);
}

static void write_step(FILE *stream, const char *name, json_t *step) {
  bool real_time = json_is_true(json_object_get(step, "real_time")), held = json_is_true(json_object_get(step, "held"));
  const char *others = text_share(number(step, "others_cpu_share"));
  const char *stolen = text_share(number(step, "stolen_cpu_share"));
  fprintf(stream, "| %s | `muster %s` | %s | %d | %s | %s | %s | %s |\n", name, word(step, "command"),
          word(step, "date"), (int)number(step, "runs"), real_time ? "real-time" : "normal", others, stolen,
          held ? "held" : "**failed**");
}

static void write_steps(FILE *stream, json_t *document) {
  const char *name;
  json_t *step;
  fputs("\n## Steps\n\n| step | command | date | runs | priority | others took | the host took | its own checks |\n"
        "|---|---|---|---|---|---|---|---|\n",
        stream);
  json_object_foreach(json_object_get(document, "steps"), name, step) {
    write_step(stream, name, step);
  }
}

static void write_report(FILE *stream, json_t *document) {
  fputs("# Figures\n\nBy `muster bench all`. A range is over all runs, and over the rows that the table leaves out.\n",
        stream);
  for (const all_section *section = all_sections; section->name; section++) {
    fprintf(stream, "\n## %s\n\n", section->title);
    write_section(stream, section, document);
    if (section->plot) fprintf(stream, "\n![%s](%s.png)\n", section->title, section->plot);
  }
  write_steps(stream, document);
}

/* --------------------------------------------------------------------------------------------------------- document */

static const all_section *find_section(const char *name, size_t length) {
  for (const all_section *section = all_sections; section->name; section++)
    if (strlen(section->name) == length && strncmp(section->name, name, length) == 0) return section;
  return NULL;
}

/* Copies the document with new sections. False: its marks are wrong, and that was complained of. */
static bool fill(FILE *stream, const char *text, const char *path, json_t *document) {
  for (const char *open; (open = strstr(text, mark)) != NULL;) {
    const char *name = open + strlen(mark), *begin = strstr(name, mark_end);
    const char *end = begin ? strstr(begin, closing) : NULL;
    const all_section *section = begin ? find_section(name, (size_t)(begin - name)) : NULL;
    int length = begin ? (int)(begin - name) : 0;
    if (!section || !end) {
      complain_failure(section ? "'%s': the place for the figures of '%.*s' has no end"
                               : "'%s': the report has no figures of '%.*s'",
                       path, length, name);
      return false;
    }
    begin += strlen(mark_end);
    fwrite(text, 1, (size_t)(begin - text), stream);
    write_section(stream, section, document);
    text = end;
  }
  fputs(text, stream);
  return true;
}

/* Writes the report, or the document whose text is `old`, into its place. */
static bool put(const char *path, const char *old, json_t *document) {
  char *text = NULL;
  size_t length = 0;
  bool done = true;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return false;
  if (old)
    done = fill(stream, old, path, document);
  else
    write_report(stream, document);
  fclose(stream);
  done = done && whole_write(path, text, length);
  free(text);
  return done;
}

static bool renew(const char *path, json_t *document) {
  char *old = whole_read(path);
  bool done = old && put(path, old, document);
  free(old);
  return done;
}

int all_write(const all_options *options, json_t *document) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/report.md", options->report);
  bool done = put(path, NULL, document);
  for (const char *list = options->documents; done && list;) {
    size_t length = strcspn(list, ",");
    snprintf(path, sizeof path, "%.*s", (int)length, list);
    list = list[length] ? list + length + 1 : NULL;
    done = renew(path, document);
  }
  return done ? STATUS_OK : STATUS_FAILED;
}
