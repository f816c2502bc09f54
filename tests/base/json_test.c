#include "base/json.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>

static char buffer[1024];

static json_writer writer;

static void start(void) {
  json_start(&writer, buffer, sizeof buffer);
}

TestSuite(json, .init = start);

static void expect(const char *wanted) {
  cr_assert(json_finish(&writer));
  cr_assert_str_eq(buffer, wanted);
}

Test(json, writes_every_member_on_a_line_of_its_own) {
  json_begin_object(&writer, NULL);
  json_uint(&writer, "agents", 48031);
  json_begin_array(&writer, "levels");
  json_uint(&writer, NULL, 1);
  json_bool(&writer, NULL, true);
  json_end_array(&writer);
  json_null(&writer, "own");
  json_end_object(&writer);
  expect("{\n  \"agents\": 48031,\n  \"levels\": [\n    1,\n    true\n  ],\n  \"own\": null\n}\n");
  cr_assert_eq(writer.length, strlen(buffer));
}

Test(json, writes_empty_objects_and_arrays_on_one_line) {
  json_begin_object(&writer, NULL);
  json_begin_object(&writer, "world");
  json_end_object(&writer);
  json_begin_array(&writer, "rows");
  json_end_array(&writer);
  json_end_object(&writer);
  expect("{\n  \"world\": {},\n  \"rows\": []\n}\n");
}

Test(json, escapes_quotes_backslashes_and_control_characters) {
  json_string(&writer, NULL, "a\"b\\c\n\x01/");
  expect("\"a\\\"b\\\\c\\u000a\\u0001/\"\n");
}

Test(json, keeps_utf8_and_replaces_what_is_not) {
  json_string(&writer, NULL, "h\xc3\xa4she \xf0\x9f\x90\x87 \xff \xc3 \xc0\xaf \xed\xa0\x80");
  expect("\"h\xc3\xa4she \xf0\x9f\x90\x87 \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd "
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

Test(json, does_not_read_past_a_text_that_ends_inside_a_sequence) {
  char cut[] = {(char)0xf0, '\0', (char)0x9f, '\0'};
  json_string(&writer, NULL, cut);
  expect("\"\xef\xbf\xbd\"\n");
}

Test(json, writes_numbers_that_read_back_the_same) {
  static const double values[] = {0.1, 1.0 / 3.0, 1e300, 46.666667, 5e-324, -2.5, 0.0};
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    start();
    json_number(&writer, NULL, values[i]);
    cr_assert(json_finish(&writer));
    cr_assert(strtod(buffer, NULL) == values[i], "%s does not read back as %a", buffer, values[i]);
  }
}

Test(json, writes_the_short_form_where_it_suffices) {
  json_number(&writer, NULL, 0.1);
  expect("0.1\n");
}

Test(json, writes_a_float_in_its_own_digits_as_far_as_they_read_back) {
  static const float values[] = {0.1f, 1.0f / 3.0f, 16777217.0f, -2.5f, 1e-45f};
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    start();
    json_float(&writer, NULL, values[i]);
    cr_assert(json_finish(&writer));
    cr_assert(strtof(buffer, NULL) == values[i], "%s does not read back as %a", buffer, (double)values[i]);
  }
  start();
  json_print(&writer, "[ %f %f ]", 0.1f, (float)INFINITY);
  expect("[\n  0.1,\n  null\n]\n");
}

Test(json, writes_null_for_what_is_not_finite) {
  json_begin_array(&writer, NULL);
  json_number(&writer, NULL, (double)NAN);
  json_number(&writer, NULL, (double)INFINITY);
  json_end_array(&writer);
  expect("[\n  null,\n  null\n]\n");
}

Test(json, writes_the_largest_whole_number_exactly) {
  json_uint(&writer, NULL, UINT64_MAX);
  expect("18446744073709551615\n");
}

/* For every capacity: either the whole document, or a refusal, and never a byte past the end. */
Test(json, refuses_a_document_that_does_not_fit_and_stays_inside_its_buffer) {
  static const char whole[] = "{\n  \"name\": \"hare\",\n  \"age\": 7\n}\n";
  for (size_t capacity = 1; capacity <= sizeof whole + 4; capacity++) {
    char small[64];
    memset(small, '#', sizeof small);
    json_start(&writer, small, capacity);
    json_begin_object(&writer, NULL);
    json_string(&writer, "name", "hare");
    json_uint(&writer, "age", 7);
    json_end_object(&writer);
    bool fits = json_finish(&writer);
    cr_assert_eq(fits, capacity >= sizeof whole, "capacity %zu", capacity);
    if (fits) cr_assert_str_eq(small, whole);
    for (size_t i = capacity; i < sizeof small; i++)
      cr_assert(small[i] == '#', "capacity %zu: byte %zu was written", capacity, i);
  }
}

Test(json, prints_members_by_a_format) {
  json_print(&writer, "{ hares=%u old=%d share=%g of{ ns=%lu name=%s } %s[ %u %g ]", 7u, true, 0.5, UINT64_MAX,
             "a \"b\"", "ages", 3u, (double)NAN);
  const char *volatile none = NULL;
  json_print(&writer, "last=%s none{ } }", none);
  expect("{\n  \"hares\": 7,\n  \"old\": true,\n  \"share\": 0.5,\n  \"of\": {\n"
         "    \"ns\": 18446744073709551615,\n    \"name\": \"a \\\"b\\\"\"\n  },\n  \"ages\": [\n"
         "    3,\n    null\n  ],\n  \"last\": null,\n  \"none\": {}\n}\n");
}
