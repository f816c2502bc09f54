/* `muster bench all`, and with it README.md and the book: their figures are what the program prints. What is virtual is
 * measured anew and compared; of the rest it is compared that it is measured, under its name and in its unit. */
#include "program.h"

/* Of virtual figures: the compiler may order sums otherwise where it does not optimise alike. */
#ifdef NDEBUG
static const double tolerance = 0;
#else
static const double tolerance = 1e-6;
#endif

#define KEPT MUSTER_SOURCE_DIR "/bench/figures"

enum { FOLDER_BYTES = 64 };

static char folder[FOLDER_BYTES];

static void make_folder(void) {
  snprintf(folder, FOLDER_BYTES, "/tmp/muster-figures-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void) {
  cr_assert_eq(system(formed("rm -r '%s'", folder)), 0);
}

TestSuite(bench_all, .init = make_folder, .fini = remove_folder);

/* Of a file in the folder. */
static const char *path_of(const char *name) {
  return formed("%s/%s", folder, name);
}

static void write_text(const char *name, const char *text) {
  program_write(path_of(name), text, strlen(text));
}

static void copy_file(const char *from, const char *name) {
  SCOPED(free_memory) char *text = program_read(from);
  write_text(name, text);
}

static void expect_same_text(const char *kept, const char *name) {
  SCOPED(free_memory) char *wanted = program_read(kept), *written = program_read(path_of(name));
  size_t line = 1, same = 0;
  for (; wanted[same] && wanted[same] == written[same]; same++) line += wanted[same] == '\n';
  cr_expect_str_eq(written, wanted, "%s, line %zu, is not what `muster bench all` writes", kept, line);
}

/* Where README.md and the book show figures. */
static const struct place {
  const char *path, *name; /* in the tree, and in a folder of its own */
  const char *sections[20];
} places[] = {{MUSTER_SOURCE_DIR "/README.md", "README.md", {"summary"}},
              {MUSTER_SOURCE_DIR "/tools/docs/benchmarks.md",
               "benchmarks.md",
               {"machine", "control", "activation", "wright", "quality", "sweep", "zones", "slices", "rankin",
                "osborne", "scale", "replication", "journal", "cores", "promise", "costs", "dispatch"}}};

enum { PLACES = COUNT_OF(places) };

static void expect_shown(const struct place *place) {
  SCOPED(free_memory) char *text = program_read(place->path);
  for (const char *const *section = place->sections; *section; section++) {
    cr_expect_not_null(strstr(text, formed("\n<!-- figures: %s -->\n", *section)), "%s does not show the figures of %s",
                       place->path, *section);
  }
}

Test(bench_all, documents_have_the_tables_of_the_figures_that_are_kept_and_nothing_else) {
  copy_file(KEPT "/figures.json", "figures.json");
  for (int i = 0; i < PLACES; i++) copy_file(places[i].path, places[i].name);
  free(program_good("bench all --again --report %s --documents %s/%s,%s/%s", folder, folder, places[0].name, folder,
                    places[1].name));
  expect_same_text(KEPT "/report.md", "report.md");
  for (int i = 0; i < PLACES; i++) {
    expect_same_text(places[i].path, places[i].name);
    expect_shown(&places[i]);
  }
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
    cr_expect_str_eq(program_text(json_object_get(anew, name), "command"), program_text(step, "command"));
  }
}

Test(bench_all, measures_what_is_kept_and_what_is_virtual_comes_out_the_same) {
  SCOPED_RUN *run =
      program_good("bench all --quick --report %s --spawns %s", folder, MUSTER_SOURCE_DIR "/src/scenarios/village.csv");
  cr_expect(strstr(run->errors, " 1 of ") != NULL, "it does not show where it is: %s", run->errors);
  json_auto_t *kept = program_load(KEPT "/figures.json"), *anew = program_load(path_of("figures.json"));
  expect_same_figures(program_member(kept, "figures"), program_member(anew, "figures"));
  expect_same_commands(program_member(kept, "steps"), program_member(anew, "steps"));
  cr_expect(json_is_false(program_member(kept, "machine.quick")), "what is kept is of a quick run");
}

/* Of figures of these steps, whether their places have filters or not. */
static bool is_spoilt(const char *name) {
  return strncmp(name, "=control ", 9) == 0 || strncmp(name, "=zones ", 7) == 0;
}

