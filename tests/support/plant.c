/* plant.c - plants a fault (tests/faults/README says what one is) into a copy of the source that it is in.
 *
 *   plant ROOT --where FAULT...          prints the source of each fault, a path below ROOT, in a line
 *   plant ROOT SOURCE FAULT COPY PLACES  writes the copy; PLACES is touched when the place is in another source by now
 *
 * Sources and patterns are compared token by token: white space, comments and where a string is split do not count. The
 * copy has as many lines as its source. */
#include <ctype.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WILDCARDS = 10, EDITS_MAX = 16 };

typedef struct token {
  const char *begin, *end; /* where it stands */
  const char *text;        /* what it is: of strings that follow each other one */
  size_t length;
  uint32_t directive; /* the number of the preprocessor's line that it is in; 0: none */
} token;

typedef struct tokens {
  token *all;
  size_t count;
} tokens;

struct source {
  const char *path; /* below the root */
  const char *text;
  struct tokens tokens;
};

/* A function, variable, type or macro, under one of its names. */
struct definition {
  const token *name;
  const struct source *source;
  size_t from, to; /* tokens */
};

typedef struct run {
  size_t from, to; /* tokens */
} run;

/* One place: what stands there, and what is planted instead. */
struct edit {
  char *name, *path; /* `in:`; the path, or a part of it, may be empty */
  char *wanted, *planted;
  run at, wildcards[WILDCARDS];
};

struct fault {
  const char *path;
  struct edit edits[EDITS_MAX];
  size_t count;
};

static struct definition *definitions;
static size_t definition_count;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void *must(void *memory) {
  if (!memory) fail("plant: out of memory");
  return memory;
}

/* Makes room for one more of a list that doubles. */
static void *grow(void *all, size_t count, size_t bytes) {
  return count & (count - 1) ? all : must(realloc(all, (count ? count * 2 : 1) * bytes));
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t capacity = 0;
  if (!file) fail("plant: cannot read %s", path);
  if (getdelim(&text, &capacity, '\0', file) < 0) text = must(strdup(""));
  fclose(file);
  return text;
}

/* ----------------------------------------------------------------------------------------------------------- tokens */

static const char *after_blank(const char *at) {
  for (;; at++) {
    if (at[0] == '/' && at[1] == '/') {
      at += strcspn(at, "\n") - 1;
    } else if (at[0] == '/' && at[1] == '*') {
      const char *end = strstr(at + 2, "*/");
      if (!end) return at + strlen(at);
      at = end + 1;
    } else if (!isspace((unsigned char)*at) && !(at[0] == '\\' && at[1] == '\n')) {
      return at;
    }
  }
}

/* Past the closing quote; an unclosed literal ends with its line. */
static const char *after_literal(const char *at) {
  char quote = *at++;
  while (*at && *at != '\n' && *at != quote) at += *at == '\\' && at[1] ? 2 : 1;
  return *at == quote ? at + 1 : at;
}

static const char *after_word(const char *at) {
  bool number = isdigit((unsigned char)*at) || *at == '.';
  for (;; at++) {
    bool sign = number && (*at == '+' || *at == '-') && strchr("eEpP", at[-1]);
    if (!isalnum((unsigned char)*at) && *at != '_' && !sign && !(number && *at == '.')) return at;
  }
}

