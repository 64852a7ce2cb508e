/** The layout of the page: head, switch, panes. */
import type { LawBreach } from "../../laws/breaches.ts";
import type { PairVerdict } from "../../laws/report.ts";
import type { PlaygroundAnswer, ShownVCluster } from "../protocol.ts";
import { fill, h } from "./dom/h.ts";
import { icon, mark, type IconName } from "./dom/icons.ts";
import { createMenu } from "./dom/menu.ts";
import { createPane, createPaneSwitch, type PaneName } from "./dom/panes.ts";
import type { ShownPatch } from "./cards/patch-card.ts";
import type { Texts } from "./texts.ts";
import { countOf, tag } from "./cards/words.ts";

/** The elements of the page besides the texts, and the actions of its buttons. */
export interface LayoutParts {
  readonly results: HTMLElement;
  readonly compare: HTMLElement;
  readonly theme: HTMLElement;
  readonly examples: () => void;
  readonly help: () => void;
  readonly share: () => void;
  readonly copyTest: () => void;
  readonly copyCommands: () => void;
  readonly copyModule: () => void;
  readonly reset: () => void;
  readonly discard: () => void;
}

/** The parts of the page, and the methods that change them. */
export interface Layout {
  readonly elements: readonly HTMLElement[];
  /** Brings a pane into view. */
  show(name: PaneName): void;
  /** Brings a pane into view and moves the focus to the pane itself, not into its text. */
  land(name: PaneName): void;
  /** Shows a strip below the head. It replaces a strip with the same label. */
  strip(strip: HTMLElement): void;
  /** Brings a pane into view and moves the focus into its text. */
  focus(name: PaneName): void;
  computing(busy: boolean): void;
  /** Shows whether the host object has been edited. */
  edited(edited: boolean): void;
  /** Shows the virtual cluster, and the number of settings in the text. */
  settings(vcluster: ShownVCluster, count: number): void;
  /** Shows the outcomes of the host edits; undefined if there are none. */
  back(list: HTMLElement | undefined): void;
  /** Sets the state of the host pane: the object of the last answer, an older one because a text has errors, or no object. */
  host(shown: "now" | "before" | "nothing"): void;
  /** Shows the summary of an answer. */
  judge(answer: PlaygroundAnswer, patches: readonly ShownPatch[], together?: readonly LawBreach[]): void;
}

