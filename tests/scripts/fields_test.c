/* Each field of muster.type and muster.world stands where it belongs: all of them are given values that differ, and
 * what the module makes of them is compared as a whole. */
#include "lua/scripts.h"
#include "scripts/script_host.h"

#include <muster/overruns.h>

#define FIELDS_START "muster.world { agents = 1, start = function() end }\n"

/* The types of a text that is taken. */
static const script_type *fields_of(const script_host *host) {
  cr_assert_eq(host->opened, MUSTER_OK, "%s", muster_last_error());
  return ((const script_world *)host->instance)->types;
}

/* What must be the same in both, bit by bit; the names are pointers. */
static void fields_expect_def(muster_type_def def, muster_type_def wanted, const char *what) {
  cr_expect_str_eq(def.name, wanted.name, "%s", what);
  def.name = wanted.name = NULL;
  def.sets.list = wanted.sets.list = NULL;
#define FIELDS_SAME(field)                                                                                             \
  cr_expect(memcmp(&def.field, &wanted.field, sizeof def.field) == 0, "%s: " #field " is another", what)
  FIELDS_SAME(state_bytes);
  FIELDS_SAME(published_bytes);
  FIELDS_SAME(period_ns);
  FIELDS_SAME(period_max_ns);
  FIELDS_SAME(period_max_hard);
  FIELDS_SAME(act);
  FIELDS_SAME(limit_ns);
  FIELDS_SAME(wake_gap_ns);
  FIELDS_SAME(elasticity);
  FIELDS_SAME(importance);
  FIELDS_SAME(spawns_max);
  FIELDS_SAME(levels.count);
  FIELDS_SAME(levels.importance);
  FIELDS_SAME(messages.waiting_max);
  FIELDS_SAME(messages.bytes_max);
  FIELDS_SAME(messages.sends_max);
  FIELDS_SAME(messages.wake);
  FIELDS_SAME(elapsed);
  FIELDS_SAME(models);
  FIELDS_SAME(parts);
  FIELDS_SAME(overruns);
  FIELDS_SAME(sets.count);
  FIELDS_SAME(sets.order);
  FIELDS_SAME(sets.slice_ns);
  FIELDS_SAME(sets.share);
  FIELDS_SAME(slices);
  FIELDS_SAME(strands);
#undef FIELDS_SAME
}

static void fields_expect_type(const script_type *type, const script_type *wanted) {
  fields_expect_def(type->def, wanted->def, wanted->name);
  cr_expect_str_eq(type->name, wanted->name);
  cr_expect_eq(type->number, wanted->number);
  cr_expect_eq(type->memory_bytes, wanted->memory_bytes, "%u", type->memory_bytes);
  cr_expect_eq(type->cost_ns, wanted->cost_ns, "%lu", type->cost_ns);
  cr_expect_eq(type->cuts_max, wanted->cuts_max, "%u", type->cuts_max);
  cr_expect_eq(type->field_count, wanted->field_count);
  cr_expect(memcmp(type->fields, wanted->fields, sizeof type->fields) == 0);
  cr_expect(memcmp(type->methods, wanted->methods, sizeof type->methods) == 0);
  for (uint32_t i = 0; i < wanted->def.sets.count; i++) {
    muster_set_def set = type->sets[i], other = wanted->sets[i];
    cr_expect(type->def.sets.list == type->sets && set.name && strcmp(set.name, other.name) == 0, "set %u", i);
    cr_expect(set.role == other.role && set.mode == other.mode && set.share == other.share && set.asks == other.asks,
              "set %u: role %u, mode %u, share %u, asks %u", i, set.role, set.mode, set.share, set.asks);
    cr_expect(set.period_updates == other.period_updates && set.period_ns == other.period_ns &&
                  set.delay_updates == other.delay_updates && set.delay_ns == other.delay_ns &&
                  set.levels == other.levels,
              "set %u: each %u, %lu ns, from %u, %lu ns, levels %u", i, set.period_updates, set.period_ns,
              set.delay_updates, set.delay_ns, set.levels);
  }
}

/* What a type is of which nothing is said, as the manual has it. */
static script_type fields_standard(const char *name) {
  script_type type = {.memory_bytes = 65536, .cost_ns = 2000, .cuts_max = 20};
  snprintf(type.name, sizeof type.name, "%s", name);
  type.def = WITH(muster_type_def, it.state_bytes = sizeof(script_agent), it.period_ns = 100000000,
                  it.period_max_ns = 1000000000, it.limit_ns = 500000, it.slices.slice_ns = 250000, it.slices.asks = 16,
                  it.overruns.demote = 3);
  return type;
}

/* What the second type of that text is: nothing as it is by default. */
static script_type fields_all(void) {
  script_type all = fields_standard("all");
  all.number = 1;
  all.def.period_ns = 20000000;
  all.def.period_max_ns = 3000000000u;
  all.def.period_max_hard = true;
  all.def.limit_ns = 700000;
  all.def.wake_gap_ns = 40000000;
  all.def.elasticity = 2.5f;
  all.def.importance = 0.75f;
  all.def.spawns_max = 6;
  all.def.slices.slice_ns = 300000;
  all.def.slices.asks = 9;
  all.memory_bytes = 12288;
  all.cost_ns = 11000;
  all.cuts_max = 13;
  all.def.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  all.field_count = 3;
  strcpy(all.fields[0], "one"), strcpy(all.fields[1], "two"), strcpy(all.fields[2], "three");
  all.def.published_bytes = sizeof(script_published) + 3 * sizeof(script_field);
  all.def.messages.waiting_max = 5;
  all.def.messages.bytes_max = 90;
  all.def.messages.sends_max = 7;
  all.def.messages.wake = true;
  all.def.levels.count = 4;
  all.def.levels.importance[0] = 0.9f, all.def.levels.importance[1] = 0.6f, all.def.levels.importance[2] = 0.3f;
  all.def.overruns.demote = 8;
  all.def.overruns.quarantine = 17;
  return all;
}

Test(fields, each_of_a_type_has_its_place) {
  SCOPED_HOST *host = script_open(
      "muster.type { name = 'none' }\n"
      "muster.type { name = 'all', period = '20ms', period_max = '3s', period_max_hard = true, limit = '700us',\n"
      "  wake_gap = '40ms', elasticity = 2.5, importance = 0.75, spawns_max = 6, slice = '300us', asks = 9,\n"
      "  memory = '12KB', cost = '11us', cuts_max = 13, elapsed = 'events', publishes = {'one', 'two', 'three'},\n"
      "  messages = {waiting_max = 5, bytes_max = 90, sends_max = 7, wake = true},\n"
      "  levels = {count = 4, importance = {0.9, 0.6, 0.3}}, overruns = {demote = 8, quarantine = 17} }\n"
      "muster.type { name = 'box', messages = {waiting_max = 2}, period = '5s' }\n"
      "local sets = muster.type { name = 'sets', slice = '200us', sets = {\n"
      "  {method = 'look', role = 'sense', share = 11, period = '30ms', delay = '70ms', levels = 3, asks = 5},\n"
      "  {method = 'plan', share = 12, period_updates = 4, delay_updates = 2},\n"
      "  {method = 'go', role = 'act', levels = 1} } }\n"
      "function sets:look() end function sets:plan() end function sets:go() end\n" FIELDS_START);
  const script_type *types = fields_of(host);
  script_type none = fields_standard("none"), all = fields_all(), box = fields_standard("box"),
              sets = fields_standard("sets");
  none.def.name = none.name;
  fields_expect_type(&types[0], &none);

  all.def.name = all.name;
  fields_expect_type(&types[1], &all);

  box.number = 2;
  box.def.name = box.name;
  box.def.messages.waiting_max = 2;
  box.def.messages.bytes_max = 128;
  box.def.period_ns = box.def.period_max_ns = 5000000000u;
  fields_expect_type(&types[2], &box);

  static const char *const methods[] = {"look", "plan", "go"};
  sets.number = 3;
  sets.def.name = sets.name;
  sets.def.slices.slice_ns = 0;
  sets.def.sets.slice_ns = 200000;
  sets.def.sets.count = 3;
  for (int i = 0; i < 3; i++) {
    strcpy(sets.methods[METHOD_FIRST_SET + i], methods[i]);
    sets.sets[i] = muster_set_def_default();
    sets.sets[i].name = methods[i];
    sets.sets[i].mode = i < 2 ? MUSTER_MODE_SLICEABLE : MUSTER_MODE_RUN;
  }
  sets.sets[0].role = MUSTER_ROLE_PERCEPTION, sets.sets[1].role = MUSTER_ROLE_BEHAVIOUR;
  sets.sets[2].role = MUSTER_ROLE_ACTION;
  sets.sets[0].share = 11, sets.sets[1].share = 12;
  sets.sets[0].period_ns = 30000000, sets.sets[0].period_updates = 0, sets.sets[1].period_updates = 4;
  sets.sets[0].delay_ns = 70000000, sets.sets[1].delay_updates = 2;
  sets.sets[0].levels = 3, sets.sets[2].levels = 1;
  sets.sets[0].asks = 5;
  fields_expect_type(&types[3], &sets);
}

/* Of a running world none may change: whichever of them is another one is named. */
Test(fields, each_that_a_reload_changes_is_named) {
  static const char base[] = "muster.type { name = 'a', %s }\n" FIELDS_START;
  static const struct {
    const char *field, *was, *is;
  } rows[] = {
      {"period", "period = '20ms'", "period = '21ms'"},
      {"period_max", "period_max = '2s'", "period_max = '3s'"},
      {"period_max_hard", "period_max_hard = true", "period_max_hard = false"},
      {"limit", "limit = '300us'", "limit = '400us'"},
      {"wake_gap", "wake_gap = '1ms'", "wake_gap = '2ms'"},
      {"elasticity", "elasticity = 2.5", "elasticity = 2.25"},
      {"importance", "importance = 0.5", "importance = 0.25"},
      {"spawns_max", "spawns_max = 1", "spawns_max = 2"},
      {"slice", "slice = '100us'", "slice = '200us'"},
      {"asks", "asks = 5", "asks = 6"},
      {"memory", "memory = '10KB'", "memory = '11KB'"},
      {"cost", "cost = '1us'", "cost = '3us'"},
      {"cuts_max", "cuts_max = 4", "cuts_max = 5"},
      {"elapsed", "elapsed = 'delta'", "elapsed = 'events'"},
      {"publishes", "publishes = {'x', 'y'}", "publishes = {'x', 'z'}"},
      {"publishes", "publishes = {'x', 'y'}", "publishes = {'y', 'x'}"},
      {"waiting_max", "messages = {waiting_max = 3}", "messages = {waiting_max = 4}"},
      {"bytes_max", "messages = {waiting_max = 3, bytes_max = 8}", "messages = {waiting_max = 3, bytes_max = 9}"},
      {"sends_max", "messages = {sends_max = 3}", "messages = {sends_max = 4}"},
      {"wake", "messages = {waiting_max = 3, wake = true}", "messages = {waiting_max = 3}"},
      {"count", "levels = {count = 2}", "levels = {count = 3}"},
      {"levels.importance", "levels = {count = 3, importance = {0.5, 0.25}}",
       "levels = {count = 3, importance = {0.5, 0.125}}"},
      {"demote", "overruns = {demote = 3}", "overruns = {demote = 4}"},
      {"quarantine", "overruns = {quarantine = 3}", "overruns = {quarantine = 4}"},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    SCOPED_HOST *host = script_start(formed(base, rows[i].was));
    cr_expect_eq(script_reload(host, NULL), MUSTER_OK, "%s: %s", rows[i].was, muster_last_error());
    cr_expect_eq(script_reload(host, formed(base, rows[i].is)), MUSTER_E_INPUT, "%s is taken", rows[i].is);
    cr_expect(strstr(muster_last_error(), formed("type 'a' has another '%s': ", rows[i].field)) != NULL, "%s: %s",
              rows[i].is, muster_last_error());
    SCRIPT_EXPECT_FIGURES(host, {"scripts_reloads_total", 1}, {"scripts_reloads_refused_total", 1});
  }
}

Test(fields, sets_that_a_reload_changes_are_named) {
  static const char base[] = "local a = muster.type { name = 'a', sets = %s }\n"
                             "function a:m() end function a:n() end\n" FIELDS_START;
  static const char *const others[] = {"{{method = 'n'}}", "{{method = 'm'}, {method = 'n'}}"};
  SCOPED_HOST *host = script_start(formed(base, "{{method = 'm'}}"));
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    cr_expect_eq(script_reload(host, formed(base, others[i])), MUSTER_E_INPUT, "%s is taken", others[i]);
    cr_expect(strstr(muster_last_error(), "type 'a' has another 'sets': ") != NULL, "%s", muster_last_error());
  }
}

