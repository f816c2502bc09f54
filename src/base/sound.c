#include "base/sound.h"

#include <stdarg.h>
#include <stdio.h>

bool soundness_note(soundness *found, const char *format, ...) {
  if (found->broken) return false;
  found->broken = true;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(found->trouble, sizeof found->trouble, format, arguments);
  va_end(arguments);
  return false;
}