static const char *after_token(const char *at) {
  static const char *const operators[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                          "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};
  if (*at == '"' || *at == '\'') return after_literal(at);
  if (isalnum((unsigned char)*at) || *at == '_' || (*at == '.' && isdigit((unsigned char)at[1]))) return after_word(at);
  if (*at == '$' && isdigit((unsigned char)at[1])) return at + 2;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (!strncmp(at, operators[i], strlen(operators[i]))) return at + strlen(operators[i]);
  return at + 1;
}

/* Strings that follow each other are one. */
static void join_strings(token *string) {
  const char *next;
  while (*(next = after_blank(string->end)) == '"') {
    const char *end = after_literal(next);
    char *joined = must(malloc(string->length + (size_t)(end - next) + 1));
    memcpy(joined, string->text, string->length - 1);
    memcpy(joined + string->length - 1, next + 1, (size_t)(end - next) - 1);
    string->length += (size_t)(end - next) - 2;
    string->text = joined;
    string->end = end;
  }
}

static tokens lex(const char *text) {
  tokens list = {0};
  uint32_t directive = 0, directives = 0;
  const char *line = text; /* after the last token */
  for (const char *at; *(at = after_blank(line)); line = list.all[list.count++].end) {
    bool begins = line == text;
    for (const char *i = line; i < at; i++)
      if (*i == '\n' && (i == text || i[-1] != '\\')) begins = true;
    if (begins) directive = *at == '#' ? ++directives : 0;
    const char *end = after_token(at);
    list.all = grow(list.all, list.count, sizeof *list.all);
    list.all[list.count] = (token){at, end, at, (size_t)(end - at), directive};
    if (*at == '"') join_strings(&list.all[list.count]);
  }
  return list;
}

static bool is(const token *one, const char *text) {
  return one->length == strlen(text) && !memcmp(one->text, text, one->length);
}

/* One of the marks, each a character. */
static bool is_of(const token *one, const char *marks) {
  return one->length == 1 && strchr(marks, *one->text);
}

static bool is_word(const token *one) {
  return isalpha((unsigned char)*one->text) || *one->text == '_';
}

/* ------------------------------------------------------------------------------------------------------ definitions */

static void define(const struct source *source, const token *name, size_t from, size_t to) {
  definitions = grow(definitions, definition_count, sizeof *definitions);
  definitions[definition_count++] = (struct definition){name, source, from, to};
}

/* What begins outside of everything: up to its semicolon, or to the end of a function's body. It is known by each name
 * before its parameters, its members, its value or its end, if it has a body or a value. */
static size_t index_definition(const struct source *source, size_t from) {
  const tokens *list = &source->tokens;
  size_t first = definition_count, depth = 0, i = from;
  bool called = false, valued = false, body = false, function = false, ends = false;
  for (; i < list->count && !ends; i++) {
    const token *one = &list->all[i];
    if (one->directive) continue;
    if (is(one, "{") && i == from + 2 && is(&list->all[from], "extern"))
      return i + 1; /* what is in "C" is outside, too */
    if (depth == 0 && is_word(one) && i + 1 < list->count && is_of(one + 1, "({=[;,")) define(source, one, from, from);
    if (depth == 0 && is(one, "=")) valued = true;
    if (depth == 0 && is(one, "{")) body = true, function = called && !valued;
    if (is_of(one, "({[")) depth++;
    if (is_of(one, ")}]") && depth > 0 && --depth == 0) {
      called |= is(one, ")");
      ends = function && is(one, "}");
    }
    ends |= depth == 0 && is(one, ";");
  }
  if (!body && !valued) definition_count = first;
  while (first < definition_count) definitions[first++].to = i;
  return i;
}

static void index_source(const char *path) {
  struct source *source = must(malloc(sizeof *source));
  source->path = must(strdup(path));
  source->text = read_all(path);
  source->tokens = lex(source->text);
  const tokens *list = &source->tokens;
  for (size_t i = 0, from; i < list->count;) {
    uint32_t directive = list->all[from = i].directive;
    if (!directive) {
      i = index_definition(source, i);
      continue;
    }
    while (i < list->count && list->all[i].directive == directive) i++;
    if (i - from > 2 && is(&list->all[from + 1], "define")) define(source, &list->all[from + 2], from, i);
  }
}

static int index_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)place;
  size_t length = strlen(path);
  if (kind == FTW_F && length > 2 && (!strcmp(path + length - 2, ".c") || !strcmp(path + length - 2, ".h")))
    index_source(path);
  return 0;
}

