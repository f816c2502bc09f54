/* Says with which library it runs; fails when that is not the one whose headers it was built with. */
#include <muster/muster.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  printf("muster %s\n", muster_version());
  return strcmp(muster_version(), MUSTER_VERSION) != 0;
}
