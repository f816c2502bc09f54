/* service/poison.h - changes in whose work the process ended are not carried out again when they are sent again, which
 * would end the next process as well. Each is answered with what it did: 500 ended_process, with the incident
 * (service/journals.h) that shows it. That answer is kept as any other (service/keys.h): in the journal, and so over
 * restarts and moves. The flight recorder has it, too, for worlds without a journal and until the journal has it.
 *
 * A person who knows better sends it with the header Muster-Insist: true, and it is carried out once more. */
#ifndef SERVICE_POISON_H
#define SERVICE_POISON_H

#include "service/service.h"

#define POISON_INSIST "Muster-Insist"

/* Gives a world that was opened the answers to those of its requests that ended the last runs. Its keys and its journal
 * are there. `incident` is the number of the incident of the last run; 0 = there is none. Frames' thread. */
void poison_take(struct service *service, hosted_world *world, uint64_t incident);

#endif
