/* The cells of the observer grid over HTTP, against the agents and observers that the daemon itself lists. */
#include "served.h"

enum { OBSERVERS_MAX = 16, EMPTY = 1, WAITING = 2, SQUARES_MAX = 65536 };

/* As much as agents and observers may have walked since they were last looked at (plan/score.h). */
#define OLD_NEWS 0.06

static void start(void) {
  daemon_start(&service, "--world main=wildlife --agents 3000 --observers 3");
  await_count(WORLD, "agents", 2500);
}

TestSuite(cells, .init = start, .fini = stop);

typedef struct cells_head {
  char magic[4];
  uint16_t version, kind;
  uint32_t header_bytes, record_bytes, records, columns, rows, partition;
  uint64_t sim_now_ns;
  double x0, y0, x1, y1;
  uint64_t frame, known;
  double edge_m;
} cells_head;

typedef struct square {
  uint32_t index;
  float importance;
  uint32_t flags;
} square;

static struct square squares[SQUARES_MAX];

static cells_head ask_cells(const char *query) {
  cells_head head;
  const char *path = formed("%s/cells%s", WORLD, query);
  fetch("GET", path, NULL);
  cr_assert_eq(reply.status, 200, "%s: %s", path, reply.body);
  cr_assert_geq(reply.length, sizeof head);
  memcpy(&head, reply.body, sizeof head);
  cr_assert(memcmp(head.magic, "MMAP", 4) == 0 && head.version == 2 && head.kind == 3);
  cr_assert(head.header_bytes == sizeof head && head.record_bytes == sizeof(struct square));
  cr_assert_eq(reply.length, sizeof head + head.records * sizeof(struct square));
  cr_assert_leq(head.records, head.columns * head.rows);
  memcpy(squares, reply.body + sizeof head, head.records * sizeof(struct square));
  for (uint32_t i = 0; i < head.records; i++)
    cr_assert(squares[i].index < head.columns * head.rows && (i == 0 || squares[i - 1].index < squares[i].index));
  return head;
}

/* The square at a place, or null. */
static const struct square *square_at(const cells_head *head, double x, double y) {
  double edge_m = (head->x1 - head->x0) / head->columns;
  uint32_t index = (uint32_t)((y - head->y0) / edge_m) * head->columns + (uint32_t)((x - head->x0) / edge_m);
  for (uint32_t i = 0; i < head->records; i++)
    if (squares[i].index == index) return &squares[i];
  return NULL;
}

typedef struct eyes {
  double x, y, near_m, far_m;
} eyes;

static uint32_t read_observers(eyes *all) {
  json_auto_t *document = get(WORLD "/observers");
  size_t count = control_size(document, "observers");
  cr_assert(count > 0 && count <= OBSERVERS_MAX);
  CONTROL_EACH(one, document, "observers") {
    all[one_index] = (eyes){control_number(one, "position.x"), control_number(one, "position.y"),
                            control_number(one, "near_m"), control_number(one, "far_m")};
  }
  return (uint32_t)count;
}

/* What observers give at a place at most: heights only take away from that. */
static double given_at(const eyes *all, uint32_t count, double x, double y) {
  double most = 0;
  for (uint32_t i = 0; i < count; i++) {
    double distance = hypot(x - all[i].x, y - all[i].y);
    most = fmax(most, fmin((all[i].far_m - distance) / (all[i].far_m - all[i].near_m), 1));
  }
  return most;
}

Test(cells, are_a_bound_of_what_every_agent_in_them_gets) {
  static char map[65536 * 32];
  eyes all[OBSERVERS_MAX];
  uint32_t agents, sure = 0, important = 0;
  double corner[2];
  pause_world();
  uint32_t count = read_observers(all);
  fetch("GET", WORLD "/map?max=65536", NULL);
  cr_assert(reply.status == 200 && reply.length < sizeof map);
  memcpy(map, reply.body, reply.length);
  memcpy(&agents, map + 16, sizeof agents);
  memcpy(corner, map + 40, sizeof corner);
  cells_head head = ask_cells("?max=65536");
  cr_assert(fabs(head.edge_m * head.columns - (head.x1 - head.x0)) < 1e-6, "squares of one cell");
  for (uint32_t i = 0; i < agents; i++) {
    float place[2];
    memcpy(place, map + 96 + (size_t)i * 32, sizeof place);
    double x = corner[0] + (double)place[0], y = corner[1] + (double)place[1];
    const struct square *here = square_at(&head, x, y);
    if (!here || here->flags & (WAITING | EMPTY)) continue; /* it may have come in the last frame */
    double given = given_at(all, count, x, y);
    cr_assert((double)here->importance <= given + OLD_NEWS, "%g at %g, %g: %g", (double)here->importance, x, y, given);
    sure++;
    important += here->importance > 0.5f;
  }
  cr_assert(sure > agents / 20 && important > 0, "%u of %u agents, %u important", sure, agents, important);
}

