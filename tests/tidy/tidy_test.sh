#!/bin/bash
# tidy passes a small clean tree and finds each rule's breach, planted into it one at a time, by file and line.
# TIDY names the program.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clean="$work/clean tree" # a blank in the path on purpose
failures=0

write() { # FILE, text on standard input
  mkdir -p "$(dirname "$tree/$1")"
  cat >"$tree/$1"
}

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

make_clean_tree() {
  tree=$clean
  write include/muster/muster.h <<'C'
#include <muster/common.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_thing {
  void (*callback)(void *user);
} muster_thing;

/* Documented. */
MUSTER_API const char *muster_say(muster_thing thing);
MUSTER_API void muster_say_more(int (*callback)(int value),
                                int value) __attribute__((nonnull(1)));

#ifdef __cplusplus
}
#endif
C
  write src/base/clock.c <<'C'
#include <time.h>

int clock_read(void) { return clock_gettime(0, 0); }
C
  write src/base/arena.h <<'C'
/* A ticket is no tick, and "task" or a // entity in a comment is a word like others. */
int arena_ticket(void);
C
  write src/base/arena.c <<'C'
#include "base/arena.h"

/* A pthread_mutex_t in a comment, braces {{{ in a comment. */
static const char *const quotes[] = {"pthread_create {", "\"{", "TODO"};
static const char brace = '{', quote = '"', escaped = '\'';

int arena_ticket(void) { return quotes[0][0] + brace + quote + escaped; }
C
  write src/agents/store.c <<'C'
#include "base/arena.h"

int store_count(void) { return arena_ticket(); }
C
  write src/plan/fit.c <<'C'
#include <math.h>

struct fit {
  int rounds;
};
C
  write src/pool/park.c <<'C'
#include <ck_ec.h>
#include <pthread.h>

static _Atomic int parked;
C
  write src/frame/frame.c <<'C'
static void stage_commit_actions(void) {}

static void frame_plan(void) {
  stage_intake(1);
  stage_score();
  stage_fold();
  stage_fit();
  stage_release();
  stage_rank();
}

int muster_frame_run(void) {
  frame_plan();
  stage_run();
  stage_commit_actions();
  return 0;
}
C
  write src/scenarios/desert.c <<'C'
#include <muster/muster.h>
#include "scenarios/scenarios.h"
C
  write tools/muster/main.c <<'C'
#include "base/arena.h"
#include "options.h"
#include "scenarios/scenarios.h"
C
  write bench/rank_bench.c <<'C'
#include "plan/rank.h"
C
  write tests/plan/rank_test.c <<'C'
#include "plan/rank.h"
C
}

# Runs tidy on $tree; leaves its output and exit code.
run_tidy() {
  output=$("$TIDY" "$tree")
  status=$?
}

# Begins a breach with a fresh copy of the clean tree.
plant() {
  what=$1
  tree="$work/planted tree"
  rm -rf "$tree"
  cp -r "$clean" "$tree"
}

# FILE:LINE RULE - tidy must fail with this finding and no other.
expect() {
  run_tidy
  [ "$status" -eq 1 ] || fail "$what: tidy exits with $status"
  grep -qF "$1: $2: " <<<"$output" || fail "$what: no '$1: $2: ' in: $output"
  [ "$(wc -l <<<"$output")" -eq 2 ] || fail "$what: not one finding alone: $output"
}

lines() { # COUNT TEXT
  for ((i = 0; i < $1; i++)); do echo "$2"; done
}

make_clean_tree
run_tidy
[ "$status" -eq 0 ] || fail "the clean tree is refused: $output"

# ------------------------------------------------------------------------------------------------------------- layers

while read -r file includes; do
  plant "$file includes $includes"
  { echo "/* A comment first. */"; echo "#include $includes"; } | write "$file"
  expect "$file:2" rooms
