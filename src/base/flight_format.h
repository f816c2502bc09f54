/* base/flight_format.h - the flight recorder's format: sealed sections (base/chunks.h), of a world's memory and of the
 * service's file, each with bytes behind it that change while the process lives. */
#ifndef BASE_FLIGHT_FORMAT_H
#define BASE_FLIGHT_FORMAT_H

#include "base/chunks.h"

#include <muster/flight.h>

enum { FLIGHT_OF_WORLD = 1, FLIGHT_OF_SERVICE };

static const chunks_format flight_format = {.name = "flight recorder",
                                            .magic = {'M', 'U', 'S', 'T', 'E', 'R', 'D', 'F'},
                                            .version = MUSTER_FLIGHT_VERSION,
                                            .layout = (uint32_t)sizeof(muster_flight_line)};

#endif
