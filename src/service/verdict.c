#include "service/verdict.h"

#include "base/assert.h"
#include "base/clock.h"
#include "service/health.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *severity, *next;
} kinds[VERDICTS] = {
    [VERDICT_FAILED] = {"failed", "alarm",
                        "Read the daemon's log, then restart it: it goes on from its newest snapshot."},
    [VERDICT_PAUSED] = {"paused", "notice", "Resume it, or step frame by frame."},
    [VERDICT_STARTING] = {"starting", "notice", ""},
    [VERDICT_STUCK] = {"stuck", "alarm", "Read the daemon's log: it names the callback that does not return."},
    [VERDICT_LOST] = {"frames lost", "warning",
                      "Tell those whose changes are gone; then `muster ctl acknowledge` ends this notice."},
    [VERDICT_BROKEN] = {"promise broken", "alarm",
                        "Record a trace and see which atom ends late; please report it if it is none of yours."},
    [VERDICT_ERRORS] = {"errors", "warning",
                        "Mend the code, then reload it; the log has the traceback, and explain says it of an NPC."},
    [VERDICT_LATE] = {"late", "warning",
                      "Other programs, or requests, take the processors: give the daemon its own, or lower hz."},
    [VERDICT_IDLE] = {"idle", "warning",
                      "Please report it, with a record of some of its seconds: it is a fault of Muster's."},
    [VERDICT_OVERLOADED] = {"overloaded", "warning",
                            "Give it a larger budget or more workers, cheaper levels, or fewer NPCs."},
    [VERDICT_BEHIND] = {"behind", "warning",
                        "Updates wait although they fit: look at updates_per_frame, and for agents woken very often."},
    [VERDICT_STRETCHED] = {"stretched", "notice",
                           "Nothing, if these intervals will do; else a larger budget or more workers."},
    [VERDICT_OK] = {"ok", "good", ""},
};

const char *verdict_name(verdict_code code) {
  ASSERT(code < VERDICTS);
  return kinds[code].name;
}

const char *verdict_severity(verdict_code code) {
  ASSERT(code < VERDICTS);
  return kinds[code].severity;
}

/* ---------------------------------------------------------------------------------------------------------- judging */

static bool is_one_in(uint32_t some, uint32_t all, uint32_t part) {
  return some > 0 && (uint64_t)some * part >= all;
}

static bool is_stuck(const verdict_facts *facts) {
  return facts->silent_ns > HEALTH_PERIODS * facts->period_ns && facts->silent_ns > 1000000000u;
}

bool verdict_is_idle(const verdict_facts *facts) {
  return is_one_in(facts->idle_faults, facts->frames, 100);
}

static bool is_overloaded(const verdict_facts *facts) {
  return facts->important_load > 1 || facts->pressure > 1 || facts->elapsed_load > 1 ||
         facts->beyond_wish * 100 > facts->agents;
}

static bool is_band_behind(const verdict_band *band, uint64_t period_ns) {
  return band->rule_ns && (double)band->got_ns > 1.5 * (double)band->rule_ns + (double)period_ns;
}

static verdict_code verdict_code_of(const verdict_facts *facts) {
  if (facts->failed) return VERDICT_FAILED;
  if (facts->paused) return VERDICT_PAUSED;
  if (!facts->frame) return VERDICT_STARTING;
  if (is_stuck(facts)) return VERDICT_STUCK;
  if (facts->lost) return VERDICT_LOST;
  if (is_one_in(facts->broken, facts->judged, 100)) return VERDICT_BROKEN;
  if (facts->problem) return VERDICT_ERRORS;
  if (is_one_in(facts->late, facts->frames, 20)) return VERDICT_LATE;
  if (verdict_is_idle(facts)) return VERDICT_IDLE;
  if (is_overloaded(facts)) return VERDICT_OVERLOADED;
  if (is_band_behind(&facts->best, facts->period_ns) || is_band_behind(&facts->least, facts->period_ns))
    return VERDICT_BEHIND;
  return facts->wants > 1.05 * facts->has ? VERDICT_STRETCHED : VERDICT_OK;
}

