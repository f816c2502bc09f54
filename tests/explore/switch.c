#include "switch.h"

#if !defined(__x86_64__) || defined(EXPLORE_UCONTEXT)

void switch_prepare(switch_context *context, unsigned char *stack, size_t bytes, void (*entry)(void)) {
  getcontext(&context->context);
  context->context.uc_stack.ss_sp = stack;
  context->context.uc_stack.ss_size = bytes;
  context->context.uc_link = NULL;
  makecontext(&context->context, entry, 0);
}

void switch_to(switch_context *from, switch_context *to) {
  swapcontext(&from->context, &to->context);
}

#else

/* What a called function must leave as it was, the stack pointer last: rdi = where to keep ours, rsi = the other's. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type switch_stacks, @function\n"
        "switch_stacks:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size switch_stacks, .-switch_stacks\n");

void switch_stacks(void **ours, void *others);

void switch_prepare(switch_context *context, unsigned char *stack, size_t bytes, void (*entry)(void)) {
  uint64_t *top = (uint64_t *)(void *)(stack + bytes - 64);
  /* A function begins with the stack 8 bytes off a multiple of 16: the place of its return address. */
  top[1] = 0;
  top[0] = (uint64_t)(uintptr_t)entry;
  for (int i = 1; i <= 6; i++) top[-i] = 0;
  context->stack = top - 6;
}

void switch_to(switch_context *from, switch_context *to) {
  switch_stacks(&from->stack, to->stack);
}

#endif
