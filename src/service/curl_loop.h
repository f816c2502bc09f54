/* service/curl_loop.h - libcurl's requests in the libuv loop. All functions: loop's thread. */
#ifndef SERVICE_CURL_LOOP_H
#define SERVICE_CURL_LOOP_H

#include <muster/common.h>

#include <curl/curl.h>
#include <uv.h>

struct curl_loop;

/* What a request came to; `request` is its CURLOPT_PRIVATE. Its handle is still in the loop. */
typedef void (*curl_loop_ended)(void *request, CURLcode result);

/* Null: MUSTER_E_MEMORY. */
struct curl_loop *curl_loop_open(uv_loop_t *loop, curl_loop_ended ended);

/* Begins a request (false: no memory); ends one, whatever it came to. The handle stays the caller's. */
bool curl_loop_add(struct curl_loop *curls, CURL *request);
void curl_loop_remove(struct curl_loop *curls, CURL *request);

/* Frees it once it has no requests. Its handles of libuv are closed in the next turn of the loop. Null does nothing. */
void curl_loop_free(struct curl_loop *curls);

#endif
