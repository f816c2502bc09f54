#include "base/fields.h"

#include "base/error.h"
#include "base/quantity.h"

#include <muster/muster.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t field_bytes(const field_row *field) {
  switch (field->kind) {
  case FIELD_COUNT:
  case FIELD_CHOICE:
  case FIELD_FLOAT:
    return sizeof(uint32_t);
  case FIELD_SWITCH:
    return sizeof(bool);
  case FIELD_LEVELS:
    return sizeof((muster_type_def){0}.levels.importance);
  case FIELD_TEXT:
    return (size_t)field->most + 1;
  case FIELD_POSITION:
    return sizeof(muster_position);
  case FIELD_NUMBER:
  case FIELD_TIME:
  case FIELD_RATE:
  case FIELD_DOUBLE:
    break;
  }
  return sizeof(uint64_t);
}

/* A value of any kind that has a range. */
union number {
  uint32_t count;
  uint64_t number;
  float single;
  double precise;
  uint8_t truth; /* any byte, where it was read from a file */
};

static union number number_at(const field_row *field, const void *place) {
  union number value = {.number = 0};
  size_t bytes = field_bytes(field);
  if (bytes <= sizeof value) memcpy(&value, place, bytes);
  if (field->kind == FIELD_COUNT || field->kind == FIELD_CHOICE) value.number = value.count;
  if (field->kind == FIELD_SWITCH) value.number = value.truth;
  return value;
}

double field_value(const field_row *field, const void *place) {
  union number value = number_at(field, place);
  if (field->kind == FIELD_DOUBLE) return value.precise;
  return field->kind == FIELD_FLOAT ? (double)value.single : (double)value.number;
}

uint64_t field_whole(const field_row *field, const void *place) {
  return number_at(field, place).number;
}

bool field_allows(const field_row *field, double value) {
  bool zero = field->uses & FIELD_OR_ZERO && fpclassify(value) == FP_ZERO;
  return zero || (value >= field->least && value <= field->most);
}

/* --------------------------------------------------------------------------------------------------------- messages */

/* As few digits as tell the number from others: one that is refused would else look like the end of its range. */
static void words_of_real(const field_row *field, double value, char words[FIELD_WORDS]) {
  snprintf(words, FIELD_WORDS, "%g", value);
  double read = strtod(words, NULL);
  if (field->kind == FIELD_FLOAT) read = (double)(float)read;
  if (read < value || read > value) snprintf(words, FIELD_WORDS, "%.*g", field->kind == FIELD_FLOAT ? 9 : 17, value);
}

const char *field_words(const field_row *field, const void *place, char words[FIELD_WORDS]) {
  if (field->kind == FIELD_FLOAT || field->kind == FIELD_DOUBLE)
    words_of_real(field, field_value(field, place), words);
  else
    snprintf(words, FIELD_WORDS, "%llu", (unsigned long long)field_whole(field, place));
  return words;
}

static void words_of_bound(const field_row *field, double bound, char words[FIELD_WORDS / 3]) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"h", 3.6e12}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  uint32_t unit = 0;
  while (unit < 4 && bound < units[unit].ns) unit++;
  if (field->kind == FIELD_TIME)
    snprintf(words, FIELD_WORDS / 3, "%g %s", bound / units[unit].ns, units[unit].name);
  else
    snprintf(words, FIELD_WORDS / 3, "%.*g", field->kind == FIELD_FLOAT || field->kind == FIELD_DOUBLE ? 6 : 17, bound);
}

/* What it must be: "must be 1..16", "must be 0 or 1 ms .. 1 h", "must be at most 1024". */
const char *field_range_words(const field_row *field, char words[FIELD_WORDS]) {
  char least[FIELD_WORDS / 3], most[FIELD_WORDS / 3];
  bool real = field->kind == FIELD_FLOAT || field->kind == FIELD_DOUBLE;
  bool from = real ? isfinite(field->least) : field->least > 0 || field->kind == FIELD_CHOICE;
  words_of_bound(field, field->least, least);
  words_of_bound(field, field->most, most);
  if (from)
    snprintf(words, FIELD_WORDS, "%smust be %s%s%s%s", field->kind == FIELD_CHOICE ? "is unknown: " : "",
             field->uses & FIELD_OR_ZERO ? "0 or " : "", least, field->kind == FIELD_TIME ? " .. " : "..", most);
  else
    snprintf(words, FIELD_WORDS, "must be at most %s", most);
  return words;
}