done <<'END'
src/base/upward.c "agents/store.h"
src/agents/upward.c "plan/fit.h"
src/plan/across.c "pool/park.h"
src/pool/across.c "agents/store.h"
src/run/across.c "plan/fit.h"
src/frame/upward.c "api/bulk.h"
src/observe/across.c "frame/frame.h"
src/scenarios/inside.c "base/arena.h"
src/frame/scenario.c "scenarios/scenarios.h"
src/plan/unknown.c "fit/fit.h"
src/api/inside.c "frame/act.h"
src/plan/beside.c "fit.h"
END

while read -r file includes; do
  plant "$file includes $includes"
  { echo "/* A comment first. */"; echo "#include $includes"; } | write "$file"
  expect "$file:2" layers
done <<'END'
src/plan/clock.c <time.h>
src/agents/clock.c <sys/time.h>
tools/muster/inside.c "plan/fit.h"
tools/muster/scenario.c "scenarios/wildlife.h"
include/muster/inside.h "base/arena.h"
include/muster/system.h <stdio.h>
src/plan/macro.c HEADER
END

plant "a folder that is no room"
write src/attic/old.c <<<"int old;"
expect src/attic/old.c:1 rooms

plant "a file in no room"
write src/old.c <<<"int old;"
expect src/old.c:1 rooms

while read -r file code; do
  plant "'$code' in $file"
  { echo "/* frame_look() in a comment */"; echo "$code"; } | write "$file"
  write src/frame/look.c <<<"int frame_look(void) { return 1; }"
  write src/observe/look.h <<<"static inline int observe_look(void) { return 1; }"
  expect "$file:2" rooms
done <<'END'
src/plan/call.c int call(void) { return frame_look(); }
src/plan/hand_over.c int (*const look)(void) = frame_look;
src/plan/declare.c int frame_look(void);
src/frame/inline.c int call(void) { return observe_look(); }
src/scenarios/call.c int call(void) { return frame_look(); }
END

plant "what only looks like a call of another room, and calls of public functions"
write src/frame/look.c <<'C'
int frame_look(void) { return 1; }
static int look_about(void) { return 2; }
INLINE int look_down(void) { return 3; }
int muster_look(void) { return frame_look() + look_about() + look_down(); }
C
write src/plan/call.c <<<"int own(struct all *all) { return look_about + all->frame_look + look_down; }"
write src/scenarios/call.c <<<"int call(int frame_look) { return muster_look() + frame_look; }"
write src/api/call.c <<<"int call(void) { return frame_look(); }"
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"
"$TIDY" --rooms "$tree" >"$work/rooms"
grep -qE '^  -> frame +0 includes +1 calls$' "$work/rooms" || fail "--rooms does not count a call: $(cat "$work/rooms")"

plant "a header that is no face of its room, in another room"
write src/run/inside.c <<<'#include "pool/lane.h"'
expect src/run/inside.c:1 rooms

plant "a header that is no face of its room, in its own room, a test and a bench"
for file in src/pool/inside.c tests/run/inside_test.c bench/inside.c; do write $file <<<'#include "pool/lane.h"'; done
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

plant "a face that no other room includes"
write src/pool/team.h <<<"typedef int team;"
write src/pool/team.c <<<'#include "pool/team.h"'
expect src/pool/team.h:1 rooms

plant "a face that another room includes"
write src/pool/team.h <<<"typedef int team;"
write src/run/runner.c <<<'#include "pool/team.h"'
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

# ------------------------------------------------------------------------------------------------------------ circles

circle_of_three() { # what the third calls
  write src/plan/one.c <<<"int plan_one(void) { return plan_two(); }"
  write src/plan/two.c <<<"static int own(void) { return 1; } int plan_two(void) { return own() + plan_three(); }"
  write src/plan/three.c <<<"int plan_three(void) { return $1; }"
}

