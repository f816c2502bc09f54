/* Every row of the table of settings: a reload keeps it or takes it over, in each of two worlds by their names, and
 * flags reach the worlds that they are for. What else the settings have is compared byte by byte: nothing else changes.
 */
#include "complaints.h"
#include "service/settings_file.h"
#include "service/settings_flags.h"
#include "service/settings_keys.h"
#include "service/settings_load.h"
#include "service/settings_modules.h"

static struct settings now, next, wanted;
static complaints all;

static void read_settings(struct settings *settings, const char *text) {
  memset(settings, 0, sizeof *settings);
  all = (complaints){0};
  settings_default(settings);
  settings_read_text(settings, "test.conf", text, strlen(text), complaints_add, &all);
  cr_assert_eq(all.count, 0, "%s", all.text);
}

/* A world of a file of settings. */
#define WORLD(NAME) "[world " NAME "]\nmodule = m\n"

static const char three_worlds[] = WORLD("a") WORLD("b") "module.k = 1\n" WORLD("c");

/* What has the row: a world, or all settings. */
static void *section_of(struct settings *settings, const settings_key *key, uint32_t world) {
  return key->of_world ? (void *)&settings->worlds[world] : settings;
}

static uint32_t sections_of(const settings_key *key, uint32_t worlds) {
  return key->of_world ? worlds : 1;
}

/* Another value, whatever it is of. */
static void change(const settings_key *key, void *section) {
  char *place = (char *)section + key->field.offset;
  if (key->field.kind == FIELD_TEXT)
    strcpy(place, strcmp(place, "x") == 0 ? "y" : "x");
  else if (key->field.kind == FIELD_SWITCH)
    *(bool *)place = !*(bool *)place;
  else
    *place = (char)(*place ^ 1);
}

/* The same worlds in another order, of which one has another value. */
static void swap_worlds(struct settings *settings) {
  static world_settings kept;
  kept = settings->worlds[0];
  settings->worlds[0] = settings->worlds[2];
  settings->worlds[2] = settings->worlds[1];
  settings->worlds[1] = kept;
}

Test(settings_rows, are_kept_or_taken_over_by_a_reload_in_the_world_that_they_are_of) {
  const settings_key *key;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++)
    for (uint32_t world = 0; world < sections_of(key, 3); world++) {
      read_settings(&now, three_worlds);
      const char *of = key->of_world ? formed("%s ", now.worlds[world].name) : "";
      const char *told = key->live ? "" : formed("%s%s: it cannot change", of, key->field.name);
      memcpy(&next, &now, sizeof now), memcpy(&wanted, &now, sizeof now);
      change(key, section_of(&next, key, world));
      if (key->live) change(key, section_of(&wanted, key, world));
      swap_worlds(&next);
      all = (complaints){0};
      settings_keep_fixed(&next, &now, complaints_add, &all);
      cr_expect_eq(memcmp(&next, &wanted, sizeof next), 0, "%s of world %u", key->field.name, world);
      cr_expect(all.count == !key->live && strncmp(all.text, told, strlen(told)) == 0, "%s%s: %s", of, told, all.text);
    }
}

/* What is given, left out or changed of a module's settings is told, and what is in force stays. */
Test(settings_rows, of_modules_are_kept_by_a_reload_in_the_world_that_they_are_of) {
  static const struct {
    const char *text, *told;
  } changes[] = {
      {three_worlds, ""},
      {WORLD("c") WORLD("a") WORLD("b") "module.k = 1\n", ""},
      {WORLD("a") WORLD("b") WORLD("c"), "b module.k: it cannot change"},
      {WORLD("a") "module.k = 1\n" WORLD("b") "module.k = 1\n" WORLD("c"), "a module.k: it cannot change"},
      {WORLD("c") WORLD("a") WORLD("b") "module.k = 2\n", "b module.k: it cannot change"},
      {WORLD("a") WORLD("b") "module.k = 1\n", "c: the world is no longer there"},
      {WORLD("d") WORLD("a") WORLD("b") "module.k = 1\n" WORLD("c"), "d: the world is new"},
  };
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    read_settings(&now, three_worlds);
    read_settings(&next, changes[i].text);
    settings_keep_fixed(&next, &now, complaints_add, &all);
    cr_expect(all.count == (*changes[i].told != '\0') &&
                  strncmp(all.text, changes[i].told, strlen(changes[i].told)) == 0,
              "%s: %s", changes[i].text, all.text);
    cr_expect_eq(next.world_count, now.world_count);
    for (uint32_t k = 0; k < now.world_count; k++) {
      const world_settings *kept = &next.worlds[k], *before = &now.worlds[k];
      cr_expect_str_eq(kept->name, before->name, "%s", changes[i].text);
      cr_expect_eq(kept->setting_count, before->setting_count, "%s: world %u", changes[i].text, k);
      for (uint32_t one = 0; one < before->setting_count; one++)
        cr_expect_str_eq(kept->settings[one].text, before->settings[one].text);
    }
  }
}

/* ----------------------------------------------------------------------------------------------------------- flags */

static void read_flags(struct settings *settings, const char *line) {
  char words[512], *arguments[32] = {"musterd"};
  settings_call call = {0};
  int count = 1;
  snprintf(words, sizeof words, "%s", line);
  for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) arguments[count++] = word;
  settings_read_flags(settings, &call, count, arguments, complaints_add, &all);
  cr_assert_eq(all.count, 0, "%s: %s", line, all.text);
}

