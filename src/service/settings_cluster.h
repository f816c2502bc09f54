/* service/settings_cluster.h - what zones need of the settings, and what of them is hardly meant. Any thread. */
#ifndef SERVICE_SETTINGS_CLUSTER_H
#define SERVICE_SETTINGS_CLUSTER_H

#include "service/settings.h"

/* Complains of what zones cannot run with. */
void settings_check_cluster(const struct settings *settings, settings_complaint complain, void *user);

/* Complains of files of the cluster that cannot be read; not of those that the service manager hands out, which are
 * there only while the service runs. */
void settings_check_cluster_files(const struct settings *settings, settings_complaint complain, void *user);

/* Tells of what works, and is hardly meant: fewer than three servers, servers without encryption, zones that nobody can
 * walk to or that one node alone may run. */
void settings_advise(const struct settings *settings, settings_complaint tell, void *user);

/* A sum of all that must be the same on each node of a cluster: what zones there are, and by what they agree. Settings
 * that are left out, and those that say the default, have the same sum, so that a key that only one of two builds knows
 * changes nothing until it is given. What may differ is left out: paths, what a machine has, and which addresses its
 * brokers have for it. 0 = no memory. */
uint64_t settings_shared_sum(const struct settings *settings);

#endif
