/* The log of one character: what it does, feels, wants and is told, by the clock of its town. */
#include "scenarios/townsfolk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, NAME_BYTES = 64, EXPLANATION_BYTES = 2048 };

void folk_note(folk_mind *mind, folk_entry_kind kind, uint64_t at_ns, uint32_t what, uint32_t who, float number) {
  folk_journal *journal = mind->journal;
  const folk_self *self = mind->self;
  if (!journal) return;
  if (journal->count == FOLK_ENTRIES_MAX) {
    journal->lost++;
    return;
  }
  journal->entries[journal->count++] = (folk_entry){.at_ns = at_ns,
                                                    .kind = (uint8_t)kind,
                                                    .what = (uint8_t)what,
                                                    .goal = self->goal,
                                                    .place = self->place,
                                                    .emotion = (uint8_t)folk_strongest(self),
                                                    .level = (uint8_t)mind->level,
                                                    .who = (uint16_t)who,
                                                    .number = number,
                                                    .plan = self->plan};
}

/* ------------------------------------------------------------------------------------------------------------ words */

struct line {
  char text[LINE_BYTES];
  size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *fifo, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(fifo->text + fifo->length, sizeof fifo->text - fifo->length, format, arguments);
  va_end(arguments);
  if (length > 0) fifo->length += (size_t)length;
  if (fifo->length >= sizeof fifo->text) fifo->length = sizeof fifo->text - 1;
}

static const char *emotion_words(uint32_t emotion) {
  static const char *const words[FOLK_EMOTIONS + 1] = {"angry", "disgusted", "afraid", "happy",
                                                       "sad",   "surprised", "calm"};
  return words[emotion];
}

static const char *desire_words(uint32_t desire) {
  static const char *const words[FOLK_DESIRES] = {
      "power",    "curiosity", "independence", "status", "social contact", "vengeance",  "honour",       "idealism",
      "exercise", "romance",   "family",       "order",  "eating",         "acceptance", "tranquillity", "saving"};
  return words[desire];
}

static const char *event_words(uint32_t event) {
  static const char *const words[FOLK_EVENTS] = {[FOLK_GREETED] = "is greeted",
                                                 [FOLK_TALKED_TO] = "has a chat",
                                                 [FOLK_INSULTED] = "is insulted",
                                                 [FOLK_GIVEN] = "is given bread",
                                                 [FOLK_COURTED] = "is given flowers",
                                                 [FOLK_APOLOGISED_TO] = "is asked for forgiveness",
                                                 [FOLK_PLAYED_WITH] = "plays",
                                                 [FOLK_ORDERED] = "is told what to do",
                                                 [FOLK_SHOWN_FINERY] = "is shown finery",
                                                 [FOLK_MET_FRIEND] = "meets a friend",
                                                 [FOLK_MET_RIVAL] = "sees somebody it dislikes",
                                                 [FOLK_WOLVES] = "hears that wolves are at the gate",
                                                 [FOLK_STRANGERS] = "sees strangers arrive",
                                                 [FOLK_MINSTRELS] = "hears minstrels play",
                                                 [FOLK_STENCH] = "smells the tannery",
                                                 [FOLK_FUNERAL] = "hears the bell toll for somebody",
                                                 [FOLK_NO_BREAD] = "finds that the bread is sold out",
                                                 [FOLK_PLAN_FAILED] = "sees that it cannot be done",
                                                 [FOLK_REGRET] = "regrets the quarrel"};
  return words[event];
}

static const char *coping_words(uint32_t coping) {
  static const char *const words[FOLK_COPINGS] = {[FOLK_BEAR_IT] = "bears it",
                                                  [FOLK_FACE_IT] = "will have it out",
                                                  [FOLK_WITHDRAW] = "wants to be left in peace",
                                                  [FOLK_SEEK_SUPPORT] = "wants its family around",
                                                  [FOLK_MAKE_AMENDS] = "wants to make up for it",
                                                  [FOLK_SHARE_IT] = "wants to share the joy",
                                                  [FOLK_EXPLORE_IT] = "wants to know what that is",
                                                  [FOLK_CLEAN_UP] = "wants to clean up"};
  return words[coping];
}

