/** Squares, each of another kind, and what looks like one: whether the meter tells them apart is tried before anything is measured. */
import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { many, word } from "./dimension.ts";

/** Some work on so many items. */
export interface Wired {
  readonly name: string;
  readonly square: boolean;
  work(size: number): unknown;
}

const words = (size: number) => many(size, word);

/** All of them. */
export const WIRED: readonly Wired[] = [
  { name: "a loop in a loop", square: true, work: (size) => words(size).map((one) => words(size).filter((other) => other === one).length) },
  { name: "includes in a filter", square: true, work: (size) => words(size).filter((one) => words(size >> 1).includes(one)) },
  {
    name: "a search that does not begin where the last one ended",
    square: true,
    work(size) {
      const all = words(size);
      return all.map((one) => all.indexOf(one));
    },
  },
  {
    name: "a list that is spread for each item",
    square: true,
    work: (size) => words(size).reduce<string[]>((list, one) => [...list, one], []),
  },
  {
    name: "an object that is spread for each item",
    square: true,
    work: (size) => words(size).reduce<Record<string, number>>((object, one) => ({ ...object, [one]: 1 }), {}),
  },
  {
    name: "an object without one of its members, for each of them",
    square: true,
    work(size) {
      const all = Object.fromEntries(words(size).map((one) => [one, 1]));
      return words(size).map((one) => {
        const { [one]: own, ...rest } = all;
        return own === 1 && rest;
      });
    },
  },
  {
    name: "a text that is joined for each item",
    square: true,
    work: (size) => words(size).map((_one, index, all) => all.join(",").length + index),
  },
  {
    name: "an expression that reads the whole text for each item",
    square: true,
    work: (size) => words(size).map((one, _index, all) => new RegExp(`${one}$`).test(all.join(","))),
  },
  {
    name: "keys of an object, counted for each of them",
    square: true,
    work: (size) => words(size).map((_one, _index, all) => Object.keys(all).length),
  },
  {
    name: "items that are taken from the front",
    square: true,
    work(size) {
      const [all, taken] = [words(size), [] as string[]];
      while (all.length > 0) taken.unshift(...all.splice(0, 1));
      return taken;
    },
  },
  {
    name: "a sort",
    square: false,
    work: (size) =>
      words(size)
        .sort()
        .map((one) => words(8).indexOf(one)),
  },
  {
    name: "a set",
    square: false,
    work(size) {
      const known = new Set(words(size >> 1));
      return words(size).filter((one) => known.has(one));
    },
  },
  {
    name: "a text that is cut where the last piece ended",
    square: false,
    work(size) {
      const [text, pieces] = [words(size).join(","), [] as string[]];
      for (let at = 0, end = 0; end >= 0; at = end + 1) {
        end = text.indexOf(",", at);
        pieces.push(text.slice(at, end < 0 ? text.length : end));
      }
      return pieces;
    },
  },
];

/** A module of WebAssembly with one function, `c`, which counts from its argument down to 0. */
const COUNTDOWN_HEX = "0061736d0100000001050160017f0003020100070501016300000a10010e000340200041016b22000d000b0b";
const COUNTDOWN = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(COUNTDOWN_HEX, "hex")), {}).exports as {
  readonly c: (from: number) => void;
};
const countDown = (items: number) => COUNTDOWN.c(2_000 * items);
/** So many items in bytes: enough to see their time. */
const bytesOf = (items: number) => Buffer.alloc(500 * Math.max(items, 1), "growth");
const digest = (data: Buffer) => createHash("sha256").update(data).digest();
const BLOCK = bytesOf(256);

/** Those that cost CPU time, and next to no steps. */
export const WIRED_NATIVE: readonly Wired[] = [
  { name: "a digest of everything for each item", square: true, work: (size) => many(size, () => digest(bytesOf(size))) },
  {
    name: "a compression of everything for each item",
    square: true,
    work: (size) => many(size, () => deflateRawSync(bytesOf(size >> 2))),
  },
  { name: "WebAssembly that counts all items for each of them", square: true, work: (size) => many(size, () => countDown(size)) },
  { name: "a digest of each item", square: false, work: (size) => many(size, () => digest(BLOCK)) },
  { name: "WebAssembly that counts each item", square: false, work: (size) => many(size, () => countDown(500)) },
];
