/**
 * Pictures of pages with few colours, made small.
 *
 * @module
 */
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** Colours of a palette. */
const COLOURS_MAX = 256;

/** Bytes of a pixel by the PNG's colour type; others are not made by browsers. */
const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of every pixel as one number, row by row. */
  readonly pixels: Uint32Array;
}

/**
 * The same picture with at most 256 colours, every other one drawn in the nearest of them: edges of letters lose shades that no eye finds.
 *
 * @param png as a browser makes it: eight bits, RGB or RGBA, not interlaced.
 */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decodePng(png);
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = paletteOf(
    [...counts].toSorted(([one, often], [other, rarely]) => rarely - often || one - other).map(([colour]) => colour),
  );
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < pixels.length; at += 1) {
    const colour = pixels[at]!;
    let place = places.get(colour);
    if (place === undefined) places.set(colour, (place = nearest(palette, colour)));
    rows[at + Math.floor(at / width) + 1] = place;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(palette.flatMap(partsOf))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Width and height of a PNG, in pixels. */
export function sizeOfPng(png: Buffer): { readonly width: number; readonly height: number } {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

/** The most frequent colours, none too near to another: a rare hue has its place then, and shades of edges share one. */
function paletteOf(colours: readonly number[]): readonly number[] {
  for (let apart = 0; ; apart = apart * 2 + 8) {
    const palette: number[] = [];
    for (const colour of colours) {
      if (palette.length > COLOURS_MAX) break;
      if (palette.every((one) => distance(one, colour) > apart)) palette.push(colour);
    }
    if (palette.length <= COLOURS_MAX) return palette;
  }
}

function distance(one: number, other: number): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  return left.reduce((sum, part, index) => sum + (part - right[index]!) ** 2, 0);
}

function partsOf(colour: number): number[] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function nearest(palette: readonly number[], colour: number): number {
  const distances = palette.map((one) => distance(one, colour));
  return distances.indexOf(Math.min(...distances));
}

function decodePng(png: Buffer): Picture {
  const { width, height } = sizeOfPng(png);
  const [depth, type = 0, , , interlaced] = png.subarray(24, 29);
  const channels = CHANNELS[type];
  if (depth !== 8 || channels === undefined || interlaced !== 0)
    throw new Error("A picture has eight bits, RGB or RGBA, and is not interlaced");
  const data: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * channels, channels);
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at += 1) {
    const from = at * channels;
    pixels[at] = (bytes[from]! << 16) | (bytes[from + 1]! << 8) | bytes[from + 2]!;
  }
  return { width, height, pixels };
}

/** Takes the filter off every row. Source: PNG, third edition, 9.2. */
function unfiltered(filtered: Buffer, stride: number, channels: number): Uint8Array {
  const rows = filtered.length / (stride + 1);
  const bytes = new Uint8Array(rows * stride);
  for (let row = 0; row < rows; row += 1) {
    const filter = filtered[row * (stride + 1)]!;
    for (let column = 0; column < stride; column += 1) {
      const at = row * stride + column;
      const left = column < channels ? 0 : bytes[at - channels]!;
      const up = row === 0 ? 0 : bytes[at - stride]!;
      const corner = row === 0 || column < channels ? 0 : bytes[at - stride - channels]!;
      bytes[at] = filtered[at + row + 1]! + predicted(filter, { left, up, corner });
    }
  }
  return bytes;
}

function predicted(filter: number, { left, up, corner }: { readonly left: number; readonly up: number; readonly corner: number }): number {
  if (filter < 3) return [0, left, up][filter]!;
  if (filter === 3) return (left + up) >> 1;
  const estimate = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((one) => Math.abs(estimate - one)) as [number, number, number];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