/** Builds the page around the texts. */
export function createLayout(texts: Texts, parts: LayoutParts): Layout {
  const discard = button("Discard", "reset", parts.discard, "button-small", "discard", "Restores the object that the syncer wrote");
  const fuel = h("button", { type: "button", class: "fuel", title: "What is fuel?", "data-action": "fuel", onclick: parts.help });
  const judged = h("span", { class: "judged" });
  const busy = h("span", { class: "tag", hidden: true, "data-busy": true }, "Computing…");
  const flow = h("div", { class: "flow-place", hidden: true });
  const nothingBack = h(
    "div",
    { class: "pane-empty" },
    h("strong", {}, "Nothing is synced back yet"),
    "Edit the host object, as a user of the host cluster would. Accepted changes appear here; rejected ones are listed with the reason.",
  );
  const nothingWritten = h(
    "div",
    { class: "pane-empty", hidden: true },
    h("strong", {}, "Nothing is written"),
    "The results show why. This pane shows what the syncer writes to the host cluster.",
  );
  const before = tag("Out of date", "warning", "warning");
  before.hidden = true;
  const openSettings = button("Settings", "settings", () => land("settings"), "button-small", "settings");
  const closeSettings = button("Close", "close", () => leaveSettings(), "button-small", "close-settings");
  const panes = {
    config: createPane("config", { title: "Patches", tools: [openSettings] }, texts.config.element, hint()),
    settings: createPane(
      "settings",
      { title: "Settings", tools: [closeSettings] },
      texts.form.element,
      h("h3", { class: "settings-text" }, "settings.yaml"),
      texts.settings.element,
      hint(),
    ),
    results: createPane("results", { title: "Results", tools: [busy, judged, fuel] }, parts.results),
    tenant: createPane("tenant", { title: "Tenant object", note: "the tenant's object" }, texts.tenant.element, hint()),
    host: createPane(
      "host",
      { title: "On the host", icon: "toHost", tools: [before, discard, parts.compare] },
      nothingWritten,
      texts.host.element,
      hint(),
    ),
    back: createPane("back", { title: "Back in the tenant", icon: "toTenant" }, nothingBack, flow, texts.back.element),
  };
  const paneSwitch = createPaneSwitch(PANES.map((name) => ({ name, label: SHORT[name], element: panes[name].element })));
  const bench = h("main", { class: "bench" }, ...PANES.map((name) => panes[name].element));
  const show = (name: PaneName) => {
    paneSwitch.show(name);
    // The settings cover the panes that users write in; the panes with the effects stay visible.
    if (name === "settings" || name === "config" || name === "tenant") bench.toggleAttribute("data-settings", name === "settings");
    panes[name].element.scrollIntoView({ block: "nearest" });
  };
  const land = (name: PaneName) => {
    show(name);
    panes[name].element.focus();
  };
  const leaveSettings = () => {
    show("config");
    openSettings.focus();
  };
  const strips = h("div", { class: "strips" });
  return {
    elements: [skips(land), head(parts), strips, paneSwitch.element, bench],
    show,
    land,
    strip(strip) {
      const label = strip.getAttribute("aria-label");
      for (const each of [...strips.children]) if (each.getAttribute("aria-label") === label) each.remove();
      strips.append(strip);
    },
    focus(name) {
      show(name);
      if (name === "results") parts.results.focus();
      else if (name === "settings") texts.form.focus();
      else if (name === "back" && texts.back.element.hidden) panes.back.element.focus();
      else if (name === "host" && texts.host.element.hidden) panes.host.element.focus();
      else texts[name].focus();
    },
    computing: (is) => void (busy.hidden = !is),
    edited: (is) => void (discard.hidden = !is),
    settings({ name, namespace }, count) {
      panes.config.note(`${name} in ${namespace}`);
      fill(openSettings, icon("settings"), h("span", {}, "Settings"), count > 0 && setCount(count));
    },
    back(list) {
      flow.hidden = texts.back.element.hidden = list === undefined;
      nothingBack.hidden = list !== undefined;
      fill(flow, list);
    },
    host(shown) {
      before.hidden = shown !== "before";
      nothingWritten.hidden = shown !== "nothing";
      texts.host.element.hidden = shown === "nothing";
    },
    judge(answer, patches, together = []) {
      const errors = answer.problems.filter(({ severity }) => severity === "error").length;
      const failed = patches.filter(({ outcomes }) => outcomes.some(({ outcome }) => outcome === "error" || outcome === "denied")).length;
      const applied = patches.filter(({ outcomes }) => outcomes.some(({ outcome }) => outcome === "applied")).length;
      const refused = answer.notes.filter(({ code }) => code === "API_INVALID").length;
      const { oscillating, drifting } = restless(patches, together);
      fill(judged, verdict({ errors, failed, refused, applied, oscillating, drifting }));
      fill(fuel, h("b", {}, answer.fuel.toLocaleString("en")), " ", h("span", {}, "fuel"));
      paneSwitch.badge("results", errors + failed + refused + oscillating + drifting, "problems");
    },
  };
}

/** In the order of reading: the input, its effects, the results. */
const PANES = ["config", "settings", "tenant", "host", "back", "results"] as const;

const SHORT: Readonly<Record<PaneName, string>> = {
  config: "Patches",
  settings: "Settings",
  tenant: "Tenant",
  host: "Host",
  back: "Back",
  results: "Results",
};

function setCount(count: number): HTMLElement {
  return h("span", { class: "set-count" }, String(count), h("span", { class: "unseen" }, " set"));
}

