/* pool/leaving.h - callbacks must return.
 *
 * A C++ exception, pthread_exit() or a cancellation that leaves a callback would unwind the library's own calls, and
 * leave workers counted that never come back. So it is stopped where it arrives: the unwinder asks the personality
 * routine of each call on its way, and Muster's routine names the callback and aborts. An exception is stopped before
 * anything is unwound, so that a core shows where it was thrown, even if no caller would have caught it. A callback may
 * throw and catch inside as it likes. Calls that return cost nothing more: the routine is only in the unwind tables.
 *
 * longjmp() asks no routine: see run/occupancy.h. This pair of files is small and stands alone, since files of other
 * folders that call back need it without the pool, and the interleaving explorer puts its own routine in its place. */
#ifndef POOL_LEAVING_H
#define POOL_LEAVING_H

#include <unwind.h>

/* In a function that must not be inlined (CALLS_OUT): `routine` is called when a callback below is left. The routine
 * lies in the same library, so that a distance of 32 bits finds it (DW_EH_PE_pcrel | DW_EH_PE_sdata4). */
#define MUST_RETURN(routine) __asm__ volatile(".cfi_personality 0x1b, " #routine)

/* Behind a call that would be the last thing in such a function: keeps it from becoming a tail call, so that the
 * function stays on the stack. */
#define HAS_RETURNED() __asm__ volatile("" ::: "memory")

#define CALLS_OUT __attribute__((noinline))

/* Routines are referred to by name in assembly only; no call uses them. */
#define LEAVING_ROUTINE __attribute__((used))

enum { LEAVING_BYTES = 256 };

/* Names what left the callback: an exception with what the last call that failed on this thread said, since hosts throw
 * what they were refused for. */
const char *leaving_name(_Unwind_Action actions, _Unwind_Exception_Class class, char words[LEAVING_BYTES]);

/* The personality routine for jobs, pieces of ranges and hooks. */
_Unwind_Reason_Code leaving_job(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception, struct _Unwind_Context *context);

#endif
