/* switch.h - leaving one fibre for another. Nothing is kept but what a function call keeps: no signal masks, no
 * floating-point modes. On x86-64 a few instructions; elsewhere <ucontext.h>, which makes two system calls. */
#ifndef EXPLORE_SWITCH_H
#define EXPLORE_SWITCH_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) || defined(EXPLORE_UCONTEXT)
#include <ucontext.h>
typedef struct switch_context {
  ucontext_t context;
} switch_context;
#else
typedef struct switch_context {
  void *stack;
} switch_context;
#endif

/* Makes a context that begins with `entry`, which must not return. */
void switch_prepare(switch_context *context, unsigned char *stack, size_t bytes, void (*entry)(void));

/* Leaves `from` for `to`; returns when another fibre switches back to `from`. */
void switch_to(switch_context *from, switch_context *to);

#endif