/* What was kept of some steps is spoilt, so that it shows that they are measured anew. */
Test(bench_all, measures_some_steps_anew_and_keeps_the_figures_of_the_others) {
  json_auto_t *kept = program_load(KEPT "/figures.json"), *spoilt = json_deep_copy(kept);
  json_t *values;
  const char *name;
  json_object_foreach(program_member(spoilt, "figures"), name, values) {
    if (is_spoilt(name)) json_array_set_new(values, 0, json_real(77));
  }
  cr_assert_eq(json_dump_file(spoilt, path_of("figures.json"), JSON_REAL_PRECISION(17)), 0);
  free(program_good("bench all --only control,zones --report %s", folder));
  json_auto_t *anew = program_load(path_of("figures.json"));
  expect_same_figures(program_member(kept, "figures"), program_member(anew, "figures"));
  json_object_foreach(program_member(kept, "figures"), name, values) {
    if (!is_spoilt(name))
      cr_expect(json_equal(values, json_object_get(program_member(anew, "figures"), name)), "%s", name);
  }
  cr_expect(json_equal(program_member(kept, "machine"), program_member(anew, "machine")));
}

/* Nobody shall take figures of two machines for those of one. */
Test(bench_all, names_steps_that_were_measured_on_another_machine) {
  json_auto_t *kept = program_load(KEPT "/figures.json");
  json_t *step;
  const char *name;
  json_object_foreach(program_member(kept, "steps"), name, step) {
    json_object_set(step, "processor", program_member(kept, "machine.processor"));
  }
  for (int i = 0; i < 2; i++) {
    if (i) json_object_set_new(program_member(kept, "steps.scale"), "processor", json_pack("s", "Abacus"));
    cr_assert_eq(json_dump_file(kept, path_of("figures.json"), JSON_REAL_PRECISION(17)), 0);
    free(program_good("bench all --again --report %s", folder));
    SCOPED(free_memory) char *report = program_read(path_of("report.md"));
    cr_expect_eq(strstr(report, "\nOn another machine: scale (Abacus, 20") != NULL, i == 1, "run %d", i);
    cr_expect_eq(strstr(report, "On another machine") != NULL, i == 1);
  }
}

static void expect_failure(const char *options, const char *says) {
  SCOPED_RUN *run = program_ends(1, "bench all --report %s %s", folder, options);
  PROGRAM_EXPECT_SAYS(run->errors, says);
}

Test(bench_all, refuses_what_it_cannot_do) {
  PROGRAM_EXPECT_REFUSALS_OF("bench all", {"--report /tmp --again --quick", 2, "--again measures nothing"},
                             {"--report /tmp --quick --documents README.md", 2, "leave out --documents"},
                             {"--report /tmp --quick --only control", 2, "leave out --only"},
                             {"--report /tmp --only control,", 2, "unknown step ''"},
                             {"--report /tmp --only contro", 2, "unknown step 'contro'"},
                             {"dispatch --report /tmp", 2, "one bench at a time"},
                             {"--report /nowhere/x", 1, "cannot make the folder '/nowhere/x'"});
  PROGRAM_EXPECT_REFUSALS({"bench all", 2, "say where the report goes"});
  expect_failure("--again", "figures.json': No such file");
  copy_file(KEPT "/figures.json", "figures.json");
  expect_failure("--only spawns", "needs --spawns FILE.csv");
}

Test(bench_all, tells_which_mark_of_a_document_is_wrong) {
  static const struct {
    const char *text, *says;
  } documents[] = {{"<!-- figures: contrl -->\n<!-- end of figures -->\n", "the report has no figures of 'contrl'"},
                   {"<!-- figures: control -->\n| a |\n", "the place for the figures of 'control' has no end"}};
  copy_file(KEPT "/figures.json", "figures.json");
  const char *options = formed("--again --documents %s", path_of("a.md"));
  for (size_t i = 0; i < COUNT_OF(documents); i++) {
    write_text("a.md", documents[i].text);
    expect_failure(options, documents[i].says);
    SCOPED(free_memory) char *after = program_read(path_of("a.md"));
    cr_expect_str_eq(after, documents[i].text);
  }
}
