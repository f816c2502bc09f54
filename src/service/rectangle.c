#include "service/rectangle.h"

#include <stdlib.h>
#include <string.h>

/* A plain decimal number: strtod would take "inf" and "0x1p3", too. */
static bool rectangle_read_number(const char *text, double *value) {
  char *end;
  if (strspn(text, "0123456789+-.eE") != strlen(text)) return false;
  *value = strtod(text, &end);
  return end != text && !*end && *value >= -1e9 && *value <= 1e9;
}

bool rectangle_read(http_request *request, struct rectangle *rectangle, api_problem *problem) {
  static const char *const names[4] = {"x0", "y0", "x1", "y1"};
  double *const corners[4] = {&rectangle->x0, &rectangle->y0, &rectangle->x1, &rectangle->y1};
  uint32_t given = 0;
  for (uint32_t i = 0; i < 4; i++) {
    const char *text = http_query_value(request, names[i]);
    if (!text) continue;
    given++;
    if (!rectangle_read_number(text, corners[i]))
      return api_complain(problem, 400, "out_of_range", names[i], "%s must be a number of metres, -1e9 .. 1e9",
                          names[i]);
  }
  rectangle->given = given > 0;
  for (uint32_t i = 0; given > 0 && i < 4; i++)
    if (!http_query_value(request, names[i]))
      return api_complain(problem, 400, "missing", names[i], "give x0, y0, x1 and y1, or none of them");
  if (!given || (rectangle->x0 < rectangle->x1 && rectangle->y0 < rectangle->y1)) return true;
  return api_complain(problem, 400, "out_of_range", "x1", "the rectangle is empty: x0 < x1 and y0 < y1 must hold");
}
