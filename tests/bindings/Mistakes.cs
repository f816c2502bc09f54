// Programs of hurried newcomers, each with one mistake: every one ends in a sentence that says where, what is wrong,
// and what to do about it. Without an argument those that end in an exception; with "log" those that Muster only tells
// its log of, since nothing of them is wrong by itself.
using System;
using System.Runtime.InteropServices;
using System.Threading;
using Muster;
using Muster.Native;
using AgentId = Muster.Native.Agent;
using ObserverId = Muster.Native.Observer;

public static class Mistakes {
  private const ulong FrameNs = 50000000, BudgetNs = 1000000;

  // What they have: a world with a sheep, which is due, and a player.
  private sealed class Farm : IDisposable {
    public readonly World World;
    public readonly AgentType Sheep;
    public readonly Muster.Agent Dolly;
    public readonly Muster.Observer Player;
    public readonly PlanEntry[] Entries = new PlanEntry[16];
    public readonly PlanResult[] Results = new PlanResult[16];
    public ulong Now;

    public Farm() {
      WorldDef def = World.Defaults();
      def.Clock.Kind = Clock.Virtual;
      def.Limits.AgentsMax = 64;
      World = new World(def);
      Sheep = World.RegisterType("sheep", TypeDef.Defaults());
      Dolly = World.Spawn(Sheep, new Position { X = 1 }, 0);
      Player = World.AddObserver(ObserverDef.Defaults());
      Plan();
      World.Report(Results, 0);
      Dolly.Wake();
    }

    // A plan, and a result for the first entry of it.
    public int Plan() {
      int count = (int)World.Plan(Now += FrameNs, BudgetNs, Entries).Count;
      Results[0] = new PlanResult {
        Agent = Dolly.Id, CostNs = 1000, Outcome = (uint)PlanOutcome.Finished, Position = new Position { X = 1 },
        Moved = 1
      };
      return count;
    }

    public void Dispose() {
      World.Dispose();
    }
  }

  private sealed class Program {
    public readonly string Name, Says;
    public readonly Action<Farm> Run;

    public Program(string name, string says, Action<Farm> run) {
      Name = name;
      Says = says;
      Run = run;
    }
  }

  private delegate void Callback(IntPtr update);

  private static void OnSpawned(IntPtr update) {
  }

  private static TypeDef Wolf(Action<TypeDef[]> change) {
    var def = new[] { TypeDef.Defaults() };
    change(def);
    return def[0];
  }

  private static void Observe(Farm farm, Action<ObserverDef[]> change) {
    var def = new[] { ObserverDef.Defaults() };
    change(def);
    farm.World.AddObserver(def[0]);
  }

  private static void Report(Farm farm, Action<PlanResult[]> change) {
    farm.Plan();
    change(farm.Results);
    farm.World.Report(farm.Results, 1);
  }

  private static void Look(Farm farm, float radiusM, NearbyAgent[] found) {
    NearbyQuery query = NearbyQuery.Defaults();
    query.RadiusM = radiusM;
    farm.World.Nearby(query, found);
  }

  private static readonly AgentId[] nobody = new AgentId[1];
  private static readonly Position[] nowhere = { new Position { X = double.NaN } };

  // Whoever comes second is told; the other goes on.
  private static void PlanOnTwoThreads(Farm farm) {
    Exception told = null;
    int ended = 0;
    ThreadStart run = () => {
      try {
        while (Volatile.Read(ref ended) == 0) farm.World.Hash();
      } catch (Exception error) {
        Interlocked.CompareExchange(ref told, error, null);
        Volatile.Write(ref ended, 1);
      }
    };
    var second = new Thread(run);
    second.Start();
    run();
    second.Join();
    throw told;
  }

  // The loop of the frames ends with a sentence, or the one who disposes of the world has one.
  private static void DisposeWhileFramesRun(Farm farm) {
    Exception told = null;
    var frames = new Thread(() => {
      try {
        for (;;) {
          farm.Plan();
          farm.World.Report(farm.Results, 0);
        }
      } catch (Exception error) {
        told = error;
      }
    });
    frames.Start();
    while (!farm.World.IsDisposed) try {
        farm.World.Dispose();
      } catch (InvalidOperationException error) {
        if (!error.Message.Contains("World.Dispose: another thread is in World.")) throw;
      }
    frames.Join();
    throw told;
  }

