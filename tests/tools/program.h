/* program.h - starts the program under test, whose path is in the environment variable MUSTER, and keeps what it says.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "support/with.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PROGRAM_ARGUMENTS_MAX = 24, PROGRAM_OUTPUT_BYTES = 1 << 18 };

typedef struct program_run {
  int status;    /* exit status; -1 when a signal ended it */
  size_t length; /* of the output, which may be bytes */
  char output[PROGRAM_OUTPUT_BYTES];
  char errors[PROGRAM_OUTPUT_BYTES];
} program_run;

static inline const char *program_path(void) {
  const char *path = getenv("MUSTER");
  cr_assert_not_null(path, "set MUSTER to the path of the program");
  return path;
}

static inline int program_temporary_file(void) {
  char path[] = "/tmp/muster-test-XXXXXX";
  int descriptor = mkostemp(path, O_CLOEXEC);
  cr_assert_geq(descriptor, 0);
  unlink(path);
  return descriptor;
}

static inline size_t program_read_back(int descriptor, char *text) {
  ssize_t length = pread(descriptor, text, PROGRAM_OUTPUT_BYTES - 1, 0);
  cr_assert_geq(length, 0);
  text[length] = '\0';
  close(descriptor);
  return (size_t)length;
}

/* Splits `line` at its blanks into arguments behind the program's name. Returns the number. */
static inline int program_split(char *line, char *arguments[PROGRAM_ARGUMENTS_MAX]) {
  static char name[] = "muster";
  int count = 0;
  arguments[count++] = name;
  for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
    cr_assert_lt(count, PROGRAM_ARGUMENTS_MAX - 1);
    arguments[count++] = word;
  }
  arguments[count] = NULL;
  return count;
}

/* Runs `muster LINE`; the line's words are the arguments. The caller frees the result. */
static inline program_run *program_start(const char *line) {
  char words[4096], *arguments[PROGRAM_ARGUMENTS_MAX];
  program_run *run = calloc(1, sizeof *run);
  posix_spawn_file_actions_t actions;
  pid_t child;
  int output = program_temporary_file(), errors = program_temporary_file(), ended;
  snprintf(words, sizeof words, "%s", line);
  program_split(words, arguments);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  cr_assert_eq(posix_spawn(&child, program_path(), &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  cr_assert_eq(waitpid(child, &ended, 0), child);
  run->status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  run->length = program_read_back(output, run->output);
  program_read_back(errors, run->errors);
  return run;
}

static inline void program_forget(program_run **run) {
  free(*run);
}

#define SCOPED_RUN SCOPED(program_forget) program_run

/* Runs `muster LINE`, whose words are given in printf's manner; it must end with this status. */
static inline __attribute__((format(printf, 2, 3))) program_run *program_ends(int status, const char *format, ...) {
  char line[4096];
  va_list words;
  va_start(words, format);
  vsnprintf(line, sizeof line, format, words);
  va_end(words);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, status, "muster %s: status %d: %s", line, run->status, run->errors);
  return run;
}

#define program_good(...) program_ends(0, __VA_ARGS__)

/* An array of these, and how many they are. */
#define ROWS_OF(TYPE, ...) (const TYPE[]){__VA_ARGS__}, COUNT_OF(((const TYPE[]){__VA_ARGS__}))
#define TEXTS(...)         ROWS_OF(char *const, __VA_ARGS__)

/* All of these stand in a text, or none of them. */
static inline void program_expect_says(const char *text, const char *const *says, size_t count) {
  for (size_t i = 0; i < count; i++) cr_expect(strstr(text, says[i]) != NULL, "'%s' is not in: %s", says[i], text);
}

static inline void program_expect_never(const char *text, const char *const *says, size_t count) {
  for (size_t i = 0; i < count; i++) cr_expect(strstr(text, says[i]) == NULL, "'%s' is in: %s", says[i], text);
}

#define PROGRAM_EXPECT_NEVER(text, ...) program_expect_never(text, TEXTS(__VA_ARGS__))
#define PROGRAM_EXPECT_SAYS(text, ...)  program_expect_says(text, TEXTS(__VA_ARGS__))

/* How often a text has the part. */
static inline int program_count(const char *text, const char *part) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
  return count;
}

/* A file of this test alone, which goes with it; empty at first. */
typedef struct program_file {
  char path[64];
} program_file;

static inline program_file program_file_make(void) {
  program_file file = {"/tmp/muster-test-XXXXXX"};
  int descriptor = mkostemp(file.path, O_CLOEXEC);
  cr_assert_geq(descriptor, 0);
  close(descriptor);
  return file;
}

