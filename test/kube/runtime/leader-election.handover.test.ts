/**
 * Two candidates, two clusters, and cuts between them, in virtual time. A cut of the host takes the Lease away, a cut of the tenant the
 * sight; the sight is lost 5 s after the cut, as in `run`.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LEASES } from "../../../src/kube/object/resource.ts";
import { readLease, readNotes } from "../../../src/kube/runtime/election/lease.ts";
import { createElectionWorld, LEASE, waitFor, type Candidate, type ElectionWorld, type JoinOptions } from "./election-world.ts";

let world: ElectionWorld;
beforeEach(async () => {
  world = await createElectionWorld();
});
afterEach(() => world.close());

type Side = "tenant" | "host" | "both";
/** `A tenant`: the first candidate is cut from the tenant. */
type Cut = `${"A" | "B"} ${Side}`;

const LOST_MS = 5_000;
const CLEAR_MS = 2_000;
const TICK_MS = 250;
/** The documented times of `run` with its defaults. */
const PROMISED_MS = 20_000;

const one = (cut: Cut): Candidate => world.candidates[cut.startsWith("A") ? 0 : 1]!;
const sides = (cut: Cut) => ({ tenant: !cut.endsWith("host"), host: !cut.endsWith("tenant") });
const leaders = (): string[] => world.candidates.flatMap(({ election }, index) => (election.leading ? ["AB"[index]!] : []));

/** Lets time pass, during which there are never two leaders. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += TICK_MS) {
    await world.clock.advance(TICK_MS);
    expect(leaders().length, `leaders: ${leaders().join()}`).toBeLessThanOrEqual(1);
  }
}

async function cut(...cuts: readonly Cut[]): Promise<void> {
  for (const each of cuts) {
    if (sides(each).host) one(each).network.fault = "refused";
    if (sides(each).tenant) one(each).sight = "unsteady";
  }
  await pass(LOST_MS);
  for (const each of cuts) if (sides(each).tenant) one(each).sight = "blind";
}

async function heal(...cuts: readonly Cut[]): Promise<void> {
  for (const each of cuts) {
    if (sides(each).host) one(each).network.fault = "none";
    if (sides(each).tenant) one(each).sight = "unsteady";
  }
  await pass(CLEAR_MS);
  for (const each of cuts) if (sides(each).tenant) one(each).sight = "clear";
}

async function start(options: JoinOptions = {}): Promise<void> {
  for (const offset of [0, 1]) world.join({ fraction: () => 0.99 - offset / 4, ...options });
  await pass(30_000);
  expect(leaders()).toEqual(["A"]);
}

async function transitions(): Promise<number> {
  return readLease((await world.cluster.client.get(LEASES, LEASE))!).leaseTransitions;
}

/** For so long as there is nothing new nothing changes hands. */
async function rest(): Promise<void> {
  const [before, leading] = [await transitions(), leaders()];
  await pass(10 * 60_000);
  expect([await transitions(), leaders()]).toEqual([before, leading]);
}

