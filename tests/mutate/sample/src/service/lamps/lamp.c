#include "service/booth.h"

int lamp_burns(int hour) {
  return hour > 20;
}
