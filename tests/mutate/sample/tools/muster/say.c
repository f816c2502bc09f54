/* A program that a test starts. */
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  int said = count == 2 ? atoi(words[1]) * 2 : 0;
  return printf("%d\n", said) == 2 ? 0 : 1;
}
