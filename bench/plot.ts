/**
 * Draws measured ratios: how many times as long as this package each alternative takes, on a logarithmic axis.
 *
 * @module
 */
import { digits, type Measured, ratioOf } from "./measure.ts";

/** The name that needs no saying. */
const OURS = "this package";

const WIDTH = 880;
const LABELS = 330;
const FIGURES = 60;
const TOP = 64;
const ROW = 20;
const HEADING = 34;
const BAR = 10;

const STYLE = `
    text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
    .paper { fill: #ffffff; }
    .title { font-weight: 600; font-size: 13px; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
    .faint { fill: #656d76; }
    .grid { stroke: #d8dee4; }
    .one { stroke: #1f2328; stroke-width: 1.5; }
    .slower { fill: #2f6fb5; }
    .faster { fill: #b4631a; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .paper { fill: #0d1117; }
      .title { stroke: #0d1117; }
      .faint { fill: #9198a1; }
      .grid { stroke: #30363d; }
      .one { stroke: #e6edf3; }
      .slower { fill: #6cb0f5; }
      .faster { fill: #f0a35e; }
    }`;

interface Bar {
  readonly name: string;
  readonly ratio: number;
}

interface Block {
  readonly title: string;
  readonly bars: readonly Bar[];
}

/** The picture as SVG; undefined when no group has a case of this package. */
export function plot(groups: readonly Measured[]): string | undefined {
  const blocks = groups.flatMap(toBlock);
  if (blocks.length === 0) return undefined;
  const ratios = blocks.flatMap(({ bars }) => bars.map(({ ratio }) => ratio));
  const [low, high] = [Math.floor(Math.log10(Math.min(...ratios, 1))), Math.ceil(Math.log10(Math.max(...ratios, 1)))];
  const place = (ratio: number) => LABELS + ((Math.log10(ratio) - low) / (high - low)) * (WIDTH - LABELS - FIGURES);
  const height = blocks.reduce((sum, { bars }) => sum + HEADING + bars.length * ROW, TOP) + 16;
  const powers = Array.from({ length: high - low + 1 }, (_, at) => low + at);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `  <title>Time of each way compared with this package, logarithmic</title>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>`,
    text({ x: 16, y: 24, label: "Time compared with this package, which is the line at 1 ×" }),
    text({ x: 16, y: 42, label: "bars to the right: slower than it; to the left: faster", kind: "faint" }),
    ...powers.flatMap((power) => gridLine({ x: place(10 ** power), height, power })),
    ...rows(blocks, place),
    "</svg>\n",
  ].join("\n");
}

function toBlock(measured: Measured): Block[] {
  const { ours, times } = measured;
  if (ours === undefined) return [];
  const title = measured.title.replaceAll("`", "");
  const others = Object.keys(times).filter((name) => name !== ours);
  const bars = others.map((name) => ({ name, ratio: ratioOf(measured, name, ours)! }));
  return [{ title: ours === OURS ? title : `${title}: ${ours}`, bars }];
}

function gridLine({ x, height, power }: { x: number; height: number; power: number }): string[] {
  const label = power < 0 ? `1/${10 ** -power} ×` : `${10 ** power} ×`;
  return [
    `  <line class="${power === 0 ? "one" : "grid"}" x1="${round(x)}" x2="${round(x)}" y1="${TOP}" y2="${height - 10}"/>`,
    text({ x, y: TOP - 6, label, kind: "faint", anchor: "middle" }),
  ];
}

function rows(blocks: readonly Block[], place: (ratio: number) => number): string[] {
  let y = TOP;
  return blocks.flatMap(({ title, bars }) => {
    const heading = text({ x: 16, y: y + HEADING - 12, label: title, kind: "title" });
    y += HEADING;
    const drawn = bars.flatMap((bar) => {
      y += ROW;
      return drawBar(bar, { y: y - ROW, place });
    });
    return [heading, ...drawn];
  });
}

function drawBar({ name, ratio }: Bar, { y, place }: { y: number; place: (ratio: number) => number }): string[] {
  const [from, to] = [Math.min(place(1), place(ratio)), Math.max(place(1), place(ratio))];
  const kind = ratio >= 1 ? "slower" : "faster";
  const middle = y + ROW / 2 + 4;
  // The figure stands at the bar's end, on the side away from the line.
  const figure = ratio >= 1 ? { x: to + 6, anchor: "start" as const } : { x: from - 6, anchor: "end" as const };
  return [
    text({ x: LABELS - 60, y: middle, label: name, anchor: "end" }),
    `  <rect class="${kind}" x="${round(from)}" y="${y + (ROW - BAR) / 2}" width="${round(Math.max(to - from, 1))}" height="${BAR}"/>`,
    text({ ...figure, y: middle, label: times(ratio), kind: "faint" }),
  ];
}

function times(ratio: number): string {
  return ratio >= 1 ? `${digits(ratio)} ×` : `1/${digits(1 / ratio)} ×`;
}

interface Text {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly kind?: "title" | "faint";
  readonly anchor?: "start" | "middle" | "end";
}

function text({ x, y, label, kind, anchor = "start" }: Text): string {
  const escaped = label.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `  <text${kind === undefined ? "" : ` class="${kind}"`} x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