static void index_tree(void) {
  static const char *const folders[] = {"src", "bench", "tools"};
  definition_count = 0;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) nftw(folders[i], index_entry, 16, FTW_PHYS);
}

/* The path has these words, from one of its folders on. */
static bool path_has(const char *path, const char *words) {
  size_t length = strlen(words);
  for (const char *at = path; (at = strstr(at, words)); at++)
    if ((at == path || at[-1] == '/') && (!length || strchr("/.", at[length]))) return true;
  return false;
}

static bool is_place(const struct definition *definition, const struct edit *edit) {
  return is(definition->name, edit->name) && path_has(definition->source->path, edit->path);
}

/* The one source of an edit's place; null when there is none. */
static const struct source *find_source(const struct fault *fault, const struct edit *edit) {
  const struct source *found = NULL;
  for (size_t i = 0; i < definition_count; i++) {
    const struct source *other = definitions[i].source;
    if (!is_place(&definitions[i], edit) || other == found) continue;
    if (found)
      fail("%s: %s is defined in %s and in %s: name the file or its folder, such as 'in: %s, %s'", fault->path,
           edit->name, found->path, other->path, edit->name, other->path);
    found = other;
  }
  return found;
}

/* The same, looked for in the whole tree, of all edits. */
static const struct source *find_place(const struct fault *fault) {
  const struct source *found = NULL;
  for (size_t i = 0; i < fault->count; i++) {
    const struct edit *edit = &fault->edits[i];
    const struct source *other = find_source(fault, edit);
    if (!other)
      fail("%s: nothing defines %s%s%s: name in 'in:' the function, variable, type or macro that has the place now",
           fault->path, edit->name, *edit->path ? " in " : "", edit->path);
    if (found && found != other)
      fail("%s: %s is in %s, and %s in %s: make it two faults, a fault changes one file", fault->path,
           fault->edits[0].name, found->path, edit->name, other->path);
    found = other;
  }
  return found;
}

/* ----------------------------------------------------------------------------------------------------------- faults */

static void append(char **text, const char *line) {
  size_t length = *text ? strlen(*text) : 0;
  *text = must(realloc(*text, length + strlen(line) + 2));
  sprintf(*text + length, "%s\n", line);
}

static void begin_edit(struct fault *fault, char *place) {
  if (fault->count == EDITS_MAX) fail("%s: more than %d places", fault->path, EDITS_MAX);
  char *comma = strstr(place, ", ");
  if (comma) *comma = '\0';
  fault->edits[fault->count++] = (struct edit){.name = must(strdup(place)),
                                               .path = must(strdup(comma ? comma + 2 : "")),
                                               .wanted = strdup(""),
                                               .planted = strdup("")};
}

static void read_line(struct fault *fault, size_t number, char *line) {
  struct edit *edit = fault->count ? &fault->edits[fault->count - 1] : NULL;
  size_t key = strspn(line, "abcdefghijklmnopqrstuvwxyz");
  if (!strncmp(line, "in: ", 4)) {
    begin_edit(fault, line + 4);
  } else if (edit && line[0] && strchr("-+ ", line[0]) && line[1] == ' ') {
    if (line[0] != '+') append(&edit->wanted, line + 2);
    if (line[0] != '-') append(&edit->planted, line + 2);
  } else if (edit) {
    fail("%s:%zu: a line after 'in:' begins with '- ', with '+ ' or with two spaces", fault->path, number);
  } else if (number == 1 ? !*line : !key || strncmp(line + key, ": ", 2)) {
    fail("%s:%zu: %s", fault->path, number,
         number == 1 ? "say here what is wrong" : "'KEY: VALUE' is expected, such as 'in: FUNCTION'");
  }
}

static struct fault read_fault(const char *path) {
  struct fault fault = {.path = path};
  char *next = read_all(path);
  for (size_t number = 1; next && (*next || number == 1); number++) {
    char *line = strsep(&next, "\n");
    read_line(&fault, number, line);
  }
  if (!fault.count) fail("%s: no line 'in: FUNCTION' says where it belongs", path);
  return fault;
}

