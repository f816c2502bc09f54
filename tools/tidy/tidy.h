/* tidy.h - the house rules as a failing test: what the rules share.
 *
 *     tidy [--rooms] ROOT
 *
 * reads every C file under ROOT's include, src, tools, bench and tests, and prints one line for each broken rule:
 * file:line: rule: what to do. A rule is one function over all sources; it has no list of exceptions to grow.
 * With --rooms it prints instead which rooms of src know which others, how large they are, which files of a room call
 * each other in a circle, and how many members each file sees of other rooms' structs.
 */
#ifndef TIDY_H
#define TIDY_H

#include <stdbool.h>
#include <stddef.h>

/* One C file in four forms of equal length, so that an offset means the same place in each. */
typedef struct tidy_source {
  char *path;  /* from ROOT, such as src/base/arena.c */
  char *text;  /* as it is */
  char *prose; /* literals blanked */
  char *words; /* comments blanked, too */
  char *code;  /* preprocessor lines blanked, too */
  size_t length;
  size_t *lines; /* offset of each line's begin; lines[line_count] is the length */
  size_t line_count;
} tidy_source;

typedef struct tidy_run {
  const char *root;
  tidy_source *sources; /* sorted by path */
  size_t source_count;
  size_t findings;
} tidy_run;

/* ------------------------------------------------------------------------------------------------------- source.c */

/* Reads a file; what the source points at is the source's to free. False when it cannot be read. */
bool source_read(tidy_source *source, const char *root, const char *path);

/* Frees what source_read allocated. */
void source_free(tidy_source *source);

/* The line, counted from 0, that an offset lies on. */
size_t source_line_at(const tidy_source *source, size_t offset);

/* Whether the file lies in a folder such as "src/pool/". */
bool source_in(const tidy_source *source, const char *folder);

/* Whether the file name ends so. */
bool source_ends(const tidy_source *source, const char *ending);

/* An #include line. */
typedef struct tidy_include {
  size_t line;
  char open;         /* '<', '"', or 0 when it names a macro */
  const char *start; /* of the path, without the quotes */
  size_t length;
} tidy_include;

/* Finds the first #include at or after a line. False when there is none. */
bool source_next_include(const tidy_source *source, size_t from_line, tidy_include *found);

/* Whether the path of an #include begins so. */
bool include_begins(const tidy_include *include, const char *prefix);

/* Whether the path of an #include reads so. */
bool include_is(const tidy_include *include, const char *path);

/* An identifier in a source's words or code. */
typedef struct tidy_identifier {
  size_t offset;
  size_t length;
} tidy_identifier;

/* Finds the first identifier at or after an offset in one of the source's forms. False when there is none. */
bool source_next_identifier(const char *form, size_t length, size_t from, tidy_identifier *found);

/* ------------------------------------------------------------------------------------------------ declarations.c */

typedef enum declaration_kind {
  DECLARATION_OTHER,
  DECLARATION_PROTOTYPE, /* a function without its body */
  DECLARATION_FUNCTION   /* a function with its body */
} declaration_kind;

/* A declaration at file scope. */
typedef struct tidy_declaration {
  declaration_kind kind;
  size_t start, end;          /* first character, and one past the last */
  size_t body_open, body_end; /* of a function: its braces */
  tidy_identifier name;       /* of a function */
} tidy_declaration;

/* Finds the first declaration at or after an offset. False at the end of the file. `extern "C" { }` is looked
 * through. */
bool source_next_declaration(const tidy_source *source, size_t from, tidy_declaration *found);

/* --------------------------------------------------------------------------------------------------- functions.c */

/* A function that is defined in a room of src. */
typedef struct tidy_function {
  const char *name; /* in its source */
  size_t length;
  int room;
  bool shared;         /* other files can call it */
  size_t source, user; /* where it stands; for rooms.c: 1 + the last file that was seen to use it */
} tidy_function;

/* All of them, sorted by name. */
typedef struct tidy_functions {
  tidy_function *items;
  size_t count;
} tidy_functions;

/* Lists the functions of all rooms; the items are the caller's to free. */
void functions_list(tidy_functions *list, const tidy_run *tidy);

/* The first function of this name; others of the same name follow it. Null when there is none. */
tidy_function *functions_find(const tidy_functions *list, const char *name, size_t length);

/* Whether this is the function's name. */
bool function_is_named(const tidy_function *function, const char *name, size_t length);

/* Whether the word at an offset names a member of a struct, which may have a function's name. */
bool source_is_member(const char *code, size_t offset);

/* ------------------------------------------------------------------------------------------------------- rooms.c */

/* The number of the room that a file of src stands in; -1 when it is in none. */
int tidy_room_of(const tidy_source *source);

/* The name of a room; null behind the last one. */
const char *tidy_room_name(int room);

/* Whether a room is on the public headers alone: the library is linked without it. */
bool tidy_room_is_outside(int room);

/* --------------------------------------------------------------------------------------------------------- tidy.c */

/* Prints a finding, printf-style; the line is counted from 0. */
void tidy_report(tidy_run *tidy, const tidy_source *source, size_t line, const char *rule, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---------------------------------------------------------------------------------------------------- the rules */

/* Between the rooms of src, includes and calls go one way, and includes to the face of a room (rooms.c). Tests and
 * benches are no room: they may look behind a face. */
void rule_rooms(tidy_run *tidy);

/* Prints the rooms: their sizes, and which others they know by how many includes and calls (rooms.c). */
void tidy_print_rooms(tidy_run *tidy);

/* Inside a room of the library, no files call each other in a circle (circles.c). */
void rule_circles(tidy_run *tidy);

/* Prints the circles of files in all rooms, with the calls that close them (circles.c). */
void tidy_print_circles(tidy_run *tidy);

/* Prints how many members each source file sees of structs that belong to other rooms (visible.c). */
void tidy_print_visible(tidy_run *tidy);

/* Prints how long the functions and files of a room are, and how much of it are assertions and comments (sizes.c). */
void tidy_print_sizes(const tidy_run *tidy, const char *room);

/* The rooms that keep lists and counts of agents say what they rely on: one assertion in 60 lines (sizes.c). */
void rule_assertions(tidy_run *tidy);

/* Includes outside the rooms go down the layers only, and no header is included nearly everywhere (layers.c). */
void rule_layers(tidy_run *tidy);
void rule_god_header(tidy_run *tidy);

/* Atomics and threads live in src/pool and src/run, what only prefetches is inlined always, the clock is read in
 * src/base/clock.c, words have one meaning, and nothing is left to be done later (words.c). */
void rule_atomics(tidy_run *tidy);
void rule_prefetch(tidy_run *tidy);
void rule_clock(tidy_run *tidy);
void rule_vocabulary(tidy_run *tidy);
void rule_no_leftovers(tidy_run *tidy);

/* Functions, files and lines are short, and lines hold no stray blanks (shape.c). */
void rule_length(tidy_run *tidy);
void rule_blanks(tidy_run *tidy);

/* A static function of more than a few lines has a name that no other file of src uses (names.c). */
void rule_names(tidy_run *tidy);

/* Functions that a header declares are documented, and the frame's stages stand in order (manual.c). */
void rule_documented(tidy_run *tidy);
void rule_stages(tidy_run *tidy);

#endif
