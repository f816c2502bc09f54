#include "scenarios/population_csv.h"

#include "scenarios/scaffold.h"

#include <inttypes.h>
#include <locale.h>
#include <muster/module.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum csv_role {
  ROLE_SKIPPED = 0,
  ROLE_X,
  ROLE_Y,
  ROLE_Z,
  ROLE_KIND,
  ROLE_WORLD,
  ROLE_PATROL,
  ROLE_SPEED,
  ROLES
} csv_role;

static const char *const role_names[ROLES] = {"", "x", "y", "z", "kind", "world", "patrol", "speed"};

/* Numbers texts in order of appearance. Texts are told apart by a 64-bit hash. */
typedef struct csv_names {
  uint64_t *hashes; /* by number */
  uint32_t *slots;  /* open addressing; number + 1, 0 = free; two slots for every hash that there is room for */
  uint32_t count, capacity;
} csv_names;

typedef struct csv_reader {
  const char *file_name;
  const char *at, *end;
  uint64_t line;   /* of `at`, from 1 */
  locale_t locale; /* "C" */
  char up_axis;
  uint32_t rows_max, row_capacity;
  uint32_t column_count;                 /* 0 while the header is read */
  uint8_t roles[POPULATION_COLUMNS_MAX]; /* by column */
  bool has[ROLES];
  csv_names kinds, worlds;
  population_rows *rows;
} csv_reader;

typedef struct csv_field {
  const char *text;
  size_t length;
  uint64_t line;   /* where it begins */
  uint32_t column; /* from 0 */
  bool quoted;
  bool ends_row;
} csv_field;

/* -------------------------------------------------------------------------------------------------------- messages */

static __attribute__((format(printf, 3, 4))) muster_result fail_line(const csv_reader *reader, uint64_t line,
                                                                     const char *format, ...) {
  char reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  return muster_module_fail(MUSTER_E_INPUT, "%s:%" PRIu64 ": %s", reader->file_name, line, reason);
}

/* Names a column in a message; skipped columns, and all columns while the header is read, are named by their number. */
static muster_result fail_field(const csv_reader *reader, const csv_field *field, const char *reason) {
  csv_role role = field->column < reader->column_count ? reader->roles[field->column] : ROLE_SKIPPED;
  if (role != ROLE_SKIPPED) return fail_line(reader, field->line, "column '%s': %s", role_names[role], reason);
  return fail_line(reader, field->line, "column %" PRIu32 ": %s", field->column + 1, reason);
}

/* Quotes the field's text: what is not printable ASCII as '?', long text cut. */
static muster_result fail_value(const csv_reader *reader, const csv_field *field, const char *reason) {
  enum { SHOWN = 32 };
  if (field->length == 0) return fail_field(reader, field, "the field is empty");
  char shown[SHOWN + 1], whole[128];
  size_t length = field->length < SHOWN ? field->length : SHOWN;
  for (size_t i = 0; i < length; i++) shown[i] = field->text[i] >= ' ' && field->text[i] <= '~' ? field->text[i] : '?';
  shown[length] = '\0';
  snprintf(whole, sizeof whole, "'%s%s' %s", shown, field->length > SHOWN ? "..." : "", reason);
  return fail_field(reader, field, whole);
}

static muster_result fail_memory(const csv_reader *reader) {
  return muster_module_fail(MUSTER_E_MEMORY, "%s:%" PRIu64 ": out of memory", reader->file_name, reader->line);
}

/* ---------------------------------------------------------------------------------------------------------- fields */

static void skip_blanks(csv_reader *reader) {
  while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t')) reader->at++;
}

/* The length of the line end at `at`: 0 when there is none. The end of the text ends its line. */
static bool at_line_end(const csv_reader *reader, size_t *length) {
  size_t left = (size_t)(reader->end - reader->at);
  *length = 0;
  if (left == 0) return true;
  if (*reader->at == '\n') *length = 1;
  if (*reader->at == '\r' && (left == 1 || reader->at[1] == '\n')) *length = left == 1 ? 1 : 2;
  return *length > 0;
}

static bool skip_line_end(csv_reader *reader) {
  size_t length;
  if (!at_line_end(reader, &length)) return false;
  reader->at += length;
  if (length) reader->line++;
  return true;
}

