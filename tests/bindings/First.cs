using System;
using Muster;
using Muster.Native;

// A hundred sheep, and a player beside the first of them, for ten seconds of a virtual clock.
public static class First {
  public static void Main() {
    const int count = 100;
    double[] eatenKg = new double[count];
    PlanEntry[] entries = new PlanEntry[count];
    PlanResult[] results = new PlanResult[count];
    WorldDef def = World.Defaults();
    def.Clock.Kind = Clock.Virtual;
    long updates = 0;
    using (World world = new World(def)) {
      TypeDef sheepDef = TypeDef.Defaults();
      sheepDef.PeriodNs = 100000000;
      var sheep = world.RegisterType("sheep", sheepDef);
      for (int i = 0; i < count; i++) world.Spawn(sheep, new Position { X = 10 * i }, (ulong)i); // comes back in plans
      world.AddObserver(ObserverDef.Defaults());
      for (ulong simNs = 0; simNs <= 10000000000; simNs += 50000000) {
        PlanSummary plan = world.Plan(simNs, 1000000, entries);
        for (int k = 0; k < plan.Count; k++) {
          eatenKg[(int)entries[k].User] += 0.001 * entries[k].ElapsedNs * 1e-9; // exact, however often it runs
          results[k] = new PlanResult {
            Agent = entries[k].Agent, CostNs = entries[k].SliceNs, Outcome = (uint)PlanOutcome.Finished
          };
        }
        world.Report(results, (int)plan.Count);
        updates += plan.Count;
      }
    }
    Console.WriteLine(updates + " updates; the first sheep has eaten " + Math.Round(eatenKg[0] * 1e6) + " mg");
  }
}
