import { showsColours, type Terminal } from "../../process/terminal.ts";

/** Meaning of a colour. */
type Meaning = "good" | "bad" | "odd" | "quiet" | "strong";

const CODES: Readonly<Record<Meaning, number>> = { good: 32, bad: 31, odd: 33, quiet: 2, strong: 1 };

/** Colours a text, or returns it unchanged if no colours are shown. */
export type Paint = (meaning: Meaning, text: string) => string;

/** Returns text without colours. */
export const plain: Paint = (_meaning, text) => text;

/** Returns the colours for standard output; {@link plain} if it shows none. */
export function paintOf({ screen, env }: Pick<Terminal, "screen" | "env">): Paint {
  if (!showsColours({ isTTY: screen !== undefined }, env)) return plain;
  return (meaning, text) => `\u001b[${CODES[meaning]}m${text}\u001b[0m`;
}
