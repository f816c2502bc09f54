/* sanitized.h - whether a sanitizer watches, under which everything takes several times as long (ThreadSanitizer, and
 * an emulator of another processor: some ten times): tests then repeat less, and only then. */
#ifndef MUSTER_TESTS_SANITIZED_H
#define MUSTER_TESTS_SANITIZED_H

#if defined(__SANITIZE_THREAD__) || defined(MUSTER_EMULATED)
#define UNDER_THREAD_SANITIZER 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER 1
#endif
#ifndef UNDER_THREAD_SANITIZER
#define UNDER_THREAD_SANITIZER 0
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER UNDER_THREAD_SANITIZER
#endif

#endif