/* ------------------------------------------------------------------------------------------------------------ words */

typedef struct verdict_text {
  char *text;
  size_t room, length;
} verdict_text;

static void verdict_add(verdict_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What does not fit is cut off. */
static void verdict_add(verdict_text *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(to->text + to->length, to->room - to->length, format, arguments);
  va_end(arguments);
  if (length > 0) to->length += (size_t)length;
  if (to->length >= to->room) to->length = to->room - 1;
}

/* Three digits that say something, as the page's own figures have. */
static const char *duration(char words[16], uint64_t ns) {
  bool seconds = ns >= 999500000u;
  double value = (double)ns / (seconds ? 1e9 : 1e6);
  snprintf(words, 16, "%.*f %s", value < 9.95 ? 1 : 0, value, seconds ? "s" : "ms");
  return words;
}

/* A frame is the grain of all intervals. */
static bool is_as_wanted(const verdict_band *band, uint64_t period_ns) {
  return (double)band->got_ns <= 1.1 * (double)band->wanted_ns + (double)period_ns;
}

static void add_band(verdict_text *to, const char *which, const verdict_band *band, uint64_t period_ns) {
  char got[16], wanted[16];
  if (!band->got_ns) {
    verdict_add(to, "%s not at all yet", which);
    return;
  }
  verdict_add(to, "%s every %s", which, duration(got, band->got_ns));
  if (is_as_wanted(band, period_ns))
    verdict_add(to, " as wanted");
  else
    verdict_add(to, " (wanted: %s)", duration(wanted, band->wanted_ns));
}

static void add_processors(verdict_text *to, const verdict_facts *facts) {
  verdict_add(to, "wants %.*f processors, has %.*f", facts->wants < 0.95 ? 2 : 1, facts->wants,
              facts->has < 0.95 ? 2 : 1, facts->has);
}

/* Short enough for one line of a wide page. */
static void add_load(verdict_text *to, const verdict_facts *facts) {
  add_processors(to, facts);
  if (!facts->best.wanted_ns) return;
  verdict_add(to, "; ");
  add_band(to, facts->has_bands ? "the most important NPCs" : "NPCs", &facts->best, facts->period_ns);
  if (!facts->has_bands) return;
  verdict_add(to, ", ");
  add_band(to, "the least important", &facts->least, facts->period_ns);
}

const char *verdict_problem(const module_problem *problem, char words[VERDICT_PROBLEM_BYTES]) {
  verdict_text text = {words, VERDICT_PROBLEM_BYTES, 0};
  *words = '\0';
  verdict_add(&text, "%s has failed %lu time%s", problem->where, problem->count, problem->count == 1 ? "" : "s");
  if (problem->agents) verdict_add(&text, ", now in %u NPC%s", problem->agents, problem->agents == 1 ? "" : "s");
  verdict_add(&text, ": %s", problem->what);
  if (problem->places > 1)
    verdict_add(&text, "; and %u other place%s", problem->places - 1, problem->places == 2 ? "" : "s");
  return words;
}

static void add_words(verdict_text *to, verdict_code code, const verdict_facts *facts) {
  char time[16], problem[VERDICT_PROBLEM_BYTES];
  switch (code) {
  case VERDICT_FAILED:
    verdict_add(to, "%s", facts->failure);
    return;
  case VERDICT_PAUSED:
    verdict_add(to, "at frame %lu", facts->frame);
    if (facts->steps_left) verdict_add(to, ", %u steps left", facts->steps_left);
    return;
  case VERDICT_STARTING:
    verdict_add(to, "no frame has ended yet");
    return;
  case VERDICT_STUCK:
    verdict_add(to, "the last frame ended %s ago; one is due every ", duration(time, facts->silent_ns));
    verdict_add(to, "%s", duration(time, facts->period_ns));
    return;
  case VERDICT_LOST:
    verdict_add(to, "%s; ", facts->lost);
    add_load(to, facts);
    return;
  case VERDICT_BROKEN:
    verdict_add(to, "%u of %u frames in %d s ended later than their longest atom explains", facts->broken,
                facts->judged, VERDICT_SECONDS);
    return;
  case VERDICT_ERRORS:
    verdict_add(to, "%s; ", verdict_problem(facts->problem, problem));
    add_load(to, facts);
    return;
  case VERDICT_LATE:
    verdict_add(to, "%u of %u frames in %d s began more than a period late; ", facts->late, facts->frames,
                VERDICT_SECONDS);
    add_processors(to, facts);
    return;
  case VERDICT_IDLE:
    verdict_add(to, "%u of %u frames in %d s left budget though NPCs waited; ", facts->idle_faults, facts->frames,
                VERDICT_SECONDS);
    add_load(to, facts);
    return;
  case VERDICT_OVERLOADED:
  case VERDICT_BEHIND:
  case VERDICT_STRETCHED:
  case VERDICT_OK:
  case VERDICTS:
    add_load(to, facts);
  }
}

/* What frames left though NPCs waited, by the reason: of all workers together. */
static void add_idle(verdict_text *to, const verdict_facts *facts) {
  static const char *const reasons[MUSTER_IDLES] = {[MUSTER_IDLE_FAULT] = "for no known reason",
                                                    [MUSTER_IDLE_X] = "by updates_per_frame",
                                                    [MUSTER_IDLE_LONG] = "too short for the updates that waited",
                                                    [MUSTER_IDLE_HOST] = "by the host"};
  char time[16];
  const char *before = "; left while NPCs waited: ";
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) {
    if (!facts->idle_ns[i]) continue;
    ASSERT(reasons[i]);
    verdict_add(to, "%s%s %s", before, duration(time, facts->idle_ns[i]), reasons[i]);
    before = ", ";
  }
  if (facts->mended) verdict_add(to, "; estimates were wrong and were mended: %u", facts->mended);
}

