import type { ShownVCluster } from "../../protocol.ts";
import { h } from "../dom/h.ts";

/** Two fields for the virtual cluster that expressions see. */
export interface VClusterFields {
  readonly elements: readonly HTMLElement[];
  get(): ShownVCluster;
  /** Does not count as an edit. */
  set(vcluster: ShownVCluster): void;
}

/** Creates fields that call `onEdit` when the user edits them. A field does not apply an invalid name, and marks it as invalid. */
export function createVClusterFields(onEdit: () => void): VClusterFields {
  const name = createField("Name of the virtual cluster: context.vcluster.name", onEdit);
  const namespace = createField("Its namespace on the host: context.vcluster.namespace", onEdit);
  return {
    elements: [h("label", { class: "field" }, "vcluster", name.input), h("label", { class: "field" }, "namespace", namespace.input)],
    get: () => ({ name: name.get(), namespace: namespace.get() }),
    set(vcluster) {
      name.set(vcluster.name);
      namespace.set(vcluster.namespace);
    },
  };
}

interface Field {
  readonly input: HTMLInputElement;
  /** The last valid name that was in it. */
  get(): string;
  set(value: string): void;
}

/** Pattern of Kubernetes names (RFC 1123 label). */
const NAME = "[a-z0-9]([\\-a-z0-9]{0,61}[a-z0-9])?";

function createField(title: string, onEdit: () => void): Field {
  let last = "";
  const plain = { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off" };
  const input = h("input", {
    ...plain,
    title,
    pattern: NAME,
    required: true,
    oninput() {
      const valid = input.validity.valid;
      input.setAttribute("aria-invalid", String(!valid));
      if (!valid) return;
      last = input.value;
      onEdit();
    },
  });
  return {
    input,
    get: () => last,
    set(value) {
      last = input.value = value;
      input.setAttribute("aria-invalid", "false");
    },
  };
}