  // Calls that any thread may make go on while worlds are disposed of: none of them meets memory that is gone.
  private static void DisposeWhileAgentsAreAsked(Farm first) {
    Exception told = null, wrong = null;
    Farm farm = first;
    int rounds = 40, calls = 0;
    ThreadStart run = () => {
      while (Volatile.Read(ref rounds) > 0) try {
          Farm here = Volatile.Read(ref farm);
          while (here.Dolly.Exists) Volatile.Write(ref calls, calls + 1);
          here.Dolly.Move(new Position());
        } catch (ObjectDisposedException error) {
          told = error;
        } catch (Exception error) {
          Volatile.Write(ref wrong, error);
        }
    };
    var askers = new[] { new Thread(run), new Thread(run) };
    foreach (Thread asker in askers) asker.Start();
    while (Volatile.Read(ref rounds) > 0) {
      for (int before = Volatile.Read(ref calls); wrong == null && Volatile.Read(ref calls) - before < 1000;)
        Thread.Yield();
      farm.World.Dispose();
      Volatile.Write(ref farm, new Farm());
      Volatile.Write(ref rounds, wrong == null ? rounds - 1 : 0);
    }
    farm.World.Dispose();
    foreach (Thread asker in askers) asker.Join();
    throw wrong ?? told;
  }

