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
  size_t members;                      /* for visible.c: of its structs and unions, */
  const struct tidy_source *seen_from; /* and the last file that was found to include it */
} tidy_source;

/* A part of one of a source's forms: an identifier, or the path of an #include. */
typedef struct tidy_word {
  const char *start;
  size_t length;
  size_t offset; /* of an identifier: in the form */
} tidy_word;

/* A function that a source defines. */
typedef struct tidy_function {
  tidy_word name;
  int room;                          /* -1: none */
  bool is_static;                    /* by this word */
  bool shared;                       /* other files can call it */
  const tidy_source *source, *user;  /* where it stands; for rooms.c: the last file that was seen to use it */
  size_t body_open, body_end, lines; /* of its body, the braces included */
} tidy_function;

typedef struct tidy_run {
  tidy_source *sources; /* sorted by path; ends with one without */
  size_t source_count;
  tidy_function *functions; /* of all sources, sorted by name; ends with one without a source */
  size_t function_count;
  size_t findings;
} tidy_run;

/* Ends the program when there is no memory; else returns it. */
void *tidy_must(void *memory);

/* ------------------------------------------------------------------------------------------------------- source.c */

/* Reads a file; what the source points at is the source's to free. False when it cannot be read. */
bool source_read(tidy_source *source, const char *path);

/* Frees what source_read allocated. */
void source_free(tidy_source *source);

/* The line, counted from 0, that an offset lies on. */
size_t source_line_at(const tidy_source *source, size_t offset);

/* The name of the file without its folder. */
const char *source_name(const tidy_source *source);

/* Whether the file lies in a folder such as "src/pool/"; and in one of a list that ends with null. */
bool source_in(const tidy_source *source, const char *folder);
bool source_in_any(const tidy_source *source, const char *const *folders);

/* Whether the file name ends so. */
bool source_ends(const tidy_source *source, const char *ending);

/* An #include line. */
typedef struct tidy_include {
  size_t line, next; /* the next is where the search goes on */
  char open;         /* '<', '"', or 0 when it names a macro */
  tidy_word path;    /* without the quotes */
} tidy_include;

/* Finds the #include behind the one that was found before; begins with an empty one. False when there is none. */
bool source_next_include(const tidy_source *source, tidy_include *found);

/* Whether it includes this path, in quotes. */
bool source_includes(const tidy_source *source, const char *path);

/* Whether a word reads so, begins so, ends so, or is one of a list that ends with null. */
bool word_is(tidy_word word, const char *wanted);
bool word_begins(tidy_word word, const char *prefix);
bool word_ends(tidy_word word, const char *ending);
bool word_is_any(tidy_word word, const char *const *list);

/* Finds the first identifier behind this one in a source's words, code or prose, up to `end`; one of no length begins
 * at its offset. False when there is none. */
bool word_next(const char *form, size_t end, tidy_word *word);

/* The letters, digits and underscores from an offset on. */
tidy_word word_at(const char *form, size_t offset);

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
  tidy_word name;             /* of a function */
} tidy_declaration;

/* Finds the declaration behind the one that was found before; begins with an empty one. False at the end of the file.
 * `extern "C" { }` is looked through. */
bool source_next_declaration(const tidy_source *source, tidy_declaration *found);

/* Behind blanks; and one past the bracket that closes the one at `open`, or the end of the text. */
size_t code_skip_blanks(const char *code, size_t at);
size_t code_skip_brackets(const char *code, size_t open);

/* Whether it is an attribute, an alignment or an assertion, whose parentheses are no parameters. */
bool word_takes_parentheses(tidy_word word);

/* --------------------------------------------------------------------------------------------------- functions.c */

/* Lists the functions of all sources in `tidy`, which main() frees. */
void functions_list(tidy_run *tidy);

/* The first function of this name; others of the same name follow it. Null when there is none. */
tidy_function *functions_find(const tidy_run *tidy, tidy_word name);

/* The function behind this one, when it has the same name; else null. */
tidy_function *functions_next(tidy_function *function);

/* Whether a word of code names a member of a struct, which may have a function's name. */
bool word_is_member(tidy_word word);

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
void tidy_print_sizes(const tidy_run *tidy, int room);

/* The rooms that keep lists and counts of agents say what they rely on: one assertion in 60 lines (sizes.c). */
void rule_assertions(tidy_run *tidy);

/* Includes outside the rooms go down the layers only, and no header is included nearly everywhere (layers.c). */
void rule_layers(tidy_run *tidy);
void rule_god_header(tidy_run *tidy);

/* Atomics and threads live in src/pool and src/run, what only prefetches is inlined always, the clock is read in
 * src/base/clock.c, words have one meaning, and nothing is left to be done later (words.c). */
void rule_words(tidy_run *tidy);
void rule_prefetch(tidy_run *tidy);

/* Functions, files and lines are short, and lines hold no stray blanks (shape.c). */
void rule_length(tidy_run *tidy);
void rule_blanks(tidy_run *tidy);

/* A static function of more than a few lines has a name that no other file of src uses (names.c). */
void rule_names(tidy_run *tidy);

/* Functions that a header declares are documented, and the frame's stages stand in order (manual.c). */
void rule_documented(tidy_run *tidy);
void rule_stages(tidy_run *tidy);

#endif