plant "three files that call each other in a circle"
circle_of_three "plan_one()"
expect src/plan/one.c:1 circles
grep -qF "three.c two.c" <<<"$output" || fail "$what: the others are not named in: $output"
"$TIDY" --rooms "$tree" >"$work/circles"
for call in "one.c +-> two.c +plan_two" "two.c +-> three.c +plan_three" "three.c +-> one.c +plan_one"; do
  grep -qE "^  $call$" "$work/circles" || fail "--rooms does not print '$call': $(cat "$work/circles")"
done

while read -r code; do
  plant "what is no circle: $code"
  circle_of_three "$code"
  run_tidy
  [ "$status" -eq 0 ] || fail "$what is refused: $output"
done <<'END'
1
call(plan_one)
all->plan_one()
own()
END

plant "a header and its source that call each other, and a header's function that a source below another calls"
write src/plan/pair.h <<<"static inline int pair_inline(void) { return pair_two(); } static inline int pair_low(void) { return 1; }"
write src/plan/pair.c <<<"int pair_two(void) { return pair_inline() + pair_above(); }"
write src/plan/above.c <<<"int pair_above(void) { return pair_low(); }"
write src/scenarios/one.c <<<"int scene_one(void) { return scene_two(); }"
write src/scenarios/two.c <<<"int scene_two(void) { return scene_one(); }"
run_tidy
[ "$status" -eq 1 ] || fail "$what: pair.h calls pair.c, which calls above.c, which calls pair.h"
sed -i 's/pair_low()/1/' "$tree/src/plan/above.c"
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"
"$TIDY" --rooms "$tree" | grep -q '^circle in scenarios:$' || fail "--rooms does not print a circle of scenarios"

# ------------------------------------------------------------------------------------------------------------ visible

# FILE COUNT - what --rooms says of a file must be this count, or nothing when it is 0.
expect_visible() {
  local line
  line=$("$TIDY" --rooms "$tree" | grep -E "^ +[0-9]+ $1 " || true)
  [ "$(awk '{ print $1 + 0 }' <<<"$line")" = "$2" ] || fail "$what: $1 sees not $2 members but: $line"
}

plant "members that are seen"
write src/agents/store.h <<'C'
struct ahead;
typedef struct agent_row {
  int a, *b, c[2], d : 3;                 /* int x, y; in a comment */
  void (*run)(struct ahead *one, int two);
  _Alignas(64) const struct ahead *e;
  enum { ONE, TWO } kind;
  struct inner { int f; } inside, *outside;
  union { int g; struct { int h, i; }; };
  _Static_assert(1, "of no account");
} agent_row;
struct ahead *store_look(struct ahead *at);
static inline struct agent_row store_row(void) { return (struct agent_row){.a = 1, .c = {1, 2}}; }
C
write src/plan/fit.h <<'C'
#include "agents/store.h"
union __attribute__((aligned(8))) fit { int a; long b; };
C
write src/frame/own.h <<<"struct own { int a, b, c; };"
write src/frame/look.c <<'C'
#include "frame/own.h"
#include "plan/fit.h"
#include "agents/store.h"
struct also { int own; };
C
write src/plan/look.c <<<'#include "plan/fit.h"'
write src/agents/look.c <<<'#include "agents/store.h"'
write src/run/look.c <<<'#include "store.h"'
expect_visible src/frame/look.c 15
expect_visible src/plan/look.c 13
expect_visible src/agents/look.c 0
expect_visible src/run/look.c 0
"$TIDY" --rooms "$tree" >"$work/visible"
grep -qE '^ +15 src/frame/look.c +agents 13 plan 2$' "$work/visible" || fail "$what: not told by room"
grep -qE '^ +28 members in all, seen by 2 of 11 files$' "$work/visible" || fail "$what: no sum: $(cat "$work/visible")"
[ "$(grep -n 'src/frame/look.c ' "$work/visible" | cut -d: -f1)" -lt \
  "$(grep -n 'src/plan/look.c ' "$work/visible" | cut -d: -f1)" ] || fail "$what: the most does not come first"
