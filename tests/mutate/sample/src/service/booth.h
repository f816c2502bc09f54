#ifndef SERVICE_BOOTH_H
#define SERVICE_BOOTH_H

int booth_opens(int lamps);
int lamp_burns(int hour);
int guard_wakes(int hour);

#endif
