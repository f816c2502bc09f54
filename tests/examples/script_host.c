/* A server of your own that runs behaviours in Lua (tools/docs/scripts.md): it opens the module `lua` as musterd does.
 *
 *     cc script_host.c $(pkg-config --cflags --libs muster) -o script_host
 *     ./script_host /usr/lib/muster/modules/lua.so walker.lua [FRAMES] */
#include <dlfcn.h>
#include <muster/module.h>
#include <stdio.h>
#include <stdlib.h>

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "script_host: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

static const muster_module *open_code(const char *path) {
  void *code = dlopen(path, RTLD_NOW);
  muster_module_get_function get = code ? (muster_module_get_function)dlsym(code, "muster_module_get") : NULL;
  if (get) return get();
  fprintf(stderr, "script_host: %s\n", dlerror());
  exit(EXIT_FAILURE);
}

static muster_world *create_world(muster_pool *pool, const muster_module_needs *needs) {
  muster_world_def def = muster_world_def_default();
  def.pool = pool;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = needs->agents_max;
  if (needs->observers) def.limits.observers_max = needs->observers;
  if (needs->cell_m > 0) def.cell_m = needs->cell_m;
  muster_world *world = muster_world_create(&def);
  must(world, "the world");
  return world;
}

static void print_figure(const char *name, double value, void *user) {
  (void)user;
  printf("%-28s %.0f\n", name, value);
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: script_host MODULE.so SCRIPTS [FRAMES]\n");
    return EXIT_FAILURE;
  }
  const muster_module *lua = open_code(arguments[1]);
  muster_module_options options = muster_module_options_default();
  options.path = arguments[2];
  void *scripts;
  muster_module_needs needs = {.size = sizeof needs};
  must(lua->open(&options, &scripts, &needs) == MUSTER_OK, "the scripts");
  muster_pool_def pool_def = muster_pool_def_default();
  muster_pool *pool = muster_pool_create(&pool_def);
  must(pool, "the pool");
  muster_world *world = create_world(pool, &needs);
  must(lua->register_types(scripts, world) == MUSTER_OK, "the types");
  must(lua->populate(scripts, world) == MUSTER_OK, "the population");
  uint64_t now_ns = 0;
  for (int frames = count > 3 ? atoi(arguments[3]) : 300; frames > 0; frames--) {
    now_ns += 33333333;
    lua->before_frame(scripts, world, now_ns);
    must(muster_frame_run(world, &(muster_frame){now_ns, 10000000}) == MUSTER_OK, "a frame");
  }
  lua->report(scripts, world, print_figure, NULL);
  muster_world_destroy(world);
  muster_pool_destroy(pool);
  lua->close(scripts);
}