plant "a room whose functions do not say what they rely on"
{ echo "/* ASSERT(no) */"; echo "int ASSERT;"; lines 118 "int a;"; } | write src/world/many.c
{ echo "#define SAYS ASSERT(1)"; echo "int b;"; } | write src/world/more.c
expect src/world/many.c:1 assertions

plant "a room with an assertion in sixty lines"
{ echo "int f(int x) {"; echo "  ASSERT(x > 0);"; echo "  return x; /* as it is */"; echo "}"; lines 115 "int a;"; } |
  write src/world/many.c
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"
printf 'int g(void) {\n  return 1;\n}\n\nint h(void) { return 2; }\n' | write src/world/short.c
"$TIDY" --rooms "$tree" >"$work/rooms"
grep -qx '  functions: median 3 lines, p90 4, longest 4 (f, many.c)' "$work/rooms" ||
  fail "--rooms does not measure functions: $(cat "$work/rooms")"
grep -qx '  longest file 119 lines (many.c), 0.8 assertions per 100 lines, comments on 0 % of the lines' "$work/rooms" ||
  fail "--rooms does not measure files: $(cat "$work/rooms")"

plant "a header that everyone includes"
for ((i = 0; i < 10; i++)); do write "src/base/user$i.c" <<<'#include "base/common.h"'; done
write src/base/common.h <<<"typedef int common;"
expect src/base/common.h:1 god-header

# -------------------------------------------------------------------------------------------------------------- words

while read -r file code; do
  plant "'$code' in $file"
  { echo "/* atomic_load in a comment, */ // pthread_join"; echo "int a;"; echo "$code"; } | write "$file"
  expect "$file:3" atomics
done <<'END'
src/plan/atomic.c static _Atomic int counter;
src/agents/atomic.c void count(int *to) { __atomic_fetch_add(to, 1, 0); }
src/base/atomic.h #include <stdatomic.h>
src/frame/queue.c int take(void) { return ck_pr_load_int(0); }
tools/muster/threads.c int join(void) { return pthread_join(0, 0); }
src/api/world_api.c #define LOCK(m) pthread_mutex_lock(m)
src/frame/commit.c int look(void) { return load_relaxed_u32(&left); }
src/agents/swap.h int swap(void) { return compare_exchange_ordered_u8(&word, &seen, 1); }
src/plan/publish.c void publish(void) { store_release_u64(&shared, 1); }
tools/muster/count.c int count(void) { return exchange_acquire_u32(&counter, 1); }
src/frame/wait.c void wait(void) { pause_processor(); }
END

plant "what only looks like an atomic operation, or may be one"
write src/plan/names.c <<<"int fold_ordered, press_release_u32s, u32_ordered, count_u64, in_ordered_u16;"
write src/pool/take.h <<<"static inline int take(void) { return fetch_and_ordered_u32(&left, 1) + pause_processor(); }"
write tests/pool/take_test.c <<<"int taken(void) { return load_relaxed_u32(&left); }"
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

plant "a function that only prefetches and may not be inlined"
printf '\nstatic inline void prefetch_row(const int *row) {\n  __builtin_prefetch(row);\n}\n' | write src/plan/ahead.c
expect src/plan/ahead.c:2 prefetch

plant "a prototype of a function that only prefetches"
printf '/* Rows. */\nvoid prefetch_rows(const int *rows);\n' | write src/agents/ahead.h
expect src/agents/ahead.h:2 prefetch

plant "a function that only prefetches, as it should be, and one that calls it"
write src/plan/ahead.c <<'C'
PREFETCH_FUNCTION prefetch_row(const int *row) {
  __builtin_prefetch(row);
}

static int prefetched(const int *row) {
  prefetch_row(row);
  return *row;
}
C
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

plant "the clock read outside base/clock.c"
printf 'int now(void) {\n  return gettimeofday(0, 0);\n}\n' | write src/pool/now.c
expect src/pool/now.c:2 clock

for word in task_count nextTick_TICK game_entities; do
  plant "the identifier $word"
  printf '\nint %s;\n' "$word" | write src/plan/words.c
  expect src/plan/words.c:2 vocabulary
