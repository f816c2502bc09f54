// What the C# binding promises beyond what PlannerServer shows: layouts, refusals as exceptions, and objects that are
// disposed of.
using System;
using Muster;
using Muster.Native;
using AgentId = Muster.Native.Agent;
using ObserverId = Muster.Native.Observer;

public static class Checks {
  private static int checks;

  private static void That(bool holds, string what) {
    if (!holds) throw new Exception("does not hold: " + what);
    checks++;
  }

  private static void Refused(Result result, string word, Action call) {
    try {
      call();
    } catch (MusterException error) {
      That(error.Result == result && error.Message.Contains(word),
           "expected " + result + " with '" + word + "', got " + error.Result + ": " + error.Message);
      return;
    }
    throw new Exception("was not refused: " + word);
  }

  private static void Throws<T>(string word, Action call) where T : Exception {
    try {
      call();
    } catch (T error) {
      That(error.Message.Contains(word), "expected '" + word + "', got: " + error.Message);
      return;
    }
    throw new Exception("did not throw: " + word);
  }

  private static World NewWorld() {
    WorldDef def = World.Defaults();
    def.Clock.Kind = Clock.Virtual;
    def.Limits.ChangesFrames = 4;
    return new World(def);
  }

  private static void Layouts() {
    long[] sizes = Sizes.All();
    for (int i = 0; i < sizes.Length; i += 2) That(sizes[i] == sizes[i + 1], "struct " + i / 2 + " has its size");
    That(sizes.Length > 100, "there are structs");
    That(World.Version.StartsWith(Constants.VersionMajor + "." + Constants.VersionMinor), "version " + World.Version);
  }

  private static void Definitions() {
    WorldDef def = World.Defaults();
    def.PlannerWorkers = 5000;
    Refused(Result.EArgument, "planner_workers", () => new World(def));
    Refused(Result.ENotInitialised, "world", () => new World(new WorldDef()));
    using (World world = NewWorld()) {
      TypeDef type = TypeDef.Defaults();
      type.PeriodNs = 1;
      Refused(Result.EArgument, "period", () => world.RegisterType("short", type));
      Refused(Result.EArgument, "type 9", () => world.Spawn(new Muster.Native.Type { Index = 9 }, new Position(), 0));
      Throws<ArgumentException>("name is null", () => world.RegisterType(null, TypeDef.Defaults()));
      var nowhere = new Position { X = double.NaN };
      Muster.Native.Type good = world.RegisterType("good", TypeDef.Defaults());
      Refused(Result.EArgument, "position", () => world.Spawn(good, nowhere, 0));
    }
  }

  private static void Frames() {
    using (World world = NewWorld()) {
      Muster.Native.Type type = world.RegisterType("type", TypeDef.Defaults());
      Muster.Agent first = world.Spawn(type, new Position { X = 1, Y = 2, Z = 3 }, 7);
      Muster.Agent second = world.Spawn(type, new Position { X = 5 }, 8);
      ObserverDef player = ObserverDef.Defaults();
      player.Position.X = 4;
      Muster.Observer observer = world.AddObserver(player);
      var entries = new PlanEntry[8];
      var results = new PlanResult[8];
      world.Plan(1000000, 1000000, entries);
      Refused(Result.EState, "reported", () => world.Plan(2000000, 1000000, entries));
      var ids = new[] { first.Id, second.Id };
      var places = new[] { new Position { X = 10 }, new Position { X = 20 } };
      Refused(Result.EState, "frame", () => world.MoveAgents(ids, places, 2));
      results[0].Agent.Value = 77;
      results[0].Outcome = (uint)PlanOutcome.Finished;
      Refused(Result.EArgument, "results[0].agent", () => world.Report(results, 1));
      world.Report(results, 0);
      Throws<ArgumentException>("results has room for 8", () => world.Report(results, 9));
      Throws<ArgumentException>("entries is null", () => world.Plan(3000000, 1000000, null));

      That(observer.Read().Position.X == 4, "the observer is where it was put");
      That(first.Read().Position.Z == 3 && first.Exists, "the agent is where it was put");
      That(world.MoveAgents(ids, places, 2) == 2, "both move");
      var read = new Position[2];
      var levels = new uint[2];
      That(world.ReadAgents(ids, 2, read, null, levels) == 2 && read[1].X == 20, "both are read");
      Throws<ArgumentException>("positions has room for 1", () => world.MoveAgents(ids, new Position[1], 2));
      That(world.SetFactor(Factor.Visibility, ids, new[] { 0.5f, 1f }, 2) == 2, "both are set");

      first.Wake();
      first.Move(new Position { X = 11 });
      PlanSummary plan = world.Plan(4000000, 1000000, entries);
      That(plan.Count == 1 && entries[0].User == 7 && entries[0].Agent.Value == first.Id.Value, "the woken agent runs");
      results[0] = new PlanResult { Agent = entries[0].Agent, CostNs = 1000, Outcome = (uint)PlanOutcome.Finished };
      world.Report(results, 1);
      That(world.ReadReport().Completed == 1, "the report counts it");
      var changes = new Change[8];
      ulong cursor = 0;
      That(world.ReadChanges(ChangeKind.Moved, ref cursor, changes) > 0 && cursor != 0, "the moves are told");

      var found = new NearbyAgent[4];
      NearbyQuery query = NearbyQuery.Defaults();
      query.RadiusM = 100;
      That(world.Nearby(query, found) == 2 && found[0].Neighbour.Agent.Value == first.Id.Value, "the nearest comes first");
      query.Position.X = 5000;
      That(world.Nearby(query, found) == 0, "nobody is there");
      query.RadiusM = float.NaN;
      Refused(Result.EArgument, "radius_m", () => world.Nearby(query, found));

      second.Dispose();
      observer.Dispose();
      world.Plan(5000000, 1000000, entries);
      world.Report(results, 0);
      That(!second.Exists, "the agent is gone");
      second.Dispose();
      observer.Dispose();
      Refused(Result.EStale, "agent", () => second.Read());
      That(world.MoveAgents(ids, places, 2) == 1, "the one that is gone is passed over");
      That(world.Hash() != 0, "there is a hash");
    }
  }