describe("the one that sees both clusters leads, and nothing changes hands without need", () => {
  test.each<{ cuts: readonly Cut[]; leads: string[]; moved: number; withinMs?: number }>([
    { cuts: ["A tenant"], leads: ["B"], moved: 1 },
    { cuts: ["A host"], leads: ["B"], moved: 1 },
    { cuts: ["A both"], leads: ["B"], moved: 1 },
    { cuts: ["B tenant"], leads: ["A"], moved: 0 },
    { cuts: ["B host"], leads: ["A"], moved: 0 },
    { cuts: ["B both"], leads: ["A"], moved: 0 },
    { cuts: ["A tenant", "B tenant"], leads: ["A"], moved: 0 },
    // Neither sees both: the one that reaches the Lease goes on with what it knows.
    { cuts: ["A tenant", "B host"], leads: ["A"], moved: 0 },
    { cuts: ["A host", "B host"], leads: [], moved: 0 },
    // There is no guarantee here; a blind candidate waits a little longer.
    { cuts: ["A host", "B tenant"], leads: ["B"], moved: 1, withinMs: 30_000 },
  ])("$cuts: $leads", async ({ cuts, leads, moved, withinMs = PROMISED_MS }) => {
    await start();
    await cut(...cuts);
    await pass(withinMs - LOST_MS);
    expect(leaders()).toEqual(leads);
    expect(await transitions()).toBe(moved);
    await rest();
  });

  test.each<{ cuts: readonly Cut[]; healed: Cut; leads: string }>([
    { cuts: ["A tenant", "B tenant"], healed: "A tenant", leads: "A" },
    { cuts: ["A tenant", "B tenant"], healed: "B tenant", leads: "B" },
    { cuts: ["A host", "B host"], healed: "A host", leads: "A" },
    { cuts: ["A host", "B host"], healed: "B host", leads: "B" },
    { cuts: ["A both", "B both"], healed: "A both", leads: "A" },
    { cuts: ["A both", "B both"], healed: "B both", leads: "B" },
    { cuts: ["A tenant", "B host"], healed: "A tenant", leads: "A" },
    { cuts: ["A tenant", "B host"], healed: "B host", leads: "B" },
  ])("$cuts, and $healed healed first: $leads", async ({ cuts, healed, leads }) => {
    await start();
    await cut(...cuts);
    await pass(60_000);
    await heal(healed);
    await pass(PROMISED_MS - CLEAR_MS);
    expect(leaders()).toEqual([leads]);
    const before = await transitions();
    await heal(...cuts.filter((each) => each !== healed));
    await rest();
    expect([leaders(), await transitions()]).toEqual([[leads], before]);
    expect(readNotes((await world.cluster.client.get(LEASES, LEASE))!)).toEqual({ blindSince: "", askedBy: "" });
  });

  test("of three, a blind one leaves the Lease of a leader that died to the third", async () => {
    await start();
    world.join();
    world.candidates[1]!.sight = "blind";
    await pass(10_000);
    world.candidates[0]!.kill();
    await world.clock.advance(PROMISED_MS);
    expect(world.candidates.map(({ terms }) => terms)).toEqual([1, 0, 1]);
  });
});

describe("a handover", () => {
  test("waits for the work of the leader", async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    await start({ lead: (lost) => waitFor(lost).then(() => finished) });
    await cut("A tenant");
    const asked = () => one("A tenant").lines.some((line) => line.includes("Handing over the lease"));
    for (let passed = 0; !asked() && passed < PROMISED_MS; passed += TICK_MS) await pass(TICK_MS);
    await pass(1_000);
    expect([leaders(), await transitions()]).toEqual([[], 0]);
    finish();
    await pass(2_000);
    expect([leaders(), await transitions()]).toEqual([["B"], 1]);
  });

  test("does not wait for work that hangs for longer than a Lease that expires would", async () => {
    await start({ lead: (lost) => waitFor(lost).then(() => new Promise<void>((resolve) => world.clock.schedule(30_000, resolve))) });
    await cut("A tenant");
    await pass(PROMISED_MS - LOST_MS);
    expect(leaders()).toEqual(["B"]);
    await pass(40_000);
    expect([leaders(), one("A tenant").terms]).toEqual([["B"], 1]);
  });

  test("to a candidate that died ends like any other unrenewed Lease", async () => {
    await start();
    world.join();
    one("A tenant").sight = "blind";
    const asked = async () => readNotes((await world.cluster.client.get(LEASES, LEASE))!).askedBy !== "";
    for (let passed = 0; !(await asked()) && passed < PROMISED_MS; passed += 10) await world.clock.advance(10);
    const { askedBy } = readNotes((await world.cluster.client.get(LEASES, LEASE))!);
    world.candidates.find(({ identity }) => identity === askedBy)!.kill();
    await world.clock.advance(60_000);
    const [, , third] = world.candidates;
    const alive = askedBy === third!.identity ? world.candidates[1]! : third!;
    expect(alive.election.leading).toBe(true);
    expect(readLease((await world.cluster.client.get(LEASES, LEASE))!).holderIdentity).toBe(alive.identity);
  });
});