static muster_result read_quoted(csv_reader *reader, csv_field *field) {
  field->text = ++reader->at;
  for (; reader->at < reader->end; reader->at++) {
    if (*reader->at == '\0') return fail_field(reader, field, "a NUL byte");
    if (*reader->at == '\n') reader->line++;
    if (*reader->at != '"') continue;
    if (reader->at + 1 == reader->end || reader->at[1] != '"') break;
    reader->at++; /* a doubled quote stands for one */
  }
  if (reader->at == reader->end) return fail_field(reader, field, "the quote is never closed");
  field->length = (size_t)(reader->at++ - field->text);
  skip_blanks(reader);
  return MUSTER_OK;
}

static muster_result read_bare(csv_reader *reader, csv_field *field) {
  size_t line_end;
  field->text = reader->at;
  while (!at_line_end(reader, &line_end) && *reader->at != ',') {
    if (*reader->at == '\0') return fail_field(reader, field, "a NUL byte (is the file UTF-16?)");
    if (*reader->at == '\r') return fail_field(reader, field, "a carriage return inside a line");
    reader->at++;
  }
  field->length = (size_t)(reader->at - field->text);
  while (field->length && (field->text[field->length - 1] == ' ' || field->text[field->length - 1] == '\t'))
    field->length--;
  return MUSTER_OK;
}

/* Reads the field at `at` and what separates it from the next. */
static muster_result read_field(csv_reader *reader, uint32_t column, csv_field *field) {
  skip_blanks(reader);
  *field = (csv_field){.line = reader->line, .column = column};
  field->quoted = reader->at < reader->end && *reader->at == '"';
  muster_result result = field->quoted ? read_quoted(reader, field) : read_bare(reader, field);
  if (result) return result;
  field->ends_row = skip_line_end(reader);
  if (field->ends_row) return MUSTER_OK;
  if (*reader->at != ',') return fail_field(reader, field, "text after the closing quote");
  reader->at++;
  return MUSTER_OK;
}

/* Goes to the next line that is not blank; false at the end of the text. */
static bool next_row(csv_reader *reader) {
  do skip_blanks(reader);
  while (reader->at < reader->end && skip_line_end(reader));
  return reader->at < reader->end;
}

static bool is_word(const csv_field *field, const char *word) {
  return field->length == strlen(word) && strncasecmp(field->text, word, field->length) == 0;
}

/* --------------------------------------------------------------------------------------------------------- numbers */

/* Reads a decimal number whatever the locale; false when the field is anything else. Too large a one is infinite. */
static bool population_csv_read_decimal(const csv_reader *reader, const csv_field *field, double *value) {
  char text[POPULATION_NUMBER_BYTES], *end;
  if (field->length == 0 || field->length >= sizeof text) return false;
  memcpy(text, field->text, field->length);
  text[field->length] = '\0';
  *value = strtod_l(text, &end, reader->locale);
  return *end == '\0' && strspn(text, "+-.0123456789eE") == field->length;
}

static bool is_not_finite(const csv_field *field) {
  csv_field word = *field;
  if (word.length && (*word.text == '-' || *word.text == '+')) word.text++, word.length--;
  return is_word(&word, "nan") || is_word(&word, "inf") || is_word(&word, "infinity");
}

static muster_result population_csv_read_number(const csv_reader *reader, const csv_field *field, double least,
                                                double most, double *value) {
  char reason[64];
  if (is_not_finite(field)) return fail_value(reader, field, "is not finite");
  if (!population_csv_read_decimal(reader, field, value)) return fail_value(reader, field, "is not a number");
  if (*value >= least && *value <= most) return MUSTER_OK;
  snprintf(reason, sizeof reason, "is not within %g .. %g", least, most);
  return fail_value(reader, field, reason);
}

/* ----------------------------------------------------------------------------------------------------------- names */

/* Hashes what the field means: a doubled quote inside quotes is one, in bare text it is two. */
static uint64_t hash_text(const csv_field *field) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (size_t i = 0; i < field->length; i++) {
    hash = (hash ^ (uint8_t)field->text[i]) * 0x100000001b3u;
    if (field->quoted && field->text[i] == '"') i++;
  }
  return scaffold_random(hash);
}

static void place_name(csv_names *names, uint32_t number) {
  uint32_t mask = names->capacity * 2 - 1, slot = (uint32_t)names->hashes[number] & mask;
  while (names->slots[slot]) slot = (slot + 1) & mask;
  names->slots[slot] = number + 1;
}