/* --------------------------------------------------------------------------------------------------------- patterns */

static int wildcard_of(const token *one) {
  return *one->text == '$' && one->length == 2 ? one->text[1] - '0' : -1;
}

/* Over a token, or from an opening bracket past the closing one. Not out of brackets, nor over a semicolon. */
static bool step(const tokens *list, size_t *at, size_t end) {
  size_t depth = 0, i = *at;
  do {
    if (i == end || (depth == 0 && is_of(&list->all[i], ";)}]"))) return false;
    if (is_of(&list->all[i], "({[")) depth++;
    if (is_of(&list->all[i], ")}]")) depth--;
    i++;
  } while (depth > 0);
  *at = i;
  return true;
}

/* Where the pattern's tokens from `next` on end that begin at `at`; 0: they do not. A wildcard is as short as it can
 * be. */
static size_t match(const tokens *list, size_t at, size_t end, const tokens *pattern, size_t next, run *wildcards) {
  for (; next < pattern->count; next++, at++) {
    const token *wanted = &pattern->all[next];
    int wildcard = wildcard_of(wanted);
    if (wildcard >= 0) {
      run *taken = &wildcards[wildcard];
      size_t matched;
      for (*taken = (run){at, at}; !(matched = match(list, taken->to, end, pattern, next + 1, wildcards));)
        if (!step(list, &taken->to, end)) return 0;
      return matched;
    }
    const token *found = &list->all[at];
    if (at == end || found->length != wanted->length || memcmp(found->text, wanted->text, wanted->length)) return 0;
    if (next > 0 && found->directive != found[-1].directive) return 0;
  }
  return at;
}

static int line_of(const struct source *source, size_t at) {
  int line = 1;
  for (const char *i = source->text; i < source->tokens.all[at].begin; i++) line += *i == '\n';
  return line;
}

static tokens pattern_of(const struct fault *fault, const struct edit *edit) {
  tokens wanted = lex(edit->wanted), planted = lex(edit->planted);
  bool known[WILDCARDS] = {0};
  for (size_t i = 0; i < wanted.count; i++) {
    int wildcard = wildcard_of(&wanted.all[i]);
    if (wildcard < 0) continue;
    if (i == 0 || i + 1 == wanted.count || known[wildcard])
      fail("%s: $%d begins or ends the pattern in %s, or is there twice: give it tokens on both sides", fault->path,
           wildcard, edit->name);
    known[wildcard] = true;
  }
  for (size_t i = 0; i < planted.count; i++)
    if (wildcard_of(&planted.all[i]) >= 0 && !known[wildcard_of(&planted.all[i])])
      fail("%s: %.2s is planted in %s, and not in the pattern", fault->path, planted.all[i].text, edit->name);
  if (!wanted.count || !strcmp(edit->wanted, edit->planted))
    fail("%s: nothing is changed in %s: write lines with '- ', or '+ ' next to lines with two spaces", fault->path,
         edit->name);
  return wanted;
}

/* Finds the one place of an edit. */
static void find_match(const struct fault *fault, struct edit *edit, const struct source *source) {
  const tokens *list = &source->tokens, pattern = pattern_of(fault, edit);
  size_t count = 0;
  for (size_t i = 0; i < definition_count; i++) {
    const struct definition *definition = &definitions[i];
    if (definition->source != source || !is_place(definition, edit)) continue;
    for (size_t from = definition->from; from < definition->to; from++) {
      run wildcards[WILDCARDS];
      size_t to = match(list, from, definition->to, &pattern, 0, wildcards);
      if (!to || (count && from == edit->at.from)) continue; /* a type may have its name twice */
      if (count++)
        fail("%s: two matches in %s (%s), lines %d and %d: add tokens before or after\n%s", fault->path, edit->name,
             source->path, line_of(source, edit->at.from), line_of(source, from), edit->wanted);
      edit->at = (run){from, to};
      memcpy(edit->wildcards, wildcards, sizeof wildcards);
    }
  }
  if (!count)
    fail("%s: no match in %s (%s): write what is there now, which is not\n%s", fault->path, edit->name, source->path,
         edit->wanted);
}

