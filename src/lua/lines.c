#include "lua/lines.h"

#include <stdarg.h>
#include <stdio.h>

void lines_say(const script_world *scripts, const char *format, ...) {
  char text[2000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "muster lua: %s%s%s\n", scripts->name, *scripts->name ? ": " : "", text);
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
  lines_tell_rest(state, &state->of_errors, "errors");
  lines_tell_rest(state, &state->of_print, "lines of print");
}

void lines_begin_second(script_world *scripts) {
  uint64_t second = scripts->now_ns / 1000000000u;
  if (second == scripts->lines_second) return;
  scripts->lines_second = second;
  for (uint32_t i = 0; i < scripts->strands; i++) lines_begin_state(scripts->states[i]);
  lines_begin_state(scripts->host);
}
