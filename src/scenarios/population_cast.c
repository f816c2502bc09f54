#include "scenarios/population_cast.h"

#include "scenarios/scaffold.h"

#include <stdlib.h>

static const double family_shares[POPULATION_FAMILIES] = {0.70, 0.20, 0.08, 0.02};

void population_thin(population_rows *rows, uint32_t wanted, uint64_t seed) {
  if (wanted == 0 || wanted >= rows->count) return;
  for (uint64_t i = 0; i < wanted; i++) {
    uint64_t first = i * rows->count / wanted, end = (i + 1) * rows->count / wanted;
    rows->rows[i] = rows->rows[first + scaffold_random(seed ^ scaffold_random(i)) % (end - first)];
  }
  rows->count = wanted;
}

typedef struct cast_kind {
  uint32_t kind, agents;
  uint32_t size;  /* agents, rounded down to a power of two */
  uint64_t order; /* within a size */
} cast_kind;

static int compare_kinds(const void *left, const void *right) {
  const cast_kind *a = left, *b = right;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  if (a->order != b->order) return a->order < b->order ? -1 : 1;
  return (a->kind > b->kind) - (a->kind < b->kind);
}

static population_family neediest(const double *lacking) {
  population_family family = POPULATION_ROUTINE;
  for (population_family other = POPULATION_STEERING; other < POPULATION_FAMILIES; other++)
    if (lacking[other] > lacking[family]) family = other;
  return family;
}

bool population_cast(const population_rows *rows, uint64_t seed, uint8_t *families) {
  cast_kind *kinds = calloc(rows->kind_count, sizeof *kinds);
  if (!kinds) return false;
  for (uint32_t i = 0; i < rows->count; i++) kinds[rows->rows[i].kind].agents++;
  for (uint32_t i = 0; i < rows->kind_count; i++) {
    kinds[i].kind = i;
    kinds[i].size = kinds[i].agents ? 1u << (31 - __builtin_clz(kinds[i].agents)) : 0;
    kinds[i].order = scaffold_random(rows->kinds[i] ^ scaffold_random(seed));
  }
  qsort(kinds, rows->kind_count, sizeof *kinds, compare_kinds);
  double lacking[POPULATION_FAMILIES];
  for (uint32_t i = 0; i < POPULATION_FAMILIES; i++) lacking[i] = family_shares[i] * rows->count;
  for (uint32_t i = 0; i < rows->kind_count; i++) {
    population_family family = neediest(lacking);
    lacking[family] -= kinds[i].agents;
    families[kinds[i].kind] = (uint8_t)family;
  }
  free(kinds);
  return true;
}
