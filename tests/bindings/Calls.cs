// How many NPCs a second go through the calls of the C# binding: calls.c in C#.
using System;
using System.Diagnostics;
using System.Globalization;
using Muster;
using Muster.Native;
using AgentId = Muster.Native.Agent;

public static class Calls {
  private const int Agents = 2000, Rounds = 200, Warm = 300;

  private static World world;
  private static readonly Muster.Agent[] agents = new Muster.Agent[Agents];
  private static readonly AgentId[] ids = new AgentId[Agents];
  private static readonly Position[] places = new Position[Agents];
  private static readonly PlanEntry[] entries = new PlanEntry[Agents];
  private static readonly PlanResult[] results = new PlanResult[Agents];
  private static ulong simNs, taken;

  private static void Must(bool holds, string what) {
    if (!holds) throw new Exception(what);
  }

  // All agents run, and nothing is done for them.
  private static void PlanAndReport() {
    PlanSummary plan = world.Plan(simNs += 100000000, 1000000000, entries);
    for (int i = 0; i < plan.Count; i++)
      results[i] = new PlanResult {
        Agent = entries[i].Agent, Position = places[i], Outcome = (uint)PlanOutcome.Finished, Moved = 1
      };
    world.Report(results, (int)plan.Count);
  }

  private static void ExistsEach() {
    for (int i = 0; i < Agents; i++) taken += agents[i].Exists ? 1u : 0u;
  }

  private static void MoveEach() {
    for (int i = 0; i < Agents; i++) agents[i].Move(places[i]);
  }

  private static void MoveBatch() {
    Must(world.MoveAgents(ids, places, Agents) == Agents, "moves");
  }

  private static void ReadEach() {
    for (int i = 0; i < Agents; i++) taken += (ulong)agents[i].Read().Position.X;
  }

  private static void ReadBatch() {
    Must(world.ReadAgents(ids, Agents, places) == Agents, "reads");
  }

  private static void Measure(string name, Action round) {
    var rates = new double[Rounds];
    for (int i = -Warm; i < Rounds; i++) {
      long begin = Stopwatch.GetTimestamp();
      round();
      long end = Stopwatch.GetTimestamp();
      if (i >= 0) rates[i] = Agents / 1e6 * Stopwatch.Frequency / (end - begin);
      PlanAndReport(); // takes what was queued
    }
    Array.Sort(rates);
    Console.WriteLine(
        string.Format(CultureInfo.InvariantCulture, "C# {0,-17} {1,8:0.00} million NPCs/s", name, rates[Rounds / 2]));
  }

  public static void Main() {
    WorldDef def = World.Defaults();
    def.Clock.Kind = Clock.Virtual;
    using (world = new World(def)) {
      Muster.Native.Type type = world.RegisterType("type", TypeDef.Defaults());
      for (int i = 0; i < Agents; i++) {
        places[i] = new Position { X = i % 50, Y = i / 50 };
        agents[i] = world.Spawn(type, places[i], (ulong)i);
        ids[i] = agents[i].Id;
      }
      PlanAndReport();
      Measure("exists, each", ExistsEach);
      Measure("move, each", MoveEach);
      Measure("move, batch", MoveBatch);
      Measure("read, each", ReadEach);
      Measure("read, batch", ReadBatch);
      Measure("plan and report", PlanAndReport);
      Must(taken != 0, "nothing was read");
    }
  }
}
