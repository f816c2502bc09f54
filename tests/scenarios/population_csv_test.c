/* What the reader of spawn tables accepts, and what it says about everything else. */
#include "scenarios/population_csv.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <stdio.h>

static muster_result parse(const char *text, size_t bytes, char up_axis, population_rows *rows) {
  /* A copy of just that size lets a sanitizer notice reads beyond the end. */
  char *copy = malloc(bytes + !bytes);
  memcpy(copy, text, bytes);
  muster_result result = population_csv_parse("spawns.csv", copy, bytes, up_axis, 1000, rows);
  free(copy);
  return result;
}

static population_rows accept(const char *text, char up_axis) {
  population_rows rows;
  cr_assert_eq(parse(text, strlen(text), up_axis, &rows), MUSTER_OK, "%s", muster_last_error());
  return rows;
}

static void refuse_bytes(const char *text, size_t bytes, const char *message) {
  population_rows rows = {.count = 7};
  cr_assert_eq(parse(text, bytes, 'y', &rows), MUSTER_E_INPUT, "accepted: %s", text);
  cr_assert_str_eq(muster_last_error(), message);
  cr_assert_null(rows.rows);
  cr_assert_null(rows.kinds);
  cr_assert_eq(rows.count, 0);
}

static void refuse(const char *text, const char *message) {
  refuse_bytes(text, strlen(text), message);
}

/* -------------------------------------------------------------------------------------------------------- accepted */

Test(population_csv, reads_every_column_whatever_their_order) {
  population_rows rows =
      accept("speed,area,z,kind,x,patrol,y,world\n1.5,9,30,orc,10,1,20,north\n0,9,-3,elf,1,0,2,south\n", 'y');
  cr_assert_eq(rows.count, 2);
  cr_assert_eq(rows.kind_count, 2);
  cr_assert_eq(rows.world_count, 2);
  cr_assert_float_eq(rows.rows[0].position.x, 10, 0);
  cr_assert_float_eq(rows.rows[0].position.y, 30, 0);
  cr_assert_float_eq(rows.rows[0].position.z, 20, 0);
  cr_assert_float_eq(rows.rows[0].speed_mps, 1.5f, 0);
  cr_assert(rows.rows[0].patrol);
  cr_assert_not(rows.rows[1].patrol);
  cr_assert_eq(rows.rows[0].world, 0);
  cr_assert_eq(rows.rows[1].world, 1);
  cr_assert_eq(rows.rows[1].kind, 1);
  population_rows_free(&rows);
}

Test(population_csv, takes_the_named_axis_as_height) {
  SCOPED(population_rows_free) population_rows rows = accept("x,y,z\n1,2,3\n", 'z');
  cr_assert_float_eq(rows.rows[0].position.y, 2, 0);
  cr_assert_float_eq(rows.rows[0].position.z, 3, 0);
}

Test(population_csv, a_file_with_two_axes_is_flat_whichever_axis_is_up) {
  const char *const texts[] = {"x,y\n1,2\n", "x,z\n1,2\n"};
  for (int i = 0; i < 4; i++) {
    SCOPED(population_rows_free) population_rows rows = accept(texts[i / 2], i % 2 ? 'y' : 'z');
    cr_assert_float_eq(rows.rows[0].position.y, 2, 0);
    cr_assert_float_eq(rows.rows[0].position.z, 0, 0);
  }
}

Test(population_csv, takes_byte_order_mark_crlf_blank_lines_and_no_newline_at_the_end) {
  SCOPED(population_rows_free)
  population_rows rows = accept("\xef\xbb\xbf\r\n X ,Y\r\n\r\n 1 ,\t2\t\r\n   \r\n3,4", 'y');
  cr_assert_eq(rows.count, 2);
  cr_assert_float_eq(rows.rows[0].position.x, 1, 0);
  cr_assert_float_eq(rows.rows[1].position.y, 4, 0);
}

Test(population_csv, takes_quoted_fields_with_commas_newlines_and_doubled_quotes) {
  SCOPED(population_rows_free)
  population_rows rows = accept("\"kind\",\"x\",y\n\"a \"\"b\"\",\nc\",\"1\" ,2\n\"d\",3,4\nd,5,6\n", 'y');
  cr_assert_eq(rows.count, 3);
  cr_assert_eq(rows.kind_count, 2, "quotes are not part of the text");
  cr_assert_eq(rows.rows[2].kind, rows.rows[1].kind);
  cr_assert_float_eq(rows.rows[0].position.x, 1, 0);
}

