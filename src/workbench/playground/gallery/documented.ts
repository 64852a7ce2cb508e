import { dump } from "js-yaml";
import type { StringMap } from "../../../kube/object/types.ts";
import type { PatchDefinition } from "../../../engine/patch/patch-definition.ts";
import type { ShownVCluster } from "../protocol.ts";
import type { Example } from "./example.ts";

/** A documented patch, and the metadata that it is applied to. */
interface Documented {
  readonly title: string;
  readonly patch: PatchDefinition;
  readonly metadata: { readonly labels?: StringMap; readonly annotations?: StringMap };
}

const VCLUSTER: ShownVCluster = { name: "vcluster", namespace: "vcluster-ns" };

/** The examples in the documentation of virtual clusters that patch metadata, which objects of all kinds have. */
const DOCUMENTED: readonly Documented[] = [
  {
    title: "A prefix on every annotation",
    patch: { path: "metadata.annotations[*]", expression: '"my-prefix-"+value', reverseExpression: 'value.slice("my-prefix-".length)' },
    metadata: { annotations: { a: "x", "example.com/b": "y" } },
  },
  {
    title: "A prefix on every annotation, with a reverse expression that keeps the hyphen",
    patch: { path: "metadata.annotations[*]", expression: '"my-prefix-"+value', reverseExpression: 'value.slice("my-prefix".length)' },
    metadata: { annotations: { a: "x" } },
  },
  {
    title: "A constant in place of every annotation",
    patch: { path: "metadata.annotations[*]", expression: '"my-value"' },
    metadata: { annotations: { a: "x", b: "y" } },
  },
  {
    title: "Base64 encoded on the host, decoded on the way back",
    patch: { path: 'metadata.annotations["encoded-value"]', expression: "btoa(value)", reverseExpression: "atob(value)" },
    metadata: { annotations: { "encoded-value": "my-value", other: "my-value" } },
  },
  {
    title: "Base64 decoded on the host",
    patch: { path: 'metadata.annotations["decoded-value"]', expression: "atob(value)" },
    metadata: { annotations: { "decoded-value": "bXktdmFsdWU=" } },
  },
  {
    title: "The DNS name of a tenant Service",
    patch: { path: 'metadata.annotations["referenced-service"]', expression: "virtualToHostDNS(value)" },
    metadata: { annotations: { "referenced-service": "nginx.default.svc.cluster.local" } },
  },
  {
    title: "Base64 with a guard",
    patch: {
      path: 'metadata.annotations["encoded-value"]',
      expression: "valueExists ? btoa(value) : null",
      reverseExpression: "valueExists ? atob(value) : null",
    },
    metadata: { annotations: { "encoded-value": "my-value" } },
  },
  {
    title: "A guard on a value that does not exist",
    patch: { path: 'metadata.annotations["encoded-value"]', expression: "valueExists ? btoa(value) : null" },
    metadata: { annotations: { other: "x" } },
  },
  {
    title: "The DNS name of a tenant Service with a guard",
    patch: { path: 'metadata.annotations["referenced-service"]', expression: "valueExists ? virtualToHostDNS(value) : null" },
    metadata: { annotations: { "referenced-service": "nginx.default.svc" } },
  },
  {
    title: "A label that is changed or added (the documentation misspells labels as label)",
    patch: { path: 'metadata.label["my-new-label"]', expression: 'valueExists ? value + "-changed" : "new-label-value"' },
    metadata: { labels: { "my-new-label": "x" } },
  },
  {
    title: "Changing a label",
    patch: { path: 'metadata.labels["my-new-label"]', expression: 'valueExists ? value + "-changed" : "new-label-value"' },
    metadata: { labels: { "my-new-label": "x" } },
  },
  {
    title: "Adding a label",
    patch: { path: 'metadata.labels["my-new-label"]', expression: 'valueExists ? value + "-changed" : "new-label-value"' },
    metadata: { labels: { app: "web" } },
  },
  {
    title: "Adding a label with a patch of the whole map",
    patch: { path: "metadata.labels", expression: '({ "my-new-label": "new-label-value", ...value })' },
    metadata: {},
  },
  {
    title: "A label that depends on a condition on the tenant object",
    patch: {
      path: 'metadata.labels["conditional-label"]',
      expression: "context.virtualObject.metadata?.labels?.['my-label'] ? 'my-value' : null",
    },
    metadata: { labels: { "conditional-label": "x", "my-label": "y" } },
  },
  {
    title: "A label that depends on a condition that does not hold (the documentation misspells labels as label)",
    patch: {
      path: 'metadata.labels["conditional-label"]',
      expression: "context.virtualObject.metadata?.label?.['my-label'] ? 'my-value' : null",
    },
    metadata: { labels: { "conditional-label": "x", "my-label": "y" } },
  },
  {
    title: "An annotation whose key has a dot and a slash",
    patch: { path: 'metadata.annotations["example.com/key"]', expression: '"patched-" + value' },
    metadata: { annotations: { "example.com/key": "x", "example.com/other": "y" } },
  },
  {
    title: "Only a reverse expression",
    patch: { path: "metadata.annotations[*]", reverseExpression: "value.startsWith('www.') ? value.slice(4) : value" },
    metadata: { annotations: { a: "www.example.com", b: "plain" } },
  },
  {
    title: "A prefix without a condition",
    patch: {
      path: "metadata.annotations[*]",
      expression: '"www."+value',
      reverseExpression: "value.startsWith('www.') ? value.slice(4) : value",
    },
    metadata: { annotations: { a: "example.com" } },
  },
  {
    title: "A prefix with a condition",
    patch: { path: "metadata.annotations[*]", expression: "value.startsWith('www.') ? value : `www.${value}`" },
    metadata: { annotations: { a: "example.com", b: "www.example.com" } },
  },
  {
    title: "Another prefix",
    patch: { path: "metadata.annotations[*]", expression: '"prefix-"+value' },
    metadata: { annotations: { a: "x" } },
  },
  {
    title: "Adding an annotation with a patch of the whole map",
    patch: { path: "metadata.annotations", expression: '({ ...value, "patched-by": "vcluster" })' },
    metadata: {},
  },
  {
    title: "Adding an annotation with a function body and an assignment",
    patch: { path: "metadata.annotations", expression: '(value => { value["patched-by"] ??= "vcluster"; return value; })(value)' },
    metadata: { annotations: { a: "x" } },
  },
  {
    title: "Adding a label that takes precedence over an existing one",
    patch: { path: "metadata.labels", expression: '({...value, "demos.example.com/owner": "me"})' },
    metadata: { labels: { app: "web" } },
  },
  {
    title: "A user's patch with single quotes in the path, and with an operator that tests indexes",
    patch: {
      path: "metadata.annotations['metallb.universe.tf/address-pool']",
      expression: "value in ['customer','customer-private'] ? value : 'invalid'",
    },
    metadata: { annotations: { "metallb.universe.tf/address-pool": "customer" } },
  },
  {
    title: "The user's patch with a test that works",
    patch: {
      path: "metadata.annotations['metallb.universe.tf/address-pool']",
      expression: "['customer','customer-private'].includes(value) ? value : 'invalid'",
    },
    metadata: { annotations: { "metallb.universe.tf/address-pool": "customer" } },
  },
  {
    title: "An annotation that names a Secret",
    patch: { path: 'metadata.annotations["my-secret-ref"]', reference: { apiVersion: "v1", kind: "Secret" } },
    metadata: { annotations: { "my-secret-ref": "my-secret" } },
  },
  {
    title: "Another annotation that names a Secret",
    patch: { path: 'metadata.annotations["example.com/secret-name"]', reference: { apiVersion: "v1", kind: "Secret" } },
    metadata: { annotations: { "example.com/secret-name": "tls" } },
  },
];

/** The documented patches, one example each, in the order of the documentation. */
export const DOCUMENTED_EXAMPLES: readonly Example[] = DOCUMENTED.map(({ title, patch, metadata }, index) => ({
  name: `documented-${index + 1}`,
  title,
  about: `${patch.path}: ${patch.expression ?? patch.reverseExpression ?? "a reference"}`,
  group: "Documented patches",
  state: {
    vcluster: VCLUSTER,
    config: yaml({ sync: { toHost: { endpoints: { patches: [patch] } } } }),
    tenant: yaml({ apiVersion: "v1", kind: "Endpoints", metadata: { name: "example", namespace: "default", ...metadata }, subsets: [] }),
  },
}));

function yaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true });
}
