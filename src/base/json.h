/* base/json.h - a JSON writer that writes into the caller's memory and never past its end.
 *
 * Objects and arrays nest; every member stands on a line of its own, indented by two spaces, so that documents can be
 * compared line by line. The writer adds commas, quotes and escapes:
 *
 *     json_start(&writer, buffer, sizeof buffer);
 *     json_begin_object(&writer, NULL);
 *     json_uint(&writer, "agents", 48031);
 *     json_end_object(&writer);
 *     if (!json_finish(&writer)) ... it did not fit ...
 *
 * `name` is the member's name inside an object, and null inside an array and for the outermost value. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH_MAX = 16, JSON_NAME_BYTES = 64 };

typedef struct json_writer {
  char *buffer;
  size_t capacity, length;
  uint32_t depth;                       /* open objects and arrays */
  bool has_members[JSON_DEPTH_MAX + 1]; /* per open object or array: a comma is due before the next member */
  char closing[JSON_DEPTH_MAX + 1];     /* per open object or array: '}' or ']' */
  bool overflow;                        /* something did not fit: the document is useless */
} json_writer;

/* Begins a document in `buffer`, which the caller owns. */
void json_start(json_writer *writer, char *buffer, size_t capacity);

/* Ends the document with a newline and a terminating zero. False when it did not fit; the buffer then holds a text that
 * is cut off. The document is `writer->length` bytes long. */
bool json_finish(json_writer *writer);

/* Opens an object or an array, and closes it. Nests at most JSON_DEPTH_MAX deep. */
void json_begin_object(json_writer *writer, const char *name);
void json_end_object(json_writer *writer);
void json_begin_array(json_writer *writer, const char *name);
void json_end_array(json_writer *writer);

/* A text in UTF-8; bytes that are not UTF-8 come out as U+FFFD. */
void json_string(json_writer *writer, const char *name, const char *text);

/* A whole number. */
void json_uint(json_writer *writer, const char *name, uint64_t value);

/* A number in the fewest digits that read back as the same double; null when it is not finite. */
void json_number(json_writer *writer, const char *name, double value);

/* A float in the fewest digits that read back as the same float. */
void json_float(json_writer *writer, const char *name, float value);

/* Write true or false; and null. */
void json_bool(json_writer *writer, const char *name, bool value);
void json_null(json_writer *writer, const char *name);

/* The length of the UTF-8 sequence at `text`, or 0 when there is none: overlong forms, surrogates and code points past
 * U+10FFFF count as none. The terminating zero never continues a sequence, so nothing is read beyond it. */
size_t json_utf8_length(const unsigned char *text);

/* Writes several by a format with blanks between, whose values the compiler checks as those of printf:
 *
 *     json_print(&writer, "{ agents=%u wall{ p50_ns=%lu load=%g } periods[ %u %u ] whole=%d name=%s }", ...);
 *
 * %u and %lu are whole numbers, %g a number, %f a float, %d true or false, %s a text, or null for a null pointer. A
 * name that is not known before stands as %s, directly before its brace or bracket. What is opened here may be closed
 * later. */
void json_print(json_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
