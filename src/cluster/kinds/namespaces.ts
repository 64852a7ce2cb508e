import { NAMESPACES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { withMetadata } from "../../apiserver/types/objects/metadata.ts";
import { dnsLabel } from "../../apiserver/types/objects/names.ts";
import { ALL_VERBS, replaceStatus, type ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, listOf, named, text } from "../../schema/builders.ts";
import { NAMESPACE_COLUMNS } from "./columns/small.ts";
import { NAMESPACE_CONDITIONS } from "./conditions.ts";

interface Namespace extends KubeObject {
  readonly spec: { readonly finalizers?: readonly string[] };
  readonly status: { readonly phase?: string };
}

/** The finalizer that keeps a namespace until its contents are gone; the namespace controller removes it. */
const CONTENTS_FINALIZER = "kubernetes";
const NAME_LABEL = "kubernetes.io/metadata.name";

const SPEC = named("NamespaceSpec", "Finalizers of a namespace.", {
  finalizers: [1, listOf(text), "Controllers that must finish before the namespace is removed."],
});
const STATUS = named("NamespaceStatus", "Observed state of a namespace.", {
  phase: [1, text, "Active or Terminating."],
  conditions: [2, NAMESPACE_CONDITIONS, "Progress of the namespace's deletion, and reasons for a delay."],
});

/** `v1` Namespaces. */
export const namespaces: ResourceDefinition = {
  type: NAMESPACES,
  singular: "namespace",
  shortNames: ["ns"],
  verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  shape: kindShape(
    {
      spec: [2, always(SPEC), "Finalizers that keep the namespace until its contents are gone."],
      status: [3, always(STATUS), "Whether the namespace is in use or being deleted."],
    },
    "A scope for names: within it, names of objects are unique per kind.",
  ),
  selectableFields: { "status.phase": (object) => (object as Namespace).status.phase ?? "" },
  columns: NAMESPACE_COLUMNS,
  strategy: {
    nameRule: dnsLabel,
    subresources: { status: replaceStatus, finalize: (desired, old) => ({ ...old, spec: desired["spec"] }) },
    prepare,
    finalizers: (object) => (object as Namespace).spec.finalizers ?? [],
    terminate: (object) => ({ ...object, status: { ...(object as Namespace).status, phase: "Terminating" } }),
  },
};

function prepare(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const labels = { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name ?? "" };
  const labelled = withMetadata(object, { labels });
  return old === undefined ? { ...labelled, spec: { finalizers: [CONTENTS_FINALIZER] }, status: { phase: "Active" } } : labelled;
}
