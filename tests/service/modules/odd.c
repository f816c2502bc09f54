/* odd.c - modules for the tests of what the service loads: MODULE_KIND says what is the matter with each. */
#include <muster/module.h>
#include <stddef.h>

#define PLAIN      0
#define OTHER_ABI  1
#define OTHER_SIZE 2
#define HOLLOW     3
#define MUTE       4
#define UNRESOLVED 5
#define EMPTY      6
#define SECOND     7

#if MODULE_KIND == UNRESOLVED
void muster_of_another_version(void);
#endif

static muster_result open_odd(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  static int nothing;
  *instance = &nothing;
  needs->agents = needs->agents_max = options->agents ? options->agents : 10;
  return MUSTER_OK;
}

static muster_result populate(void *instance, muster_world *world) {
  (void)instance;
  (void)world;
#if MODULE_KIND == UNRESOLVED
  muster_of_another_version();
#endif
  return MUSTER_OK;
}

static void close_odd(void *instance) {
  (void)instance;
}

static const muster_module module = {.size = MODULE_KIND == OTHER_SIZE ? 1u << 20 : (uint32_t)sizeof module,
                                     .abi = MODULE_KIND == OTHER_ABI ? MUSTER_MODULE_ABI + 1 : MUSTER_MODULE_ABI,
                                     .name = MODULE_KIND == SECOND ? "second" : "odd",
                                     .summary = "for tests",
                                     .open = MODULE_KIND == HOLLOW ? NULL : open_odd,
                                     .populate = populate,
                                     .close = close_odd};

#if MODULE_KIND == MUTE
#define muster_module_get muster_module_got
#endif

MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  return MODULE_KIND == EMPTY ? NULL : &module;
}