/* What only the host's code, or its budget, can change. */
static void add_elapsed(verdict_text *to, const verdict_facts *facts) {
  if (facts->elapsed_load > 1)
    verdict_add(to,
                "; no period can help: the time that passes costs %.1f times the budget by itself, most of it for '%s'",
                facts->elapsed_load, facts->elapsed_type);
  if (facts->put_off) verdict_add(to, "; %u agents are put off", facts->put_off);
}

static void write_next(const verdict_facts *facts, verdict_code code, char *next, size_t room) {
  if (code == VERDICT_OVERLOADED && facts->elapsed_load > 1)
    snprintf(next, room,
             "Let updates of '%s' take less for a long elapsed time (coarser or bounded steps), have fewer of them, or "
             "give more budget.",
             facts->elapsed_type);
  else if (code == VERDICT_OVERLOADED && facts->important_load > 1)
    snprintf(next, room,
             "Even the important do not fit, they want %.0f %% of it: a larger budget, more workers, or observers that "
             "see less far.",
             100 * facts->important_load);
  else
    snprintf(next, room, "%s", kinds[code].next);
}

void verdict_judge(const verdict_facts *facts, struct verdict *verdict) {
  verdict_code code = verdict_code_of(facts);
  verdict_text words = {verdict->words, sizeof verdict->words, 0};
  verdict->code = code;
  *verdict->words = '\0';
  add_words(&words, code, facts);
  add_idle(&words, facts);
  if (code == VERDICT_OVERLOADED) add_elapsed(&words, facts);
  if (facts->types_quarantined) verdict_add(&words, "; %u types are in quarantine", facts->types_quarantined);
  if (facts->quarantined) verdict_add(&words, "; %u agents are not run, in quarantine", facts->quarantined);
  write_next(facts, code, verdict->next, sizeof verdict->next);
}

