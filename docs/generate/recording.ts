/**
 * A session at a terminal as one SVG that plays by itself: styles alone, no script, nothing from elsewhere.
 *
 * @module
 */

/** Something that came onto the screen. */
export interface ScreenEvent {
  /** Milliseconds since the session began. */
  readonly atMs: number;
  readonly text: string;
  /** Typed by a person, behind a prompt. */
  readonly typed?: boolean;
}

/** Columns of the screen; what is longer goes on in the next row. */
export const COLUMNS = 126;
const ROWS = 30;

/** Nothing happens for longer than this, in milliseconds: waits are cut short. */
const PAUSE_MAX_MS = 1_600;
/** Time to look at what a command printed before the next one is typed, in milliseconds. */
const LOOK_MS = 2_600;

const ROW_HEIGHT = 18;
const COLUMN_WIDTH = 7.8;
const MARGIN = 16;

interface Shown {
  readonly rows: readonly string[];
  readonly first: number;
  readonly atMs: number;
  readonly typed: boolean;
}

/**
 * Draws a session: each event appears in its moment, the screen scrolls as it fills, and stays as it is at the end. People who want no
 * motion see the end.
 */
export function recordingSvg(events: readonly ScreenEvent[], { title, about }: { readonly title: string; readonly about: string }): string {
  const shown = layOut(events);
  const last = shown.at(-1)!;
  const totalMs = Math.max(1, last.atMs);
  const scrolls = shown.map(({ first, rows, atMs }) => ({ atMs, by: Math.max(0, first + rows.length - ROWS) * ROW_HEIGHT }));
  const [width, height] = [Math.ceil(COLUMNS * COLUMN_WIDTH + 2 * MARGIN), ROWS * ROW_HEIGHT + 2 * MARGIN];
  const steps = scrolls.map(({ atMs, by }) => `${((100 * atMs) / totalMs).toFixed(2)}% { transform: translateY(-${by}px); }`).join(" ");
  const delays = shown.map(({ atMs }, index) => `.e${index} { animation-delay: ${(atMs / 1_000).toFixed(2)}s; }`).join(" ");
  const groups = shown.map(({ rows, first, typed }, index) => {
    const lines = rows.map((row, at) => `<text x="${MARGIN}" y="${MARGIN + (first + at + 1) * ROW_HEIGHT - 5}">${escaped(row)}</text>`);
    return `<g class="e e${index}${typed ? " typed" : ""}">${lines.join("")}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
  <title id="title">${escaped(title)}</title>
  <desc id="description">${escaped(about)}</desc>
  <style>
    .paper { fill: #f6f8fa; stroke: #d0d7de; }
    text { fill: #1f2328; font: 13px ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre; }
    .typed text { fill: #0550ae; font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; stroke: #3d444d; }
      text { fill: #f0f6fc; }
      .typed text { fill: #79c0ff; }
    }
    .screen { transform: translateY(-${scrolls.at(-1)!.by}px); }
    @keyframes show { from { opacity: 0; } to { opacity: 1; } }
    @keyframes scroll { 0% { transform: translateY(0); } ${steps} }
    @media (prefers-reduced-motion: no-preference) {
      .e { animation: show 0.01s both; }
      ${delays}
      .screen { animation: scroll ${(totalMs / 1_000).toFixed(2)}s step-end both; }
    }
  </style>
  <clipPath id="window"><rect x="0" y="${MARGIN}" width="${width}" height="${ROWS * ROW_HEIGHT + 4}" /></clipPath>
  <rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" />
  <g clip-path="url(#window)"><g class="screen">
${groups.join("\n")}
  </g></g>
</svg>
`;
}

/** The rows of a recording, from top to bottom, as they were drawn. */
export function rowsOfRecording(svg: string): string[] {
  const plain: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
    text!.replace(/&(?:lt|gt|quot|amp);/g, (found) => plain[found]!),
  );
}

function layOut(events: readonly ScreenEvent[]): Shown[] {
  let first = 0;
  let atMs = 0;
  let beforeMs = 0;
  return events.map(({ text, typed = false, atMs: happenedMs }, index) => {
    const pause = Math.min(PAUSE_MAX_MS, Math.max(0, happenedMs - beforeMs));
    atMs += index === 0 ? 0 : typed ? Math.max(LOOK_MS, pause) : pause;
    beforeMs = happenedMs;
    const rows = (typed ? `$ ${text}` : text.replace(/\n$/, "")).split("\n").flatMap(wrapped);
    const shown = { rows, first, atMs, typed };
    first += rows.length;
    return shown;
  });
}

function wrapped(line: string): string[] {
  return line.length <= COLUMNS ? [line] : [line.slice(0, COLUMNS), ...wrapped(line.slice(COLUMNS))];
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
