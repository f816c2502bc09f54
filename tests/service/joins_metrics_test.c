/* Documents of metrics that become one: each family once, and nothing in it that is no sample. */
#include "room.h"
#include "service/supervise/joins_metrics.h"

static void expect_joined(const joins_metrics_part *parts, uint32_t count, const char *wanted) {
  SCOPED(free_memory) char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  cr_assert(joins_write_metrics(parts, count, out));
  cr_assert_eq(fclose(out), 0);
  cr_expect_str_eq(text, wanted);
}

Test(joins_metrics, each_family_comes_once_with_the_samples_of_all) {
  const joins_metrics_part parts[] = {
      {NULL, "# HELP up 1 where it runs.\n# TYPE up gauge\nup 1\n"},
      {"main", "# HELP up 1 where it runs.\n# TYPE up gauge\nup 1\n"
               "# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total{world=\"main\"} 7\n"
               "frames_total{kind=\"late\",world=\"main\"} 2\n"},
      {"forest", "# HELP only Of this one.\n# TYPE only gauge\nonly{kind=\"a b\"} NaN\n"
                 "# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total{world=\"forest\"} 3\n"
                 "# HELP up 1 where it runs.\n# TYPE up gauge\nup 0\n"},
  };
  expect_joined(parts, 3,
                "# HELP up 1 where it runs.\n# TYPE up gauge\nup 1\nup{process=\"main\"} 1\nup{process=\"forest\"} 0\n"
                "# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total{world=\"main\"} 7\n"
                "frames_total{kind=\"late\",world=\"main\"} 2\nframes_total{world=\"forest\"} 3\n"
                "# HELP only Of this one.\n# TYPE only gauge\nonly{process=\"forest\",kind=\"a b\"} NaN\n");
}

Test(joins_metrics, what_only_ends_like_a_label_world_names_no_world) {
  const joins_metrics_part parts[] = {{"main", "# HELP a A.\na{otherworld=\"x\"} 1\na{text=\"world\"} 2\n"}};
  expect_joined(parts, 1,
                "# HELP a A.\na{process=\"main\",otherworld=\"x\"} 1\na{process=\"main\",text=\"world\"} 2\n");
}

/* One sample that is none, and a scraper refuses the whole document. */
Test(joins_metrics, what_is_no_sample_is_left_out) {
  static const char *const wrong[] = {"b",     "b ",   "b x",         "b 1 ",        "b  1", "1b 1",
                                      " b 1",  "{} 1", "b{a=\"x\" 1", "b{a=\"x\"}1", "b 1x", "\x01\x02 1",
                                      "# EOF", "#",    "# HELP ",     "# TYPE"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    const char *text = formed("early 1\n# HELP b B.\n%s\nb 1\n", wrong[i]);
    const joins_metrics_part part = {"main", text};
    expect_joined(&part, 1, "# HELP b B.\nb{process=\"main\"} 1\n");
  }
  const joins_metrics_part unended = {"main", "# HELP b B.\n# HELP b B.\nb 2"};
  expect_joined(&unended, 1, "# HELP b B.\nb{process=\"main\"} 2\n");
  const joins_metrics_part empty = {"main", ""};
  expect_joined(&empty, 1, "");
}
