#include "service/live.h"

muster_result live_open(struct service *service) {
  page_prepare();
  muster_result result = streams_open(service);
  return result ? result : maps_open(service);
}

void live_close(struct service *service) {
  streams_close(service);
  maps_close(service);
}
