/* Whom a world's process is stuck in: the verdict on two looks, and looks at a process of this test's own. */
#include "room.h"
#include "service/supervise/blame.h"
#include "support/little_world.h"

#include "base/clock.h"

#include <sys/mman.h>

static const uint64_t second = 1000000000u;

static blame_thread thread_at(uint64_t offset, uint64_t agent, uint64_t cpu_ns, char state) {
  return (blame_thread){
      .place = {.offset = offset, .line = {.agent = agent, .place = 1ull << 56 | 1ull << 32, .frame = 9}},
      .cpu_ns = cpu_ns,
      .state = state};
}

/* Two looks, two seconds apart, at one thread that is inside a callback of agent 7. */
typedef struct looks {
  blame_look before, after;
  uint32_t culprit;
} looks;

static looks alone(uint64_t cpu_ns, char state) {
  looks made = {
      .before = {.time_ns = 5 * second, .count = 1}, .after = {.time_ns = 7 * second, .count = 1}, .culprit = 99};
  made.before.threads[0] = thread_at(64, 7, second, state);
  made.after.threads[0] = thread_at(64, 7, second + cpu_ns, state);
  return made;
}

static blame_verdict judge(looks *two) {
  return blame_judge(&two->before, &two->after, &two->culprit);
}

Test(blame, a_thread_that_computes_for_half_of_the_time_is_to_blame) {
  looks half = alone(second, 'R'), less = alone(second - 1, 'R');
  cr_assert_eq(judge(&half), BLAME_COMPUTES);
  cr_assert_eq(half.culprit, 0);
  cr_assert_eq(judge(&less), BLAME_NOBODY);
}

Test(blame, of_several_that_compute_the_busiest_is_to_blame) {
  looks two = alone(second, 'R');
  two.before.count = two.after.count = 3;
  two.before.threads[1] = thread_at(128, 8, 0, 'R');
  two.after.threads[1] = thread_at(128, 8, 2 * second, 'R');
  two.before.threads[2] = thread_at(192, 9, 0, 'R');
  two.after.threads[2] = thread_at(192, 9, second + 1, 'R');
  cr_assert_eq(judge(&two), BLAME_COMPUTES);
  cr_assert_eq(two.culprit, 1);
}

Test(blame, a_callback_that_began_meanwhile_is_not_to_blame) {
  enum { OTHERS = 4 };
  looks others[OTHERS];
  for (int i = 0; i < OTHERS; i++) others[i] = alone(2 * second, 'R');
  others[0].after.threads[0].place.line.agent = 8;
  others[1].after.threads[0].place.line.frame = 10;
  others[2].after.threads[0].place.line.kernel_thread = 4;
  others[3].after.threads[0].place.offset = 128;
  for (int i = 0; i < OTHERS; i++) cr_assert_eq(judge(&others[i]), BLAME_NOBODY, "%d", i);
}

Test(blame, one_that_sleeps_is_to_blame_only_alone) {
  looks one = alone(0, 'S'), woke = alone(0, 'S'), with_another = alone(0, 'S');
  cr_assert_eq(judge(&one), BLAME_BLOCKS);
  cr_assert_eq(one.culprit, 0);
  woke.before.threads[0].state = 'R';
  cr_assert_eq(judge(&woke), BLAME_NOBODY);
  with_another.before.count = with_another.after.count = 2;
  with_another.before.threads[1] = with_another.after.threads[1] = thread_at(128, 8, 0, 'S');
  cr_assert_eq(judge(&with_another), BLAME_NOBODY, "either may wait for the other");
}

Test(blame, a_process_that_gets_no_processor_or_is_stopped_blames_nobody) {
  looks starved = alone(second / 4, 'R'), stopped = alone(2 * second, 'R'), waits_little = alone(0, 'S');
  starved.after.waits_ns = second + 1;
  cr_assert_eq(judge(&starved), BLAME_STARVED);
  looks half = alone(second - 1, 'R'), idle = alone(second - 1, 'R');
  half.after.waits_ns = second - 1;
  cr_assert_eq(judge(&half), BLAME_STARVED, "it had half of a processor, and another the other half");
  idle.after.waits_ns = second / 4;
  cr_assert_eq(judge(&idle), BLAME_NOBODY, "it did something else for a quarter of the time");
  looks shares = alone(second / 2, 'R'), rests = alone(second / 2 - 1, 'R'), sleeps = alone(0, 'R');
  shares.after.waits_ns = rests.after.waits_ns = sleeps.after.waits_ns = second;
  cr_assert_eq(judge(&shares), BLAME_STARVED, "it computed or waited for three quarters of the time");
  cr_assert_eq(judge(&rests), BLAME_NOBODY);
  cr_assert_eq(judge(&sleeps), BLAME_NOBODY);
  stopped.after.stopped = true;
  cr_assert_eq(judge(&stopped), BLAME_STOPPED);
  waits_little.after.waits_ns = second;
  cr_assert_eq(judge(&waits_little), BLAME_BLOCKS);
}

