import { svg } from "./h.ts";

/** Line drawings on a grid of 16, by name. */
const DRAWINGS = {
  applied: ["M3.5 8.5l3 3 6-7"],
  noChange: ["M3.5 6h9", "M3.5 10h9"],
  noMatch: ["M7 12a5 5 0 1 1 0-10 5 5 0 0 1 0 10z", "M10.7 10.7l3 3"],
  noExpression: ["M4 8h8"],
  error: ["M4 4l8 8", "M12 4l-8 8"],
  denied: ["M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12z", "M3.8 3.8l8.4 8.4"],
  warning: ["M8 2.2l6.3 11.3H1.7z", "M8 6.5v3.2", "M8 11.6v.1"],
  toHost: ["M2.5 8h10.5", "M9 4l4 4-4 4"],
  toTenant: ["M13.5 8H3", "M7 4L3 8l4 4"],
  lossless: ["M2.5 5.5h9.5", "M9.5 3L12 5.5 9.5 8", "M13.5 10.5H4", "M6.5 8L4 10.5 6.5 13"],
  "one-way": ["M2.5 8h10.5", "M9 4l4 4-4 4"],
  drifts: ["M2 10c2-4 4-4 6-1s4 3 6-3"],
  oscillates: ["M1.5 8c1.1-6.5 2.2-6.5 3.25 0s2.15 6.5 3.25 0 2.15-6.5 3.25 0 2.15 6.5 3.25 0"],
  examples: ["M2.5 3h4.5v4.5H2.5z", "M9 3h4.5v4.5H9z", "M2.5 9.5H7V14H2.5z", "M9 9.5h4.5V14H9z"],
  share: ["M6.5 9.5l3-3", "M7.5 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4l-1.4 1.4", "M8.5 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4l1.4-1.4"],
  copy: ["M5.5 5.5h8v8h-8z", "M3.5 10.5h-1v-8h8v1"],
  reset: ["M3 8a5 5 0 1 0 1.6-3.7", "M2.6 2.4v3.2h3.2"],
  settings: [
    ...["M2 5h5.4", "M10.6 5H14", "M9 6.6a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2z"],
    ...["M2 11h3.4", "M8.6 11H14", "M7 12.6a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2z"],
  ],
  help: ["M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12z", "M6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.3", "M8 11.3v.1"],
  light: [
    "M8 10.8a2.8 2.8 0 1 1 0-5.6 2.8 2.8 0 0 1 0 5.6z",
    "M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1",
  ],
  dark: ["M13 9.7A5.6 5.6 0 0 1 6.3 3a5.4 5.4 0 1 0 6.7 6.7z"],
  auto: ["M8 13.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11z", "M8 2.5v11", "M8 5h3.8M8 8h5.3M8 11h3.8"],
  close: ["M4 4l8 8", "M12 4l-8 8"],
  chevron: ["M6 4l4 4-4 4"],
} as const satisfies Record<string, readonly string[]>;

/** The name of a drawing. */
export type IconName = keyof typeof DRAWINGS;

/** An icon next to words with the same meaning, hidden from assistive technology. */
export function icon(name: IconName, size = 16): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: size, height: size, class: "icon", "aria-hidden": "true", focusable: "false" },
    ...DRAWINGS[name].map((d) => svg("path", { d })),
  );
}

/** The logo of the playground: both directions of the sync. */
export function mark(): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 32 32", width: 28, height: 28, class: "mark", "aria-hidden": "true", focusable: "false" },
    svg("rect", { width: 32, height: 32, rx: 9, class: "mark-ground" }),
    svg("path", { d: "M7 12.5h16M18 7l5.5 5.5L18 18", class: "mark-way" }),
    svg("path", { d: "M25 20.5H12M15.5 16.6l-4 3.9 4 4", class: "mark-way mark-back" }),
  );
}
