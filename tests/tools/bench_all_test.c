/* `muster bench all`, and with it README.md and the book: their figures are what the program prints. What is virtual is
 * measured anew and compared; of the rest it is compared that it is measured, under its name and in its unit. */
#include "program.h"

#include <math.h>

/* Of virtual figures: the compiler may order sums otherwise where it does not optimise alike. */
#ifdef NDEBUG
static const double tolerance = 0;
#else
static const double tolerance = 1e-6;
#endif

enum { PATH_BYTES = 512, LINE_BYTES = 2048, FOLDER_BYTES = 64 };

static void make_folder(char folder[FOLDER_BYTES]) {
  snprintf(folder, FOLDER_BYTES, "/tmp/muster-figures-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(const char *folder) {
  char command[LINE_BYTES];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  cr_assert_eq(system(command), 0);
}

static char *read_text(const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = fopen(path, "re");
  cr_assert_not_null(file, "cannot read %s", path);
  cr_assert_gt(getdelim(&text, &bytes, '\0', file), 0);
  fclose(file);
  return text;
}

static void copy_file(const char *from, const char *folder, const char *name) {
  char path[PATH_BYTES], *text = read_text(from);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "we");
  cr_assert_not_null(file);
  fputs(text, file);
  cr_assert_eq(fclose(file), 0);
  free(text);
}

static void expect_same_text(const char *kept, const char *folder, const char *name) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  char *wanted = read_text(kept), *written = read_text(path);
  size_t line = 1, same = 0;
  for (; wanted[same] && wanted[same] == written[same]; same++) line += wanted[same] == '\n';
  cr_expect_str_eq(written, wanted, "%s, line %zu, is not what `muster bench all` writes", kept, line);
  free(wanted);
  free(written);
}

static json_t *read_figures(const char *folder) {
  char path[PATH_BYTES];
  json_error_t error;
  snprintf(path, sizeof path, "%s/figures.json", folder);
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(json, "%s, line %d: %s", path, error.line, error.text);
  return json;
}

/* Where README.md and the book show figures. */
static const struct place {
  const char *path, *name; /* below the tree, and in a folder of its own */
  const char *sections[20];
} places[] = {{"/README.md", "README.md", {"summary"}},
              {"/tools/docs/benchmarks.md",
               "benchmarks.md",
               {"machine", "control", "activation", "wright", "quality", "sweep", "zones", "slices", "rankin",
                "osborne", "scale", "replication", "journal", "cores", "promise", "costs", "dispatch"}}};

enum { PLACES = sizeof places / sizeof *places };

static void expect_shown(const struct place *place) {
  char line[LINE_BYTES], path[PATH_BYTES];
  snprintf(path, sizeof path, "%s%s", MUSTER_SOURCE_DIR, place->path);
  char *text = read_text(path);
  for (const char *const *section = place->sections; *section; section++) {
    snprintf(line, sizeof line, "\n<!-- figures: %s -->\n", *section);
    cr_expect_not_null(strstr(text, line), "%s does not show the figures of %s", path, *section);
  }
  free(text);
}

Test(bench_all, documents_have_the_tables_of_the_figures_that_are_kept_and_nothing_else) {
  char folder[FOLDER_BYTES], line[LINE_BYTES], path[PATH_BYTES];
  make_folder(folder);
  copy_file(MUSTER_SOURCE_DIR "/bench/figures/figures.json", folder, "figures.json");
  for (int i = 0; i < PLACES; i++) {
    snprintf(path, sizeof path, "%s%s", MUSTER_SOURCE_DIR, places[i].path);
    copy_file(path, folder, places[i].name);
  }
  snprintf(line, sizeof line, "bench all --again --report %s --documents %s/%s,%s/%s", folder, folder, places[0].name,
           folder, places[1].name);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  free(run);
  expect_same_text(MUSTER_SOURCE_DIR "/bench/figures/report.md", folder, "report.md");
  for (int i = 0; i < PLACES; i++) {
    snprintf(path, sizeof path, "%s%s", MUSTER_SOURCE_DIR, places[i].path);
    expect_same_text(path, folder, places[i].name);
    expect_shown(&places[i]);
  }
  remove_folder(folder);
}

