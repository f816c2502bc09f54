#include "pool/leaving.h"

#include "base/fatal.h"

#include <muster/common.h>
#include <stdio.h>

const char *leaving_name(_Unwind_Action actions, _Unwind_Exception_Class class, char words[LEAVING_BYTES]) {
  /* "GNUCC++" and "CLNGC++"; the last byte tells an exception from one that is thrown again. */
  const _Unwind_Exception_Class gnu = 0x474e5543432b2b, clang = 0x434c4e47432b2b;
  if (actions & _UA_FORCE_UNWIND) return "pthread_exit() or a cancellation of its thread";
  const char *name = class >> 8 == gnu || class >> 8 == clang ? "a C++ exception" : "an exception";
  const char *said = muster_last_error();
  if (!said[0]) return name;
  snprintf(words, LEAVING_BYTES, "%s (the last call that failed here said: %s)", name, said);
  return words;
}

LEAVING_ROUTINE _Unwind_Reason_Code leaving_job(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                                struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
  char words[LEAVING_BYTES];
  (void)version;
  (void)exception;
  (void)context;
  fatal("a job, a piece of a range or another callback of a pool was left by %s: it must return, since others wait for "
        "it",
        leaving_name(actions, class, words));
}
