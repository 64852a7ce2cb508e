/** Squares, each of another kind, and what looks like one: whether the meter tells them apart is tried before anything is measured. */
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