/* The value that is refused. A whole number that only a negative one becomes is told as that, too. */
static const char *words_of_wrong(const field_row *field, const void *place, char words[FIELD_WORDS]) {
  uint64_t whole = field_whole(field, place);
  bool short_one = field->kind == FIELD_COUNT || field->kind == FIELD_CHOICE;
  bool whole_one = short_one || field->kind == FIELD_NUMBER || field->kind == FIELD_TIME || field->kind == FIELD_RATE;
  int64_t below = short_one ? (int64_t)(int32_t)(uint32_t)whole : (int64_t)whole;
  field_words(field, place, words);
  if (whole_one && below < 0)
    snprintf(words, FIELD_WORDS, "%llu (%lld, taken for an unsigned number)", (unsigned long long)whole,
             (long long)below);
  return words;
}

static muster_result field_refuse(const field_row *field, const char *what, const char *name, const void *place,
                                  const char *leaves) {
  char value[FIELD_WORDS], range[FIELD_WORDS];
  return error_set(MUSTER_E_ARGUMENT, "%s%s%s%s: %s %s %s%s", what, name ? " '" : "", name ? name : "", name ? "'" : "",
                   field->member ? field->member : field->name, words_of_wrong(field, place, value),
                   field_range_words(field, range), leaves);
}

/* ------------------------------------------------------------------------------------------------------ definitions */

static const void *place_in(const void *object, uint32_t offset) {
  return (const unsigned char *)object + offset;
}

bool fields_are_reserved(const void *part, size_t bytes) {
  const unsigned char *at = part;
  while (bytes > 0 && at[bytes - 1] == 0) bytes--;
  return bytes == 0;
}

muster_result fields_check(const field_row *fields, const char *what, const char *name, const void *def,
                           uint32_t without) {
  for (const field_row *field = fields; field->name; field++) {
    const void *place = place_in(def, field->offset);
    if (field->uses & (without | FIELD_UNBOUNDED) || field_allows(field, field_value(field, place))) continue;
    return field_refuse(field, what, name, place, field->least < 0 ? " (negative: the type's)" : "");
  }
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- tunings */

/* A number that is left has the default's value, or any negative one. */
static bool field_leaves(const field_row *field, const void *tuning, const void *defaults) {
  const void *place = place_in(tuning, field->tuned);
  if (field->kind == FIELD_FLOAT) return field_value(field, place) < 0;
  return memcmp(place, place_in(defaults, field->tuned), field_bytes(field)) == 0;
}

muster_result fields_check_tuning(const field_row *fields, const char *what, const void *tuning, const void *defaults) {
  for (const field_row *field = fields; field->name; field++) {
    const void *place = place_in(tuning, field->tuned);
    if (!field->tuned || field->uses & FIELD_UNBOUNDED || field_leaves(field, tuning, defaults) ||
        field_allows(field, field_value(field, place)))
      continue;
    return field_refuse(field, what, NULL, place,
                        field->kind == FIELD_FLOAT ? " (negative: as it is)" : " (0: as it is)");
  }
  return MUSTER_OK;
}

uint32_t fields_tune(const field_row *fields, void *def, const void *tuning, const void *defaults) {
  uint32_t changed = 0;
  for (const field_row *field = fields; field->name; field++) {
    const void *given = place_in(tuning, field->tuned);
    void *held = (unsigned char *)def + field->offset;
    if (!field->tuned || field_leaves(field, tuning, defaults) || memcmp(held, given, field_bytes(field)) == 0)
      continue;
    memcpy(held, given, field_bytes(field));
    changed |= field->uses;
  }
  return changed;
}

void fields_describe(const field_row *fields, const void *def, void *tuning, uint32_t without) {
  for (const field_row *field = fields; field->name; field++)
    if (field->tuned && !(field->uses & without))
      memcpy((unsigned char *)tuning + field->tuned, place_in(def, field->offset), field_bytes(field));
}

/* ------------------------------------------------------------------------------------------------------------ texts */

static uint64_t whole_of(double bound) {
  return bound < 0x1p64 ? (uint64_t)bound : UINT64_MAX;
}

muster_result field_read_text(const field_row *field, const char *text, void *place) {
  uint64_t least = field->uses & FIELD_OR_ZERO ? 0 : whole_of(field->least), most = whole_of(field->most), value = 0;
  muster_result result = field->kind == FIELD_TIME   ? quantity_duration(text, least, most, &value)
                         : field->kind == FIELD_RATE ? quantity_rate(text, least, most, &value)
                                                     : quantity_count(text, least, most, &value);
  const uint32_t count = (uint32_t)value;
  if (!result) memcpy(place, field->kind == FIELD_COUNT ? (const void *)&count : &value, field_bytes(field));
  return result;
}