static bool grow_names(csv_names *names) {
  uint32_t capacity = names->capacity ? names->capacity * 2 : 32;
  uint64_t *hashes = realloc(names->hashes, capacity * sizeof *hashes);
  if (hashes) names->hashes = hashes;
  uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
  if (!hashes || !slots) {
    free(slots);
    return false;
  }
  free(names->slots);
  names->slots = slots;
  names->capacity = capacity;
  for (uint32_t i = 0; i < names->count; i++) place_name(names, i);
  return true;
}

/* Finds or adds a hash. False when memory is refused. */
static bool number_name(csv_names *names, uint64_t hash, uint32_t *number) {
  if (names->count == names->capacity && !grow_names(names)) return false;
  uint32_t mask = names->capacity * 2 - 1;
  for (uint32_t slot = (uint32_t)hash & mask; names->slots[slot]; slot = (slot + 1) & mask) {
    *number = names->slots[slot] - 1;
    if (names->hashes[*number] == hash) return true;
  }
  *number = names->count;
  names->hashes[names->count++] = hash;
  place_name(names, *number);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static muster_result read_name(csv_reader *reader, const csv_field *field, csv_names *names, uint32_t *number) {
  if (!number_name(names, hash_text(field), number)) return fail_memory(reader);
  if (names == &reader->worlds && names->count > POPULATION_WORLDS_MAX)
    return fail_value(reader, field, "is one world too many: at most 65536 are possible");
  return MUSTER_OK;
}

static muster_result read_patrol(const csv_reader *reader, const csv_field *field, bool *patrol) {
  *patrol = is_word(field, "1") || is_word(field, "true");
  if (*patrol || is_word(field, "0") || is_word(field, "false") || field->length == 0) return MUSTER_OK;
  return fail_value(reader, field, "is neither 0 nor 1");
}

static muster_result read_speed(const csv_reader *reader, const csv_field *field, float *speed_mps) {
  double value = 0;
  muster_result result = field->length ? population_csv_read_number(reader, field, -1, 1000, &value) : MUSTER_OK;
  if (!result && value < 0 && value > -1)
    return fail_value(reader, field, "is below 0, and not the -1 that means none");
  *speed_mps = value > 0 ? (float)value : 0;
  return result;
}

/* Puts a field where it belongs; x, y and z as the file has them. */
static muster_result take_field(csv_reader *reader, const csv_field *field, population_row *row) {
  switch ((csv_role)reader->roles[field->column]) {
  case ROLE_X:
    return population_csv_read_number(reader, field, -1e9, 1e9, &row->position.x);
  case ROLE_Y:
    return population_csv_read_number(reader, field, -1e9, 1e9, &row->position.y);
  case ROLE_Z:
    return population_csv_read_number(reader, field, -1e9, 1e9, &row->position.z);
  case ROLE_KIND:
    return read_name(reader, field, &reader->kinds, &row->kind);
  case ROLE_WORLD:
    return read_name(reader, field, &reader->worlds, &row->world);
  case ROLE_PATROL:
    return read_patrol(reader, field, &row->patrol);
  case ROLE_SPEED:
    return read_speed(reader, field, &row->speed_mps);
  case ROLE_SKIPPED:
  case ROLES:
    break;
  }
  return MUSTER_OK;
}

/* From the file's axes to ours: height is z. */
static void turn_upright(const csv_reader *reader, muster_position *position) {
  bool flat = !reader->has[ROLE_Y] || !reader->has[ROLE_Z];
  double y = position->y, z = position->z;
  if (flat)
    *position = (muster_position){position->x, reader->has[ROLE_Y] ? y : z, 0};
  else if (reader->up_axis == 'y')
    *position = (muster_position){position->x, z, y};
}

static muster_result read_row(csv_reader *reader, population_row *row) {
  uint64_t line = reader->line;
  uint32_t columns = 0;
  csv_field field = {0};
  *row = (population_row){0};
  for (; !field.ends_row; columns++) {
    muster_result result = read_field(reader, columns, &field);
    if (!result && columns < reader->column_count) result = take_field(reader, &field, row);
    if (result) return result;
  }
  if (columns != reader->column_count)
    return fail_line(reader, line, "%" PRIu32 " fields, where the header has %" PRIu32, columns, reader->column_count);
  turn_upright(reader, &row->position);
  return MUSTER_OK;
}

static bool population_csv_make_room(csv_reader *reader) {
  population_rows *rows = reader->rows;
  if (rows->count < reader->row_capacity) return true;
  uint32_t capacity = reader->row_capacity ? reader->row_capacity * 2 : 64;
  population_row *grown = realloc(rows->rows, capacity * sizeof *grown);
  if (!grown) return false;
  rows->rows = grown;
  reader->row_capacity = capacity;
  return true;
}

static muster_result population_csv_read_rows(csv_reader *reader) {
  population_rows *rows = reader->rows;
  while (next_row(reader)) {
    if (rows->count == reader->rows_max)
      return fail_line(reader, reader->line, "more than %" PRIu32 " rows", reader->rows_max);
    if (!population_csv_make_room(reader)) return fail_memory(reader);
    population_row *row = &rows->rows[rows->count];
    muster_result result = read_row(reader, row);
    if (result) return result;
    bool own_kind = !reader->has[ROLE_KIND];
    if (own_kind && !number_name(&reader->kinds, scaffold_random(rows->count), &row->kind)) return fail_memory(reader);
    rows->count++;
  }
  if (rows->count == 0) return fail_line(reader, reader->line, "the header is not followed by any row");
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- header */

static muster_result take_heading(csv_reader *reader, const csv_field *field) {
  if (field->column == POPULATION_COLUMNS_MAX) return fail_line(reader, field->line, "more than 1024 columns");
  for (csv_role role = ROLE_X; role < ROLES; role++) {
    if (!is_word(field, role_names[role])) continue;
    if (reader->has[role]) return fail_value(reader, field, "names a column for the second time");
    reader->has[role] = true;
    reader->roles[field->column] = (uint8_t)role;
  }
  return MUSTER_OK;
}

static muster_result read_header(csv_reader *reader) {
  if (!next_row(reader))
    return fail_line(reader, 1, "the file is empty; a header that names x and y or z must come first");
  uint64_t line = reader->line;
  uint32_t columns = 0;
  csv_field field = {0};
  for (; !field.ends_row; columns++) {
    muster_result result = read_field(reader, columns, &field);
    if (!result) result = take_heading(reader, &field);
    if (result) return result;
  }
  const char *missing = !reader->has[ROLE_X] ? "x" : !reader->has[ROLE_Y] && !reader->has[ROLE_Z] ? "y' or 'z" : NULL;
  if (missing)
    return fail_line(reader, line, "column '%s': missing from the header (columns are separated by commas)", missing);
  reader->column_count = columns;
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- all */

static muster_result read_table(csv_reader *reader) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  size_t mark = strlen(byte_order_mark);
  if ((size_t)(reader->end - reader->at) >= mark && memcmp(reader->at, byte_order_mark, mark) == 0) reader->at += mark;
  muster_result result = read_header(reader);
  return result ? result : population_csv_read_rows(reader);
}

muster_result population_csv_parse(const char *file_name, const char *text, size_t bytes, char up_axis,
                                   uint32_t rows_max, population_rows *rows) {
  *rows = (population_rows){0};
  if (up_axis != 'y' && up_axis != 'z')
    return muster_module_fail(MUSTER_E_ARGUMENT, "the axis that is up must be 'y' or 'z', not '%c'", up_axis);
  if (rows_max > POPULATION_ROWS_MAX) rows_max = POPULATION_ROWS_MAX;
  csv_reader reader = {.file_name = file_name,
                       .at = text,
                       .end = text + bytes,
                       .line = 1,
                       .locale = newlocale(LC_ALL_MASK, "C", (locale_t)0),
                       .up_axis = up_axis,
                       .rows_max = rows_max,
                       .rows = rows};
  muster_result result = reader.locale ? read_table(&reader) : fail_memory(&reader);
  if (reader.locale) freelocale(reader.locale);
  rows->kinds = reader.kinds.hashes;
  rows->kind_count = reader.kinds.count;
  rows->world_count = reader.worlds.count ? reader.worlds.count : 1;
  free(reader.kinds.slots);
  free(reader.worlds.slots);
  free(reader.worlds.hashes);
  if (result) population_rows_free(rows);
  return result;
}

void population_rows_free(population_rows *rows) {
  free(rows->rows);
  free(rows->kinds);
  *rows = (population_rows){0};
}
