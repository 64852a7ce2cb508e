/**
 * `render`: the host objects that a configuration makes of tenant objects.
 */
import { testCommand } from "../command-cases.ts";

/** Endpoints with annotations, as JSON. */
function annotated(annotations: Record<string, string>): string {
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }] }];
  return JSON.stringify({ apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", namespace: "shop", annotations }, subsets });
}

testCommand("render", [
  {
    why: "prints one object as itself",
    argv: ["render", "--config", "empty.yaml", "-f", "-"],
    stdin: "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.0.0.1}]}]}",
    out: "apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: web-x-shop-x-blue\n  namespace: vc-blue\nsubsets:\n  - addresses:\n      - ip: 10.0.0.1\n",
  },
  {
    why: "prints several objects as a List, and tells what is left out",
    argv: ["render", "--config", "mapped.yaml", "-f", "several.yaml", "-o", "json"],
    out: /^\{\n {2}"apiVersion": "v1",\n {2}"kind": "List",\n {2}"items": \[\n[^]*"namespace": "blue-team-1"[^]*"namespace": "default"/,
    err: [
      'warning NAME_NOT_MAPPED: Endpoints other/a is left out: Cannot translate "other/a": the namespace is not mapped',
      "warning Pod shop/p is left out: objects of this kind are not synced",
    ],
  },
  {
    why: "prints several objects as YAML documents",
    argv: ["render", "--config", "empty.yaml", "-f", "several.yaml"],
    out: /^---$/m,
    err: /Pod shop\/p is left out/,
  },
  {
    why: "does not apply a mapping to a default name",
    argv: ["render", "--config", "mapped.yaml", "-f", "endpoints.yaml", "-o", "json"],
    out: /"name": "web",\n {4}"namespace": "default"/,
    err: [`warning ADDRESS_REFUSED: Endpoints shop/web: "169.254.169.254" was left out: link-local`],
  },
  {
    why: "holds it against a name that was given",
    argv: ["render", "--config", "mapped.yaml", "-f", "endpoints.yaml", "--name", "blue", "--namespace", "default"],
    code: 2,
    err: /byName\.shop: Expected a host namespace other than "default", in which the virtual cluster runs/,
  },
  {
    why: "fails for a result of a type that API servers refuse, names the patch, and shows the result all the same",
    argv: ["render", "--config", "text-port.yaml", "-f", "-"],
    stdin:
      "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}]}]}",
    code: 1,
    out: /port: '81'/,
    err: /^error API_INVALID: Endpoints shop\/web, patch of subsets\[\*\]\.ports\[\*\]\.port: an API server refuses the result: subsets\.ports\.port: Invalid type: found string, expected int32\n/,
  },
  {
    why: "fails for values that API servers refuse, each at its place",
    argv: ["render", "--config", "refused-values.yaml", "-f", "-"],
    stdin:
      "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.0.0.1, hostname: db-0}], ports: [{name: a, port: 80}]}]}",
    code: 1,
    out: /hostname: DB-0/,
    err: /subsets\[0\]\.addresses\[0\]\.hostname: Invalid value: "DB-0": [^]*subsets\[0\]\.ports\[0\]\.name: Invalid value: "a{64}": must be no more than 63/,
  },
  {
    why: "says which addresses the policy left out after the patches, and that none is left",
    argv: ["render", "--config", "moved.yaml", "-f", "-", "--settings", "pods.yaml"],
    stdin: "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.1.0.11}]}]}",
    out: /subsets: \[\]/,
    err: [
      'warning ADDRESS_REFUSED: Endpoints shop/web: "172.20.0.11" was left out: not in addressPolicy.allow; addresses are checked after the patches',
      "warning ADDRESS_REFUSED: Endpoints shop/web has no address left on the host",
    ],
  },
  {
    why: "goes the way back, references included",
    argv: [
      "render",
      "--config",
      "vcluster.yaml",
      "-f",
      "host.yaml",
      "--direction",
      "toTenant",
      "--tenant-object",
      "endpoints.yaml",
      "--name",
      "blue",
      "--namespace",
      "vc-blue",
    ],
    out: [
      "apiVersion: v1",
      "kind: Endpoints",
      "metadata:",
      "  name: web",
      "  namespace: shop",
      "  annotations:",
      "    example.com/team: ops",
      "    example.com/tls-secret: shop-tls",
      "subsets:",
      "  - addresses:",
      "      - ip: 10.1.0.11",
      "        hostname: db-0",
      "      - ip: 10.1.0.12",
      "        hostname: db-1",
      "      - ip: 169.254.169.254",
      "    ports:",
      "      - name: http",
      "        port: 8080",
      "",
    ].join("\n"),
    // An address was refused on its way to the host: the tenant keeps the body that it has.
    err: /^warning Endpoints vc-blue\/\S+ is shown with the tenant's body: part of the tenant's body did not reach the host/m,
  },
  {
    why: "tells what the host's API server would refuse",
    argv: ["render", "--config", "empty.yaml", "-f", "-"],
    stdin: [
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop,",
      "annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: 10.0.0.0/8}},",
      "spec: {type: LoadBalancer, ports: [{port: 80}]}}",
    ].join(" "),
    out: /^kind: Service$/m,
    err: [
      `warning FIELD_LEFT_OUT: Service shop/web: metadata.annotations["service.beta.kubernetes.io/load-balancer-source-ranges"] was left out: the API server refuses it on a Service of the copy's type`,
    ],
  },
  {
    why: "leaves out what gets no copy, and says why as a run does",
    argv: ["render", "--config", "empty.yaml", "-f", "-", "--settings", "selected.yaml"],
    files: { "selected.yaml": "{selector: {matchLabels: {app: web}}, requireService: true, addressPolicy: {allow: [10.0.0.0/8]}}\n" },
    stdin: [
      "{apiVersion: v1, kind: Service, metadata: {name: out, namespace: shop}, spec: {type: ExternalName, externalName: example.com}}",
      '{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop, annotations: {sync.platform/pause: "true"}}}',
      "{apiVersion: v1, kind: Endpoints, metadata: {name: other, namespace: shop}}",
      "{apiVersion: v1, kind: Endpoints, metadata: {name: shown, namespace: shop, labels: {app: web}}}",
    ].join("\n---\n"),
    out: "apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: shown-x-shop-x-blue\n  namespace: vc-blue\n  labels:\n    app: web\nsubsets: []\n",
    err: [
      "warning EXCLUDED: Service shop/out is left out: A Service of type ExternalName has no Endpoints and gets no copy",
      "warning EXCLUDED: Endpoints shop/web is left out: The object has the pause annotation",
      "warning EXCLUDED: Endpoints shop/other is left out: The selector in the settings does not select the object",
    ],
  },
  {
    why: "leaves out the annotations for which a copy has no room, and tells their number",
    argv: ["render", "--config", "empty.yaml", "-f", "-"],
    stdin: annotated(
      Object.fromEntries(Array.from({ length: 3_000 }, (_none, index) => [`key-${String(index).padStart(4, "0")}`, "value"])),
    ),
    out: /^(?![^]*key-2999)[^]*key-1500/,
    err: /^warning TOO_MANY_KEYS: Endpoints shop\/web: 1\d{3} labels and annotations exceed what the copy can track, [^]*the first is annotations\/key-\d+\n$/,
  },
  {
    why: "leaves out an annotation that is too large for a copy, and names it",
    argv: ["render", "--config", "empty.yaml", "-f", "-"],
    stdin: annotated({ big: "x".repeat(261_900), small: "kept" }),
    out: /annotations:\n {4}small: kept\n/,
    err: [
      "warning TOO_MANY_KEYS: Endpoints shop/web: annotations/big is too large, and is not copied in either direction: all annotations of an object, including the syncer's own, may have at most 262144 bytes",
    ],
  },
  {
    why: "shows the host object to the expression",
    argv: ["render", "--config", "see.yaml", "-f", "endpoints.yaml", "--host-object", "host.yaml", "-o", "json"],
    files: {
      "see.yaml":
        "sync: {toHost: {endpoints: {patches: [{path: 'metadata.annotations[\"example.com/team\"]', expression: context.hostObject.metadata.name}]}}}",
    },
    out: /"example.com\/team": "web-x-shop-x-blue"/,
    err: /ADDRESS_REFUSED/,
  },
  {
    why: "tells a patch that fails, and goes on",
    argv: ["render", "--config", "fails.yaml", "-f", "endpoints.yaml", "-o", "json"],
    files: { "fails.yaml": "sync: {toHost: {endpoints: {patches: [{path: 'metadata.annotations[*]', expression: value.a.b}]}}}" },
    out: /"kind": "Endpoints"/,
    err: /^warning EXPRESSION_ERROR: Endpoints shop\/web, patch of metadata\.annotations\[\*\], at metadata\.annotations\["example\.com\/team"\]: /m,
  },
  {
    why: "wants names",
    argv: ["render", "--config", "empty.yaml", "-f", "nameless.yaml"],
    code: 2,
    err: ["error USAGE: Cannot render Endpoints without metadata.name", "  See --help."],
  },
  {
    why: "does not start with a wrong configuration",
    argv: ["render", "--config", "bad.yaml", "-f", "endpoints.yaml"],
    code: 2,
    err: /CONFIG_TYPE[^]*CONFIG_UNKNOWN_FIELD/,
  },
]);