Test(population_csv, a_quote_or_a_carriage_return_may_end_the_file) {
  const char *const texts[] = {"kind,x,y\n\"b\",1,2\na,1,\"2\"", "kind,x,y\n\"b\",1,2\r\na,1,2\r"};
  for (int i = 0; i < 2; i++) {
    SCOPED(population_rows_free) population_rows rows = accept(texts[i], 'y');
    cr_assert_eq(rows.count, 2);
    cr_assert_float_eq(rows.rows[1].position.y, 2, 0);
  }
}

Test(population_csv, a_doubled_quote_means_one_only_inside_quotes) {
  SCOPED(population_rows_free) population_rows rows = accept("kind,x,y\n\"a\"\"b\",1,1\na\"b,1,1\na\"\"b,1,1\n", 'y');
  cr_assert_eq(rows.rows[0].kind, rows.rows[1].kind);
  cr_assert_neq(rows.rows[2].kind, rows.rows[1].kind);
}

Test(population_csv, reads_numbers_as_strtod_does) {
  static const char *const numbers[] = {"0",
                                        "-0",
                                        "+7",
                                        "1.5",
                                        ".5",
                                        "5.",
                                        "1e3",
                                        "1E+3",
                                        "-12.75e-2",
                                        "0.1",
                                        "1e-400",
                                        "999999999.999999999",
                                        "-1e9",
                                        "1000000000",
                                        "123456789012345678901234567890e-25",
                                        "0.000000000000000000000001"};
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    char text[128];
    snprintf(text, sizeof text, "x,y\n%s,0\n", numbers[i]);
    SCOPED(population_rows_free) population_rows rows = accept(text, 'y');
    double wanted = strtod(numbers[i], NULL), got = rows.rows[0].position.x;
    double tolerance = wanted < 0 ? -wanted * 3e-16 : wanted * 3e-16;
    cr_assert(got - wanted <= tolerance && wanted - got <= tolerance, "%s: %.17g instead of %.17g", numbers[i], got,
              wanted);
  }
}

Test(population_csv, empty_patrol_and_speed_and_a_speed_of_minus_one_mean_none) {
  SCOPED(population_rows_free) population_rows rows = accept("x,y,patrol,speed\n1,2,,\n1,2,TRUE,-1\n", 'y');
  cr_assert_not(rows.rows[0].patrol);
  cr_assert(rows.rows[1].patrol);
  cr_assert_float_eq(rows.rows[0].speed_mps, 0, 0);
  cr_assert_float_eq(rows.rows[1].speed_mps, 0, 0);
}

Test(population_csv, without_columns_for_them_there_is_one_world_and_every_row_is_a_kind) {
  SCOPED(population_rows_free) population_rows rows = accept("x,y\n1,2\n3,4\n5,6\n", 'y');
  cr_assert_eq(rows.world_count, 1);
  cr_assert_eq(rows.kind_count, 3);
}

Test(population_csv, tells_many_kinds_apart) {
  enum { KINDS = 900 };
  static char text[KINDS * 32];
  int length = sprintf(text, "x,y,kind\n");
  for (int i = 0; i < KINDS; i++) length += sprintf(text + length, "1,2,kind %d\n", i % 450);
  SCOPED(population_rows_free) population_rows rows = accept(text, 'y');
  cr_assert_eq(rows.kind_count, 450);
  for (uint32_t i = 0; i < KINDS; i++) cr_assert_eq(rows.rows[i].kind, i % 450);
}

/* --------------------------------------------------------------------------------------------------------- refused */

