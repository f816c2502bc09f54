/* The log of one character: what it does, feels, wants and is told, by the clock of its town. */
#include "townsfolk.h"

#include <muster/explain.h>

#include <stdarg.h>
#include <stdio.h>
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
  /* Times only grow, except when a character that waited for a goal is met, and lives the time since then at once. */
  uint32_t place = journal->count++;
  for (; place > 0 && journal->entries[place - 1].at_ns > at_ns; place--)
    journal->entries[place] = journal->entries[place - 1];
  journal->entries[place] = (folk_entry){.at_ns = at_ns,
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

static const char *const place_words[FOLK_ON_WAY + 1] = {"home",     "the fields", "the bakery", "the market",
                                                         "the inn",  "the smithy", "the well",   "the gate",
                                                         "the hall", "the woods",  "on the way"};

static const char *const emotion_words[FOLK_EMOTIONS + 1] = {"angry", "disgusted", "afraid", "happy",
                                                             "sad",   "surprised", "calm"};

static const char *const desire_words[FOLK_DESIRES] = {
    "power",    "curiosity", "independence", "status", "social contact", "vengeance",  "honour",       "idealism",
    "exercise", "romance",   "family",       "order",  "eating",         "acceptance", "tranquillity", "saving"};

static const char *const coping_words[FOLK_COPINGS] = {[FOLK_BEAR_IT] = "bears it",
                                                       [FOLK_FACE_IT] = "will have it out",
                                                       [FOLK_WITHDRAW] = "wants to be left in peace",
                                                       [FOLK_SEEK_SUPPORT] = "wants its family around",
                                                       [FOLK_MAKE_AMENDS] = "wants to make up for it",
                                                       [FOLK_SHARE_IT] = "wants to share the joy",
                                                       [FOLK_EXPLORE_IT] = "wants to know what that is",
                                                       [FOLK_CLEAN_UP] = "wants to clean up"};

/* The time of the town. */
static void put_time(struct line *fifo, uint64_t at_ns) {
  uint32_t minute = folk_minute_of_day(at_ns);
  put(fifo, "day %u %02u:%02u  ", folk_hour_number(at_ns) / 24 + 1, minute / 60, minute % 60);
}

static void put_event(struct line *fifo, const folk_town *town, const folk_entry *entry) {
  bool meets = entry->what == FOLK_MET_FRIEND || entry->what == FOLK_MET_RIVAL || entry->what == FOLK_TALKED_TO ||
               entry->what == FOLK_PLAYED_WITH;
  put(fifo, "%s", folk_event_words(entry->what));
  if (entry->who < town->people) put(fifo, "%s%s", meets ? ": " : " by ", folk_first_name(town, entry->who));
}

/* When, and where and how the character is; and what it does. */
static void put_entry(struct line *fifo, const folk_town *town, const folk_entry *entry) {
  put_time(fifo, entry->at_ns);
  put(fifo, "%-11s %-9s level %u  ", place_words[entry->place], emotion_words[entry->emotion], entry->level);
  switch ((folk_entry_kind)entry->kind) {
  case FOLK_ENTRY_DONE:
    put(fifo, "done: %s", folk_deed_of(entry->what)->words);
    break;
  case FOLK_ENTRY_DECIDED:
    put(fifo, "wants to %s", folk_goal_words(entry->what));
    if (entry->number > 0.0f) put(fifo, " (worth %.2f)", (double)entry->number);
    for (uint32_t i = 0; i < entry->plan.count; i++)
      put(fifo, "%s%s", i ? ", " : ": ", folk_deed_of(entry->plan.steps[i])->words);
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
    put(fifo, "%s", coping_words[entry->what]);
    break;
  case FOLK_ENTRY_PAID:
    put(fifo, "has worked an hour as a %s and gets %.0f coins", folk_role_words[entry->what], (double)entry->number);
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
  put(&fifo, "Watching %s, %s. Strongest desires:", name, folk_role_words[self->role]);
  const char *before = " ";
  for (; strong; strong &= strong - 1) {
    uint32_t desire = (uint32_t)__builtin_ctzll(strong);
    put(&fifo, "%s%s %.2f", before, desire_words[desire], (double)self->desires[desire]);
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
  folk->journal = (folk_journal){.agent = town->members[member], .town = town, .level = FOLK_LEVELS};
  folk_make(town, member, &self, &face);
  introduce(town, member, &self, tell, line_user);
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------- after each frame */

/* Writes why it runs as it does now, in the scheduler's words: all lines but the first, which names an index. */
static void tell_level(folk_journal *journal, const muster_world *world, muster_module_line tell, void *user) {
  char text[EXPLANATION_BYTES];
  muster_agent_explanation explanation = muster_agent_explanation_default();
  if (muster_agent_explain(world, journal->agent, &explanation) != MUSTER_OK) return;
  if (explanation.reasons & MUSTER_REASON_SPAWN_WAITING || explanation.level == journal->level) return;
  struct line head = {.length = 0};
  put_time(&head, explanation.sim_now_ns);
  put(&head, "-- runs at level %u now, every %.1f s, with importance %.2f", explanation.level,
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

void folk_watched(void *instance, const muster_world *world, muster_module_line tell, void *line_user) {
  struct folk *folk = instance;
  folk_journal *journal = &folk->journal;
  if (muster_agent_is_null(journal->agent)) return;
  for (const folk_entry *entry = journal->entries; entry < journal->entries + journal->count; entry++) {
    struct line fifo = {.length = 0};
    put_entry(&fifo, journal->town, entry);
    if (entry->at_ns / FOLK_MINUTE_NS < journal->told_ns / FOLK_MINUTE_NS) put(&fifo, " (caught up)");
    if (entry->at_ns > journal->told_ns) journal->told_ns = entry->at_ns;
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
