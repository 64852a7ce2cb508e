import type { ShownVCluster } from "../protocol.ts";
import { h } from "./h.ts";

/** Two fields for the virtual cluster that expressions see. */
export interface VClusterFields {
  readonly elements: readonly HTMLElement[];
  get(): ShownVCluster;
  /** Does not count as an edit. */
  set(vcluster: ShownVCluster): void;
}

/** Fields that call `onEdit` for what people type. */
export function createVClusterFields(onEdit: () => void): VClusterFields {
  const input = (title: string) =>
    h("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", maxlength: 63, title, oninput: onEdit });
  const name = input("Name of the virtual cluster: context.vcluster.name");
  const namespace = input("Its namespace on the host: context.vcluster.namespace");
  return {
    elements: [h("label", { class: "field" }, "vcluster", name), h("label", { class: "field" }, "namespace", namespace)],
    get: () => ({ name: name.value.trim(), namespace: namespace.value.trim() }),
    set(vcluster) {
      name.value = vcluster.name;
      namespace.value = vcluster.namespace;
    },
  };
}