  private static SetDef EverySoOften(ulong periodMs) {
    SetDef set = SetDef.Defaults();
    set.PeriodUpdates = 0;
    set.PeriodNs = periodMs * 1000000;
    return set;
  }

  private static void Rates() {
    using (World world = NewWorld()) {
      TypeDef def = TypeDef.Defaults();
      def.PeriodNs = 50000000;
      Refused(Result.EArgument, "period_ns", () => world.RegisterType("bot", def, new[] { EverySoOften(60) }));
      Muster.Native.Type type = world.RegisterType("bot", def, new[] { EverySoOften(50), EverySoOften(1000) });
      Muster.Agent agent = world.Spawn(type, new Position(), 0);
      var entries = new PlanEntry[2];
      var parts = new PlanPart[4];
      Refused(Result.EState, "no plan", () => world.Parts(entries, 0, parts));
      world.Plan(1000000, 1000000, entries);
      world.Report(new PlanResult[1], 0);
      agent.Wake();
      int count = (int)world.Plan(4000000, 1000000, entries).Count;
      That(world.Parts(entries, count, parts) == 2, "a woken agent runs both");
      That(parts[1].Entry == 0 && parts[1].Set == 1 && parts[1].ElapsedNs == 3000000, "and is told the time of each");
      Throws<ArgumentException>("entries has room for 2", () => world.Parts(entries, 3, parts));
      Refused(Result.EFull, "capacity is 1", () => world.Parts(entries, count, new PlanPart[1]));
    }
  }

  private static void Disposal() {
    World world = NewWorld();
    Muster.Agent agent = world.Spawn(world.RegisterType("type", TypeDef.Defaults()), new Position(), 0);
    world.Dispose();
    world.Dispose();
    agent.Dispose();
    That(!agent.Exists, "an agent goes with its world");
    var observer = new Muster.Observer(world, new Muster.Native.Observer());
    ulong cursor = 0;
    var ids = new Muster.Native.Agent[1];
    var places = new Position[1];
    NearbyQuery query = NearbyQuery.Defaults();
    query.RadiusM = 1;
    foreach (Action call in new Action[] {
               () => world.ReadReport(), () => world.Hash(), () => world.RegisterType("t", TypeDef.Defaults()),
               () => world.Spawn(AgentDef.Defaults()), () => world.AddObserver(ObserverDef.Defaults()),
               () => world.Plan(1, 1000000, new PlanEntry[1]), () => world.Parts(new PlanEntry[1], 0, new PlanPart[1]),
               () => world.Report(new PlanResult[1], 0), () => world.MoveAgents(ids, places, 1),
               () => world.MoveObservers(new Muster.Native.Observer[1], places, 1),
               () => world.SetFactor(Factor.Bulk, ids, new float[1], 1), () => world.ReadAgents(ids, 1, places),
               () => world.ReadChanges(ChangeKind.Moved, ref cursor, new Change[1]),
               () => world.Nearby(query, new NearbyAgent[1]), () => agent.Wake(), () => agent.Read(),
               () => agent.WakeAt(1), () => agent.Move(new Position()), () => agent.SetPeriods(0),
               () => agent.Tune(AgentTuning.Defaults()), () => observer.Read(), () => observer.Move(new Position()) })
      Throws<ObjectDisposedException>("World", call);
  }

  public static void Main() {
    Layouts();
    Definitions();
    Frames();
    Rates();
    Disposal();
    Console.WriteLine(checks + " checks passed");
  }
}