Test(population_csv, refuses_what_is_no_coordinate) {
  refuse("x,y\n1,2\nabc,2\n", "spawns.csv:3: column 'x': 'abc' is not a number");
  refuse("x,y\n1,\n", "spawns.csv:2: column 'y': the field is empty");
  refuse("x,y\n1,2m\n", "spawns.csv:2: column 'y': '2m' is not a number");
  refuse("x,y\n1,0x10\n", "spawns.csv:2: column 'y': '0x10' is not a number");
  refuse("x,y\n1,1e\n", "spawns.csv:2: column 'y': '1e' is not a number");
  refuse("x,y\n1,.\n", "spawns.csv:2: column 'y': '.' is not a number");
  refuse("x,y\n1,--2\n", "spawns.csv:2: column 'y': '--2' is not a number");
  refuse("x,y\n1,1.2.3\n", "spawns.csv:2: column 'y': '1.2.3' is not a number");
  refuse("x,y\nNaN,2\n", "spawns.csv:2: column 'x': 'NaN' is not finite");
  refuse("x,y\n1,-inf\n", "spawns.csv:2: column 'y': '-inf' is not finite");
  refuse("x,y\n1,+Infinity\n", "spawns.csv:2: column 'y': '+Infinity' is not finite");
  refuse("x,y\n1,1e400\n", "spawns.csv:2: column 'y': '1e400' is not within -1e+09 .. 1e+09");
  refuse("x,y\n1,1e99999999999999999999\n",
         "spawns.csv:2: column 'y': '1e99999999999999999999' is not within -1e+09 .. 1e+09");
  refuse("x,y,z\n1,2,-1000000000.5\n", "spawns.csv:2: column 'z': '-1000000000.5' is not within -1e+09 .. 1e+09");
}

Test(population_csv, refuses_what_is_no_patrol_or_speed) {
  refuse("x,y,patrol\n1,2,maybe\n",
         "spawns.csv:2: column 'patrol': 'maybe' is neither 0 nor 1 (1 = the NPC patrols; 0 or empty = it does not)");
  refuse("x,y,patrol\n1,2,2\n",
         "spawns.csv:2: column 'patrol': '2' is neither 0 nor 1 (1 = the NPC patrols; 0 or empty = it does not)");
  refuse("x,y,speed\n1,2,fast\n", "spawns.csv:2: column 'speed': 'fast' is not a number");
  refuse("x,y,speed\n1,2,-2\n", "spawns.csv:2: column 'speed': '-2' is not within -1 .. 1000");
  refuse("x,y,speed\n1,2,1001\n", "spawns.csv:2: column 'speed': '1001' is not within -1 .. 1000");
  refuse("x,y,speed\n1,2,-0.5\n", "spawns.csv:2: column 'speed': '-0.5' is below 0, and not the -1 that means none");
}

/* All rows would lie in one world, upon one another. */
Test(population_csv, refuses_several_maps_in_a_column_that_is_no_world) {
  refuse(
      "x,y,map\n1,2,town\n1,2,town\n1,2,cave\n",
      "spawns.csv:4: column 'map': 'cave' is a second map: name the column 'world' to keep maps apart, or leave it out "
      "to have all in one");
  refuse("x,y,MapId\n1,2,0\n1,2,530\n", "spawns.csv:3: column 'mapid': '530' is a second map: name the column 'world' "
                                        "to keep maps apart, or leave it out "
                                        "to have all in one");
  population_rows rows = accept("x,y,map\n1,2,town\n1,3,town\n1,4,\n", 'y');
  cr_assert_eq(rows.world_count, 1);
  population_rows_free(&rows);
  rows = accept("x,y,map,world\n1,2,town,a\n1,3,cave,b\n", 'y');
  cr_assert_eq(rows.world_count, 2);
  population_rows_free(&rows);
}

Test(population_csv, refuses_headers_that_lack_or_repeat_a_column) {
  refuse("", "spawns.csv:1: the file is empty; a header that names x and y or z must come first");
  refuse("\xef\xbb\xbf\n \n", "spawns.csv:1: the file is empty; a header that names x and y or z must come first");
  refuse("\ny,z\n1,2\n", "spawns.csv:2: column 'x': missing from the header (columns are separated by commas)");
  refuse("x;y\n1;2\n", "spawns.csv:1: column 'x': missing from the header (columns are separated by commas)");
  refuse("kind,x\na,2\n", "spawns.csv:1: column 'y' or 'z': missing from the header (columns are separated by commas)");
  refuse("x,y,X\n1,2,3\n", "spawns.csv:1: column 3: 'X' names a column for the second time");
  refuse("x,y\n", "spawns.csv:2: the header is not followed by any row");
  refuse("x,y", "spawns.csv:1: the header is not followed by any row");
}

Test(population_csv, refuses_rows_of_another_length_than_the_header) {
  refuse("x,y,kind\n1,2,a\n1,2\n", "spawns.csv:3: 2 fields, where the header has 3");
  refuse("x,y\n1,2,\n", "spawns.csv:2: 3 fields, where the header has 2");
  refuse("x,y\n1\n", "spawns.csv:2: 1 fields, where the header has 2");
}