/* The time of the town, and where and how it is. */
static void put_begin(struct line *fifo, const folk_entry *entry) {
  uint32_t minute = folk_minute_of_day(entry->at_ns);
  const char *at = entry->place == FOLK_ON_WAY ? "on the way" : folk_place_words(entry->place);
  put(fifo, "day %u %02u:%02u  %-11s %-9s level %u  ", folk_hour_number(entry->at_ns) / 24 + 1, minute / 60,
      minute % 60, at, emotion_words(entry->emotion), entry->level);
}

static void put_event(struct line *fifo, const folk_town *town, const folk_entry *entry) {
  bool meets = entry->what == FOLK_MET_FRIEND || entry->what == FOLK_MET_RIVAL || entry->what == FOLK_TALKED_TO ||
               entry->what == FOLK_PLAYED_WITH;
  put(fifo, "%s", event_words(entry->what));
  if (entry->who < town->people) put(fifo, "%s%s", meets ? ": " : " by ", folk_first_name(town, entry->who));
}

static void put_plan(struct line *fifo, const folk_entry *entry) {
  for (uint32_t i = 0; i < entry->plan.count; i++)
    put(fifo, "%s%s", i ? ", " : ": ", folk_deed_of(entry->plan.steps[i])->words);
}

static void put_entry(struct line *fifo, const folk_town *town, const folk_entry *entry) {
  put_begin(fifo, entry);
  switch ((folk_entry_kind)entry->kind) {
  case FOLK_ENTRY_DONE:
    put(fifo, "done: %s", folk_deed_of(entry->what)->words);
    break;
  case FOLK_ENTRY_DECIDED:
    put(fifo, "wants to %s", folk_goal_words(entry->what));
    if (entry->number > 0.0f) put(fifo, " (worth %.2f)", (double)entry->number);
    put_plan(fifo, entry);
    break;
  case FOLK_ENTRY_DROPPED:
    put(fifo, "no longer wants to %s: would rather %s", folk_goal_words(entry->what),
        folk_goal_words((uint32_t)entry->number));
    break;
  case FOLK_ENTRY_FAILED:
    put(fifo, "cannot %s", folk_deed_of(entry->what)->words);
    break;
  case FOLK_ENTRY_THINKS:
    put(fifo, "wants to %s and thinks how; knows the last %.0f steps", folk_goal_words(entry->what),
        (double)entry->number);
    break;
  case FOLK_ENTRY_EVENT:
    put_event(fifo, town, entry);
    put(fifo, " (impact %.2f)", (double)entry->number);
    break;
  case FOLK_ENTRY_KEPT:
    put_event(fifo, town, entry);
    put(fifo, " (kept for when it is met)");
    break;
  case FOLK_ENTRY_COPES:
    put(fifo, "%s", coping_words(entry->what));
    break;
  case FOLK_ENTRY_PAID:
    put(fifo, "has worked an hour as a %s and gets %.0f coins", folk_role_words(entry->what), (double)entry->number);
    break;
  }
}

/* -------------------------------------------------------------------------------------------------------- beginning */

/* Refuses a name, with examples of names that can be watched. */
static muster_result refuse_name(const struct folk *folk, const char *name) {
  char one[NAME_BYTES], other[NAME_BYTES], last[NAME_BYTES];
  const folk_town *end = &folk->towns[folk->town_count - 1];
  folk_name(&folk->towns[0], 0, one, sizeof one);
  folk_name(&folk->towns[0], folk->towns[0].people / 2, other, sizeof other);
  folk_name(end, end->people - 1, last, sizeof last);
  return muster_module_fail(MUSTER_E_ARGUMENT,
                            "townsfolk: nobody is called '%s'; there are '%s', '%s' or, without the town, '%s', to "
                            "'%s', among others",
                            name, one, other, folk_first_name(&folk->towns[0], 1), last);
}

static void introduce(const folk_town *town, uint32_t member, const folk_self *self, muster_module_line tell,
                      void *user) {
  char name[NAME_BYTES];
  struct line fifo = {.length = 0};
  uint64_t strong = kit_traits_strongest(self->desires, FOLK_DESIRES, 3);
  folk_name(town, member, name, sizeof name);
  put(&fifo, "Watching %s, %s. Strongest desires:", name, folk_role_words(self->role));
  const char *before = " ";
  for (; strong; strong &= strong - 1) {
    uint32_t desire = (uint32_t)__builtin_ctzll(strong);
    put(&fifo, "%s%s %.2f", before, desire_words(desire), (double)self->desires[desire]);
    before = ", ";
  }
  put(&fifo, ".");
  tell(fifo.text, user);
}

