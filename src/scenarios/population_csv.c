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
  ROLE_X = 0,
  ROLE_Y,
  ROLE_Z,
  ROLE_KIND,
  ROLE_WORLD,
  ROLE_PATROL,
  ROLE_SPEED,
  ROLE_MAP, /* what is meant to be a world, by another name */
  ROLES,
  ROLE_SKIPPED = ROLES
} csv_role;

static const char *const role_names[ROLES] = {"x", "y", "z", "kind", "world", "patrol", "speed", "map"};

/* Other names for it; a zone or an area is a part of a map, and a level may be an NPC's. */
static const char *const map_names[] = {"mapid", "map_id", "map id", "dimension", "scene", "continent"};
enum { MAP_NAMES = sizeof map_names / sizeof *map_names };

/* Numbers texts in order of appearance. Texts are told apart by a 64-bit hash. */
typedef struct csv_names {
  uint64_t *hashes; /* by number; there is room for all that can appear */
  uint32_t *slots;  /* open addressing; number + 1, 0 = free; at least two slots for every hash */
  uint32_t count, mask;
} csv_names;

typedef struct csv_reader {
  const char *file_name;
  const char *at, *end;
  uint64_t line;   /* of `at`, from 1 */
  locale_t locale; /* "C" */
  csv_role height; /* the axis that is up; in a flat file the one that is missing */
  uint32_t rows_max;
  uint32_t column_count;                 /* 0 while the header is read */
  uint8_t roles[POPULATION_COLUMNS_MAX]; /* by column */
  bool has[ROLES + 1];
  double axes[ROLE_Z + 1]; /* of the row; an axis without a column stays 0 */
  csv_names kinds, worlds;
  const char *map_name; /* of that column */
  bool map_seen;
  uint64_t map; /* the hash of the first */
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

/* While the header is read, no column has a role. */
static csv_role role_of(const csv_reader *reader, const csv_field *field) {
  return field->column < reader->column_count ? reader->roles[field->column] : ROLE_SKIPPED;
}

/* Names a column in a message; columns without a role are named by their number. */
static muster_result fail_field(const csv_reader *reader, const csv_field *field, const char *reason) {
  csv_role role = role_of(reader, field);
  const char *name = role == ROLE_MAP ? reader->map_name : role_names[role % ROLES];
  if (role != ROLE_SKIPPED) return fail_line(reader, field->line, "column '%s': %s", name, reason);
  return fail_line(reader, field->line, "column %" PRIu32 ": %s", field->column + 1, reason);
}

/* Quotes the field's text: what is not printable ASCII as '?', long text cut. */
static muster_result fail_value(const csv_reader *reader, const csv_field *field, const char *reason) {
  enum { SHOWN = 32 };
  if (field->length == 0) return fail_field(reader, field, "the field is empty");
  char whole[224];
  bool cut = field->length > SHOWN;
  snprintf(whole, sizeof whole, "'%.*s%s' %s", cut ? SHOWN : (int)field->length, field->text, cut ? "..." : "", reason);
  for (char *at = whole; *at; at++)
    if (*at < ' ' || *at > '~') *at = '?';
  return fail_field(reader, field, whole);
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

/* Reads a decimal number whatever the locale. Too large a one is infinite; the words that strtod takes are of the
 * letters of "nan" and "infinity". */
static muster_result population_csv_read_number(const csv_reader *reader, const csv_field *field, double least,
                                                double most, double *value) {
  char text[POPULATION_NUMBER_BYTES] = "", *end, reason[64];
  bool fits = field->length < sizeof text;
  if (fits) memcpy(text, field->text, field->length);
  *value = strtod_l(text, &end, reader->locale);
  bool whole = fits && *end == '\0';
  if (whole && strspn(text, "+-aAfFiInNtTyY") == field->length) return fail_value(reader, field, "is not finite");
  if (!whole || strspn(text, "+-.0123456789eE") != field->length) return fail_value(reader, field, "is not a number");
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

static bool make_names(csv_names *names, uint32_t most) {
  for (names->mask = 1; names->mask < 2 * most;) names->mask = names->mask * 2 + 1;
  names->hashes = calloc(most, sizeof *names->hashes);
  names->slots = calloc((size_t)names->mask + 1, sizeof *names->slots);
  return names->hashes && names->slots;
}

/* Finds or adds a hash. */
static uint32_t number_name(csv_names *names, uint64_t hash) {
  uint32_t slot = (uint32_t)hash & names->mask;
  for (; names->slots[slot]; slot = (slot + 1) & names->mask)
    if (names->hashes[names->slots[slot] - 1] == hash) return names->slots[slot] - 1;
  names->hashes[names->count] = hash;
  names->slots[slot] = ++names->count;
  return names->count - 1;
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static muster_result read_patrol(const csv_reader *reader, const csv_field *field, bool *patrol) {
  *patrol = is_word(field, "1") || is_word(field, "true");
  if (*patrol || is_word(field, "0") || is_word(field, "false") || field->length == 0) return MUSTER_OK;
  return fail_value(reader, field, "is neither 0 nor 1 (1 = the NPC patrols; 0 or empty = it does not)");
}

/* Without a column of worlds all rows lie in one, where NPCs of several maps would meet. */
static muster_result check_map(csv_reader *reader, const csv_field *field) {
  uint64_t map = hash_text(field);
  if (reader->has[ROLE_WORLD] || field->length == 0) return MUSTER_OK;
  if (!reader->map_seen || reader->map == map) {
    reader->map = map;
    reader->map_seen = true;
    return MUSTER_OK;
  }
  return fail_value(reader, field,
                    "is a second map: name the column 'world' to keep maps apart, or leave it out to have all in one");
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
  csv_role role = role_of(reader, field);
  switch (role) {
  case ROLE_X:
  case ROLE_Y:
  case ROLE_Z:
    return population_csv_read_number(reader, field, -1e9, 1e9, &reader->axes[role]);
  case ROLE_KIND:
    row->kind = number_name(&reader->kinds, hash_text(field));
    return MUSTER_OK;
  case ROLE_WORLD:
    row->world = number_name(&reader->worlds, hash_text(field));
    if (reader->worlds.count <= POPULATION_WORLDS_MAX) return MUSTER_OK;
    return fail_value(reader, field, "is one world too many: at most 65536 are possible");
  case ROLE_PATROL:
    return read_patrol(reader, field, &row->patrol);
  case ROLE_SPEED:
    return read_speed(reader, field, &row->speed_mps);
  case ROLE_MAP:
    return check_map(reader, field);
  default:
    return MUSTER_OK;
  }
}

static muster_result take_heading(csv_reader *reader, const csv_field *field) {
  csv_role role = ROLE_X;
  if (field->column == POPULATION_COLUMNS_MAX) return fail_line(reader, field->line, "more than 1024 columns");
  while (role < ROLES && !is_word(field, role_names[role])) role++;
  for (uint32_t i = 0; i < MAP_NAMES && role == ROLES && !reader->has[ROLE_MAP]; i++)
    if (is_word(field, map_names[i])) {
      role = ROLE_MAP;
      reader->map_name = map_names[i];
    }
  if (role < ROLES && reader->has[role]) return fail_value(reader, field, "names a column for the second time");
  reader->has[role] = true;
  reader->roles[field->column] = (uint8_t)role;
  return MUSTER_OK;
}

/* Reads all fields of the header, where `row` is null, or of a row. */
static muster_result read_fields(csv_reader *reader, population_row *row, uint32_t *columns) {
  csv_field field = {0};
  for (*columns = 0; !field.ends_row; ++*columns) {
    muster_result result = read_field(reader, *columns, &field);
    if (!result) result = row ? take_field(reader, &field, row) : take_heading(reader, &field);
    if (result) return result;
  }
  return MUSTER_OK;
}

/* The axis that is not up is the second one of the ground. */
static muster_result read_row(csv_reader *reader, uint32_t number) {
  population_row *row = &reader->rows->rows[number];
  uint64_t line = reader->line;
  uint32_t columns;
  muster_result result = read_fields(reader, row, &columns);
  if (result) return result;
  if (columns != reader->column_count)
    return fail_line(reader, line, "%" PRIu32 " fields, where the header has %" PRIu32, columns, reader->column_count);
  if (!reader->has[ROLE_KIND]) row->kind = number_name(&reader->kinds, scaffold_random(number));
  const double *axes = reader->axes;
  row->position = (muster_position){axes[ROLE_X], axes[ROLE_Y + ROLE_Z - reader->height], axes[reader->height]};
  return MUSTER_OK;
}

static muster_result population_csv_read_rows(csv_reader *reader) {
  population_rows *rows = reader->rows;
  for (; next_row(reader); rows->count++) {
    if (rows->count == reader->rows_max)
      return fail_line(reader, reader->line, "more than %" PRIu32 " rows", reader->rows_max);
    muster_result result = read_row(reader, rows->count);
    if (result) return result;
  }
  if (rows->count == 0) return fail_line(reader, reader->line, "the header is not followed by any row");
  return MUSTER_OK;
}

static muster_result read_header(csv_reader *reader) {
  if (!next_row(reader))
    return fail_line(reader, 1, "the file is empty; a header that names x and y or z must come first");
  uint64_t line = reader->line;
  uint32_t columns;
  muster_result result = read_fields(reader, NULL, &columns);
  if (result) return result;
  bool has_y = reader->has[ROLE_Y], has_z = reader->has[ROLE_Z];
  const char *missing = !reader->has[ROLE_X] ? "x" : !has_y && !has_z ? "y' or 'z" : NULL;
  if (missing)
    return fail_line(reader, line, "column '%s': missing from the header (columns are separated by commas)", missing);
  if (!has_y || !has_z) reader->height = has_y ? ROLE_Z : ROLE_Y;
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

/* Rows that the text can have at most: it has a line for each. */
static uint32_t rows_most(const csv_reader *reader) {
  uint32_t most = 1;
  for (const char *at = reader->at; most < reader->rows_max && (at = memchr(at, '\n', (size_t)(reader->end - at)));
       at++)
    most++;
  return most;
}

static bool make_room(csv_reader *reader) {
  uint32_t most = rows_most(reader), worlds_most = most <= POPULATION_WORLDS_MAX ? most : POPULATION_WORLDS_MAX + 1;
  reader->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader->rows->rows = calloc(most, sizeof *reader->rows->rows);
  return reader->locale && reader->rows->rows && make_names(&reader->kinds, most) &&
         make_names(&reader->worlds, worlds_most);
}

muster_result population_csv_parse(const char *file_name, const char *text, size_t bytes, char up_axis,
                                   uint32_t rows_max, population_rows *rows) {
  *rows = (population_rows){0};
  if (up_axis != 'y' && up_axis != 'z')
    return muster_module_fail(MUSTER_E_ARGUMENT, "the axis that is up must be 'y' or 'z', not '%c'", up_axis);
  csv_reader reader = {.file_name = file_name,
                       .at = text,
                       .end = text + bytes,
                       .line = 1,
                       .map_name = role_names[ROLE_MAP],
                       .height = up_axis == 'y' ? ROLE_Y : ROLE_Z,
                       .rows_max = rows_max < POPULATION_ROWS_MAX ? rows_max : POPULATION_ROWS_MAX,
                       .rows = rows};
  muster_result result =
      make_room(&reader) ? read_table(&reader) : muster_module_fail(MUSTER_E_MEMORY, "%s:1: out of memory", file_name);
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
