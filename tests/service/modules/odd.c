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
#define OLDER      8
#define NEWER      9
#define NEWEST     10
#define UNRULY     11

#if MODULE_KIND == UNRESOLVED
void muster_of_another_version(void);
#endif

static muster_result open_odd(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  static int nothing;
  *instance = &nothing;
  needs->agents = options->agents ? options->agents : 10;
  if (MODULE_KIND != SECOND) needs->agents_max = needs->agents; /* that one leaves it to the host */
  return MUSTER_OK;
}

static muster_result populate(void *instance, muster_world *world) {
  (void)instance, (void)world;
#if MODULE_KIND == UNRESOLVED
  muster_of_another_version();
#endif
  return MUSTER_OK;
}

static void close_odd(void *instance) {
  (void)instance;
}

/* Prometheus would refuse this name. */
static const muster_module_metric unruly[] = {{"odd-ones", MUSTER_MODULE_GAUGE, "Odd ones."}, {0}};

static void read_metrics(void *instance, const muster_world *world, double *values) {
  (void)instance, (void)world;
  values[0] = 1;
}

/* Behind what an older header had lies something else. */
static uint64_t skip_nothing(void *instance, uint64_t sim_now_ns) {
  (void)instance, (void)sim_now_ns;
  return 0;
}

/* The newest module sets what this header does not have. */
static const struct grown {
  muster_module module;
  void (*unknown)(void *instance);
} grown = {.module = {.size = MODULE_KIND == OTHER_SIZE ? 1u << 20
                              : MODULE_KIND == OLDER    ? (uint32_t)offsetof(muster_module, skip_ns)
                              : MODULE_KIND >= NEWER    ? (uint32_t)sizeof(struct grown)
                                                        : (uint32_t)sizeof(muster_module),
                      .abi = MODULE_KIND == OTHER_ABI ? MUSTER_MODULE_ABI + 1 : MUSTER_MODULE_ABI,
                      .name = MODULE_KIND == SECOND ? "second" : "odd",
                      .summary = "for tests",
                      .open = MODULE_KIND == HOLLOW ? NULL : open_odd,
                      .populate = populate,
                      .close = close_odd,
                      .skip_ns = skip_nothing,
                      .metrics = MODULE_KIND == UNRULY ? unruly : NULL,
                      .read_metrics = MODULE_KIND == UNRULY ? read_metrics : NULL},
           .unknown = MODULE_KIND == NEWEST ? close_odd : NULL};

#if MODULE_KIND == MUTE
#define muster_module_get muster_module_got
#endif

MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  return MODULE_KIND == EMPTY ? NULL : &grown.module;
}
