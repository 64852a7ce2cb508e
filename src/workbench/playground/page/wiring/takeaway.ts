/**
 * The results that users can copy from the page: a link, a test file, commands, a module.
 *
 * @module
 */
import type { PlaygroundAnswer } from "../../protocol.ts";
import { packState } from "../../share.ts";
import { commandLineOf, testFileOf, typeScriptOf } from "../../test-file.ts";
import type { Announcer } from "../dom/announce.ts";
import { copyText } from "../dom/clipboard.ts";
import type { Texts } from "../texts.ts";
import { countOf } from "../cards/words.ts";

/** The source of the results to copy, and the announcer of the outcome. */
export interface TakeawayOptions {
  readonly texts: Pick<Texts, "state">;
  /** The last answer; undefined before the first. */
  readonly answer: () => PlaygroundAnswer | undefined;
  readonly announcer: Pick<Announcer, "toast">;
}

/** Actions that copy one result, and announce whether that succeeded. */
export interface Takeaway {
  share(): void;
  copyTest(): void;
  copyCommands(): void;
  copyModule(): void;
}

const NOTHING_YET = "There is nothing to copy yet: the results show why";
const UNSAFE = "Not copied: the texts contain control characters, which a terminal would interpret";

/** The actions behind the page's menu. */
export function createTakeaway({ texts, answer, announcer }: TakeawayOptions): Takeaway {
  async function share(): Promise<void> {
    const packed = await packState(texts.state());
    if (!packed.ok) return announcer.toast(packed.message);
    history.replaceState(null, "", `#${packed.fragment}`);
    const size = countOf(location.href.length, "character");
    const copied = await copyText(location.href);
    announcer.toast(copied ? `Link copied: ${size}, including all texts` : "The link is now in the address bar");
  }

  async function copy(text: string | undefined, done: string, nothing = NOTHING_YET): Promise<void> {
    if (text === undefined) return announcer.toast(nothing);
    announcer.toast((await copyText(text)) ? done : "The browser did not allow the page to copy");
  }

  /** The result of `make` for the answer; undefined before there is one. */
  function ofAnswer(make: typeof testFileOf): string | undefined {
    const now = answer();
    return now && make(texts.state(), now);
  }

  return {
    share: () => void share(),
    copyTest: () => void copy(ofAnswer(testFileOf), "Test file copied. Its first line shows how to run it."),
    copyCommands: () =>
      void copy(commandLineOf(texts.state()), "Commands copied. They write the texts into files and render the object.", UNSAFE),
    copyModule: () => void copy(ofAnswer(typeScriptOf), "TypeScript copied."),
  };
}

/** Keeps the address of the page current: it contains the shown state, or no state. */
export function forgetLink(): void {
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
}
