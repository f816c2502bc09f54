/* pool/leaving.h - callbacks must return.
 *
 * A C++ exception, pthread_exit() or a cancellation that leaves a callback would unwind the library's own calls, and
 * leave workers counted that never come back. It is ended where it arrives: the unwinder asks the personality routine
 * of each call on its way, and ours names the callback and aborts. An exception is ended before anything is unwound, so
 * that a core shows where it was thrown, and also when nobody up the stack would have caught it. A callback may throw
 * and catch inside as it likes. Calls that return pay nothing: the routine stands in the unwind tables alone.
 *
 * longjmp() asks nobody: see run/occupancy.h. This pair of files is small and stands alone, since those who call
 * back from other rooms need it without the pool, and the interleaving explorer puts its own routine in its place. */
#ifndef POOL_LEAVING_H
#define POOL_LEAVING_H

#include <unwind.h>

/* In a function that must not be inlined (CALLS_OUT): `routine` is told when a callback below is left. What it names
 * lies in the same library, so that a distance of 32 bits finds it (DW_EH_PE_pcrel | DW_EH_PE_sdata4). */
#define MUST_RETURN(routine) __asm__ volatile(".cfi_personality 0x1b, " #routine)

/* Behind a call that would be the last thing in such a function: it stays on the stack meanwhile. */
#define HAS_RETURNED() __asm__ volatile("" ::: "memory")

#define CALLS_OUT __attribute__((noinline))

/* Routines are found by name, in no call. */
#define LEAVING_ROUTINE __attribute__((used))

/* What left, in words. */
const char *leaving_name(_Unwind_Action actions, _Unwind_Exception_Class class);

/* The routine of jobs, pieces of ranges and hooks. */
_Unwind_Reason_Code leaving_job(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception, struct _Unwind_Context *context);

#endif