static inline void program_file_remove(program_file *file) {
  unlink(file->path);
}

#define SCOPED_FILE SCOPED(program_file_remove) program_file

/* Of which there is something; the caller frees it. */
static inline char *program_read(const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = fopen(path, "re");
  cr_assert_not_null(file, "cannot read %s", path);
  cr_assert_gt(getdelim(&text, &bytes, '\0', file), 0);
  fclose(file);
  return text;
}

static inline void program_write(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "we");
  cr_assert(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, "cannot write %s", path);
}

/* How many files there are in a folder. */
static inline int program_entries(const char *folder) {
  DIR *directory = opendir(folder);
  int count = 0;
  while (readdir(directory)) count++;
  closedir(directory);
  return count - 2;
}

/* Makes each blank space of a text one blank, so that it does not matter where lines were broken. */
static inline const char *program_words(char *text) {
  char *end = text;
  for (const char *next = text; *next; end++) {
    size_t blank = strspn(next, " \n");
    *end = blank ? ' ' : *next;
    next += blank ? blank : 1;
  }
  *end = '\0';
  return text;
}

/* A command line that the program must refuse: with which exit status, and what its one line of complaint has in it. */
typedef struct program_refusal {
  const char *line;
  int status;
  const char *says;
} program_refusal;

/* What stands behind the command, where they have one in common; else "". */
static inline void program_expect_refusals(const char *command, const program_refusal *refusals, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char line[4096];
    snprintf(line, sizeof line, "%s%s%s", command, *command ? " " : "", refusals[i].line);
    SCOPED_RUN *run = program_start(line);
    const char *end = strchr(run->errors, '\n');
    cr_expect(run->status == refusals[i].status, "muster %s: status %d: %s", line, run->status, run->errors);
    cr_expect(strstr(run->errors, refusals[i].says) != NULL, "muster %s says: %s", line, run->errors);
    cr_expect(end && end[1] == '\0', "muster %s says more or less than one line: %s", line, run->errors);
    cr_expect(run->output[0] == '\0', "muster %s prints a result", line);
  }
}

#define PROGRAM_EXPECT_REFUSALS(...)             program_expect_refusals("", ROWS_OF(program_refusal, __VA_ARGS__))
#define PROGRAM_EXPECT_REFUSALS_OF(command, ...) program_expect_refusals(command, ROWS_OF(program_refusal, __VA_ARGS__))

/* What each bench refuses, and what this one does besides; `other` is another bench. */
static inline void bench_expect_refusals(const char *bench, const char *other, const program_refusal *refusals,
                                         size_t count) {
  const char *command = formed("bench %s", bench);
  const program_refusal all[] = {{other, 2, formed("'%s' is too many", other)},
                                 {"--speed", 2, "unknown option --speed"},
                                 {"--json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"}};
  program_expect_refusals(command, all, COUNT_OF(all));
  program_expect_refusals(command, refusals, count);
}

#define BENCH_EXPECT_REFUSALS(bench, other, ...)                                                                       \
  bench_expect_refusals(bench, other, ROWS_OF(program_refusal, __VA_ARGS__))

/* A command line for which the program prints something with this in it, ends with 0 and complains of nothing. */
typedef struct program_telling {
  const char *line, *says;
} program_telling;

static inline void program_expect_tellings(const program_telling *tellings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    SCOPED_RUN *run = program_good("%s", tellings[i].line);
    cr_expect(strstr(run->output, tellings[i].says) != NULL, "muster %s prints: %s", tellings[i].line, run->output);
    cr_expect(run->errors[0] == '\0', "muster %s: %s", tellings[i].line, run->errors);
  }
}

#define PROGRAM_EXPECT_TELLINGS(...) program_expect_tellings(ROWS_OF(program_telling, __VA_ARGS__))

/* All of these stand in what one run prints. */
static inline void program_expect_prints(const char *line, const char *const *says, size_t count) {
  SCOPED_RUN *run = program_good("%s", line);
  program_expect_says(run->output, says, count);
}

#define PROGRAM_EXPECT_PRINTS(line, ...) program_expect_prints(line, TEXTS(__VA_ARGS__))

/* The document in a file; the caller releases it. */
static inline json_t *program_load(const char *path) {
  json_error_t error;
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(json, "%s, line %d: %s", path, error.line, error.text);
  return json;
}

