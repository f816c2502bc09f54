/* ck_ec.h - concurrencykit's event counts in ThreadSanitizer builds, where this folder comes first on the include path.
 *
 * On x86 the original writes the increment of an event count in inline assembly, without going through ck_pr.h, so that
 * ThreadSanitizer would not see what a wake orders. Elsewhere it is written with ck_pr.h: read it as for elsewhere. The
 * layout of its types and the functions in the library are the same. */
#ifndef MUSTER_TSAN_CK_EC_H
#define MUSTER_TSAN_CK_EC_H

#pragma GCC system_header /* include_next is an extension */

#include <ck_cc.h>
#include <ck_pr.h>
#include <ck_stdbool.h>
#include <ck_stddef.h>
#include <ck_stdint.h>
#include <sys/time.h>

#if defined(__x86_64__)
#undef __x86_64__
#include_next <ck_ec.h>
#define __x86_64__ 1
#else
#include_next <ck_ec.h>
#endif

#endif
