/* Finds declarations at file scope in the code form of a source: text up to a semicolon or a function's last brace. */
#include "tidy.h"

#include <ctype.h>
#include <string.h>

size_t code_skip_blanks(const char *code, size_t at) {
  return at + strspn(code + at, " \t\r\n");
}

size_t code_skip_brackets(const char *code, size_t open) {
  size_t depth = 0, i = open;
  do {
    if (code[i] == '(' || code[i] == '[' || code[i] == '{') depth++;
    if (code[i] == ')' || code[i] == ']' || code[i] == '}') depth--;
    if (code[i]) i++;
  } while (depth > 0 && code[i]);
  return i;
}

bool word_takes_parentheses(tidy_word word) {
  static const char *const words[] = {"__attribute__", "_Alignas",   "alignas", "_Static_assert",
                                      "static_assert", "__typeof__", "_Pragma", NULL};
  return word_is_any(word, words);
}

/* The scan of one declaration. */
typedef struct declaration_scan {
  const char *code;
  size_t at;
  tidy_word last;       /* the identifier just read */
  tidy_word name;       /* the function's, once its parameters were seen */
  bool ordinary;        /* a typedef, a pointer, an initialiser or a struct: not a function */
  bool extern_language; /* nothing but `extern` so far */
} declaration_scan;

static void take_identifier(declaration_scan *scan) {
  scan->last = word_at(scan->code, scan->at);
  if (word_is(scan->last, "typedef")) scan->ordinary = true;
  scan->extern_language = word_is(scan->last, "extern");
  scan->at += scan->last.length;
}

static void take_parentheses(declaration_scan *scan) {
  bool first = scan->name.length == 0 && scan->last.length > 0 && !word_takes_parentheses(scan->last);
  bool pointer = scan->code[code_skip_blanks(scan->code, scan->at + 1)] == '*';
  if (first && pointer) scan->ordinary = true;
  if (first) scan->name = scan->last;
  scan->extern_language = false;
  scan->at = code_skip_brackets(scan->code, scan->at);
}

static bool finish(const declaration_scan *scan, tidy_declaration *found, declaration_kind kind) {
  found->kind = scan->ordinary || scan->name.length == 0 ? DECLARATION_OTHER : kind;
  found->name = scan->name;
  found->end = scan->at;
  return true;
}

/* Takes a brace. True when it ends the declaration, which a function's body does. */
static bool take_braces(declaration_scan *scan, tidy_declaration *found) {
  found->body_open = scan->at;
  scan->at = code_skip_brackets(scan->code, scan->at);
  found->body_end = scan->at;
  if (!scan->ordinary && scan->name.length > 0) return finish(scan, found, DECLARATION_FUNCTION);
  scan->ordinary = true;
  return false;
}

/* Where the scan of a declaration begins: behind stray semicolons and the closing brace of extern "C". */
static size_t first_of(const char *code, size_t from) {
  size_t i = code_skip_blanks(code, from);
  while (code[i] == ';' || code[i] == '}') i = code_skip_blanks(code, i + 1);
  return i;
}

bool source_next_declaration(const tidy_source *source, tidy_declaration *found) {
  declaration_scan scan = {.code = source->code, .at = first_of(source->code, found->end)};
  *found = (tidy_declaration){.start = scan.at};
  while (scan.code[scan.at]) {
    char c = scan.code[scan.at];
    if (isalpha((unsigned char)c) || c == '_') {
      take_identifier(&scan);
    } else if (c == '(') {
      take_parentheses(&scan);
    } else if (c == '{' && scan.extern_language) {
      found->end = scan.at + 1;
      return source_next_declaration(source, found);
    } else if (c == '{') {
      if (take_braces(&scan, found)) return true;
    } else if (c == ';') {
      scan.at++;
      return finish(&scan, found, DECLARATION_PROTOTYPE);
    } else {
      if (c == '=') scan.ordinary = true;
      scan.at += c == '[' ? code_skip_brackets(scan.code, scan.at) - scan.at : 1;
    }
  }
  return false;
}