interface Counts {
  readonly errors: number;
  readonly failed: number;
  /** Number of errors for which an API server would refuse the object. */
  readonly refused: number;
  readonly applied: number;
  readonly oscillating: number;
  readonly drifting: number;
}

function restless(patches: readonly ShownPatch[], together: readonly LawBreach[]): Pick<Counts, "oscillating" | "drifting"> {
  const verdicts = [
    ...patches.map(({ pair }) => (pair?.accepted === undefined ? pair?.verdict : undefined)),
    ...together.map(({ verdict }) => verdict),
  ];
  const those = (verdict: PairVerdict) => verdicts.filter((one) => one === verdict).length;
  return { oscillating: those("oscillates"), drifting: those("drifts") };
}

function verdict({ errors, failed, refused, applied, oscillating, drifting }: Counts): HTMLElement {
  if (errors > 0) return tag(countOf(errors, "problem"), "error", "error");
  if (failed > 0) return tag(`${failed} failed`, "error", "error");
  if (refused > 0) return tag(`${refused} refused`, "error", "denied", "An API server would refuse the object");
  if (oscillating > 0) return tag(countOf(oscillating, "oscillates", "oscillate"), "error", "oscillates");
  if (drifting > 0) return tag(countOf(drifting, "drifts", "drift"), "warning", "drifts");
  return applied > 0 ? tag(`${applied} applied`, "good", "applied") : tag("Nothing applied", "quiet", "noChange");
}

function head(parts: LayoutParts): HTMLElement {
  return h(
    "header",
    { class: "bar" },
    h(
      "div",
      { class: "brand" },
      mark(),
      h("h1", {}, "endpoint-sync ", h("span", {}, "playground")),
      h("p", { class: "tagline" }, "Test patches and host edits. Your data never leaves this page."),
    ),
    h(
      "div",
      { class: "tools", role: "group", "aria-label": "State" },
      button("Examples", "examples", parts.examples, "wide", "examples"),
      h(
        "div",
        { class: "split wide" },
        button("Copy test", "copy", parts.copyTest, "", "copy-test", "Copies a test file that expects what you see"),
        createMenu("Copy as…", [
          {
            label: "Command line",
            about: "Copies commands that write the texts into files and render the object",
            action: parts.copyCommands,
          },
          { label: "TypeScript", about: "Copies a module that patches this object", action: parts.copyModule },
        ]),
      ),
      button("Share", "share", parts.share, "wide button-main", "share", "Copies a link to what you see"),
    ),
    h(
      "div",
      { class: "tools tools-more", role: "group", "aria-label": "Page" },
      iconButton("Reset to the texts that you opened", "reset", parts.reset, "reset"),
      iconButton("Help", "help", parts.help, "help"),
      parts.theme,
    ),
  );
}

function skips(land: (name: PaneName) => void): HTMLElement {
  const links = (["config", "tenant", "host", "results"] as const).map((name) =>
    h("a", { href: `#pane-${name}`, onclick: (event) => skip(event, name, land) }, `Skip to ${SHORT[name].toLowerCase()}`),
  );
  return h("nav", { class: "skips", "aria-label": "Skip" }, ...links);
}

/** Does not follow the link, because the address contains the state of a shared link. */
function skip(event: Event, name: PaneName, land: (name: PaneName) => void): void {
  event.preventDefault();
  land(name);
}

function button(label: string, name: IconName, onclick: () => void, looks: string, action?: string, title?: string): HTMLButtonElement {
  return h("button", { type: "button", class: `button ${looks}`, "data-action": action, title, onclick }, icon(name), h("span", {}, label));
}

function iconButton(label: string, name: IconName, onclick: () => void, action: string): HTMLButtonElement {
  const looks = "button button-bare button-icon";
  return h("button", { type: "button", class: looks, "aria-label": label, title: label, "data-action": action, onclick }, icon(name));
}

function hint(): HTMLElement {
  return h("p", { class: "editor-hint" }, h("kbd", {}, "Esc"), " then ", h("kbd", {}, "Tab"), " leaves");
}
