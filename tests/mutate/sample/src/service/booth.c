#include "service/booth.h"

int booth_opens(int lamps) {
  return lamps > 1;
}