Test(cells, come_as_larger_squares_where_they_are_too_many) {
  static struct square fine[SQUARES_MAX];
  pause_world();
  cells_head whole = ask_cells("?x0=-100&y0=-100&x1=100&y1=100&max=65536");
  memcpy(fine, squares, sizeof fine);
  double edge_m = whole.edge_m;
  for (uint32_t max = 4; max < 1000; max *= 5) {
    cells_head head = ask_cells(formed("?x0=-100&y0=-100&x1=100&y1=100&max=%u", max));
    double square_m = (head.x1 - head.x0) / head.columns, along = square_m / edge_m;
    cr_assert(head.columns * head.rows <= max && head.edge_m >= edge_m && head.edge_m <= edge_m);
    cr_assert(fabs(along - round(along)) < 1e-6 && ((uint32_t)round(along) & ((uint32_t)round(along) - 1)) == 0);
    cr_assert(head.x0 <= -100 && head.x1 >= 100 && head.y0 <= -100 && head.y1 >= 100);
    for (uint32_t i = 0; i < whole.records; i++) {
      double x = whole.x0 + (fine[i].index % whole.columns + 0.5) * edge_m;
      double y = whole.y0 + (fine[i].index / whole.columns + 0.5) * edge_m;
      const struct square *around = square_at(&head, x, y);
      cr_assert_not_null(around);
      if (!(fine[i].flags & EMPTY)) cr_assert_leq(around->importance, fine[i].importance);
      if (!(fine[i].flags & EMPTY)) cr_assert(!(around->flags & EMPTY));
      if (fine[i].flags & WAITING) cr_assert(around->flags & WAITING);
    }
  }
  cr_assert_gt(whole.records, 100);
}

Test(cells, are_known_where_an_observer_came) {
  static const char there[] = "?x0=50000&y0=50000&x1=50100&y1=50100";
  cells_head head = ask_cells(there);
  cr_assert(head.known == 0 && head.records == 0, "nobody was ever there");
  tell("POST", WORLD "/observers", "{'position': {'x': 50050, 'y': 50050}, 'near_m': 20, 'far_m': 120}", 201);
  uint32_t empty = 0;
  do {
    head = ask_cells(there);
    empty = 0;
    for (uint32_t i = 0; i < head.records; i++) empty += squares[i].flags == EMPTY && !(squares[i].importance > 0);
  } while (head.records == 0 || empty < head.records);
  cr_assert_eq(head.records, head.columns * head.rows);
  cr_assert_eq(ask_cells("?partition=1&x0=50000&y0=50000&x1=50100&y1=50100").known, 0, "another partition");
  cr_assert_eq(head.partition, 0);
}

Test(cells, that_make_no_sense_are_refused_with_the_field) {
  EXPECT_REFUSALS(
      GET(WORLD "/cells?x0=1", 400, "missing", "y0"),
      GET(WORLD "/cells?x0=1&y0=0&x1=1&y1=5", 400, "out_of_range", "x1"),
      GET(WORLD "/cells?x0=nan&y0=0&x1=1&y1=5", 400, "out_of_range", "x0"),
      GET(WORLD "/cells?x0=0&y0=0&x1=2e9&y1=5", 400, "out_of_range", "x1"),
      GET(WORLD "/cells?max=3", 400, "out_of_range", "max"), GET(WORLD "/cells?max=65537", 400, "out_of_range", "max"),
      GET(WORLD "/cells?max=many", 400, "out_of_range", "max"),
      GET(WORLD "/cells?partition=65536", 400, "out_of_range", "partition"),
      GET("/v1/worlds/none/cells", 404, "unknown_world", "world"), {"POST", WORLD "/cells", "{}", 405, "method", ""});
}

/* The widest rectangle there is: few squares, at once. */
Test(cells, of_everything_are_as_few_as_of_a_village) {
  cells_head head = ask_cells("?x0=-1e9&y0=-1e9&x1=1e9&y1=1e9&max=4");
  cr_assert(head.columns == 2 && head.rows == 2 && head.x0 <= -1e9 && head.x1 >= 1e9);
  cr_assert_gt(head.known, 0);
  for (uint32_t i = 0; i < head.records; i++) cr_assert(!(squares[i].importance > 0), "most of it is not known");
}

Test(cells, stay_as_they_are_while_the_world_is_paused) {
  pause_world();
  cells_head first = ask_cells(""), second = ask_cells("");
  cr_assert(first.records == second.records && first.known == second.known);
}
