/* service/rectangle.h - x0, y0, x1 and y1 of a query. Loop's thread. */
#ifndef SERVICE_RECTANGLE_H
#define SERVICE_RECTANGLE_H

#include "service/api_read.h"
#include "service/http.h"

#define RECTANGLE_QUERIES "x0 y0 x1 y1"

/* Metres: x0 <= x < x1, y0 <= y < y1. */
struct rectangle {
  bool given;
  double x0, y0, x1, y1;
};

/* Reads all four or none. False with a problem. */
bool rectangle_read(http_request *request, struct rectangle *rectangle, api_problem *problem);

#endif
