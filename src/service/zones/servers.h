/* service/zones/servers.h - the NATS servers of a broker: a connection to each, and the two streams that each has of
 * the world. They know nothing of each other. Loop's thread. */
#ifndef SERVICE_ZONES_SERVERS_H
#define SERVICE_ZONES_SERVERS_H

#include "service/zones/parts.h"

/* Reads the URLs of the settings. MUSTER_E_ARGUMENT: there are none, or too many. */
muster_result servers_read(struct broker *broker);

/* Begins a connection to each. False, with the reason in muster_last_error(): what was begun is to be closed. */
bool servers_open(struct broker *broker);

/* Ends the connections; servers_are_closed() once they are, and then all that was asked is to be ended. */
void servers_close(struct broker *broker);
bool servers_are_closed(const struct broker *broker);
void servers_end_asks(struct broker *broker);

/* Frees what is left. */
void servers_free(struct broker *broker);

/* Gives up questions whose time is over, and makes streams that are missing. Called some times a second. */
void servers_look_after(struct broker *broker);

/* Whether a server is connected and has its streams; and how many make a majority, whether or not they are. */
bool server_is_ready(const struct nats_server *server);
uint32_t servers_majority(const struct broker *broker);
bool servers_are_enough(const struct broker *broker);

/* What one of the streams has in its name and its subjects; its name. */
const char *server_stream_word(broker_stream stream);
void server_name_stream(const struct broker *broker, broker_stream stream, char name[STREAM_BYTES_MAX]);

#endif
