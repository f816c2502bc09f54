/* The texts of streams: made once for all clients that look, and anew when there is something new. */
#include "room.h"
#include "service/stream_texts.h"

static hosted_world world;
static stream_texts texts;

static void begin(void) {
  cr_assert_eq(uv_mutex_init(&world.mutex), 0);
  strcpy(world.name, "main");
  world.published.report = muster_frame_report_default();
}

static void end(void) {
  stream_texts_free(&texts);
  uv_mutex_destroy(&world.mutex);
}

TestSuite(stream_texts, .init = begin, .fini = end);

static bool frame_says(uint64_t now_ms, const char *what) {
  static char text[1 << 16];
  const stream_text *frame = stream_texts_frame(&texts, &world, now_ms);
  cr_assert(frame && frame->length > 0 && frame->length < sizeof text && frame->length <= frame->room);
  memcpy(text, frame->text, frame->length);
  text[frame->length] = '\0';
  cr_assert(strncmp(text, "event: frame\ndata: {", 20) == 0 && strstr(text, "}\n\n") == text + frame->length - 3);
  return strstr(text, what) != NULL;
}

Test(stream_texts, of_a_frame_are_kept_for_a_few_milliseconds) {
  world.published.frames = 7;
  stream_texts_look(&texts, &world, 1000);
  cr_assert(frame_says(1000, "\"frames\": 7,"));
  world.published.frames = 8;
  cr_assert(frame_says(1001, "\"frames\": 7,"), "another stream that looks at once");
  cr_assert(frame_says(2000, "\"frames\": 8,"));
}

Test(stream_texts, of_a_frame_are_made_anew_when_its_state_is_another_and_only_then) {
  stream_texts_look(&texts, &world, 1000);
  uint64_t apart_ms = 1; /* between two looks */
  for (world.published.paused = true; !stream_texts_look(&texts, &world, 1000 + apart_ms)->paused;) apart_ms++;
  uint64_t now_ms = 1000 + apart_ms;
  cr_assert(frame_says(now_ms + apart_ms - 1, "\"paused\": true"));
  world.published.report.agents = 5;
  stream_texts_look(&texts, &world, now_ms + apart_ms);
  cr_assert(frame_says(now_ms + apart_ms, "\"agents\": 0,"), "nothing that the state tells of has changed");
  world.published.paused = false;
  stream_texts_look(&texts, &world, now_ms + 2 * apart_ms);
  cr_assert(frame_says(now_ms + 2 * apart_ms, "\"agents\": 5,"));
}

Test(stream_texts, of_types_name_each_with_the_number_that_requests_call_it_by) {
  static const char *const said[] = {"\"type\": 1,\"name\": \"hen\"", "\"type\": 2,\"name\": \"fox\""};
  static char text[1 << 16];
  world.published.type_count = 2;
  strcpy(world.published.types[0].name, "hen");
  strcpy(world.published.types[1].name, "fox");
  const stream_text *types = stream_texts_types(&texts, &world, 1000);
  cr_assert(types && types->length < sizeof text);
  memcpy(text, types->text, types->length);
  cr_assert(strncmp(text, "event: types\ndata: {", 20) == 0, "%s", text);
  text[types->length] = '\0';
  for (uint32_t i = 0; i < 2; i++) cr_assert(strstr(text, said[i]) != NULL, "no %s: %s", said[i], text);
}