static void expect_same_values(const char *name, json_t *kept, json_t *anew) {
  cr_assert_gt(json_array_size(kept), 0, "%s has no value", name);
  cr_assert_eq(json_array_size(anew), json_array_size(kept), "%s has another number of values", name);
  for (size_t i = 0; i < json_array_size(kept); i++) {
    double wanted = json_number_value(json_array_get(kept, i)), is = json_number_value(json_array_get(anew, i));
    cr_expect(fabs(is - wanted) <= tolerance * fabs(wanted), "%s is kept as %.17g and is %.17g", name, wanted, is);
  }
}

/* A figure that begins with = is virtual. */
static void expect_same_figures(json_t *kept, json_t *anew) {
  const char *name;
  json_t *values;
  size_t exact = 0;
  cr_expect_eq(json_object_size(kept), json_object_size(anew));
  json_object_foreach(kept, name, values) {
    json_t *others = json_object_get(anew, name);
    cr_assert_not_null(others, "nothing measures %s any more", name);
    if (name[0] == '=') expect_same_values(name, values, others);
    exact += name[0] == '=';
  }
  cr_expect_gt(exact, 50);
}

static void expect_same_commands(json_t *kept, json_t *anew) {
  const char *name;
  json_t *step;
  cr_expect_eq(json_object_size(kept), json_object_size(anew));
  json_object_foreach(kept, name, step) {
    cr_expect_str_eq(json_string_value(program_member(json_object_get(anew, name), "command")),
                     json_string_value(program_member(step, "command")));
  }
}

Test(bench_all, measures_what_is_kept_and_what_is_virtual_comes_out_the_same) {
  char folder[FOLDER_BYTES], line[LINE_BYTES];
  make_folder(folder);
  snprintf(line, sizeof line, "bench all --quick --report %s --spawns %s", folder,
           MUSTER_SOURCE_DIR "/src/scenarios/village.csv");
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->errors, " 1 of ") != NULL, "it does not show where it is: %s", run->errors);
  free(run);
  json_t *kept = read_figures(MUSTER_SOURCE_DIR "/bench/figures"), *anew = read_figures(folder);
  expect_same_figures(program_member(kept, "figures"), program_member(anew, "figures"));
  expect_same_commands(program_member(kept, "steps"), program_member(anew, "steps"));
  cr_expect(json_is_false(program_member(kept, "machine.quick")), "what is kept is of a quick run");
  json_decref(kept);
  json_decref(anew);
  remove_folder(folder);
}

/* Of figures of these steps, whether their places have filters or not. */
static bool is_spoilt(const char *name) {
  return strncmp(name, "=control ", 9) == 0 || strncmp(name, "=zones ", 7) == 0;
}

/* What was kept of some steps is spoilt, so that it shows that they are measured anew. */
Test(bench_all, measures_some_steps_anew_and_keeps_the_figures_of_the_others) {
  char folder[FOLDER_BYTES], line[LINE_BYTES], path[LINE_BYTES];
  make_folder(folder);
  json_t *kept = read_figures(MUSTER_SOURCE_DIR "/bench/figures"), *spoilt = json_deep_copy(kept), *values;
  const char *name;
  json_object_foreach(program_member(spoilt, "figures"), name, values) {
    if (is_spoilt(name)) json_array_set_new(values, 0, json_real(77));
  }
  snprintf(path, sizeof path, "%s/figures.json", folder);
  cr_assert_eq(json_dump_file(spoilt, path, JSON_REAL_PRECISION(17)), 0);
  snprintf(line, sizeof line, "bench all --only control,zones --report %s", folder);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  free(run);
  json_t *anew = read_figures(folder);
  expect_same_figures(program_member(kept, "figures"), program_member(anew, "figures"));
  json_object_foreach(program_member(kept, "figures"), name, values) {
    if (!is_spoilt(name))
      cr_expect(json_equal(values, json_object_get(program_member(anew, "figures"), name)), "%s", name);
  }
  cr_expect(json_equal(program_member(kept, "machine"), program_member(anew, "machine")));
  json_decref(kept);
  json_decref(spoilt);
  json_decref(anew);
  remove_folder(folder);
}