Test(blame, a_module_s_function_is_to_blame_when_no_callback_runs) {
  looks none = alone(0, 'S');
  none.before.count = none.after.count = 0;
  none.before.function = none.after.function = FLIGHT_BEFORE_FRAME;
  cr_assert_eq(judge(&none), BLAME_FUNCTION);
  none.after.waits_ns = second + 1;
  cr_assert_eq(judge(&none), BLAME_STARVED);
  none.after.cpu_ns = second;
  cr_assert_eq(judge(&none), BLAME_FUNCTION, "it waited for a processor, and had it for long enough");
  none.after.waits_ns = none.after.cpu_ns = 0;
  none.before.function = FLIGHT_SKIP;
  cr_assert_eq(judge(&none), BLAME_NOBODY);
}

/* The recorder of this process, with more threads inside callbacks than a look has places for. */
static int record_crowd(void) {
  static flight_head head;
  const muster_world_def small = WITH(muster_world_def, it.limits.agents_max = 16, it.limits.types_max = 2);
  little_world little = little_world_create(FLIGHT_INSIDE_MAX + 4, &small);
  little.provokes_idle = true;
  size_t bytes = muster_flight_bytes(little.world);
  unsigned char *part = aligned_alloc(64, (bytes + 63) / 64 * 64);
  cr_assert_eq(muster_flight_attach(little.world, memset(part, 0, bytes), bytes), MUSTER_OK, "%s", muster_last_error());
  const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  const muster_type_def type = WITH(muster_type_def, it.atoms = &atom, it.atom_count = 1, it.name = "hen");
  register_type(&little, &type);
  const muster_flight_header *header = (const void *)part;
  cr_assert_gt(header->lines, (uint32_t)FLIGHT_INSIDE_MAX);
  muster_flight_line *lines = (void *)(part + bytes - header->lines * sizeof *lines);
  for (uint32_t i = 0; i < header->lines; i++)
    lines[i] = (muster_flight_line){.agent = i + 1, .place = 1ull << 56 | 1ull << 32, .frame = 9};
  flight_head_begin(&head, (uint64_t)getpid(), 1, &(flight_counts){0}, &(flight_poisons){0});
  flight_head_add_part(&head, "main", "farm", bytes);
  head.call.function = FLIGHT_COMMAND;
  int file = memfd_create("recorder", MFD_CLOEXEC);
  cr_assert(pwrite(file, &head, sizeof head, 0) == (ssize_t)sizeof head &&
            pwrite(file, part, bytes, (off_t)head.parts[0].offset) == (ssize_t)bytes);
  little_world_destroy(&little);
  free(part);
  return file;
}

Test(blame, of_a_crowd_as_many_are_looked_at_as_there_are_places) {
  struct {
    blame_look look;
    unsigned char behind[sizeof(blame_thread)];
  } all;
  memset(&all, 0xa5, sizeof all);
  int file = record_crowd();
  blame_take_look(file, getpid(), second, &all.look);
  close(file);
  cr_assert_eq(all.look.count, FLIGHT_INSIDE_MAX);
  for (uint32_t i = 0; i < FLIGHT_INSIDE_MAX; i++) cr_expect_eq(all.look.threads[i].place.line.agent, i + 1);
  cr_expect(all.look.function == FLIGHT_COMMAND && !all.look.stopped && all.look.time_ns == second);
  for (size_t i = 0; i < sizeof all.behind; i++) cr_assert_eq(all.behind[i], 0xa5, "byte %zu behind it", i);
}

Test(blame, a_process_without_a_recorder_is_looked_at_as_well) {
  blame_look look;
  blame_take_look(-1, getpid(), clock_system(), &look);
  cr_assert_eq(look.count, 0);
  cr_assert_not(look.stopped);
  char text[FLIGHT_TEXT_BYTES];
  blame_read_culprit(-1, getpid(), text, sizeof text);
  cr_assert_str_empty(text);
  cr_assert_not(blame_mark(-1, &look, BLAME_FUNCTION, 0));
}