  private static readonly Program[] programs = {
    // Definitions
    new Program("a world of frames", "World: def.PlannerWorkers is 0: begin with World.Defaults()",
                farm => new World(WorldDef.Defaults())),
    new Program("a definition of zeros", "World.RegisterType: muster_type_def was not set by TypeDef.Defaults()",
                farm => farm.World.RegisterType("wolf", new TypeDef())),
    new Program("an observer of zeros", "World.AddObserver: muster_observer_def was not set by ObserverDef.Defaults()",
                farm => farm.World.AddObserver(new ObserverDef())),
    new Program("a period in milliseconds", "World.RegisterType: type 'wolf': period_ns 100 must be 100 us .. 24 h",
                farm => farm.World.RegisterType("wolf", Wolf(def => def[0].PeriodNs = 100))),
    new Program("a mistake of a wolf with a face", "type 'wolf \U0001F43A': period_ns 100 must be 100 us .. 24 h",
                farm => farm.World.RegisterType("wolf \U0001F43A", Wolf(def => def[0].PeriodNs = 100))),
    new Program("a negative period", "period_ns 18446744073709551615 (-1, taken for an unsigned number) must be 100 us",
                farm => farm.World.RegisterType("wolf", Wolf(def => def[0].PeriodNs = unchecked((ulong)-1L)))),
    new Program("a callback, for the collector", "def.OnSpawned is for callbacks, which the library cannot make into",
                farm => farm.World.RegisterType("wolf", Wolf(def => def[0].OnSpawned =
                    Marshal.GetFunctionPointerForDelegate(new Callback(OnSpawned))))),
    new Program("no name", "World.RegisterType: name is null: give the type a name",
                farm => farm.World.RegisterType(null, TypeDef.Defaults())),
    new Program("an empty name", "World.RegisterType: name is empty: give the type a name",
                farm => farm.World.RegisterType("", TypeDef.Defaults())),
    new Program("a name twice", "World.RegisterType: name 'sheep' is type 1 already: keep what RegisterType() returned",
                farm => farm.World.RegisterType("sheep", TypeDef.Defaults())),
    new Program("a long name", "has 35 bytes of UTF-8: it must have 31 at most",
                farm => farm.World.RegisterType("wölfe der nördlichen Wälder 1234", TypeDef.Defaults())),
    new Program("a name with a zero", "World.RegisterType: name has a zero in it",
                farm => farm.World.RegisterType("wolf\0pup", TypeDef.Defaults())),
    new Program("sets of none", "World.RegisterType: sets is empty",
                farm => farm.World.RegisterType("wolf", TypeDef.Defaults(), new SetDef[0])),

    // Agents and observers
    new Program("a type of another world", "World.Spawn: type 'sheep' is of another world: register it in this one",
                farm => { using (var other = new Farm()) other.World.Spawn(farm.Sheep, new Position(), 0); }),
    new Program("a type that was made up", "World.Spawn: agent: type 9 is not registered",
                farm => farm.World.Spawn(new Muster.Native.Type { Index = 9 }, new Position(), 0)),
    new Program("no type", "World.Spawn: type is null: give it what RegisterType() returned",
                farm => farm.World.Spawn((AgentType)null, new Position(), 0)),
    new Program("an agent nowhere", "World.Spawn: agent: position (",
                farm => farm.World.Spawn(farm.Sheep, nowhere[0], 0)),
    new Program("an agent at infinity", "Agent.Move: position (inf, 0, 0) must be finite and within",
                farm => farm.Dolly.Move(new Position { X = 1 / 0.0 })),
    new Program("one of many nowhere", "World.MoveAgents: positions[0] (NaN, 0, 0) must be finite and within 1e9 m",
                farm => farm.World.MoveAgents(new[] { farm.Dolly.Id }, nowhere, 1)),
    new Program("one of many observers nowhere", "World.MoveObservers: positions[0] (NaN, 0, 0) must be finite",
                farm => farm.World.MoveObservers(new[] { farm.Player.Id }, nowhere, 1)),
    new Program("a factor in percent", "World.SetFactor: values[0] 50 must be 0..1, and was passed over",
                farm => farm.World.SetFactor(Factor.Visibility, new[] { farm.Dolly.Id }, new[] { 50f }, 1)),
    new Program("a factor that is none", "World.SetFactor: factor 7 is unknown: it must be one of Factor",
                farm => farm.World.SetFactor((Factor)7, new[] { farm.Dolly.Id }, new[] { 0.5f }, 1)),
    new Program("an agent that was removed", "Agent.Wake: agent 0 (generation 1) is gone: it was removed, or never was",
                farm => { farm.Dolly.Dispose(); farm.Dolly.Wake(); }),
    new Program("an id that was made up", "Agent.Read: agent 345 (generation 0) is gone: it was removed, or never was",
                farm => new Muster.Agent(farm.World, new AgentId { Value = 345 }).Read()),
    new Program("an observer that was removed", "Observer.Move: this observer is gone: Dispose() removed it",
                farm => { farm.Player.Dispose(); farm.Player.Dispose(); farm.Player.Move(new Position()); }),
    new Program("an observer before its frame", "Observer.Read: observer 1 (generation 1) begins with the next frame",
                farm => farm.World.AddObserver(ObserverDef.Defaults()).Read()),
    new Program("an observer that was made up", "Observer.Read: observer 9 (generation 1) is gone: it was removed, or",
                farm => new Muster.Observer(farm.World, new ObserverId { Value = 1UL << 32 | 9 }).Read()),
    new Program("far before near", "World.AddObserver: observer: 0 <= near_m (25) < far_m (10)",
                farm => Observe(farm, def => def[0].FarM = 10)),
    new Program("a negative partition", "observer: partition 4294967295 must be 0..65535",
                farm => Observe(farm, def => def[0].Partition = unchecked((uint)-1))),
    new Program("too many agents", "World.Spawn: each id of agents_max = 64 is an agent's",
                farm => { for (;;) farm.World.Spawn(farm.Sheep, new Position(), 0); }),
    new Program("a wake in centuries", "Agent.WakeAt: wake: at_ns 18446744073709551614 is beyond 146 years: is it",
                farm => farm.Dolly.WakeAt(unchecked((ulong)-2L))),

    // Frames
    new Program("a budget of 0", "World.Plan: frame: budget_ns 0 must be 10 us .. 10 s",
                farm => farm.World.Plan(2 * FrameNs, 0, farm.Entries)),
    new Program("a budget in milliseconds", "World.Plan: frame: budget_ns 5 must be 10 us .. 10 s",
                farm => farm.World.Plan(2 * FrameNs, 5, farm.Entries)),
    new Program("a negative budget", "budget_ns 18446744073709551611 (-5, taken for an unsigned number) must be",
                farm => farm.World.Plan(2 * FrameNs, unchecked((ulong)-5L), farm.Entries)),
    new Program("time that goes back", "World.Plan: frame: sim_now_ns 1 is before the last frame's 50000000",
                farm => farm.World.Plan(1, BudgetNs, farm.Entries)),
    new Program("time before zero", "sim_now_ns 18446744073709551615 is beyond 146 years: is it negative",
                farm => farm.World.Plan(unchecked((ulong)-1L), BudgetNs, farm.Entries)),
    new Program("no room for a plan", "World.Plan: entries is null: give it an array",
                farm => farm.World.Plan(2 * FrameNs, BudgetNs, null)),
    new Program("no report", "World.Plan: the last plan was not reported yet: call Report() before, with what ran",
                farm => { farm.Plan(); farm.Plan(); }),
    new Program("an update that throws", "World.Plan: the last plan was not reported yet: call Report() before",
                farm => {
                  try {
                    farm.Plan();
                    throw new DivideByZeroException();
                  } catch (DivideByZeroException) {
                  }
                  farm.Plan();
                }),
    new Program("a report twice", "World.Report: there is no plan to report about: call Plan() before, and report each",
                farm => { farm.Plan(); farm.World.Report(farm.Results, 1); farm.World.Report(farm.Results, 1); }),
    new Program("an agent twice", "World.Report: results[1].agent 0 (generation 1) comes for the second time: report",
                farm => { farm.Plan(); farm.Results[1] = farm.Results[0]; farm.World.Report(farm.Results, 2); }),
    new Program("all places of the array", "World.Report: results[1].agent 0 (generation 0) is not in the plan: report",
                farm => { farm.Plan(); farm.World.Report(farm.Results, farm.Results.Length); }),
    new Program("results of the plan before", "World.Report: results[0].agent 0 (generation 1) is not in the plan",
                farm => {
                  farm.Plan();
                  farm.World.Report(farm.Results, 1);
                  farm.World.Plan(farm.Now + 1000, BudgetNs, farm.Entries);
                  farm.World.Report(farm.Results, 1);
                }),
    new Program("no outcome", "World.Report: results[0] has a cost or moved, but its Outcome is NotRun, which drops it",
                farm => Report(farm, results => results[0].Outcome = 0)),
    new Program("an outcome that is none", "World.Report: results[0].outcome 7 is unknown: must be 0..2",
                farm => Report(farm, results => results[0].Outcome = 7)),
    new Program("a cost in picoseconds", "World.Report: results[0].cost_ns 20000000000 must be at most 10 s",
                farm => Report(farm, results => results[0].CostNs = 20000000000)),
    new Program("an update to nowhere", "World.Report: results[0].position (",
                farm => Report(farm, results => results[0].Position = nowhere[0])),
    new Program("more results than there are", "World.Report: count is 17, but results has room for 16",
                farm => { farm.Plan(); farm.World.Report(farm.Results, 17); }),
    new Program("fewer than none", "World.Report: count is -1: it must be 0 or more",
                farm => { farm.Plan(); farm.World.Report(farm.Results, -1); }),
    new Program("a batch within a plan", "World.MoveAgents: positions of agents: not inside a frame, which Report()",
                farm => { farm.Plan(); farm.World.MoveAgents(nobody, nowhere, 1); }),
    new Program("a type within a plan", "World.RegisterType: type: not inside a frame, which Report() ends",
                farm => { farm.Plan(); farm.World.RegisterType("wolf", TypeDef.Defaults()); }),
    new Program("parts without a plan", "World.Parts: there is no plan whose parts they are",
                farm => farm.World.Parts(farm.Entries, 0, new PlanPart[1])),

    // Queries
    new Program("a short array", "World.ReadAgents: count is 3, but positions has room for 1: give a longer array",
                farm => farm.World.ReadAgents(new AgentId[3], 3, new Position[1])),
    new Program("changes of no world", "World.ReadChanges: changes: this world keeps none; set changes_frames",
                farm => { ulong cursor = 0; farm.World.ReadChanges(ChangeKind.Moved, ref cursor, new Change[1]); }),
    new Program("changes of no kind", "World.ReadChanges: kinds is 0, which asks for nothing",
                farm => { ulong cursor = 0; farm.World.ReadChanges(0, ref cursor, new Change[1]); }),
    new Program("changes to nowhere", "World.ReadChanges: changes is null: give it an array",
                farm => { ulong cursor = 0; farm.World.ReadChanges(ChangeKind.Moved, ref cursor, null); }),
    new Program("neighbours without a radius", "World.Nearby: query.RadiusM is 0, which finds nobody: set it, in",
                farm => Look(farm, 0, new NearbyAgent[1])),
    new Program("neighbours at no number", "World.Nearby: radius_m", farm => Look(farm, float.NaN, new NearbyAgent[1])),
    new Program("neighbours to nowhere", "World.Nearby: found is null: give it an array", farm => Look(farm, 9, null)),

    // What is over, and other threads
    new Program("a world that was disposed of", "World.Plan: the world was disposed of: end all calls of it",
                farm => { farm.World.Dispose(); farm.World.Dispose(); farm.Plan(); }),
    new Program("disposed of within a plan", "World.Report: the world was disposed of: end all calls of it",
                farm => { farm.Plan(); farm.World.Dispose(); farm.World.Report(farm.Results, 1); }),
    new Program("an agent of a world that is gone", "Agent.Wake: the world was disposed of",
                farm => { farm.World.Dispose(); farm.Dolly.Dispose(); farm.Dolly.Wake(); }),
    new Program("two threads", "World.Hash: another thread is in World.Hash of this world, whose calls come from one",
                PlanOnTwoThreads),
    new Program("disposed of while frames run", "the world was disposed of: end all calls", DisposeWhileFramesRun),
    new Program("disposed of while agents are asked", "the world was disposed of: end all calls",
                DisposeWhileAgentsAreAsked),
  };