Test(population_csv, refuses_broken_quotes_and_bytes_that_text_does_not_have) {
  refuse("x,y,kind\n1,2,\"open\n3,4,b\n", "spawns.csv:2: column 'kind': the quote is never closed");
  refuse("x,y,kind\n1,2,\"a\"b\n", "spawns.csv:2: column 'kind': text after the closing quote");
  refuse("x,y,area\n1,2,\"a\"b\n", "spawns.csv:2: column 3: text after the closing quote");
  refuse("x,y\r1,2\r", "spawns.csv:1: column 2: a carriage return inside a line");
  refuse_bytes("x,y\n1,2\0\n", 9, "spawns.csv:2: column 'y': a NUL byte (is the file UTF-16?)");
  refuse_bytes("x,y,k\n1,2,\"\0\"\n", 14, "spawns.csv:2: column 3: a NUL byte");
  refuse_bytes("\xff\xfex\0,\0y\0", 8, "spawns.csv:1: column 1: a NUL byte (is the file UTF-16?)");
}

Test(population_csv, counts_lines_inside_quotes) {
  refuse("x,y,kind\n1,2,\"a\nb\"\n1,bad,c\n", "spawns.csv:4: column 'y': 'bad' is not a number");
}

Test(population_csv, shows_long_and_unprintable_text_cut_and_masked) {
  refuse("x,y\n1,0123456789012345678901234567890123456789z\n",
         "spawns.csv:2: column 'y': '01234567890123456789012345678901...' is not a number");
  refuse("x,y\n1,\x1b[2J\xc3\xa9z\n", "spawns.csv:2: column 'y': '?[2J?\?z' is not a number");
}

Test(population_csv, reads_huge_lines_and_refuses_too_many_columns) {
  enum { LONG = 1 << 20 };
  static char text[LONG + 64], commas[4096];
  int length = sprintf(text, "kind,x,y\n");
  memset(text + length, 'k', LONG);
  strcpy(text + length + LONG, ",1,2\n");
  SCOPED(population_rows_free) population_rows rows = accept(text, 'y');
  cr_assert_eq(rows.count, 1);
  strcpy(commas, "x,y");
  memset(commas + 3, ',', 1023);
  refuse(commas, "spawns.csv:1: more than 1024 columns");
  strcpy(commas + 3 + 1022, "\n");
  refuse(commas, "spawns.csv:2: the header is not followed by any row");
  memset(text, ',', LONG);
  memcpy(text, "x,y\n1,2", 7);
  text[LONG] = '\0';
  refuse(text, "spawns.csv:2: 1048571 fields, where the header has 2");
}

Test(population_csv, refuses_more_rows_than_it_may_read) {
  const char *text = "x,y\n1,2\n3,4\n5,6\n";
  population_rows rows;
  cr_assert_eq(population_csv_parse("f", text, strlen(text), 'y', 3, &rows), MUSTER_OK);
  population_rows_free(&rows);
  cr_assert_eq(population_csv_parse("f", text, strlen(text), 'y', 2, &rows), MUSTER_E_INPUT);
  cr_assert_str_eq(muster_last_error(), "f:4: more than 2 rows");
  cr_assert_null(rows.rows);
}

Test(population_csv, refuses_more_worlds_than_there_are_partitions) {
  static char text[POPULATION_WORLDS_MAX * 16 + 64];
  population_rows rows;
  int length = sprintf(text, "x,y,world\n");
  for (uint32_t i = 0; i < POPULATION_WORLDS_MAX; i++) length += sprintf(text + length, "1,2,%u\n", i);
  cr_assert_eq(population_csv_parse("f", text, (size_t)length, 'y', POPULATION_ROWS_MAX, &rows), MUSTER_OK);
  cr_assert_eq(rows.world_count, POPULATION_WORLDS_MAX);
  population_rows_free(&rows);
  length += sprintf(text + length, "1,2,one more\n");
  cr_assert_eq(population_csv_parse("f", text, (size_t)length, 'y', POPULATION_ROWS_MAX, &rows), MUSTER_E_INPUT);
  cr_assert_str_eq(muster_last_error(),
                   "f:65538: column 'world': 'one more' is one world too many: at most 65536 are possible");
}

Test(population_csv, refuses_an_axis_that_cannot_be_up) {
  population_rows rows;
  cr_assert_eq(population_csv_parse("f", "x,y\n1,2\n", 8, 'x', 10, &rows), MUSTER_E_ARGUMENT);
  cr_assert_str_eq(muster_last_error(), "the axis that is up must be 'y' or 'z', not 'x'");
}