/* The JSON that the program printed; the caller releases it. Fails the test when the run failed or it is no JSON. */
static inline json_t *program_json(const char *line) {
  SCOPED_RUN *run = program_good("%s", line);
  json_error_t error;
  json_t *json = json_loads(run->output, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(json, "muster %s: line %d: %s", line, error.line, error.text);
  return json;
}

/* Runs `muster LINE --json FILE`: what it tells people, and the document for machines. */
static inline program_run *program_both(const char *line, json_t **json) {
  SCOPED_FILE file = program_file_make();
  program_run *run = program_good("%s --json %s", line, file.path);
  *json = program_load(file.path);
  return run;
}

/* A member by its path, such as "promise.kept_share". Fails the test when there is none. */
static inline json_t *program_member(json_t *json, const char *path) {
  char names[256];
  snprintf(names, sizeof names, "%s", path);
  for (char *name = strtok(names, "."); name; name = strtok(NULL, ".")) {
    json = json_object_get(json, name);
    cr_assert_not_null(json, "there is no member %s", path);
  }
  return json;
}

static inline double program_number(json_t *json, const char *path) {
  json_t *member = program_member(json, path);
  cr_assert(json_is_number(member), "%s is no number", path);
  return json_number_value(member);
}

static inline bool program_true(json_t *json, const char *path) {
  return json_is_true(program_member(json, path));
}

/* The list there, which must have so many members. */
static inline json_t *program_list(json_t *json, const char *path, size_t count) {
  json_t *list = program_member(json, path);
  cr_assert_eq(json_array_size(list), count, "%s has %zu members", path, json_array_size(list));
  return list;
}

/* Each of its members in turn, with its number. */
#define PROGRAM_EACH(INDEX, MEMBER, LIST)                                                                              \
  for (size_t INDEX = 0; INDEX < json_array_size(LIST); INDEX++)                                                       \
    for (json_t *MEMBER = json_array_get(LIST, INDEX); MEMBER; MEMBER = NULL)

/* One member of it. */
static inline json_t *program_at(json_t *json, const char *path, size_t index) {
  json_t *member = json_array_get(program_member(json, path), index);
  cr_assert_not_null(member, "%s has no member %zu", path, index);
  return member;
}

static inline const char *program_text(json_t *json, const char *path) {
  const char *text = json_string_value(program_member(json, path));
  cr_assert_not_null(text, "%s is no text", path);
  return text;
}

static inline bool program_has_text(json_t *json, const char *path, const char *text) {
  return strcmp(program_text(json, path), text) == 0;
}

/* That member of a list which has this text, and another one besides where `other` is given; null = there is none. */
static inline json_t *program_find(json_t *list, const char *name, const char *text, const char *other,
                                   const char *other_text) {
  PROGRAM_EACH(i, member, list) {
    if (program_has_text(member, name, text) && (!other || program_has_text(member, other, other_text))) return member;
  }
  return NULL;
}

/* Numbers by their paths. */
typedef struct program_value {
  const char *path;
  double value;
} program_value;

static inline void program_expect_values(json_t *json, const program_value *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double is = program_number(json, values[i].path);
    cr_expect_eq(is, values[i].value, "%s is %g, not %g", values[i].path, is, values[i].value);
  }
}

#define PROGRAM_EXPECT_VALUES(json, ...) program_expect_values(json, ROWS_OF(program_value, __VA_ARGS__))

/* None of them is less than the one before. */
static inline void program_expect_rising(json_t *json, const char *const *paths, size_t count) {
  for (size_t i = 1; i < count; i++) {
    double before = program_number(json, paths[i - 1]), here = program_number(json, paths[i]);
    cr_expect_leq(before, here, "%s is %g, and %s is %g", paths[i - 1], before, paths[i], here);
  }
}

#define PROGRAM_EXPECT_RISING(json, ...) program_expect_rising(json, TEXTS(__VA_ARGS__))

/* A number that is 0 or more; and one that is more. */
static inline double program_amount(json_t *json, const char *path) {
  double value = program_number(json, path);
  cr_expect(isfinite(value) && value >= 0, "%s is %g", path, value);
  return value;
}

static inline double program_positive(json_t *json, const char *path) {
  double value = program_amount(json, path);
  cr_expect(value > 0, "%s is %g", path, value);
  return value;
}

static inline void program_expect_amounts(json_t *json, const char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++) program_amount(json, paths[i]);
}

static inline void program_expect_positive(json_t *json, const char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++) program_positive(json, paths[i]);
}

#define PROGRAM_EXPECT_AMOUNTS(json, ...)  program_expect_amounts(json, TEXTS(__VA_ARGS__))
#define PROGRAM_EXPECT_POSITIVE(json, ...) program_expect_positive(json, TEXTS(__VA_ARGS__))

#endif