  private static bool Ends(Program program) {
    string told = "nothing: it is silent";
    using (var farm = new Farm()) try {
        program.Run(farm);
      } catch (Exception error) {
        told = error.GetType().Name + ": " + error.Message;
      }
    bool ends = told.Contains(program.Says);
    Console.WriteLine((ends ? "" : "WRONG ") + program.Name + "\n    " + told.Replace("\n", "\n    "));
    return ends;
  }

  // ----------------------------------------------------------------------------------------------------------- the log

  // Frames of 32 sheep, until the log has had time to say what it thinks.
  private static void Graze(ulong stepNs, int entries, uint moved, double apartM, int reported = 32) {
    WorldDef def = World.Defaults();
    def.Clock.Kind = Clock.Virtual;
    using (var world = new World(def)) {
      AgentType sheep = world.RegisterType("sheep", TypeDef.Defaults());
      for (int i = 0; i < 32; i++) world.Spawn(sheep, new Position { X = apartM * (i + 1) }, (ulong)i);
      world.AddObserver(ObserverDef.Defaults());
      var plan = new PlanEntry[entries];
      var results = new PlanResult[entries];
      for (ulong frame = 1; frame <= 1100; frame++) {
        int count = (int)world.Plan(frame * stepNs, BudgetNs, plan).Count;
        for (int k = 0; k < count; k++)
          results[k] = new PlanResult {
            Agent = plan[k].Agent, CostNs = plan[k].SliceNs, Outcome = (uint)PlanOutcome.Finished, Moved = moved,
            Position = new Position { X = apartM * (plan[k].User + 1), Y = moved == 0 ? 3 : 0 }
          };
        world.Report(results, Math.Min(count, reported));
      }
    }
  }

  public static int Main(string[] arguments) {
    int wrong = 0;
    if (arguments.Length > 0) {
      Console.Error.WriteLine("time in milliseconds");
      Graze(50, 32, 1, 1);
      Console.Error.WriteLine("positions in centimetres");
      Graze(FrameNs, 32, 1, 1000);
      Console.Error.WriteLine("an array of one entry");
      Graze(FrameNs, 1, 1, 1);
      Console.Error.WriteLine("positions that did not move");
      Graze(FrameNs, 32, 0, 1);
      Console.Error.WriteLine("reports of nothing");
      Graze(FrameNs, 32, 1, 1, 0);
      Console.Error.WriteLine("no mistake");
      Graze(FrameNs, 32, 1, 1);
      return 0;
    }
    foreach (Program program in programs) wrong += Ends(program) ? 0 : 1;
    Console.WriteLine(programs.Length - wrong + " of " + programs.Length + " programs end in their sentence");
    return wrong == 0 ? 0 : 1;
  }
}