/* --------------------------------------------------------------------------------------------------------- planting */

/* Line ends become spaces. */
static void put(FILE *copy, const char *begin, const char *end) {
  for (; begin < end; begin++) fputc(*begin == '\n' || (*begin == '\\' && begin[1] == '\n') ? ' ' : *begin, copy);
}

/* Writes what is planted, in one line, and after it the line ends of what was there. */
static void put_edit(FILE *copy, const struct edit *edit, const tokens *list) {
  tokens planted = lex(edit->planted);
  for (size_t i = 0; i < planted.count; i++) {
    const token *one = &planted.all[i];
    int wildcard = wildcard_of(one);
    const run *taken = &edit->wildcards[wildcard < 0 ? 0 : wildcard];
    if (i > 0 && one[-1].end < one->begin) fputc(' ', copy);
    if (wildcard < 0)
      put(copy, one->begin, one->end);
    else if (taken->from < taken->to)
      put(copy, list->all[taken->from].begin, list->all[taken->to - 1].end);
  }
  const token *first = &list->all[edit->at.from];
  for (const char *i = first->begin; i < list->all[edit->at.to - 1].end; i++)
    if (*i == '\n') fputs(first->directive ? "\\\n" : "\n", copy);
}

static int compare_edits(const void *a, const void *b) {
  const struct edit *one = a, *other = b;
  return one->at.from < other->at.from ? -1 : one->at.from > other->at.from;
}

static void plant(const struct source *source, struct fault *fault, const char *path) {
  const tokens *list = &source->tokens;
  for (size_t i = 0; i < fault->count; i++) find_match(fault, &fault->edits[i], source);
  qsort(fault->edits, fault->count, sizeof *fault->edits, compare_edits);
  FILE *copy = fopen(path, "w");
  if (!copy) fail("plant: cannot write %s", path);
  const char *at = source->text;
  for (size_t i = 0; i < fault->count; i++) {
    const struct edit *edit = &fault->edits[i];
    if (list->all[edit->at.from].begin < at) fail("%s: two of its places in %s overlap", fault->path, edit->name);
    fwrite(at, 1, (size_t)(list->all[edit->at.from].begin - at), copy);
    put_edit(copy, edit, list);
    at = list->all[edit->at.to - 1].end;
  }
  fputs(at, copy);
  if (fclose(copy)) fail("plant: cannot write %s", path);
}

/* Whether the source that was indexed has all of a fault's places. */
static bool has_places(const struct fault *fault) {
  for (size_t i = 0; i < fault->count; i++)
    if (!find_source(fault, &fault->edits[i])) return false;
  return true;
}

int main(int count, char **arguments) {
  bool where = count > 3 && !strcmp(arguments[2], "--where");
  if (!where && count != 6) fail("usage: plant ROOT --where FAULT... or plant ROOT SOURCE FAULT COPY PLACES");
  if (chdir(arguments[1])) fail("plant: cannot enter %s", arguments[1]);
  if (where) {
    index_tree();
    for (int i = 3; i < count; i++) {
      struct fault fault = read_fault(arguments[i]);
      puts(find_place(&fault)->path);
    }
    return 0;
  }
  index_source(arguments[2]);
  struct fault fault = read_fault(arguments[3]);
  if (!has_places(&fault)) {
    index_tree();
    const struct source *moved = find_place(&fault);
    utimensat(AT_FDCWD, arguments[5], NULL, 0);
    fail("%s: %s has moved from %s to %s: build once more", fault.path, fault.edits[0].name, arguments[2], moved->path);
  }
  plant(definitions[0].source, &fault, arguments[4]);
  return 0;
}
