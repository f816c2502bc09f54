#include "service/supervise/deal.h"

#include "base/assert.h"

/* What a world asks for; 0 = any. */
static uint32_t wanted_by(const struct settings *settings, uint32_t world) {
  return settings->worlds[world].processors ? settings->worlds[world].processors : settings->workers;
}

/* How many processors each of those worlds gets that ask for none; the first `rest` of them one more. */
static uint32_t share_of_rest(const struct settings *settings, uint32_t most, uint32_t *rest) {
  uint32_t asked = 0, open = 0;
  for (uint32_t i = 0; i < settings->world_count; i++) {
    uint32_t wanted = wanted_by(settings, i);
    asked += wanted < most ? wanted : most;
    open += wanted == 0;
  }
  *rest = 0;
  if (!open || asked + open > most) return 1;
  *rest = (most - asked) % open;
  return (most - asked) / open;
}

static void take_processors(const cpu_set_t *machine, uint32_t count, uint32_t users[CPU_SETSIZE], cpu_set_t *taken) {
  CPU_ZERO(taken);
  for (; count; count--) {
    int best = -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
      if (CPU_ISSET(i, machine) && !CPU_ISSET(i, taken) && (best < 0 || users[i] < users[best])) best = i;
    if (best < 0) return;
    CPU_SET(best, taken);
    users[best]++;
  }
}

void deal_processors(const struct settings *settings, const cpu_set_t *machine, uint32_t most, deal *dealt) {
  uint32_t users[CPU_SETSIZE] = {0}, there = (uint32_t)CPU_COUNT(machine), rest;
  ASSERT(there > 0 && most > 0);
  uint32_t share = share_of_rest(settings, most < there ? most : there, &rest);
  for (uint32_t i = 0; i < settings->world_count; i++) {
    uint32_t wanted = wanted_by(settings, i);
    dealt->workers[i] = wanted ? wanted : share + (rest > 0);
    if (!wanted && rest > 0) rest--;
    take_processors(machine, dealt->workers[i], users, &dealt->processors[i]);
  }
}

double deal_most_promised(const struct settings *settings, const deal *dealt, uint32_t *processor) {
  double most = 0;
  *processor = 0;
  for (uint32_t i = 0; i < CPU_SETSIZE; i++) {
    double promised = 0;
    for (uint32_t k = 0; k < settings->world_count; k++)
      if (CPU_ISSET(i, &dealt->processors[k]))
        promised += (double)settings->worlds[k].budget_ns / (double)settings_period_ns(settings->worlds[k].rate);
    if (promised <= most) continue;
    most = promised;
    *processor = i;
  }
  return most;
}
