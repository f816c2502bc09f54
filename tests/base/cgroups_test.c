/* Control groups as machines, units and containers have them: the tightest limit of all groups above holds. */
#include "base/cgroups.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/muster_cgroups_XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at) {
  (void)status, (void)kind, (void)at;
  return remove(path);
}

static void begin(void) {
  cr_assert_not_null(mkdtemp(root));
}

static void end(void) {
  nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, and the folders that it needs. */
static void put(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s%s", root, name);
  for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file, "%s", path);
  fputs(text, file);
  fclose(file);
}

#define MOUNT_2   "31 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_CPU "32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
#define MOUNT_MEM "33 23 0:29 / /sys/fs/cgroup/memory rw shared:11 - cgroup cgroup rw,memory\n"

TestSuite(cgroups, .init = begin, .fini = end);

Test(cgroups, nothing_is_limited_where_there_are_none) {
  cr_assert_eq(cgroups_processors(root), UINT32_MAX);
  cr_assert_eq(cgroups_memory(root), UINT64_MAX);
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" MOUNT_2);
  cr_assert_eq(cgroups_processors(root), UINT32_MAX, "the topmost has no such file");
}

Test(cgroups, a_units_own_group_counts_and_not_the_topmost_alone) {
  put("/proc/self/cgroup", "0::/system.slice/musterd.service\n");
  put("/proc/self/mountinfo", MOUNT_2);
  put("/sys/fs/cgroup/system.slice/musterd.service/cpu.max", "50000 100000\n");
  put("/sys/fs/cgroup/system.slice/musterd.service/memory.max", "1073741824\n");
  cr_assert_eq(cgroups_processors(root), 1, "half a processor is one worker");
  cr_assert_eq(cgroups_memory(root), 1073741824u);
}

Test(cgroups, the_tightest_of_all_groups_above_holds) {
  put("/proc/self/cgroup", "0::/a/b/c\n");
  put("/proc/self/mountinfo", MOUNT_2);
  put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
  put("/sys/fs/cgroup/a/cpu.max", "800000 100000\n");
  put("/sys/fs/cgroup/a/memory.max", "5000\n");
  put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
  cr_assert_eq(cgroups_processors(root), 3);
  cr_assert_eq(cgroups_memory(root), 5000);
  put("/sys/fs/cgroup/a/b/c/cpu.max", "150000 100000\n");
  cr_assert_eq(cgroups_processors(root), 2);
}

Test(cgroups, version_1_has_a_hierarchy_for_each_controller) {
  put("/proc/self/cgroup", "7:memory:/game\n4:cpu,cpuacct:/game/npc\n1:name=systemd:/game\n0::/game\n");
  put("/proc/self/mountinfo", MOUNT_MEM MOUNT_CPU);
  put("/sys/fs/cgroup/cpu,cpuacct/game/npc/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/game/npc/cpu.cfs_period_us", "100000\n");
  cr_assert_eq(cgroups_processors(root), UINT32_MAX);
  put("/sys/fs/cgroup/cpu,cpuacct/game/cpu.cfs_quota_us", "50000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/game/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/game/memory.limit_in_bytes", "777\n");
  cr_assert_eq(cgroups_processors(root), 1);
  cr_assert_eq(cgroups_memory(root), 777);
}

Test(cgroups, a_container_sees_its_own_group_as_the_topmost) {
  put("/proc/self/cgroup", "4:cpu:/docker/abc\n");
  put("/proc/self/mountinfo", "32 23 0:28 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  cr_assert_eq(cgroups_processors(root), 2);
  put("/proc/self/cgroup", "4:cpu:/docker/abcdef\n");
  cr_assert_eq(cgroups_processors(root), 2, "a name that begins alike is not below it");
  put("/proc/self/cgroup", "4:cpu:/../other\n");
  cr_assert_eq(cgroups_processors(root), 2);
}

Test(cgroups, lines_that_are_none_are_passed_over) {
  put("/proc/self/cgroup", "\nx\n::\n0:\n0::/a\n");
  put("/proc/self/mountinfo", "\nx - cgroup2\n1 2 3 - cgroup2 a b\n - \n" MOUNT_2);
  put("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
  cr_assert_eq(cgroups_processors(root), UINT32_MAX);
  put("/sys/fs/cgroup/a/cpu.max", "10 100000\n");
  cr_assert_eq(cgroups_processors(root), 1);
}
