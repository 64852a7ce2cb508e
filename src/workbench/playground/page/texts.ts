/**
 * The three editors and the fields beside them: what people write, as one state.
 *
 * @module
 */
import { SAMPLE_VCLUSTER } from "../protocol.ts";
import type { PlaygroundAnswer, PlaygroundState } from "../protocol.ts";
import { completionsAt } from "./editor/completions.ts";
import { createEditor } from "./editor/editor.ts";
import type { Editor } from "./editor/editor.ts";
import type { Compare } from "./settings/settings.ts";
import { createVClusterFields } from "./settings/vcluster-fields.ts";
import type { VClusterFields } from "./settings/vcluster-fields.ts";

/** The texts of the page. */
export interface Texts {
  readonly config: Editor;
  readonly tenant: Editor;
  readonly host: Editor;
  /** Read only. */
  readonly back: Editor;
  readonly vcluster: VClusterFields;
  state(): PlaygroundState;
  /** Puts in another state. */
  open(state: PlaygroundState): void;
  /** Tells whether the host object has been edited. */
  edited(): boolean;
  /** Puts the host object back to what the syncer writes. */
  discardEdits(): void;
  /** Shows what an answer says of the texts; tells whether the host object is of this answer. */
  show(answer: PlaygroundAnswer, compare: Compare): "now" | "before" | "nothing";
}

/** What the texts tell. */
export interface TextsOptions {
  /** A text changed. */
  readonly onEdit: () => void;
  /** The cursor is at this offset of the configuration. */
  readonly onCursor: (offset: number) => void;
}

/** Empty editors. */
export function createTexts({ onEdit, onCursor }: TextsOptions): Texts {
  let edited = false;
  /** What the syncer wrote last, and the tenant object beside it. */
  let written: { readonly host: string; readonly tenant: string } | undefined;
  const config = createEditor({
    label: "Patches, YAML",
    onEdit,
    onCursor,
    // The host object as it is shown: edited, or as it was written.
    complete: (offset, asked) => completionsAt({ ...stateNow(), host: host.text() }, offset, asked),
  });
  const tenant = createEditor({ label: "Tenant object, YAML", onEdit });
  const host = createEditor({
    label: "Host object, YAML. Edit it to see what comes back",
    onEdit(text) {
      edited = text !== written?.host;
      onEdit();
    },
  });
  const back = createEditor({ label: "Tenant object after the host edits, YAML" });
  const vcluster = createVClusterFields(onEdit);
  const stateNow = (): PlaygroundState => ({
    config: config.text(),
    tenant: tenant.text(),
    ...(edited && { host: host.text() }),
    ...(!isDefault(vcluster) && { vcluster: vcluster.get() }),
  });
  return {
    config,
    tenant,
    host,
    back,
    vcluster,
    edited: () => edited,
    state: stateNow,
    open(state) {
      config.setText(state.config);
      tenant.setText(state.tenant);
      vcluster.set(state.vcluster ?? SAMPLE_VCLUSTER);
      edited = state.host !== undefined;
      written = undefined;
      host.setText(state.host ?? "");
      back.setText("");
    },
    discardEdits() {
      edited = false;
      host.setText(written?.host ?? "");
    },
    show(answer, compare) {
      // While a text is wrong the last objects stay: what people look at does not come and go as they type.
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
