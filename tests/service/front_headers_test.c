/* What of the headers of a world's answer is passed on: a world may send anything. */
#include "room.h"
#include "service/supervise/front_headers.h"

static void take(front_headers *headers, const char *line) {
  char copy[256];
  size_t length = strlen(line);
  memcpy(copy, line, length); /* without a zero behind it, as libcurl gives it */
  cr_expect_eq(front_headers_take(copy, 1, length, headers), length, "else libcurl ends the transfer");
}

static void expect(const char *line, const char *frame, const char *retry, bool replayed) {
  front_headers headers = {0};
  take(&headers, line);
  cr_expect(strcmp(headers.frame, frame) == 0 && strcmp(headers.retry, retry) == 0 && headers.replayed == replayed,
            "%s: frame %s, retry %s, %d", line, headers.frame, headers.retry, headers.replayed);
}

Test(front_headers, takes_those_of_requests_that_are_carried_out_once) {
  expect("Muster-Frame: 18446744073709551615\r\n", "18446744073709551615", "", false);
  expect("muster-frame:7\r\n", "7", "", false);
  expect("Retry-After: \t 30 \r\n", "", "30", false);
  expect("Idempotent-Replayed: true\r\n", "", "", true);
}

static void expect_nothing(const char *line) {
  expect(line, "", "", false);
}

Test(front_headers, takes_nothing_else) {
  EACH(expect_nothing, "HTTP/1.1 200 OK\r\n", "\r\n", "", "Set-Cookie: Muster-Frame: 7\r\n", "Muster-Frame",
       "Muster-Frame:", "Muster-Frames: 7\r\n", "Muster-Frame: -7\r\n", "Muster-Frame: 7\x01\r\n",
       "Muster-Frame: 7\tX-Other: 8\r\n", "Muster-Frame: 000000000000000000000000000000000000001\r\n",
       "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n", "Retry-After: 12345678\r\n", "Idempotent-Replayed: false\r\n",
       "Idempotent-Replayed: true, or not\r\n");
}

Test(front_headers, the_last_of_several_counts) {
  front_headers headers = {0};
  take(&headers, "Muster-Frame: 7\r\n");
  take(&headers, "Idempotent-Replayed: true\r\n");
  take(&headers, "Muster-Frame: x\r\n");
  take(&headers, "Idempotent-Replayed: no\r\n");
  cr_expect(!*headers.frame && !headers.replayed);
}
