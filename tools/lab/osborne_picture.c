/* Osborne & Dickinson's figure 2: the ground from above, with the player, the zones around, and herds as deep as they
 * are unfolded. */
#include "osborne.h"

#include "plots.h"

#include <muster/herd.h>

#include <math.h>

enum { VIEW_M = 320, DEPTHS = OSBORNE_DEPTH + 1 };

/* Of leaves by their depth, from herds that are two halves to individuals. Far herds are grey. */
static const char *const colours[DEPTHS] = {"#aaaaaa", "#9467bd", "#1f77b4", "#2ca02c", "#ff7f0e", "#d62728"};

static void print_folded(FILE *script, const osborne_world *it) {
  muster_herd_info info = muster_herd_info_default();
  fprintf(script, "$folded << END\n");
  for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(it->world, herd)));)
    if (muster_herd_read(it->world, herd, &info) == MUSTER_OK && info.leaves == 0)
      fprintf(script, "%.2f %.2f\n", info.position.x, info.position.y);
  fprintf(script, "END\n");
}

/* A line for each leaf: where it is, and the way from its herd's middle. A depth without leaves has one line that is
 * drawn nowhere. */
static void print_leaves(FILE *script, const osborne_world *it) {
  muster_agent leaves[OSBORNE_MEMBERS];
  uint32_t nodes[OSBORNE_MEMBERS];
  muster_herd_info info = muster_herd_info_default();
  muster_agent_info leaf = muster_agent_info_default();
  for (uint32_t depth = 1; depth < DEPTHS; depth++) {
    fprintf(script, "$depth%u << END\nNaN NaN NaN NaN\n", depth);
    for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(it->world, herd)));) {
      uint32_t count = muster_herd_leaves(it->world, herd, leaves, nodes, OSBORNE_MEMBERS);
      if (muster_herd_read(it->world, herd, &info) != MUSTER_OK) continue;
      for (uint32_t i = 0; i < count; i++)
        if (osborne_depth(nodes[i]) == depth && muster_agent_read(it->world, leaves[i], &leaf) == MUSTER_OK)
          fprintf(script, "%.2f %.2f %.2f %.2f\n", info.position.x, info.position.y, leaf.position.x - info.position.x,
                  leaf.position.y - info.position.y);
    }
    fprintf(script, "END\n");
  }
}

static void print_zones(FILE *script, const osborne_world *it, bool labelled) {
  for (int zone = 1; zone <= OSBORNE_DEPTH; zone++) {
    double radius_m = zone * (double)OSBORNE_ZONES_M;
    fprintf(script, "set object %d circle at %.2f,%.2f size %g fs empty border rgb '#888888' dt 3 back\n", zone,
            it->place.x, it->place.y, radius_m);
    if (labelled)
      fprintf(script, "set label %d '%g m' at %.2f,%.2f center font ',9' tc rgb '#444444' front boxed\n", zone,
              radius_m, it->place.x, it->place.y + radius_m);
  }
}

/* What both panels show, as large as the scale of the panel wants it. */
static void print_herds(FILE *script, double size, const char *lines, bool titled) {
  fprintf(script, "plot $folded with points pt 7 ps %.2f lc rgb '%s' title '%s'", size * sqrt(OSBORNE_MEMBERS),
          colours[0], titled ? "folded: 32 members" : "");
  for (int depth = 1; lines && depth < DEPTHS; depth++)
    fprintf(script, ", $depth%d with vectors nohead lc rgb '%s' notitle", depth, lines);
  for (int depth = 1; depth < DEPTHS; depth++) {
    int members = OSBORNE_MEMBERS >> depth;
    fprintf(script, ", $depth%d using ($1+$3):($2+$4) with points pt 7 ps %.2f lc rgb '%s' title '", depth,
            size * sqrt(members), colours[depth]);
    if (titled) fprintf(script, "leaf: %d member%s", members, members == 1 ? "" : "s");
    fprintf(script, "'");
  }
  fprintf(script, ", $player with points pt 2 ps %g lw 3 lc rgb 'black' title '%s'\n", titled ? 2.5 : 1.2,
          titled ? "player" : "");
}

static void print_map(FILE *script, const osborne_world *it) {
  double half_m = it->def.side_m / 2;
  fprintf(script,
          "set title 'The whole ground: %lu agents represented by %u leaves and %u folded herds'\nunset key\n"
          "set lmargin at screen 0.06\nset rmargin at screen 0.46\n"
          "set xrange [%g:%g]\nset yrange [%g:%g]\n",
          it->report.represented, it->report.leaves, it->report.herds_folded, -half_m, half_m, -half_m, half_m);
  print_zones(script, it, false);
  print_herds(script, 0.07, NULL, false);
}

static void print_view(FILE *script, const osborne_world *it) {
  fprintf(
      script,
      "set title 'Near the player: a dot for each leaf, its area by its members; a line to the middle of its herd'\n"
      "set key at screen 0.98,0.07 right center horizontal maxrows 2 samplen 1 width 1\n"
      "set lmargin at screen 0.55\nset rmargin at screen 0.95\n"
      "set xrange [%.2f:%.2f]\nset yrange [%.2f:%.2f]\n",
      it->place.x - VIEW_M, it->place.x + VIEW_M, it->place.y - VIEW_M, it->place.y + VIEW_M);
  print_zones(script, it, true);
  print_herds(script, 0.5, "#bbbbbb", true);
}

bool osborne_picture(const osborne_world *it, const char *folder) {
  FILE *script = plot_begin(folder, "osborne-herds", 1600, 880);
  if (!script) return false;
  fprintf(script, "$player << END\n%.2f %.2f\nEND\n", it->place.x, it->place.y);
  print_folded(script, it);
  print_leaves(script, it);
  fprintf(
      script,
      "set style textbox opaque noborder margins 0.5,0.5\nset size ratio 1\nset xlabel 'm'\nset tics out nomirror\nset "
      "tmargin at screen 0.90\n"
      "set bmargin at screen 0.18\nset multiplot layout 1,2 title 'Osborne and Dickinson, Figure 2: membranes after "
      "%lu cycles of 500 ms, zones, and the player'\n",
      it->cycle);
  print_map(script, it);
  print_view(script, it);
  fprintf(script, "unset multiplot\n");
  return plot_end(script);
}