/* ------------------------------------------------------------------------------------------------------------ facts */

static void gather_bands(verdict_facts *facts, const muster_statistics *statistics, const history_second *seconds,
                         uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    const muster_band *band = &statistics->bands[i];
    if (!band->agents) continue;
    verdict_band one = {band->wanted_ns, band->period_ns,
                        count ? history_interval_ns(seconds, count, i) : band->interval_ns};
    if (!found++) facts->least = one;
    facts->best = one;
  }
  facts->has_bands = found > 1;
}

static void add_second(verdict_facts *facts, const history_second *second) {
  facts->frames += second->frames;
  facts->late += second->late;
  facts->judged += second->judged;
  facts->broken += second->broken;
  facts->idle_faults += second->idle_faults;
  facts->mended += second->mended;
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) facts->idle_ns[i] += second->idle_ns[i];
  facts->pressure += (double)second->pressure;
  facts->important_load += (double)second->important_load;
  facts->wants += (double)second->wants;
  facts->has += (double)second->has;
  facts->beyond_wish += second->beyond_wish;
}

verdict_facts verdict_gather(const world_published *published, const history_second *seconds, uint32_t count,
                             uint64_t now_ns) {
  const muster_frame_report *report = &published->report;
  uint64_t end_ns = published->frame_end_ns;
  verdict_facts facts = {.paused = published->paused,
                         .failed = published->failed,
                         .failure = published->failure,
                         .steps_left = published->steps_left,
                         .frame = report->frame,
                         .period_ns = published->period_ns,
                         .silent_ns = end_ns && now_ns > end_ns ? now_ns - end_ns : 0,
                         .lost = *published->journal.lost.words ? published->journal.lost.words : NULL,
                         .problem = published->problem.places ? &published->problem : NULL,
                         .agents = report->agents,
                         .quarantined = report->agents_quarantined,
                         .types_quarantined = report->types_quarantined,
                         .elapsed_load = (double)report->elapsed_load,
                         .elapsed_type = "",
                         .put_off = report->agents_put_off};
  if (report->elapsed_type.index && report->elapsed_type.index <= published->type_count)
    facts.elapsed_type = published->types[report->elapsed_type.index - 1].name;
  const history_second now = {.pressure = report->pressure,
                              .important_load = report->important_load,
                              .wants = report->utilisation_nominal,
                              .has = report->utilisation_desired,
                              .beyond_wish = report->agents_beyond_wish};
  gather_bands(&facts, &published->statistics, seconds, count);
  for (uint32_t i = 0; i < count; i++) add_second(&facts, &seconds[i]);
  if (!count) add_second(&facts, &now);
  double parts = count ? count : 1;
  facts.pressure /= parts;
  facts.important_load /= parts;
  facts.wants /= parts;
  facts.has /= parts;
  facts.beyond_wish /= parts;
  return facts;
}

verdict_facts verdict_facts_of(hosted_world *world, const world_published *published) {
  static history_second seconds[HISTORY_SECONDS]; /* the loop's thread alone reads */
  uint64_t now_ns = clock_system(), now = now_ns / 1000000000u;
  uint64_t after = now > VERDICT_SECONDS ? now - VERDICT_SECONDS - 1 : 0;
  uint32_t count = world_read_history(world, after, now_ns, seconds);
  return verdict_gather(published, seconds, count, now_ns);
}

void verdict_json(json_writer *writer, hosted_world *world, const world_published *published) {
  verdict_facts facts = verdict_facts_of(world, published);
  struct verdict verdict;
  verdict_judge(&facts, &verdict);
  json_print(writer, "verdict{ code=%s severity=%s words=%s next=%s }", verdict_name(verdict.code),
             verdict_severity(verdict.code), verdict.words, verdict.next);
}
