/**
 * What every store promises whose values can be sealed again (`src/apiserver/store/resealable.ts`), as a suite that each implementation runs.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { systemChance } from "../../src/base/chance.ts";
import { createCipher, ENCRYPTION_KEY_BYTES } from "../../src/management/data/encryption.ts";
import type { Resealable } from "../../src/apiserver/store/resealable.ts";
import type { Cipher } from "../../src/apiserver/store/cipher.ts";
import type { Store, StoreEvent } from "../../src/apiserver/store/store.ts";
import { key, object, PREFIX, settled } from "./store-setting.ts";

type SealedStore = Store & Resealable;

/** One implementation. */
export interface ResealableSuiteOptions {
  readonly name: string;
  /** A place without anything in it. */
  readonly newPlace: () => string;
  /** The store at a place, as the processes before have left it. */
  readonly open: (place: string, cipher: Cipher) => Promise<SealedStore>;
  /** Objects keep their revisions; where they do not, each value that is sealed again is a write like any other. */
  readonly keepsRevisions: boolean;
  /** Property runs. */
  readonly runs: number;
}

/** A cipher whose keys are made of one byte each, the first one first. */
export const cipherOf = (...bytes: number[]) =>
  createCipher({ keys: bytes.map((byte) => new Uint8Array(ENCRYPTION_KEY_BYTES).fill(byte)), chance: systemChance });
/** The id of the key that is made of one byte. */
export const keyId = (byte: number) => cipherOf(byte).keys.first;

/** Seals again until nothing is left; answers how many values that were. */
export async function resealAll(store: Resealable, most = 3): Promise<number> {
  for (let resealed = 0; ;) {
    const step = await store.reseal(most);
    resealed += step.resealed;
    if (step.done) return resealed;
  }
}

/** Values that something other than one key seals. */
async function sealedByOthers(store: Resealable, byte: number): Promise<number> {
  return [...(await store.sealedBy())].reduce((sum, [id, count]) => sum + (id === keyId(byte) ? 0 : count), 0);
}

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];

/** Runs every case against stores that `open` opens. */
export function resealableSuite({ name, newPlace, open, keepsRevisions, runs }: ResealableSuiteOptions): void {
  const filled = async () => {
    const place = newPlace();
    const store = await open(place, cipherOf(1));
    for (const label of NAMES) await store.create(key(label), object(label, `text of ${label}`));
    await store.close();
    return place;
  };
  const contents = async (store: Store) => {
    const { objects } = await store.list({ prefix: PREFIX });
    return objects.map(({ key: at, object: { metadata, ...rest }, revision }) => {
      const { resourceVersion, ...kept } = metadata;
      return { at, ...rest, kept, ...(keepsRevisions && { resourceVersion, revision }) };
    });
  };

  describe(`${name}: another key`, () => {
    test("seals what is written from then on, and tells which key seals how much", async () => {
      const place = await filled();
      const store = await open(place, cipherOf(2, 1));
      await store.create(key("new"), object("new"));
      expect(await store.sealedBy()).toEqual(
        new Map([
          [keyId(2), 1],
          [keyId(1), NAMES.length],
        ]),
      );
      await store.close();
    });

    test("seals everything in steps that change nothing, and the older one is not needed any more", async () => {
      const place = await filled();
      const store = await open(place, cipherOf(2, 1));
      const before = await contents(store);
      const revision = await store.revision();
      expect(await resealAll(store)).toBe(NAMES.length);
      expect(await contents(store)).toEqual(before);
      if (keepsRevisions) expect(await store.revision()).toBe(revision);
      expect(await sealedByOthers(store, 2)).toBe(0);
      expect(await store.reseal(3)).toEqual({ resealed: 0, done: true });
      await store.close();
      const alone = await open(place, cipherOf(2));
      expect(await contents(alone)).toEqual(before);
      await alone.close();
    });

    test("goes on where the process before has ended", async () => {
      const place = await filled();
      let resealed = 0;
      for (let done = false; !done;) {
        const store = await open(place, cipherOf(2, 1));
        const before = await sealedByOthers(store, 2);
        let steps = 0;
        for (let found = 0; !done && found === 0; steps += 1) {
          const step = await store.reseal(2);
          [found, done] = [step.resealed, step.done];
          resealed += found;
        }
        expect(await sealedByOthers(store, 2)).toBeLessThanOrEqual(Math.max(0, before - 1));
        await store.close();
      }
      expect(resealed).toBe(NAMES.length);
    });

    test("is refused without the older one while that seals something, and the message explains what to do", async () => {
      const place = await filled();
      const store = await open(place, cipherOf(2, 1));
      for (let resealed = 0; resealed === 0;) ({ resealed } = await store.reseal(2));
      await store.close();
      const refused = await open(place, cipherOf(2)).then(
        (opened) => opened.close(),
        (error: unknown) => error,
      );
      expect(refused).toMatchObject({ details: { hint: expect.stringContaining(`Add the key ${keyId(1)} as another line`) } });
    });

    test("can become the first one again", async () => {
      const place = await filled();
      for (const order of [
        [2, 1],
        [1, 2],
      ]) {
        const store = await open(place, cipherOf(...order));
        expect(await resealAll(store)).toBe(NAMES.length);
        await store.close();
      }
      const store = await open(place, cipherOf(1));
      expect(await contents(store)).toHaveLength(NAMES.length);
      await store.close();
    });

    test("seals again between writes without losing or repeating one", async () => {
      const write = fc.record({ name: fc.constantFrom(...NAMES), text: fc.constantFrom("x", "y"), remove: fc.boolean() });
      const step = fc.oneof({ weight: 2, arbitrary: write }, fc.constant("reseal" as const));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const place = await filled();
          const store = await open(place, cipherOf(2, 1));
          const events: StoreEvent[] = [];
          const texts = new Map(NAMES.map((label) => [key(label), `text of ${label}`]));
          await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event) });
          const acknowledged: string[] = [];
          const writeOne = async ({ name: label, text, remove }: { name: string; text: string; remove: boolean }) => {
            const present = await store.get(key(label));
            const { revision = 0 } = present ?? {};
            const change = remove ? store.delete(key(label), revision) : store.update(key(label), object(label, text), revision);
            const stored = await (present === undefined ? store.create(key(label), object(label, text)) : change);
            if (stored === undefined) return;
            acknowledged.push(`${stored.revision}`);
            if (present !== undefined && remove) texts.delete(key(label));
            else texts.set(key(label), text);
          };
          // One after the other for each name, all beside the steps.
          let writing = Promise.resolve();
          const resealing: Promise<unknown>[] = [];
          for (const next of steps) {
            if (next === "reseal") resealing.push(store.reseal(2));
            else writing = writing.then(() => writeOne(next));
          }
          await Promise.all([writing, ...resealing]);
          await resealAll(store);
          const told = (revision: string) => events.filter((event) => String(event.revision) === revision).length;
          await settled(() => acknowledged.every((revision) => told(revision) > 0));
          expect(acknowledged.map(told)).toEqual(acknowledged.map(() => 1));
          if (keepsRevisions) expect(events).toHaveLength(acknowledged.length);
          await store.close();
          const again = await open(place, cipherOf(2));
          const { objects } = await again.list({ prefix: PREFIX });
          expect(new Map(objects.map(({ key: at, object: read }) => [at, (read["data"] as { text: string }).text]))).toEqual(
            new Map([...texts].sort(([left], [right]) => (left < right ? -1 : 1))),
          );
          await again.close();
        }),
        { numRuns: runs },
      );
    });
  });
}
