#include "base/error.h"

#include <muster/module.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 512 };

static _Thread_local char last_error[MESSAGE_BYTES];

/* Formatted apart first: a message may quote the one before. */
static void format_error(const char *format, va_list arguments) {
  char message[MESSAGE_BYTES];
  vsnprintf(message, sizeof message, format, arguments);
  memcpy(last_error, message, sizeof last_error);
}

muster_result error_set(muster_result result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  format_error(format, arguments);
  va_end(arguments);
  return result;
}

muster_result muster_module_fail(muster_result result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  format_error(format, arguments);
  va_end(arguments);
  return result;
}

const char *muster_last_error(void) {
  return last_error;
}

const char *muster_result_name(muster_result result) {
  switch (result) {
  case MUSTER_OK:
    return "MUSTER_OK";
  case MUSTER_E_ARGUMENT:
    return "MUSTER_E_ARGUMENT";
  case MUSTER_E_NOT_INITIALISED:
    return "MUSTER_E_NOT_INITIALISED";
  case MUSTER_E_STALE:
    return "MUSTER_E_STALE";
  case MUSTER_E_FULL:
    return "MUSTER_E_FULL";
  case MUSTER_E_MEMORY:
    return "MUSTER_E_MEMORY";
  case MUSTER_E_STATE:
    return "MUSTER_E_STATE";
  case MUSTER_E_TIME:
    return "MUSTER_E_TIME";
  case MUSTER_E_SYSTEM:
    return "MUSTER_E_SYSTEM";
  case MUSTER_E_INPUT:
    return "MUSTER_E_INPUT";
  }
  return "unknown result";
}

void log_write(const muster_log_sink *sink, muster_log_level level, const char *format, ...) {
  char message[MESSAGE_BYTES];
  va_list arguments;
  if (!sink->write && level == MUSTER_LOG_INFO) return;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (sink->write)
    sink->write(level, message, sink->user);
  else
    fprintf(stderr, "muster: %s\n", message);
}
