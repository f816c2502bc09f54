/* What `muster bench all` runs. */
#include "bench_all.h"

#include <stddef.h>

#define SHORT_RUN  "--agents 1000 --frames 20 --warm-up 5 --no-pace"
#define SHORT_FILE "--frames 20 --warm-up 5 --no-pace"

const all_step all_steps[] = {
    {"control", "bench control --plots DIR", "", 1, false},
    {"budget", "bench budget --no-wall --seconds 31 --contender plan,library,sorted,robin", "", 1, false},
    {"activation", "bench activation", "--quick", 1, false},
    {"quality", "bench quality --plots DIR", "", 1, false},
    {"quality-spawns", "bench quality --crowd spawns --spawns FILE.csv", "--quick", 1, false},
    {"sweep", "bench sweep --plots DIR", "--agents 1000", 1, false},
    {"zones", "bench zones --plots DIR", "", 1, false},
    {"wright", "repro wright", "", 1, false},
    {"rankin", "repro rankin", "", 3, false},
    {"osborne", "repro osborne", "--quick", 2, false},
    {"sets", "bench sets", "--rounds 1", 2, false},
    {"scale", "bench scale --agents 1000,10000,100000,1000000 --rounds 5 --plots DIR",
     "--quick --rounds 1 --observers 100,5000 --workers 2", 1, false},
    {"replication", "bench replication --rounds 3", "--quick --rounds 1", 2, false},
    {"journal", "bench journal --rounds 7", "--quick --rounds 1 --folder /tmp", 1, true},
    {"scripts", "bench scripts", "--quick", 1, true},
    {"cores", "bench cores --runs 3 --plots DIR", "--quick --runs 1", 1, false},
    {"dispatch", "bench dispatch --workers 2 --rounds 1", "--quick", 3, false},
    {"priority", "bench priority --workers 2 --rounds 1", "--quick", 3, false},
    {"machine", "bench machine --workers 2", "--frames 30", 2, true},
    {"fixed", "run fixed --cost 5us --agents 1000000 --observers 5000 --workers 2 --budget 10ms --hz 30 --frames 300",
     SHORT_RUN, 2, true},
    {"fixed-alone",
     "run fixed --cost 5us --agents 1000000 --observers 10 --workers 2 --budget 10ms --hz 30 --frames 300 --no-pace "
     "--no-audit",
     SHORT_RUN, 2, false},
    {"spawns", "run FILE.csv --workers 2 --budget 4ms --hz 20 --frames 200", SHORT_FILE, 2, true},
    {"spawns-10ms", "run FILE.csv --workers 2 --budget 10ms --hz 30 --frames 300", SHORT_FILE, 2, true},
    {"hostile", "run hostile --agents 20000 --workers 2 --budget 10ms --hz 30 --frames 300", SHORT_RUN, 2, true},
    {"flashcrowd", "run flashcrowd --agents 30000 --workers 2 --budget 10ms --hz 30 --frames 300", SHORT_RUN, 2, true},
    {"wildlife", "run wildlife --agents 50000 --workers 2 --budget 10ms --hz 30 --frames 300", SHORT_RUN, 2, true},
    {"wildlife-lua", "run wildlife.lua --agents 100000 --workers 2 --budget 10ms --hz 30 --frames 600", SHORT_RUN, 2,
     true},
    {"townsfolk", "run townsfolk --agents 100000 --observers 20 --workers 2 --budget 10ms --hz 30 --frames 300",
     SHORT_RUN, 2, true},
    {"herd", "run herd --agents 1048576 --observers 50 --workers 2 --budget 5ms --hz 30 --frames 600", SHORT_RUN, 2,
     true},
    {"wildlife-alone", "run wildlife --agents 100000 --workers 2 --budget 5ms --hz 30 --frames 150 --no-audit",
     SHORT_RUN, 2, false},
    {"pathstorm", "run pathstorm --agents 3200 --workers 2 --budget 5ms --hz 20 --frames 600", SHORT_FILE, 2, true},
    {"pathstorm-whole", "run pathstorm-whole --agents 3200 --workers 2 --budget 5ms --hz 20 --frames 600", SHORT_FILE,
     2, true},
    {NULL, NULL, NULL, 0, false},
};
