/**
 * The editors and the fields next to them: all input of the user, as one state.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import { SAMPLE_VCLUSTER, type PlaygroundAnswer, type PlaygroundState } from "../protocol.ts";
import { completionsAt } from "./editor/completions.ts";
import { createEditor, type Editor } from "./editor/editor.ts";
import type { Compare } from "./settings/settings.ts";
import { createSettingsForm, type SettingsForm } from "./settings/settings-form.ts";
import { createVClusterFields, type VClusterFields } from "./settings/vcluster-fields.ts";
import { readSettings, withSetting } from "./settings/written-settings.ts";

/** The texts of the page. */
export interface Texts {
  readonly config: Editor;
  readonly settings: Editor;
  readonly tenant: Editor;
  readonly host: Editor;
  /** Read only. */
  readonly back: Editor;
  readonly vcluster: VClusterFields;
  /** Fields of the settings, which change their text. */
  readonly form: SettingsForm;
  /** Number of settings in the text; 0 if it cannot be read. */
  settingsCount(): number;
  state(): PlaygroundState;
  /** Shows another state. */
  open(state: PlaygroundState): void;
  /** Reports whether the host object has been edited. */
  edited(): boolean;
  /** Restores the host object that the syncer writes. */
  discardEdits(): void;
  /** Shows an answer. Returns whether the host object is from this answer, from one before, or absent. */
  show(answer: PlaygroundAnswer, compare: Compare): "now" | "before" | "nothing";
}

/** Listeners of the texts. */
export interface TextsOptions {
  /** Called when a text changed. */
  readonly onEdit: () => void;
  /** Called with the offset of the cursor in the configuration. */
  readonly onCursor: (offset: number) => void;
}

/** Creates the editors, which are empty at first. */
export function createTexts({ onEdit, onCursor }: TextsOptions): Texts {
  let isOpen = false;
  let edited = false;
  /** The last object that the syncer wrote, with its tenant object. */
  let written: { readonly host: string; readonly tenant: string } | undefined;
  const config = createEditor({
    label: "Patches, YAML",
    onEdit,
    onCursor,
    // The host object as shown: edited, or as the syncer wrote it.
    complete: (offset, asked) => completionsAt({ ...stateNow(), host: host.text() }, offset, asked),
  });
  const tenant = createEditor({ label: "Tenant object, YAML", onEdit });
  const host = createEditor({
    label: "Host object, YAML. Edit it to see what is synced back",
    onEdit(text) {
      edited = text !== written?.host;
      onEdit();
    },
  });
  const back = createEditor({ label: "Tenant object after the host edits, YAML" });
  const vcluster = createVClusterFields(onEdit);
  const settings = createEditor({
    label: "Settings, YAML",
    onEdit(text) {
      form.show(text);
      onEdit();
    },
  });
  const form = createSettingsForm({
    vcluster: vcluster.elements,
    change(path, value) {
      const text = withSetting(settings.text(), path, value);
      if (text === undefined) return false;
      settings.setText(text);
      onEdit();
      return true;
    },
  });
  const stateNow = (): PlaygroundState => ({
    config: config.text(),
    ...(settings.text().trim() !== "" && { settings: settings.text() }),
    tenant: tenant.text(),
    ...(edited && { host: host.text() }),
    ...(!isDefault(vcluster) && { vcluster: vcluster.get() }),
  });
  return {
    config,
    settings,
    tenant,
    host,
    back,
    vcluster,
    form,
    settingsCount: () => countOf(readSettings(settings.text()) ?? {}),
    edited: () => edited,
    state: stateNow,
    open(state) {
      const put = isOpen ? "setText" : "begin";
      isOpen = true;
      config[put](state.config);
      settings[put](state.settings ?? "");
      form.show(state.settings ?? "");
      tenant[put](state.tenant);
      vcluster.set(state.vcluster ?? SAMPLE_VCLUSTER);
      edited = state.host !== undefined;
      written = undefined;
      host[put](state.host ?? "");
      back.setText("");
    },
    discardEdits() {
      edited = false;
      host.setText(written?.host ?? "");
    },
    show(answer, compare) {
      form.complain(answer.problems);
      // While a text has errors, the last objects stay, so that they do not appear and disappear as users type.
      if (answer.host !== undefined) written = { host: answer.host, tenant: answer.tenant ?? "" };
      else if (answer.tenant !== undefined) written = { host: "", tenant: answer.tenant };
      if (!edited) host.setText(written?.host ?? "");
      else edited = host.text() !== written?.host;
      host.compare(written && { tenant: written.tenant, synced: written.host, nothing: undefined }[compare]);
      if (answer.back !== undefined) back.setText(answer.back.tenant);
      back.compare(written?.tenant);
      if (answer.host !== undefined) return "now";
      return edited || written?.host ? "before" : "nothing";
    },
  };
}

function isDefault(vcluster: VClusterFields): boolean {
  const { name, namespace } = vcluster.get();
  return name === SAMPLE_VCLUSTER.name && namespace === SAMPLE_VCLUSTER.namespace;
}

function countOf(settings: unknown): number {
  return isRecord(settings) ? Object.values(settings).reduce<number>((sum, value) => sum + countOf(value), 0) : 1;
}
