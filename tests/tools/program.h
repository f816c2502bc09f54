/* program.h - starts the program under test, whose path is in the environment variable MUSTER, and keeps what it says.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
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

static inline void program_expect_refusals(const program_refusal *refusals, size_t count) {
  for (size_t i = 0; i < count; i++) {
    program_run *run = program_start(refusals[i].line);
    const char *end = strchr(run->errors, '\n');
    cr_expect(run->status == refusals[i].status, "muster %s: status %d: %s", refusals[i].line, run->status,
              run->errors);
    cr_expect(strstr(run->errors, refusals[i].says) != NULL, "muster %s says: %s", refusals[i].line, run->errors);
    cr_expect(end && end[1] == '\0', "muster %s says more or less than one line: %s", refusals[i].line, run->errors);
    cr_expect(run->output[0] == '\0', "muster %s prints a result", refusals[i].line);
    free(run);
  }
}

#define PROGRAM_EXPECT_REFUSALS(...)                                                                                   \
  program_expect_refusals((const program_refusal[]){__VA_ARGS__},                                                      \
                          sizeof((const program_refusal[]){__VA_ARGS__}) / sizeof(program_refusal))

/* The JSON that the program printed; the caller releases it. Fails the test when the run failed or it is no JSON. */
static inline json_t *program_json(const char *line) {
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "muster %s: status %d: %s", line, run->status, run->errors);
  json_error_t error;
  json_t *json = json_loads(run->output, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(json, "muster %s: line %d: %s", line, error.line, error.text);
  free(run);
  return json;
}

/* Starts it with its document in a file, so that its table is there, too. The caller releases both. */
static inline program_run *program_kept(const char *line, json_t **json) {
  char path[] = "/tmp/muster-test-XXXXXX", whole[256];
  json_error_t error;
  int file = mkstemp(path);
  cr_assert_geq(file, 0);
  close(file);
  snprintf(whole, sizeof whole, "%s --json %s", line, path);
  program_run *run = program_start(whole);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(*json, "line %d: %s", error.line, error.text);
  remove(path);
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

#endif
