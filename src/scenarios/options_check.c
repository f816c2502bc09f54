#include "scenarios/options_check.h"

muster_result options_check(const char *scenario, const muster_module_options *options, uint32_t agents_max,
                            uint32_t observers_max) {
  if (!options || options->size == 0)
    return muster_module_fail(MUSTER_E_NOT_INITIALISED,
                              "%s: the options were not set by muster_default_module_options()", scenario);
  if (options->path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s takes no file (%s); use 'population' for one", scenario,
                              options->path);
  if (options->agents > agents_max)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: %u agents are more than %u", scenario, options->agents,
                              agents_max);
  if (options->observers > observers_max)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: %u observers are more than %u", scenario, options->observers,
                              observers_max);
  return MUSTER_OK;
}
