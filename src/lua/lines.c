#include "lua/lines.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_BYTES = 2000, SHOWN_BYTES = 4 * TEXT_BYTES };

/* A script may say anything: only the first line begins at the margin, where the log's other lines do, and control
 * characters are written as \xNN. Returns the length. */
static size_t lines_write_shown(char shown[SHOWN_BYTES], const char *text) {
  size_t length = 0;
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    bool plain = byte == '\n' || byte == '\t' || (byte >= ' ' && byte != 0x7f);
    if (plain)
      shown[length++] = *text;
    else
      length += (size_t)snprintf(shown + length, SHOWN_BYTES - length, "\\x%02x", byte);
    if (byte == '\n' && text[1] != '\t') shown[length++] = '\t';
  }
  return length;
}

void lines_say(const script_world *scripts, const char *format, ...) {
  char text[TEXT_BYTES], shown[SHOWN_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t length = lines_write_shown(shown, text);
  fprintf(stderr, "muster lua: %s%s%s%s%s%.*s\n", *scripts->world_name ? "world " : "", scripts->world_name,
          *scripts->world_name ? ": " : "", scripts->name, *scripts->name ? ": " : "", (int)length, shown);
}

bool lines_take(script_lines *lines, uint32_t most) {
  bool taken = lines->said < most;
  lines->said += taken;
  lines->left_out += !taken;
  lines->left_out_ever += !taken;
  return taken;
}

static void lines_tell_rest(const script_state *state, script_lines *lines, const char *what) {
  if (lines->left_out && state->strand < SCRIPT_STRANDS_MAX)
    lines_say(state->scripts, "and %u more %s in strand %u", lines->left_out, what, state->strand);
  else if (lines->left_out)
    lines_say(state->scripts, "and %u more %s in muster.world", lines->left_out, what);
  lines->said = lines->left_out = 0;
}

static void lines_begin_state(script_state *state) {
  if (!state) return;
  lines_tell_rest(state, &state->of_print, "lines of print");
}

void lines_begin_second(script_world *scripts) {
  uint64_t second = scripts->now_ns / 1000000000u;
  if (second == scripts->lines_second) return;
  scripts->lines_second = second;
  for (uint32_t i = 0; i < scripts->strands; i++) lines_begin_state(scripts->states[i]);
  lines_begin_state(scripts->host);
}
