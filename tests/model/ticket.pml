/* ticket.pml - claims by number from { epoch, count, next } in one word, without any gate before it.
 *
 * process   models                                                     in src/pool/ticket.h
 * Opener    ticket_open of two batches, the second one shorter; each   ticket_open, ticket_grow
 *           begins without its last claim and grows
 * Taker     ticket_take at any time, also across the change            ticket_take: a load, then a swap
 *
 * The frame lets no worker take while it opens a batch (frame.pml): this is a promise that the word keeps on its own,
 * each number of a batch is taken once, and none that the batch does not have; and no number is lost when it grows.
 *
 * Faults: COUNT_OUTSIDE (the batch's length stands in a word of its own), ADDED (a claim is taken by an addition). */

#define BATCHES 2
#define TAKES   3
#define count_of(batch) (3 - (batch)) /* 2, then 1 */

byte epoch, count, next; /* one word */
bool taken[9];           /* 3 x epoch + number */

proctype Opener() {
  byte batch = 1;
  do
  :: batch > BATCHES -> break
  :: else ->
#ifdef COUNT_OUTSIDE
     d_step { epoch = batch; next = 0 };
     count = count_of(batch);
#else
     d_step { epoch = batch; count = count_of(batch) - 1; next = 0 };
     count++; /* grows */
#endif
     batch++
  od
}

proctype Taker() {
  byte takes, seen_epoch, seen_count, number;
  do
  :: takes == TAKES -> break
  :: else ->
     d_step { takes++; seen_epoch = epoch; seen_count = count; number = next };
     if
     :: number >= seen_count
     :: else ->
#if defined(COUNT_OUTSIDE)
        d_step { seen_epoch = epoch; number = next; next++ };
        seen_count = count;
#elif defined(ADDED)
        d_step { seen_epoch = epoch; number = next; next++; seen_count = count };
        assert(number < seen_count || epoch != seen_epoch || seen_count == count_of(epoch)); /* else it is lost */
#else
        d_step {
          if
          :: epoch == seen_epoch && count == seen_count && next == number -> next++
          :: else -> number = 255
          fi
        };
#endif
        if
        :: number >= seen_count
        :: else ->
           d_step {
             assert(number < count_of(seen_epoch) && !taken[3 * seen_epoch + number]);
             taken[3 * seen_epoch + number] = true
           }
        fi
     fi
  od
}

init { atomic { run Opener(); run Taker(); run Taker() } }
