/* scenarios/options_check.h - what several scenarios check of the options that they are opened with. */
#ifndef SCENARIOS_OPTIONS_CHECK_H
#define SCENARIOS_OPTIONS_CHECK_H

#include <muster/module.h>

/* Refuses options that were not initialised, a file, and more agents or observers than the maxima, with a message that
 * begins with the scenario's name. Any thread. */
muster_result options_check(const char *scenario, const muster_module_options *options, uint32_t agents_max,
                            uint32_t observers_max);

#endif
