/* User pointers of agents in a journal: its host names them, with its own pointer, those in the snapshot and those that
 * were spawned since, and is asked for them again by these names. */
#include "support/journal_town.h"

enum { NAMED = 4, NAMES_FRAMES = 6 };

/* What a host knows of its agents. */
typedef struct naming_host {
  const char *path;
  uint32_t names[NAMED];
  _Atomic uint32_t asked;  /* by the callback */
  _Atomic uint32_t others; /* of these with another pointer than this host */
  muster_agent agents[NAMED];
} naming_host;

static naming_host *the_host;

static uint64_t names_give(muster_agent agent, void *agent_user, void *user) {
  (void)agent;
  the_host->asked++;
  the_host->others += user != the_host;
  return *(const uint32_t *)agent_user;
}

static void names_spawn(naming_host *host, const little_world *little, uint32_t number) {
  host->names[number] = number + 1;
  const muster_agent_def def = WITH(muster_agent_def, it.type = little->type, it.user = &host->names[number]);
  host->agents[number] = muster_agent_spawn(little->world, &def);
}

/* The first are in the snapshot, the others in the record. */
static void names_live(void *user) {
  naming_host *host = user;
  little_world little = town();
  const muster_journal_def def = WITH(muster_journal_def, it.name_user = names_give, it.user = host);
  for (uint32_t i = 0; i < NAMED / 2; i++) names_spawn(host, &little, i);
  run_frame(&little);
  journal_begin_as(&little, def, host->path);
  must(host->asked == NAMED / 2, "%u were asked for by the snapshot", host->asked);
  for (uint32_t i = NAMED / 2; i < NAMED; i++) names_spawn(host, &little, i);
  run_frames(&little, NAMES_FRAMES);
  must(host->asked == NAMED, "%u were asked for", host->asked);
}

/* Another life of the host, in which they are elsewhere. */
typedef struct names_again {
  uint32_t names[NAMED], asked;
} names_again;

static void *names_find(muster_agent agent, uint64_t name, void *user) {
  names_again *again = user;
  (void)agent;
  cr_assert_not_null(again);
  cr_assert(name >= 1 && name <= NAMED, "no name is %lu", name);
  again->asked++;
  return &again->names[name - 1];
}

static void expect_found(const naming_host *host, bool snapshot_only) {
  names_again again = {.asked = 0};
  muster_journal_info info = muster_journal_info_default();
  const muster_journal_recover_def def =
      WITH(muster_journal_recover_def, it.path = host->path, it.snapshot_only = snapshot_only, it.user_of = names_find,
           it.user = &again);
  SCOPED(little_world_destroy) little_world little = town();
  uint32_t there = snapshot_only ? NAMED / 2 : NAMED;
  cr_assert_eq(muster_journal_recover(little.world, &def, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(again.asked, there);
  for (uint32_t i = 0; i < there; i++)
    cr_assert_eq(info_of(&little, host->agents[i]).user, &again.names[i], "agent %u has another's", i);
}

Test(journal_names, are_given_and_found_with_the_pointer_of_the_host) {
  SCOPED(place_remove) journal_place place = place_make();
  the_host = shared_memory(sizeof *the_host);
  the_host->path = place.path;
  live_until_death(names_live, the_host);
  cr_expect_eq(the_host->others, 0, "%u of %u were asked for with another pointer", the_host->others, the_host->asked);
  expect_found(the_host, false);
  expect_found(the_host, true);
  munmap(the_host, sizeof *the_host);
}

/* A name of none would be no name. */
static uint64_t names_give_but_one(muster_agent agent, void *agent_user, void *user) {
  (void)agent;
  return agent_user != user;
}

Test(journal_names, that_are_0_are_refused_and_nothing_is_left) {
  SCOPED(place_remove) journal_place place = place_make();
  static naming_host host;
  SCOPED(little_world_destroy) little_world little = town();
  muster_journal *journal = NULL;
  muster_journal_def def = WITH(muster_journal_def, it.path = place.path, it.name_user = names_give_but_one);
  for (uint32_t i = 0; i < NAMED; i++) names_spawn(&host, &little, i);
  run_frame(&little);
  uint64_t hash = muster_world_hash(little.world);
  for (uint32_t i = 0; i < NAMED; i++) {
    def.user = &host.names[i];
    cr_expect_eq(muster_journal_begin(little.world, &def, &journal), MUSTER_E_ARGUMENT, "the name of agent %u", i);
    cr_expect_not_null(strstr(muster_last_error(), "the name 0"), "%s", muster_last_error());
    cr_expect_eq(place_count(&place, "", ""), 0, "it left files behind");
  }
  cr_expect_eq(muster_world_hash(little.world), hash);
  def.name_user = NULL;
  cr_assert_eq(muster_journal_begin(little.world, &def, &journal), MUSTER_OK, "it records still: %s",
               muster_last_error());
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
}
