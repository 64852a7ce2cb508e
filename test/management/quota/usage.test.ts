/**
 * Usage: random sequences of stores and concurrent writes, compared with a recount from the beginning.
 */
import { expect, test } from "vitest";
import { jsonEqual } from "../../../src/base/json.ts";
import { Usage, type Charge, type Charged } from "../../../src/management/access/quota/usage.ts";

const PAYERS = ["jane", "bob", "platform:team:ops"];
const KINDS = ["Team", "SharedSecret"];
const NOTHING = { objects: 0, bytes: 0 };
const SEQUENCES = 300;
const STEPS = 60;

/** Numbers from 0 up to a limit, the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** What each object is, and what the writes in progress would make of it, as plain lists. */
class Model {
  readonly stored = new Map<string, Charge>();
  readonly held: { readonly id: string; readonly charge: Charge }[] = [];

  of(payer: string, kind: string) {
    let [objects, bytes] = [0, 0];
    const ids = new Set([...this.stored.keys(), ...this.held.map(({ id }) => id)]);
    for (const id of ids) {
      const all = [...this.held.filter((one) => one.id === id).map(({ charge }) => charge), ...[this.stored.get(id)]];
      const own = all.filter((charge) => charge?.payer === payer) as Charge[];
      if (id.startsWith(`${kind}/`)) objects += Math.max(0, ...own.map((charge) => charge.objects));
      bytes += Math.max(0, ...own.map((charge) => charge.bytes));
    }
    return { objects, bytes };
  }
}

function place(kind: string, name: number): Charged {
  return { kind, id: `${kind}//${name}` };
}

test(`is what a recount says after each of ${STEPS} steps of ${SEQUENCES} sequences`, () => {
  const wrong: object[] = [];
  let moves = 0;
  for (let seed = 1; seed <= SEQUENCES; seed += 1) {
    const pick = numbers(seed);
    const usage = new Usage();
    const model = new Model();
    const letGo: { readonly id: string; readonly charge: Charge; readonly release: () => void }[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      const charged = place(KINDS[pick(KINDS.length)]!, pick(4));
      const charge: Charge = { payer: PAYERS[pick(PAYERS.length)]!, objects: pick(5) === 0 ? 0 : 1, bytes: pick(1_000) };
      const before = model.stored.get(charged.id);
      switch (pick(4)) {
        case 0:
          if (before !== undefined && before.payer !== charge.payer) moves += 1;
          usage.store(charged, charge);
          model.stored.set(charged.id, charge);
          break;
        case 1:
          usage.store(charged, undefined);
          model.stored.delete(charged.id);
          break;
        case 2: {
          const held = { id: charged.id, charge };
          letGo.push({ ...held, release: usage.hold(charged, charge) });
          model.held.push(held);
          break;
        }
        default: {
          const [over] = letGo.splice(pick(Math.max(1, letGo.length)), 1);
          if (over === undefined) break;
          over.release();
          // Releasing a write twice has the effect of releasing it once.
          if (pick(2) === 0) over.release();
          model.held.splice(
            model.held.findIndex(({ id, charge: own }) => id === over.id && own === over.charge),
            1,
          );
        }
      }
      for (const payer of PAYERS) {
        for (const kind of KINDS) {
          const [counted, recounted] = [usage.of(payer, kind), model.of(payer, kind)];
          if (!jsonEqual(counted, recounted)) wrong.push({ seed, step, payer, kind, counted, recounted });
        }
      }
    }
    for (const { release } of letGo) release();
    for (let name = 0; name < 4; name += 1) for (const kind of KINDS) usage.store(place(kind, name), undefined);
    for (const payer of PAYERS) if (!jsonEqual(usage.of(payer, "Team"), NOTHING)) wrong.push({ seed, payer });
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(moves).toBeGreaterThan(100);
});
