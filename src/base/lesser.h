/* lesser.h - the lesser and the greater of two numbers, by comparison: fminf() and fmaxf() would be calls. */
#ifndef BASE_LESSER_H
#define BASE_LESSER_H

static inline float lesser(float a, float b) {
  return a < b ? a : b;
}

static inline float greater(float a, float b) {
  return a > b ? a : b;
}

#endif
