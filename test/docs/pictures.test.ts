/**
 * The pictures of pages: each page in each look, small, of the size that was asked for, and shown in a guide. What is in them depends on
 * the fonts of the machine, and is taken by `npm run docs:pictures`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { LOOKS, PICTURE_BYTES_MAX, PICTURED } from "../../docs/generate/pictures.ts";
import { sizeOfPng, smallPng } from "../../docs/generate/small-png.ts";

const DOCS = resolve(import.meta.dirname, "../../docs");
const names = PICTURED.flatMap((page) => Object.keys(LOOKS).map((look) => `${page}-${look}.png`));
const guides = readdirSync(join(DOCS, "guides"))
  .filter((file) => file.endsWith(".md"))
  .map((file) => readFileSync(join(DOCS, "guides", file), "utf8"))
  .join("\n");

test("there is one of each page in each look, and no other", () => {
  expect(readdirSync(join(DOCS, "images")).filter((file) => file.endsWith(".png"))).toEqual(names.toSorted());
});

test.each(names)("%s is small, as wide as its screen, and shown with words", (name) => {
  const picture = readFileSync(join(DOCS, "images", name));
  expect(picture.length).toBeLessThanOrEqual(PICTURE_BYTES_MAX);
  if (name.endsWith("-phone.png")) expect(sizeOfPng(picture)).toEqual(LOOKS.phone.viewport);
  expect(guides).toMatch(new RegExp(`!\\[[^\\]]{20,}\\]\\(\\.\\./images/${name.replace(".", "\\.")}\\)`));
});

describe("a small picture", () => {
  /** RGB rows, each with the filter of its number, all of the same colours. */
  const rows = [0, 1, 2, 3, 4].map((filter) => ({ filter, pixels: [0xff0000, 0x00ff00, 0x10_20_30, 0xff0000] }));

  function bytesOf(pixels: readonly number[]): number[] {
    return pixels.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]);
  }

  function paeth(left: number, up: number, corner: number): number {
    const [a, b, c] = [left, up, corner].map((one) => Math.abs(left + up - corner - one)) as [number, number, number];
    if (a <= b && a <= c) return left;
    return b <= c ? up : corner;
  }

  function filtered(): Buffer {
    const plain = rows.map(({ pixels }) => bytesOf(pixels));
    return Buffer.from(
      rows.flatMap(({ filter }, row) => [
        filter,
        ...plain[row]!.map((byte, column) => {
          const left = plain[row]![column - 3] ?? 0;
          const up = plain[row - 1]?.[column] ?? 0;
          const corner = column < 3 ? 0 : (plain[row - 1]?.[column - 3] ?? 0);
          return (byte - [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]! + 256) & 255;
        }),
      ]),
    );
  }

  function chunk(name: string, data: Buffer): Buffer {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(name, "latin1"), data, Buffer.alloc(4)]);
  }

  function dataOf(png: Buffer, name: string): Buffer {
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
      if (png.toString("latin1", at + 4, at + 8) === name) return png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    throw new Error(`It has no ${name}`);
  }

  test("has the same pixels, whichever filters its rows had", () => {
    const head = Buffer.from([0, 0, 0, 4, 0, 0, 0, 5, 8, 2, 0, 0, 0]);
    const parts = [chunk("IHDR", head), chunk("IDAT", deflateSync(filtered())), chunk("IEND", Buffer.alloc(0))];
    const small = smallPng(Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), ...parts]));
    expect(sizeOfPng(small)).toEqual({ width: 4, height: 5 });
    const palette = dataOf(small, "PLTE");
    const places = inflateSync(dataOf(small, "IDAT"));
    const found = rows.map((_, row) => [0, 1, 2, 3].map((column) => palette.readUIntBE(places[row * 5 + 1 + column]! * 3, 3)));
    expect(found).toEqual(rows.map(({ pixels }) => pixels));
  });
});