muster_result folk_watch(void *instance, muster_world *world, const char *name, muster_module_line tell,
                         void *line_user) {
  struct folk *folk = instance;
  uint32_t number, member;
  folk_self self;
  folk_face face;
  (void)world;
  if (!folk_find(folk, name, &number, &member)) return refuse_name(folk, name);
  const folk_town *town = &folk->towns[number];
  folk->journal.agent = town->members[member];
  folk->journal.town = town;
  folk->journal.member = member;
  folk->journal.level = FOLK_LEVELS;
  folk->journal.count = folk->journal.lost = 0;
  folk->journal.told_ns = 0;
  folk_make(town, member, &self, &face);
  introduce(town, member, &self, tell, line_user);
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------- after each frame */

/* Writes why it runs as it does now, in the scheduler's words: all lines but the first, which names an index. */
static void tell_level(folk_journal *journal, const muster_world *world, muster_module_line tell, void *user) {
  char text[EXPLANATION_BYTES];
  muster_agent_explanation explanation = muster_default_agent_explanation();
  if (muster_agent_explain(world, journal->agent, &explanation) != MUSTER_OK) return;
  if (explanation.reasons & MUSTER_REASON_SPAWN_WAITING || explanation.level == journal->level) return;
  uint32_t minute = folk_minute_of_day(explanation.sim_now_ns);
  struct line head = {.length = 0};
  put(&head, "day %u %02u:%02u  -- runs at level %u now, every %.1f s, with importance %.2f",
      folk_hour_number(explanation.sim_now_ns) / 24 + 1, minute / 60, minute % 60, explanation.level,
      (double)explanation.period_ns * 1e-9, (double)explanation.importance);
  tell(head.text, user);
  if (explanation.sim_now_ns > journal->told_ns) journal->told_ns = explanation.sim_now_ns;
  journal->level = explanation.level;
  muster_explanation_print(&explanation, text, sizeof text);
  char *rest = NULL;
  for (char *part = strtok_r(text, "\n", &rest); part; part = strtok_r(NULL, "\n", &rest))
    if (strncmp(part, "  Importance:", 13) == 0 || strncmp(part, "  Period:", 9) == 0 ||
        strncmp(part, "  Level ", 8) == 0) {
      struct line reason = {.length = 0};
      put(&reason, "               --%s", part);
      tell(reason.text, user);
    }
}

static int by_time(const void *a, const void *b) {
  const folk_entry *one = *(const folk_entry *const *)a, *other = *(const folk_entry *const *)b;
  if (one->at_ns != other->at_ns) return one->at_ns < other->at_ns ? -1 : 1;
  return one < other ? -1 : one > other;
}

/* Times in the log only grow, except when a character that waited for a goal is met, and lives the time since then at
 * once. */
void folk_watched(void *instance, const muster_world *world, muster_module_line tell, void *line_user) {
  struct folk *folk = instance;
  folk_journal *journal = &folk->journal;
  const folk_entry *sorted[FOLK_ENTRIES_MAX];
  if (muster_agent_is_null(journal->agent)) return;
  for (uint32_t i = 0; i < journal->count; i++) sorted[i] = &journal->entries[i];
  qsort(sorted, journal->count, sizeof *sorted, by_time);
  for (uint32_t i = 0; i < journal->count; i++) {
    struct line fifo = {.length = 0};
    put_entry(&fifo, journal->town, sorted[i]);
    if (sorted[i]->at_ns / FOLK_MINUTE_NS < journal->told_ns / FOLK_MINUTE_NS) put(&fifo, " (caught up)");
    if (sorted[i]->at_ns > journal->told_ns) journal->told_ns = sorted[i]->at_ns;
    tell(fifo.text, line_user);
  }
  if (journal->lost) {
    struct line fifo = {.length = 0};
    put(&fifo, "               (%u more things happened)", journal->lost);
    tell(fifo.text, line_user);
  }
  journal->count = journal->lost = 0;
  tell_level(journal, world, tell, line_user);
}