/* A value that a row has not by itself, as text. */
static const char *value_of(const settings_key *key) {
  const char *choice = key->usage ? strrchr(key->usage, '|') : NULL;
  switch (key->field.kind) {
  case FIELD_COUNT:
  case FIELD_NUMBER:
    return formed("%.0f", key->field.least + 3);
  case FIELD_TIME:
    return formed("%.0fus", (key->field.most - 1000) / 1000);
  case FIELD_RATE:
    return formed("%g", key->field.most / 2e3);
  case FIELD_CHOICE:
    return choice ? choice + 1 : key->usage;
  case FIELD_SWITCH:
    return "yes";
  default:
    return "x";
  }
}

/* A flag before all worlds is for those of the file and for those that flags add; one behind a world is for that alone.
 * A flag of the server is for none of them. */
Test(settings_rows, are_set_by_a_flag_in_all_worlds_or_in_the_one_before_it) {
  const settings_key *key;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    char name[NAME_BYTES];
    const char *value = value_of(key);
    snprintf(name, sizeof name, "%s", key->field.name);
    for (char *at = name; *at; at++)
      if (*at == '_') *at = '-';
    if (strcmp(name, "module") == 0) continue;     /* which --world names */
    for (uint32_t which = 0; which < 3; which++) { /* before all, behind the second one, behind one that is new */
      static const char *const lines[] = {"--%s=%s --world b --world d=m", "--world b --%s=%s --world d=m",
                                          "--world b --world d=m --%s=%s"};
      read_settings(&next, three_worlds);
      read_flags(&next, "--world d=m");
      memcpy(&wanted, &next, sizeof next);
      read_settings(&next, three_worlds);
      const char *line = formed(lines[which], name, value);
      for (uint32_t world = 0; world < sections_of(key, 4); world++)
        if (!key->of_world || which == 0 || world == (which == 1 ? 1 : 3))
          cr_assert_eq(settings_key_set(key, section_of(&wanted, key, world), value), 0, "%s", muster_last_error());
      read_flags(&next, line);
      cr_expect_eq(next.world_count, 4);
      const settings_key *other;
      for (uint32_t k = 0; (other = settings_key_at(k)) != NULL; k++)
        for (uint32_t world = 0; world < sections_of(other, 4); world++)
          cr_expect(settings_key_equal(other, section_of(&next, other, world), section_of(&wanted, other, world)),
                    "%s: %s of world %u", line, other->field.name, world);
    }
  }
}

/* The same of a module's settings. */
Test(settings_rows, of_modules_are_set_by_a_flag_in_all_worlds_or_in_the_one_before_it) {
  static const struct {
    const char *line;
    const char *values[4]; /* of k; null = none */
  } flags[] = {{"--set k=7 --world b --world d=m", {"7", "7", "7", "7"}},
               {"--world b --set k=7 --world d=m", {NULL, "7", NULL, NULL}},
               {"--world d=m --set k=7", {NULL, "1", NULL, "7"}},
               {"--set k=7 --world d=m --set k=8 --world b --set k=9", {"7", "9", "7", "8"}},
               {"--set module.k=7 --set k=6 --world d=m", {"6", "6", "6", "6"}}};
  for (size_t i = 0; i < COUNT_OF(flags); i++) {
    read_settings(&next, three_worlds);
    read_flags(&next, flags[i].line);
    cr_assert_eq(next.world_count, 4);
    for (uint32_t world = 0; world < 4; world++) {
      const module_setting *found = settings_module_find(&next.worlds[world], "module.k");
      const char *value = flags[i].values[world];
      cr_expect(found ? value && strcmp(found->text, value) == 0 : !value, "%s: world %u has %s", flags[i].line, world,
                found ? found->text : "none");
    }
  }
}

/* Instances are told apart by their whole names. */
Test(settings_rows, of_modules_are_found_by_the_whole_name_of_their_instance) {
  static const struct {
    const char *name, *value; /* null = there is none */
  } settings[] = {{"ab.k", "1"},   {"a.kk", "2"},   {"a.k", NULL}, {"b.k", NULL},
                  {"abc.k", NULL}, {"ab.kk", NULL}, {"ab", NULL},  {".k", NULL}};
  read_settings(&next, "[world w]\nmodule = a:m ab:m\nab.k = 1\na.kk = 2\n");
  for (size_t i = 0; i < COUNT_OF(settings); i++) {
    const module_setting *found = settings_module_find(&next.worlds[0], settings[i].name);
    cr_expect_eq(found != NULL, settings[i].value != NULL, "%s", settings[i].name);
    if (found) cr_expect_str_eq(found->text, settings[i].value);
  }
}

/* A key may stand once in each section of its kind, and twice in none. */
Test(settings_rows, may_stand_once_in_each_section) {
  const settings_key *key;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    const char *row = formed("%s = %s\n", key->field.name, value_of(key));
    for (uint32_t twice = 0; twice < 2; twice++) {
      static struct settings settings;
      const char *text = "";
      for (uint32_t world = 0; world < sections_of(key, 3); world++)
        text = key->of_world ? formed("%s[world w%u]\n%s", text, world, row) : formed("[server]\n%s", row);
      if (twice) text = formed("%s%s", text, row);
      all = (complaints){0};
      settings_default(&settings);
      settings_read_text(&settings, "test.conf", text, strlen(text), complaints_add, &all);
      cr_expect_eq(all.count, twice, "%s: %s", text, all.text);
      if (twice) cr_expect(strstr(all.text, "was given before in this section"), "%s: %s", text, all.text);
    }
  }
}
