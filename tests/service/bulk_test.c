/* Positions of many in one binary body. */
#include "served.h"

#include "service/bulk.h"

TestSuite(bulk, .fini = stop);

enum { MANY = 20000, BODY_BYTES = BULK_HEAD_BYTES + MANY * BULK_RECORD_BYTES };

static bulk_positions positions; /* that were read, */
static api_problem problem;      /* or why not */

static void put_u32(unsigned char *to, uint32_t value) {
  for (uint32_t i = 0; i < 4; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static void put_f64(unsigned char *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_u32(to, (uint32_t)bits);
  put_u32(to + 4, (uint32_t)(bits >> 32));
}

static size_t put_head(unsigned char *to, uint32_t count) {
  memcpy(to, "MUSTERPO", 8);
  put_u32(to + 8, 1);
  put_u32(to + 12, count);
  return BULK_HEAD_BYTES + (size_t)count * BULK_RECORD_BYTES;
}

static void put_record(unsigned char *body, uint32_t number, uint32_t index, uint32_t generation, double x) {
  unsigned char *to = body + BULK_HEAD_BYTES + (size_t)number * BULK_RECORD_BYTES;
  put_u32(to, index);
  put_u32(to + 4, generation);
  put_f64(to + 8, x);
  put_f64(to + 16, -2.5);
  put_f64(to + 24, 0.0);
}

Test(bulk, a_body_is_decoded_to_the_last_bit) {
  unsigned char body[BULK_HEAD_BYTES + 2 * BULK_RECORD_BYTES];
  size_t bytes = put_head(body, 2);
  put_record(body, 0, 7, 3, 0.1);
  put_record(body, 1, 0xfffffffe, 0xffffffff, -1e9);
  cr_assert(bulk_read(body, bytes, &positions, &problem), "%s", problem.message);
  cr_expect_eq(positions.count, 2);
  cr_expect(muster_agent_index(positions.ids[0].agent) == 7 && muster_agent_generation(positions.ids[0].agent) == 3);
  cr_expect(muster_agent_index(positions.ids[1].agent) == 0xfffffffe && positions.positions[1].x == -1e9);
  cr_expect(positions.positions[0].x == 0.1 && positions.positions[0].y == -2.5);
  bulk_release(&positions);
}

static void expect_refusal(const unsigned char *body, size_t bytes, const char *field) {
  problem = (api_problem){0};
  cr_expect(!bulk_read(body, bytes, &positions, &problem));
  cr_expect(problem.status == 400, "status %u", problem.status);
  cr_expect_str_eq(problem.field, field);
}

Test(bulk, a_body_has_as_many_records_as_are_said_and_no_more) {
  for (uint32_t more = 0; more < 2; more++) {
    uint32_t count = BULK_RECORDS_MAX + more;
    unsigned char *body = calloc(1, BULK_HEAD_BYTES + (size_t)count * BULK_RECORD_BYTES);
    problem = (api_problem){0};
    cr_assert_not_null(body);
    put_record(body, BULK_RECORDS_MAX - 1, 7, 3, 0.5);
    bool read = bulk_read(body, put_head(body, count), &positions, &problem);
    cr_expect_eq(read, !more, "%u: %s", count, problem.message);
    if (more) cr_expect_str_eq(problem.field, "count");
    if (read) cr_expect(positions.count == count && positions.positions[count - 1].x == 0.5);
    if (read) bulk_release(&positions);
    free(body);
  }
}

Test(bulk, bodies_that_are_none_are_refused_with_the_field) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1.0000001e9};
  unsigned char body[BULK_HEAD_BYTES + 2 * BULK_RECORD_BYTES];
  size_t bytes = put_head(body, 2);
  put_record(body, 0, 1, 1, 1.0);
  put_record(body, 1, 2, 1, 1.0);
  for (size_t length = 0; length < BULK_HEAD_BYTES; length++) expect_refusal(body, length, "magic");
  for (size_t length = BULK_HEAD_BYTES; length < bytes; length++) expect_refusal(body, length, "count");
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    put_record(body, 1, 2, 1, bad[i]);
    expect_refusal(body, bytes, "records[1].x");
  }
  problem = (api_problem){0};
  cr_expect(!bulk_read(body, BULK_HEAD_BYTES, &positions, &problem));
  cr_expect_str_eq(problem.message, "2 records take 80 bytes, and the body has 16");
  put_u32(body + 8, 2);
  expect_refusal(body, bytes, "version");
  put_u32(body + 8, 1);
  put_u32(body + 12, 0);
  expect_refusal(body, BULK_HEAD_BYTES, "count");
  put_u32(body + 12, UINT32_MAX);
  expect_refusal(body, bytes, "count");
}

static json_t *send_positions(const char *path, const void *body, size_t bytes, int status) {
  daemon_ask_bytes(&service, "POST", path, "application/octet-stream", body, bytes, &reply);
  cr_expect(reply.status == status, "%d: %s", reply.status, reply.body);
  json_t *document = json_loads(reply.body, 0, NULL);
  cr_assert_not_null(document);
  return document;
}

Test(bulk, tens_of_thousands_are_moved_at_once_and_those_that_are_gone_are_counted) {
  static unsigned char body[BODY_BYTES];
  serve_paused("--world main=fixed --agents 20000", 20000);
  size_t bytes = put_head(body, MANY);
  for (uint32_t i = 0; i < MANY; i++) put_record(body, i, i, i % 100 == 0 ? 99 : 1, 1000.0 + i);
  json_auto_t *moved = send_positions(WORLD "/positions", body, bytes, 200);
  control_expect(moved, formed("{'moved': %d, 'gone': %d}", MANY - MANY / 100, MANY / 100));
  cr_expect_float_eq(number_at(WORLD "/agents/12345.1", "position.x"), 13345.0, 0.001);
}

Test(bulk, observers_are_moved_and_bad_bodies_refused) {
  unsigned char body[BULK_HEAD_BYTES + BULK_RECORD_BYTES];
  daemon_start(&service, "--world main=wildlife --agents 100 --observers 3");
  pause_world();
  size_t bytes = put_head(body, 1);
  put_record(body, 0, 2, 1, 77.0);
  json_auto_t *moved = send_positions(WORLD "/observers/positions", body, bytes, 200);
  cr_expect_eq(control_count(moved, "moved"), 1);
  cr_expect(number_at(WORLD "/observers", "observers.2.position.x") == 77.0);
  json_decref(send_positions(WORLD "/observers/positions", body, bytes - 1, 400));
  json_decref(send_positions(WORLD "/observers/positions", body, 0, 400));
}