done

for note in TODO FIXME XXX; do
  plant "a note $note"
  printf 'int a;\n\n/* %s: later */\n' "$note" | write tests/plan/later_test.c
  expect tests/plan/later_test.c:3 leftover
done

# -------------------------------------------------------------------------------------------------------------- shape

plant "a function of 80 lines"
{ echo "int a;"; echo "static int long_one(int x) {"; lines 78 "  x++; /* } */"; echo "}"; } | write src/plan/long.c
expect src/plan/long.c:2 length

plant "a test of 80 lines"
{ echo "Test(rank, takes_long) {"; lines 78 "  puts(\"}\");"; echo "}"; } | write tests/plan/long_test.c
expect tests/plan/long_test.c:1 length

plant "a function of 70 lines"
{ echo "static void just(void) {"; lines 68 "  ;"; echo "}"; } | write src/plan/just.c
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

plant "a file of 1001 lines"
lines 1001 "" | write src/plan/long.h
expect src/plan/long.h:1001 length

plant "a brace that stays open"
write src/plan/open.c <<<"void open(void) {"
expect src/plan/open.c:1 length

plant "a tab"
printf 'int a;\n\tint b;\n' | write src/plan/tab.c
expect src/plan/tab.c:2 blanks

plant "a trailing blank"
printf 'int a;\nint b; \n' | write bench/blank.c
expect bench/blank.c:2 blanks

plant "a line of 121 columns"
{ echo; printf '// %118s\n' x; } | write tools/muster/wide.c
expect tools/muster/wide.c:2 blanks

plant "a line of 120 columns in more bytes"
printf '// %117s\n' é | LC_ALL=C.UTF-8 write tools/muster/wide.c
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

# -------------------------------------------------------------------------------------------------------------- names

twins() { # LINES of the one in rank.c
  { echo "static int step(int x) {"; lines 2 "  x++;"; echo "}"; } | write src/plan/fold.c
  { echo; echo "static int step(int x) {"; lines "$1" "  x++;"; echo "}"; } | write src/plan/rank.c
}

plant "a static function of one name in two files"
twins 4
expect src/plan/rank.c:2 names

plant "a static function of a few lines that two files have"
twins 3
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

plant "a static function that is declared and defined in one file alone"
{ echo "static int step(int x);"; echo "static int step(int x) {"; lines 9 "  x++;"; echo "}"; } | write src/plan/fold.c
run_tidy
[ "$status" -eq 0 ] || fail "$what is refused: $output"

# ------------------------------------------------------------------------------------------------------------- manual

plant "an undocumented public function"
sed -i '/^\/\* Documented/,/^MUSTER_API const/s/^MUSTER_API const/\n&/' "$tree/include/muster/muster.h"
run_tidy
[ "$status" -eq 1 ] || fail "$what: tidy exits with $status"
grep -qF 'include/muster/muster.h:14: documented: ' <<<"$output" || fail "$what: not found in: $output"

plant "an undocumented internal function behind a group"
printf '/* Two. */\nint one(void);\nint two(void);\n\nint three(int (*callback)(void));\n' | write src/agents/group.h
expect src/agents/group.h:5 documented

plant "two stages in the wrong order"
sed -i 's/stage_fit/stage_later/; s/stage_release/stage_fit/; s/stage_later/stage_release/' "$tree/src/frame/frame.c"
expect src/frame/frame.c:7 stages

plant "a frame without a stage"
sed -i '/stage_fold/d' "$tree/src/frame/frame.c"
expect src/frame/frame.c:1 stages

plant "no frame.c"
rm "$tree/src/frame/frame.c"
expect src/frame/frame.c:1 stages

tree="$work/nowhere"
"$TIDY" "$tree" >/dev/null 2>&1
[ $? -eq 2 ] || fail "a tree that cannot be read does not exit with 2"

if [ "$failures" -gt 0 ]; then
  echo "$failures checks failed" >&2
  exit 1
fi
