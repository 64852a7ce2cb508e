import type { Problem } from "../../../../schema/problem.ts";
import type { ShownPair } from "../../protocol.ts";
import type { PaneName } from "../dom/panes.ts";
import type { ShownPatch } from "../cards/patch-card.ts";
import { matchSpans, writtenPatches } from "../editor/places.ts";
import { problemTextName } from "../cards/problem-list.ts";
import type { Texts } from "../texts.ts";

/** Leads users to places in the texts. */
export interface Pointing {
  /** Marks the values that the patch at an offset of the configuration finds in the objects. Outside patches, it removes all marks. */
  markAt(offset: number): void;
  /** Brings a patch of the configuration into view, with the values that it finds. Does nothing if the patch no longer exists. */
  toPatch(patch: Pick<ShownPatch, "list" | "patch">): void;
  /** Brings the place of a problem into view. */
  toProblem(problem: Problem): void;
}

/** Marks places in `texts`, and moves to them; `show` brings a pane into view. */
export function createPointing(texts: Texts, show: (name: PaneName) => void): Pointing {
  const mark = (list: ShownPair["list"], path: string | undefined, reveal: boolean) => {
    for (const editor of [texts.tenant, texts.host]) editor.mark(path === undefined ? [] : matchSpans(editor.text(), list, path), reveal);
  };
  return {
    markAt(offset) {
      const patch = writtenPatches(texts.config.text()).find(({ span }) => span.from <= offset && offset <= span.to);
      if (patch === undefined) for (const editor of [texts.tenant, texts.host]) editor.mark([]);
      else mark(patch.list, patch.path, false);
    },
    toPatch({ list, patch }) {
      const written = writtenPatches(texts.config.text()).find((each) => each.list === list && each.patch === patch);
      if (written === undefined) return;
      show("config");
      texts.config.goTo(written.span.from);
      mark(list, written.path, true);
    },
    toProblem(problem) {
      const name = problemTextName(problem);
      show(name);
      texts[name].goTo(texts[name].offsetOf(problem.line, problem.column));
    },
  };
}