Test(fields, units_are_what_they_are_called) {
  static const struct {
    const char *text;
    uint64_t ns;
  } times[] = {{"250000ns", 250000},    {"250us", 250000},        {"2.5ms", 2500000},   {"0.5s", 500000000},
               {"1.5min", 90000000000}, {"0.25h", 900000000000u}, {"1e2ms", 100000000}, {"24h", 86400000000000u}};
  static const struct {
    const char *text;
    uint32_t bytes;
  } sizes[] = {{"40000B", 40000}, {"3KB", 3072}, {"2MB", 2097152}, {"0.5KB", 512}};
  for (size_t i = 0; i < COUNT_OF(times); i++) {
    SCOPED_HOST *host = script_open(formed("muster.type { name = 'a', period = '%s' }\n" FIELDS_START, times[i].text));
    cr_expect_eq(fields_of(host)->def.period_ns, times[i].ns, "%s", times[i].text);
  }
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    SCOPED_HOST *host = script_open(formed("muster.type { name = 'a', memory = '%s' }\n" FIELDS_START, sizes[i].text));
    cr_expect_eq(fields_of(host)->memory_bytes, sizes[i].bytes, "%s", sizes[i].text);
  }
  static const char *const refused[] = {"period = '5 ms'",     "period = '-5ms'",
                                        "period = 'ms'",       "period = '5m'",
                                        "period = 'nanms'",    "period = '1e99h'",
                                        "memory = '5kb'",      "memory = '-1KB'",
                                        "memory = '5GB'",      "memory = '5000MB'",
                                        "spawns_max = -1",     "spawns_max = 4294967296",
                                        "spawns_max = 1.5",    "importance = '1'",
                                        "period_max_hard = 1", "name = ''",
                                        "name = 'a\\0b'",      "slice = '0ns'",
                                        "cuts_max = 0",        "publishes = {''}",
                                        "publishes = {1}",     "levels = {count = 2, importance = {0.5, 0.4}}"};
  for (size_t i = 0; i < COUNT_OF(refused); i++)
    script_refused(formed("muster.type { name = 'a', %s }\n" FIELDS_START, refused[i]), "main.lua:1: ");
}

