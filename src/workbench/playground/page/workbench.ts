/**
 * The page: its panes, the actions of users, and the display of results.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { createClient } from "../client.ts";
import type { WorkerLike } from "../channel.ts";
import type { Example } from "../gallery.ts";
import type { PlaygroundAnswer, PlaygroundState, ShownVerdicts } from "../protocol.ts";
import { createAnnouncer } from "./dom/announce.ts";
import { createAsking } from "./wiring/asking.ts";
import { createCompareChoice } from "./settings/compare-choice.ts";
import { createExamplesDialog } from "./dialogs/examples-dialog.ts";
import { createFlowList } from "./cards/flow-list.ts";
import { createHelpDialog } from "./dialogs/help-dialog.ts";
import { createLayout } from "./layout.ts";
import { createPointing } from "./wiring/pointing.ts";
import { createResults, patchesOf, summary } from "./cards/results.ts";
import type { SettingsStore } from "./settings/settings.ts";
import { listenToShortcuts } from "./dialogs/shortcuts.ts";
import { createStrip, createWelcome } from "./dom/strip.ts";
import { createTakeaway, forgetLink } from "./wiring/takeaway.ts";
import { createTexts } from "./texts.ts";
import { createThemeButton } from "./settings/theme.ts";
import { underlines } from "./wiring/underlines.ts";

/** Options of the page. */
export interface WorkbenchOptions {
  readonly clock: Clock;
  readonly settings: SettingsStore;
  readonly startWorker: () => WorkerLike;
  readonly examples: readonly Example[];
  /** The state that is shown first. */
  readonly first: PlaygroundState;
}

/** The page. */
export interface Workbench {
  readonly elements: readonly HTMLElement[];
  /** Shows another state, which a reset restores. */
  open(state: PlaygroundState): void;
  /** Shows a message until the user closes it. */
  showMessage(text: string): void;
}

/** Builds the page and requests the first result. */
export function createWorkbench(options: WorkbenchOptions): Workbench {
  const { clock, settings } = options;
  let start = options.first;
  let answer: PlaygroundAnswer | undefined;
  let tried: { readonly of: string; readonly verdicts: ShownVerdicts } | undefined;
  let failure: string | undefined;
  let problemAt = -1;

  // The client comes first, so that the engine starts while the page is built.
  const client = createClient({
    start: options.startWorker,
    clock,
    onAnswer(received) {
      answer = received;
      failure = undefined;
      problemAt = -1;
      asking.answered();
      announcer.say(summary(received));
      show();
    },
    onPairs(received, state) {
      tried = { of: judgedOf(state), verdicts: received };
      if (answer !== undefined) announcer.say(summary(answer, received));
      show();
    },
    onFailure(message) {
      failure = message;
      asking.answered();
      show();
    },
  });
  const announcer = createAnnouncer(clock);
  const texts = createTexts({ onEdit: () => changed(), onCursor: (offset) => pointing.markAt(offset) });
  const takeaway = createTakeaway({ texts, answer: () => answer, announcer });
  const results = createResults({
    jumpToPatch: (patch) => pointing.toPatch(patch),
    jumpToProblem: (problem) => pointing.toProblem(problem),
  });
  const examples = createExamplesDialog(options.examples, ({ title, state }) => {
    openKept(state);
    announcer.toast(`Opened “${title}”`);
    layout.focus("config");
  });
  const help = createHelpDialog();
  const layout = createLayout(texts, {
    results: results.element,
    compare: createCompareChoice(settings.get().compare, (compare) => {
      settings.set({ compare });
      if (answer !== undefined) texts.show(answer, compare);
    }),
    theme: createThemeButton(settings),
    examples: examples.open,
    help: help.open,
    ...takeaway,
    reset: () => {
      openKept(start);
      announcer.toast("Reset. Undo in a pane restores its text.");
    },
    discard: () => {
      texts.discardEdits();
      changed();
      layout.focus("host");
    },
  });
  const pointing = createPointing(texts, layout.show);
  const asking = createAsking(clock, () => client.ask(texts.state()), layout.computing);

  function changed(): void {
    forgetLink();
    settings.set({ draft: texts.state() });
    layout.edited(texts.edited());
    layout.settings(texts.vcluster.get(), texts.settingsCount());
    asking.soon();
  }

  function open(state: PlaygroundState): void {
    start = state;
    texts.open(state);
    layout.settings(texts.vcluster.get(), texts.settingsCount());
    asking.now();
  }

  /** Opens a state and stores it. The state of a link is stored only after an edit, because it replaces the user's last texts. */
  function openKept(state: PlaygroundState): void {
    forgetLink();
    settings.set({ draft: state });
    open(state);
  }

  function show(): void {
    const verdicts = tried?.of === judgedOf(texts.state()) ? tried.verdicts : undefined;
    results.show({ answer, verdicts, failure });
    if (answer === undefined) return;
    layout.host(texts.show(answer, settings.get().compare));
    for (const name of ["config", "settings", "tenant", "host"] as const) texts[name].setDiagnostics(underlines(answer, name, texts[name]));
    layout.edited(texts.edited());
    layout.back(answer.back && createFlowList(answer.back));
    layout.judge(answer, patchesOf(answer, verdicts?.pairs), verdicts?.together);
  }

  function nextProblem(back: boolean): void {
    const problems = answer?.problems ?? [];
    if (problems.length === 0) return announcer.toast("No problems");
    problemAt = (problemAt + (back ? -1 : 1) + problems.length) % problems.length;
    const problem = problems[problemAt]!;
    pointing.toProblem(problem);
    announcer.say(`${problem.code}: ${problem.message}`);
  }

  function showMessage(text: string): void {
    layout.strip(createStrip({ label: "Message", tone: "error", close: "Close", onClose: () => layout.land("config") }, text));
  }

  listenToShortcuts(document, {
    pane: layout.focus,
    share: takeaway.share,
    examples: examples.open,
    nextProblem,
    help: help.open,
  });
  if (!settings.get().welcomed)
    layout.strip(
      createWelcome(() => {
        settings.set({ welcomed: true });
        layout.land("config");
      }),
    );
  open(options.first);
  return { elements: [...layout.elements, examples.element, help.element, ...announcer.elements], open, showMessage };
}

/** The part of a state that its verdicts are about. They try many values, so the tenant object is not part of it. */
function judgedOf({ config, settings = "" }: PlaygroundState): string {
  return JSON.stringify([config, settings]);
}