/* Nobody shall take figures of two machines for those of one. */
Test(bench_all, names_steps_that_were_measured_on_another_machine) {
  char folder[FOLDER_BYTES], line[LINE_BYTES], path[PATH_BYTES];
  make_folder(folder);
  json_t *kept = read_figures(MUSTER_SOURCE_DIR "/bench/figures"), *step;
  const char *name;
  json_object_foreach(program_member(kept, "steps"), name, step) {
    json_object_set(step, "processor", program_member(kept, "machine.processor"));
  }
  for (int i = 0; i < 2; i++) {
    if (i) json_object_set_new(program_member(kept, "steps.scale"), "processor", json_pack("s", "Abacus"));
    snprintf(path, sizeof path, "%s/figures.json", folder);
    cr_assert_eq(json_dump_file(kept, path, JSON_REAL_PRECISION(17)), 0);
    snprintf(line, sizeof line, "bench all --again --report %s", folder);
    program_run *run = program_start(line);
    cr_assert_eq(run->status, 0, "%s", run->errors);
    free(run);
    snprintf(path, sizeof path, "%s/report.md", folder);
    char *report = read_text(path);
    cr_expect_eq(strstr(report, "\nOn another machine: scale (Abacus, 20") != NULL, i == 1, "run %d", i);
    cr_expect_eq(strstr(report, "On another machine") != NULL, i == 1);
    free(report);
  }
  json_decref(kept);
  remove_folder(folder);
}

Test(bench_all, refuses_what_it_cannot_do) {
  char folder[FOLDER_BYTES], line[LINE_BYTES];
  PROGRAM_EXPECT_REFUSALS({"bench all", 2, "say where the report goes"},
                          {"bench all --report /tmp --again --quick", 2, "--again measures nothing"},
                          {"bench all --report /tmp --quick --documents README.md", 2, "leave out --documents"},
                          {"bench all --report /tmp --quick --only control", 2, "leave out --only"},
                          {"bench all --report /tmp --only control,", 2, "unknown step ''"},
                          {"bench all --report /tmp --only contro", 2, "unknown step 'contro'"},
                          {"bench all dispatch --report /tmp", 2, "one bench at a time"},
                          {"bench all --report /nowhere/x", 1, "cannot make the folder '/nowhere/x'"});
  make_folder(folder);
  snprintf(line, sizeof line, "bench all --again --report %s", folder);
  program_run *run = program_start(line);
  cr_expect_eq(run->status, 1);
  cr_expect(strstr(run->errors, "figures.json': No such file") != NULL, "%s", run->errors);
  free(run);
  copy_file(MUSTER_SOURCE_DIR "/bench/figures/figures.json", folder, "figures.json");
  snprintf(line, sizeof line, "bench all --only spawns --report %s", folder);
  run = program_start(line);
  cr_expect_eq(run->status, 1);
  cr_expect(strstr(run->errors, "needs --spawns FILE.csv") != NULL, "%s", run->errors);
  free(run);
  remove_folder(folder);
}

Test(bench_all, tells_which_mark_of_a_document_is_wrong) {
  static const struct {
    const char *text, *says;
  } documents[] = {{"<!-- figures: contrl -->\n<!-- end of figures -->\n", "the report has no figures of 'contrl'"},
                   {"<!-- figures: control -->\n| a |\n", "the place for the figures of 'control' has no end"}};
  char folder[FOLDER_BYTES], line[LINE_BYTES], path[PATH_BYTES];
  make_folder(folder);
  copy_file(MUSTER_SOURCE_DIR "/bench/figures/figures.json", folder, "figures.json");
  snprintf(path, sizeof path, "%s/a.md", folder);
  snprintf(line, sizeof line, "bench all --again --report %s --documents %s", folder, path);
  for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
    FILE *file = fopen(path, "we");
    cr_assert_not_null(file);
    fputs(documents[i].text, file);
    fclose(file);
    program_run *run = program_start(line);
    cr_expect_eq(run->status, 1);
    cr_expect(strstr(run->errors, documents[i].says) != NULL, "%s", run->errors);
    free(run);
    char *after = read_text(path);
    cr_expect_str_eq(after, documents[i].text);
    free(after);
  }
  remove_folder(folder);
}
