import muster.AgentType;
import muster.Layout;
import muster.World;

/** A hundred sheep, and a player beside the first of them, for ten seconds of a virtual clock. */
public final class First {
  public static void main(String[] arguments) {
    final int count = 100;
    double[] eatenKg = new double[count];
    Layout.PlanEntry entries = new Layout.PlanEntry(count);
    Layout.PlanResult results = new Layout.PlanResult(count);
    Layout.PlanSummary summary = Layout.PlanSummary.defaults();
    long updates = 0;
    try (World world = new World(World.defaults().clockKind(Layout.Clock.VIRTUAL))) {
      AgentType sheep = world.registerType("sheep", Layout.TypeDef.defaults().periodNs(100_000_000));
      for (int i = 0; i < count; i++) world.spawn(sheep, 10 * i, 0, 0, i); // i comes back in each entry of a plan
      world.addObserver(Layout.ObserverDef.defaults());
      for (long simNs = 0; simNs <= 10_000_000_000L; simNs += 50_000_000) {
        int planned = world.plan(simNs, 1_000_000, entries, summary);
        for (int k = 0; k < planned; k++) {
          Layout.PlanEntry entry = entries.at(k);
          eatenKg[(int) entry.user()] += 0.001 * entry.elapsedNs() * 1e-9; // exact, however often it runs
          results.at(k).agent(entry.agent()).costNs(entry.sliceNs()).outcome(Layout.PlanOutcome.FINISHED);
        }
        world.report(results, planned);
        updates += planned;
      }
    }
    System.out.println(updates + " updates; the first sheep has eaten " + Math.round(eatenKg[0] * 1e6) + " mg");
  }
}
