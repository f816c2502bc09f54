/* service/token.h - reads the token that control by TCP requires from its file. */
#ifndef SERVICE_TOKEN_H
#define SERVICE_TOKEN_H

#include <muster/common.h>

enum { TOKEN_BYTES = 256 };

/* Reads the first line of a file that others may not read; the group may, since an access list for a single user shows
 * as group rights. An empty path gives an empty token. On failure the token is empty and muster_last_error() says why,
 * beginning with the path. Any thread. */
muster_result token_read(const char *path, char token[TOKEN_BYTES]);

#endif
