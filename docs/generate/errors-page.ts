import { CODES } from "../../src/base/codes.ts";
import { GENERATED, prose } from "./markdown.ts";

/** `reference/errors.md`: what each code means and what to do about it. */
export function errorsPage(): string {
  const entries = Object.entries(CODES)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, { meaning, remedy }]) => `### ${name}\n\n${prose(meaning)}\n\nWhat to do: ${prose(remedy)}\n`);
  return `${GENERATED}
# Errors and outcomes

Every message carries one of these codes. A code never changes its meaning and is never used for something else, so scripts and
alerts can rely on it. \`endpoint-sync explain CODE\` prints the same texts; Events carry the code as their reason, spelled
\`NameCollision\` for \`NAME_COLLISION\`.

${entries.join("\n")}`;
}
