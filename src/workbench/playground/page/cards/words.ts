/** The names of states on the page, with matching icons and colours. */
import { SYNCED_KINDS } from "../../../../engine/kinds/synced-kinds.ts";
import type { OutcomeKind } from "../../../../engine/patch/types.ts";
import type { PairVerdict, PatchListName } from "../../../laws/report.ts";
import type { TextName } from "../../protocol.ts";
import { h, type Child } from "../dom/h.ts";
import { icon, type IconName } from "../dom/icons.ts";

/** A colour by its meaning. */
export type Tone = "good" | "warning" | "error" | "denied" | "accent" | "quiet";

/** A state, with its name and its appearance. */
export interface Word {
  readonly text: string;
  readonly tone: Tone;
  readonly icon: IconName;
  /** One sentence. */
  readonly meaning: string;
}

const OUTCOMES: Readonly<Record<OutcomeKind, Word>> = {
  applied: { text: "Applied", tone: "good", icon: "applied", meaning: "The patch changed something." },
  noChange: { text: "No change", tone: "quiet", icon: "noChange", meaning: "The patch ran, but changed no value." },
  noMatch: { text: "No match", tone: "warning", icon: "noMatch", meaning: "The object has no value at the path of the patch." },
  noExpression: { text: "No expression", tone: "quiet", icon: "noExpression", meaning: "The patch has no expression for this direction." },
  error: { text: "Error", tone: "error", icon: "error", meaning: "The patch failed. Other patches and objects are unaffected." },
  denied: { text: "Denied", tone: "denied", icon: "denied", meaning: "The result is not allowed, so it is not written." },
};

const VERDICTS: Readonly<Record<PairVerdict, Word>> = {
  lossless: { text: "Lossless", tone: "good", icon: "lossless", meaning: "Every value that was tried is unchanged after the round trip." },
  "one-way": { text: "One-way", tone: "accent", icon: "one-way", meaning: "Host edits are not synced back." },
  drifts: { text: "Drifts", tone: "warning", icon: "drifts", meaning: "A value changes in the round trip, and then stays the same." },
  oscillates: { text: "Oscillates", tone: "error", icon: "oscillates", meaning: "Each side keeps overwriting the other." },
};

/** All words, for the help. */
export const GLOSSARY: readonly Word[] = [...Object.values(OUTCOMES), ...Object.values(VERDICTS)];

/** The names of the texts. */
export const TEXTS: Readonly<Record<TextName, string>> = {
  config: "vcluster.yaml",
  settings: "settings.yaml",
  tenant: "Tenant object",
  host: "Host object",
};

/** The names of the lists of patches. */
export const LISTS: Readonly<Record<PatchListName, string>> = Object.fromEntries(
  SYNCED_KINDS.map(({ section, plural }) => [section, plural]),
);

/** A state in words, with its icon. */
export function tag(text: string, tone: Tone, name: IconName, title?: string): HTMLElement {
  return h("span", { class: "tag", "data-tone": tone, title }, icon(name), text);
}

/** The outcome of a patch, as a {@link tag}. */
export function outcomeTag(kind: OutcomeKind): HTMLElement {
  const word = OUTCOMES[kind];
  return tag(word.text, word.tone, word.icon, word.meaning);
}

/** The name of a verdict, and its meaning. */
export function verdictWord(verdict: PairVerdict): Word {
  return VERDICTS[verdict];
}

/** `1 match`, `2 matches`. `more` is the plural, by default with an s. */
export function countOf(number: number, one: string, more = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : more}`;
}

/** JSON on one line, cut after `length` characters. `undefined` is "nothing". */
export function json(value: unknown, length = 160): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** A path that breaks lines between its parts rather than within one. */
export function breakable(path: string): Child[] {
  return path.split(/(?<=[./[])/).flatMap((part, index) => (index === 0 ? [part] : [h("wbr"), part]));
}