/* As long as there is room for, and a byte more. */
Test(fields, names_have_as_much_room_as_is_said) {
  SCOPED_HOST *host = script_open("muster.type { name = ('n'):rep(31), publishes = {('p'):rep(31)} }\n" FIELDS_START);
  const script_type *types = fields_of(host);
  cr_expect_eq(strlen(types->name), 31);
  cr_expect_eq(strlen(types->fields[0]), 31);
  script_refused("muster.type { name = ('n'):rep(32) }\n" FIELDS_START, "give a name of at most 31 bytes");
  script_refused("muster.type { name = 'a', publishes = {('p'):rep(32)} }\n" FIELDS_START, "at most 31 bytes");
}

/* What the world is told to need: the host's wish, then the script's, then the manual's. */
Test(fields, of_the_world_the_host_comes_first) {
  static const struct {
    const char *fields;
    uint32_t agents, observers; /* asked for by the host; 0 = it has no wish */
    muster_module_needs needs;
  } rows[] = {
      {"", 0, 0, {.agents = 1000, .agents_max = 2000}},
      {"agents = 40", 0, 0, {.agents = 40, .agents_max = 80}},
      {"agents = 40, agents_max = 90", 0, 0, {.agents = 40, .agents_max = 90}},
      {"agents = 40, agents_max = 40", 0, 0, {.agents = 40, .agents_max = 40}},
      {"agents = 40", 50, 0, {.agents = 50, .agents_max = 100}},
      {"agents = 40, agents_max = 45", 50, 0, {.agents = 50, .agents_max = 50}},
      {"agents = 40, agents_max = 77", 50, 0, {.agents = 50, .agents_max = 77}},
      {"observers = 3", 0, 0, {.agents = 1000, .agents_max = 2000, .observers = 3}},
      {"observers = 3", 0, 5, {.agents = 1000, .agents_max = 2000, .observers = 5}},
      {"", 0, 5, {.agents = 1000, .agents_max = 2000, .observers = 5}},
      {"cell = 12.5", 0, 0, {.agents = 1000, .agents_max = 2000, .cell_m = 12.5f}},
      {"agents = 0", 0, 0, {.agents = 0, .agents_max = 0}},
      {NULL, 0, 0, {.agents = 1000, .agents_max = 2000}},
      {NULL, 50, 0, {.agents = 50, .agents_max = 100}},
      {"agents = 16000000", 0, 0, {.agents = 16000000, .agents_max = 32000000}},
  };
  SCOPED_HOST *host = script_open("muster.type { name = 'a' }\n" FIELDS_START);
  cr_assert_eq(host->opened, MUSTER_OK, "%s", muster_last_error());
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    muster_module_needs needs;
    script_write(host, rows[i].fields ? formed("muster.type { name = 'a' }\nmuster.world { %s }\n", rows[i].fields)
                                      : "muster.type { name = 'a' }\n");
    void *instance = script_open_again(
        host, WITH(muster_module_options, it.agents = rows[i].agents, it.observers = rows[i].observers), &needs);
    uint32_t strands = ((const script_world *)instance)->strands;
    cr_expect(needs.agents == rows[i].needs.agents && needs.agents_max == rows[i].needs.agents_max + strands &&
                  needs.observers == rows[i].needs.observers && needs.cell_m == rows[i].needs.cell_m,
              "row %zu: %u agents, %u at most with %u strands, %u observers, cells of %g m", i, needs.agents,
              needs.agents_max, strands, needs.observers, (double)needs.cell_m);
    cr_expect_eq(strands, needs.agents_max < 260 ? 1 : rows[i].needs.agents < 2001 ? 4 : 64, "row %zu: %u", i, strands);
    host->module->close(instance);
  }
  script_refused("muster.type { name = 'a' }\nmuster.world { agents = 16000001 }\n",
                 "up to 16,000,000; it is 16000001");
}

