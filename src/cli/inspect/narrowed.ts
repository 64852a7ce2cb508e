import type { MarkedCopies } from "../../engine/sync/inspect/marked-copies.ts";
import { reportWarning } from "../output/messages.ts";
import type { Terminal } from "../process/terminal.ts";

/** Warns if only some namespaces were searched for copies. Copies of an earlier configuration may be in any namespace. */
export function reportNarrowed(terminal: Terminal, { narrowed }: Pick<MarkedCopies, "narrowed">): void {
  if (narrowed === undefined) return;
  const kinds = narrowed.kinds.map(({ plural }) => plural).join(", ");
  const places = narrowed.namespaces.join(", ");
  reportWarning(terminal, `Only namespace ${places} was searched for ${kinds}: listing them in all namespaces is not allowed`);
}
