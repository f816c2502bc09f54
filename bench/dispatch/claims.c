/* What taking work costs: claims of a batch by number (src/pool/ticket.h), and claims from the pool's queues. */
#include "batch.h"
#include "measures.h"
#include "work.h"

#include "pool/ticket.h"

#include <pthread.h>
#include <stdlib.h>

enum { CHUNK = 8, CLAIMS = 100000, CREW_MAX = 256 };

struct claimers {
  _Alignas(128) shared_u64 ticket;
  _Alignas(128) shared_u64 session; /* number of the open session; UINT64_MAX ends the threads */
  _Alignas(128) shared_u64 inside;  /* threads that have not finished the session */
  uint32_t threads;
};

/* Returns the number of updates that this thread took. */
static uint64_t claim_all(struct claimers *claimers) {
  uint64_t updates = 0;
  for (uint32_t claim; (claim = ticket_take(&claimers->ticket)) != TICKET_NONE;) {
    uint64_t first = (uint64_t)claim * CHUNK;
    for (uint64_t update = first; update < first + CHUNK; update++) {
      __asm__ volatile("" : : "r"(update));
      updates++;
    }
  }
  return updates;
}

static void *claimer(void *argument) {
  struct claimers *claimers = argument;
  for (uint64_t seen = 0;;) {
    uint64_t session;
    while ((session = load_acquire_u64(&claimers->session)) == seen) pause_processor(); /* pairs with open_session */
    if (session == UINT64_MAX) return NULL;
    seen = session;
    claim_all(claimers);
    fetch_sub_release_u64(&claimers->inside, 1);
  }
}

/* Wall nanoseconds of one batch that all threads and the caller claim from. */
static uint64_t claim_session(struct claimers *claimers, uint64_t session, uint32_t claims) {
  ticket_open(&claimers->ticket, claims);
  store_relaxed_u64(&claimers->inside, claimers->threads);
  uint64_t start = work_now();
  store_release_u64(&claimers->session, session);
  claim_all(claimers);
  while (load_acquire_u64(&claimers->inside) > 0) pause_processor(); /* pairs with the threads' release */
  return work_now() - start;
}

/* Writes to the shared line are counted by the line itself: every fetch-add left its one in `next`, and opening the
 * batch was one store. */
static double writes_per_update(const struct claimers *claimers, uint32_t claims) {
  uint64_t fetch_adds = load_relaxed_u64(&claimers->ticket) & ((1u << TICKET_BITS) - 1);
  return (double)(fetch_adds + 1) / ((double)claims * CHUNK);
}

void take_claim(bench_context *context) {
  uint32_t claims = bench_amount(context, CLAIMS, CLAIMS / 20), runs = bench_amount(context, 10, 2);
  pthread_t threads[CREW_MAX];
  static struct claimers claimers;
  claimers.threads = context->workers - 1;
  for (uint32_t i = 0; i < claimers.threads; i++)
    if (pthread_create(&threads[i], NULL, claimer, &claimers) != 0) abort();
  for (uint32_t run = 0; run <= runs; run++) {
    uint64_t spent = claim_session(&claimers, run + 1, claims);
    if (run == 0) continue;
    bench_sample(context, 0, (double)spent / ((double)claims * CHUNK));
    bench_sample(context, 1, writes_per_update(&claimers, claims));
  }
  store_release_u64(&claimers.session, UINT64_MAX);
  for (uint32_t i = 0; i < claimers.threads; i++) pthread_join(threads[i], NULL);
}

void take_queue_claims(bench_context *context) {
  uint32_t jobs = bench_amount(context, 100000, 5000), runs = bench_amount(context, 5, 2);
  for (uint32_t run = 0; run < runs; run++) {
    uint64_t jobs_before, claims_before, jobs_after, claims_after;
    context->system->count(context->pool, &jobs_before, &claims_before);
    batch_run(context, jobs, 0);
    context->system->count(context->pool, &jobs_after, &claims_after);
    if (jobs_after == jobs_before) continue;
    bench_sample(context, 0, (double)(claims_after - claims_before) / (double)(jobs_after - jobs_before));
  }
}
