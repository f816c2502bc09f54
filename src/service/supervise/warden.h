/* service/supervise/warden.h - no world outlives its supervisor, whatever its code does to its signals: a process of
 * its own hears when the supervisor has died, gives the worlds the time to save themselves, and kills those that are
 * left. It runs nothing but that, and ends with the supervisor. */
#ifndef SERVICE_SUPERVISE_WARDEN_H
#define SERVICE_SUPERVISE_WARDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts it. Before this process has opened anything, which it would keep open, and before the first thread. Where no
 * process is to be had it waits for one, for 30 s at most, and says so. Without a warden worlds end by themselves, if
 * their code lets them. */
void warden_begin(uint64_t grace_ns);

/* A child that is not to outlive this process. False: the warden could not be told, such as for want of descriptors;
 * that is to be tried again. */
bool warden_watch(pid_t process);

#endif
