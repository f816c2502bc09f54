/* The mailbox between the loop's thread and the frames' thread. */
#include "base/clock.h"
#include "room.h"
#include "service/frame_mailbox.h"

enum { REQUESTS = 200 };

struct errand {
  mailbox_request request; /* first: it is the errand */
  uint32_t number;
  bool ran, done;
};

/* What happened, in order; each array is written by one thread. */
static struct {
  uint32_t ran[2 * MAILBOX_WAITING_MAX], done[2 * MAILBOX_WAITING_MAX];
  uint32_t ran_count, done_count;
  uv_thread_t run_by, done_by;
} events;

static uv_loop_t loop;
static struct frame_mailbox mailbox;

static void begin(void) {
  cr_assert(uv_loop_init(&loop) == 0 && frame_mailbox_open(&mailbox, &loop) == MUSTER_OK);
}

TestSuite(mailbox, .init = begin);

static void run(mailbox_request *request, struct service *service) {
  struct errand *errand = (struct errand *)request;
  (void)service;
  errand->ran = true;
  events.ran[events.ran_count++] = errand->number;
  events.run_by = uv_thread_self();
}

static void done(mailbox_request *request) {
  struct errand *errand = (struct errand *)request;
  errand->done = true;
  events.done[events.done_count++] = errand->number;
  events.done_by = uv_thread_self();
}

static muster_result post(struct errand *errand, uint32_t number) {
  *errand = (struct errand){.request = {.run = run, .done = done}, .number = number};
  return frame_mailbox_post(&mailbox, &errand->request);
}

static void serve(void) {
  frame_mailbox_serve(&mailbox, NULL, 0, UINT64_MAX / 2);
}

static void end(void) {
  frame_mailbox_close(&mailbox);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect(uv_loop_close(&loop) == 0, "handles are left open");
}

static void serve_to_the_end(void *unused) {
  (void)unused;
  for (uint32_t before = 0; before < REQUESTS; before = events.ran_count)
    frame_mailbox_serve(&mailbox, NULL, clock_system() + 1000000, 0);
}

Test(mailbox, requests_run_on_the_one_thread_and_are_done_on_the_other_in_order) {
  static struct errand errands[REQUESTS];
  uv_thread_t frames, self = uv_thread_self();
  cr_assert(uv_thread_create(&frames, serve_to_the_end, NULL) == 0);
  uv_thread_t frames_thread = frames;
  for (uint32_t i = 0; i < REQUESTS; i++) cr_assert(post(&errands[i], i) == MUSTER_OK);
  while (events.done_count < REQUESTS) uv_run(&loop, UV_RUN_ONCE);
  uv_thread_join(&frames);
  cr_assert(events.ran_count == REQUESTS && events.done_count == REQUESTS);
  for (uint32_t i = 0; i < REQUESTS; i++) cr_expect(events.ran[i] == i && events.done[i] == i, "%u", i);
  cr_expect(uv_thread_equal(&events.run_by, &frames_thread) && uv_thread_equal(&events.done_by, &self));
  mailbox_counts counts = frame_mailbox_read_counts(&mailbox);
  cr_expect(counts.posted == REQUESTS && counts.run == REQUESTS && counts.waiting == 0 && counts.refused == 0);
  end();
}

Test(mailbox, more_than_fit_are_refused_and_none_is_lost) {
  static struct errand errands[MAILBOX_WAITING_MAX + 1];
  for (uint32_t i = 0; i < MAILBOX_WAITING_MAX; i++) cr_assert(post(&errands[i], i) == MUSTER_OK);
  cr_expect(post(&errands[MAILBOX_WAITING_MAX], 0) == MUSTER_E_FULL);
  serve();
  cr_expect(events.ran_count == MAILBOX_WAITING_MAX && !errands[MAILBOX_WAITING_MAX].ran);
  cr_expect(post(&errands[MAILBOX_WAITING_MAX], 7) == MUSTER_OK, "there is room again");
  end();
  cr_expect(events.done_count == MAILBOX_WAITING_MAX + 1);
}

/* What the requests of a held errand wait for. */
static uint32_t safe_frames;

static bool may_go(mailbox_request *request) {
  return ((struct errand *)request)->number <= safe_frames;
}

static void post_held(struct errand *errand, uint32_t number) {
  *errand = (struct errand){.request = {.run = run, .done = done, .may_go = may_go}, .number = number};
  cr_assert(frame_mailbox_post(&mailbox, &errand->request) == MUSTER_OK);
}

static void serve_and_deliver(void) {
  serve();
  uv_run(&loop, UV_RUN_NOWAIT);
}

Test(mailbox, a_held_request_waits_until_it_may_go_and_keeps_none_behind_it) {
  static struct errand held[3], other;
  safe_frames = 4;
  for (uint32_t i = 0; i < 3; i++) post_held(&held[i], 7 - i); /* the last may go first */
  cr_assert(post(&other, 0) == MUSTER_OK);
  serve_and_deliver();
  cr_expect(held[0].ran && held[1].ran && held[2].ran && other.done);
  cr_expect(!held[0].done && !held[1].done && !held[2].done);
  cr_expect_eq(frame_mailbox_read_counts(&mailbox).held, 3);
  safe_frames = 5;
  serve_and_deliver();
  cr_expect(held[2].done && !held[1].done && !held[0].done);
  safe_frames = 7;
  serve_and_deliver();
  cr_expect(held[1].done && held[0].done);
  cr_expect_eq(events.ran_count, 4, "each is run once");
  cr_expect_eq(frame_mailbox_read_counts(&mailbox).held, 0);
  end();
}

Test(mailbox, those_that_are_held_are_counted_with_those_that_wait_and_go_at_the_end) {
  static struct errand errands[MAILBOX_WAITING_MAX], more;
  safe_frames = 0;
  for (uint32_t i = 0; i < MAILBOX_WAITING_MAX; i++) post_held(&errands[i], 1);
  serve_and_deliver();
  cr_expect_eq(events.ran_count, MAILBOX_WAITING_MAX);
  cr_expect(post(&more, 0) == MUSTER_E_FULL);
  end();
  cr_expect_eq(events.done_count, MAILBOX_WAITING_MAX, "their answers go out when the service stops");
}

/* Frames come first: where the next one is due already, requests have the time that is set aside for them, or none. */
Test(mailbox, when_the_next_frame_is_due_requests_have_what_is_set_aside) {
  static struct errand errand;
  cr_assert(post(&errand, 0) == MUSTER_OK);
  frame_mailbox_serve(&mailbox, NULL, 0, 0);
  cr_expect(!errand.ran);
  serve();
  cr_expect(errand.ran && !errand.done);
  end();
  cr_expect(errand.done);
}

Test(mailbox, a_woken_thread_leaves_requests_for_later) {
  static struct errand errand;
  cr_assert(post(&errand, 0) == MUSTER_OK);
  frame_mailbox_wake(&mailbox);
  frame_mailbox_serve(&mailbox, NULL, UINT64_MAX, 0);
  cr_expect(!errand.ran);
  end();
  cr_expect(errand.done && !errand.ran, "it must hear of its end all the same");
}

Test(mailbox, a_mailbox_that_refuses_takes_nothing_more) {
  static struct errand errand;
  frame_mailbox_refuse(&mailbox);
  cr_expect(post(&errand, 0) == MUSTER_E_STATE);
  serve();
  cr_expect(frame_mailbox_read_counts(&mailbox).refused == 1);
  end();
  cr_expect(!errand.ran && !errand.done);
}