/* Several instances in a world: types have the instance's name before their own, and lines of the log both names. */
Test(fields, types_and_lines_have_the_names_of_the_instance_and_the_world) {
  SCOPED_HOST *host = script_open("local a = muster.type { name = 'a' }\nfunction a:spawned() print('here') end\n"
                                  "muster.world { agents = 1, start = function(world)\n"
                                  " muster.spawn(a, {x = world.agents, y = 0}) end }\n");
  cr_assert_eq(host->opened, MUSTER_OK);
  host->module->close(host->instance);
  host->instance =
      script_open_again(host, WITH(muster_module_options, it.instance = "north", it.world = "isle"), &host->needs);
  script_populate(host, 1, MUSTER_CLOCK_VIRTUAL);
  script_run(host, 2);
  cr_expect_eq(script_says(host, "muster lua: world isle: north: here\n"), 1, "%s", script_said(host));
  cr_expect_str_eq(muster_type_name(host->world, (muster_type){1}), "north a");
  cr_expect_str_eq(muster_type_name(host->world, (muster_type){2}), "north lua collector");
}

/* As much of each as the manual says, and one more; and as little. */
Test(fields, lists_and_numbers_go_to_their_bounds) {
  static const struct {
    const char *text, *refused; /* null: it is taken */
  } rows[] = {
      {"local t = {} for i = 1, 16 do t[i] = 'f' .. i end muster.type { name = 'a', publishes = t }", NULL},
      {"local t = {} for i = 1, 17 do t[i] = 'f' .. i end muster.type { name = 'a', publishes = t }",
       "a list of at most 16 names"},
      {"local t = {} for i = 1, 16 do t[i] = {method = 'm'} end muster.type { name = 'a', sets = t }.m = function() "
       "end",
       NULL},
      {"local t = {} for i = 1, 17 do t[i] = {method = 'm'} end muster.type { name = 'a', sets = t }.m = function() "
       "end",
       "sets: give 1 to 16 of them"},
      {"muster.type { name = 'a', sets = {} }", "sets: give 1 to 16 of them"},
      {"muster.type { name = 'a', sets = {{method = 'm', delay = '1s', delay_updates = 2}} }",
       "set: give delay or delay_updates, not both"},
      {"for i = 1, 62 do muster.type { name = 'a' .. i } end", NULL},
      {"for i = 1, 63 do muster.type { name = 'a' .. i } end", "muster.type: more than 62 types"},
      {"muster.type { name = 'a', levels = {count = 4, importance = {0.9, 0.6, 0.3, 0.1}} }", "at most 3 numbers"},
      {"muster.type { name = 'a', levels = {count = 2, importance = {'x'}} }", "levels.importance: give numbers"},
      {"muster.type { name = 'a', overruns = {demote = 0}, asks = 4294967295 }", NULL},
      {"muster.type { name = 'a' } muster.world { agents = -1 }", "up to 16,000,000; it is -1"},
      {"muster.type { name = 'a', period = ('x'):rep(40) }", "; it is \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\""},
      {"muster.type { name = 'a', period = ('x'):rep(41) }", "; it is a string"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    SCOPED_HOST *host = script_open(rows[i].text);
    cr_expect_eq(host->opened, rows[i].refused ? MUSTER_E_INPUT : MUSTER_OK, "%s", rows[i].text);
    cr_expect(!rows[i].refused || strstr(muster_last_error(), rows[i].refused), "%s: %s", rows[i].text,
              muster_last_error());
  }
}

/* Few strands leave workers idle, many states take memory. */
Test(fields, worlds_have_strands_by_their_size) {
  static const uint32_t rows[][2] = {{255, 1},    {256, 4},     {16383, 4},   {16384, 8},    {32767, 8},
                                     {32768, 16}, {131071, 32}, {131072, 64}, {16000000, 64}};
  SCOPED_HOST *host = script_open("muster.type { name = 'a' }\n" FIELDS_START);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    muster_module_needs needs;
    script_write(host,
                 formed("muster.type { name = 'a' }\nmuster.world { agents = 1, agents_max = %u }\n", rows[i][0]));
    void *instance = script_open_again(host, muster_module_options_default(), &needs);
    cr_expect_eq(((const script_world *)instance)->strands, rows[i][1], "%u agents: %u strands", rows[i][0],
                 ((const script_world *)instance)->strands);
    host->module->close(instance);
  }
}
