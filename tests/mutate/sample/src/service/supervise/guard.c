#include "service/booth.h"

int guard_wakes(int hour) {
  return hour < 8;
}
