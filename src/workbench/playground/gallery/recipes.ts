import { BLUE, endpointPatches, yamlText, type Example } from "./example.ts";

const group = "Recipes";

interface Recipe {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly patches: string;
  /** The tenant object without its name. */
  readonly tenant: string;
}

const RECIPES: readonly Recipe[] = [
  {
    name: "prefix",
    title: "A prefix that is added and removed",
    about: "The pair that most patches use: a prefix is added, and removed again.",
    patches: `
      - path: metadata.labels.app
        expression: '"blue-" + value'
        reverseExpression: 'value.replace(/^blue-/, "")'
    `,
    tenant: `
      metadata: { labels: { app: web } }
    `,
  },
  {
    name: "add-annotation",
    title: "An annotation on every copy",
    about: "A path never creates anything, so the patch applies to the map, which always exists.",
    patches: `
      - path: metadata.annotations
        expression: '({...value, "example.com/from": context.vcluster.name})'
        reverseExpression: '(({"example.com/from": _from, ...rest}) => rest)(value)'
    `,
    tenant: `
      metadata: { annotations: { team: shop } }
    `,
  },
  {
    name: "other-part",
    title: "A value that depends on another",
    about: "An expression can read the whole tenant object as context.virtualObject.",
    patches: `
      - path: metadata.annotations.weight
        expression: 'context.virtualObject.metadata.labels?.tier === "front" ? value : "0"'
    `,
    tenant: `
      metadata: { labels: { tier: back }, annotations: { weight: "5" } }
    `,
  },
  {
    name: "some-elements",
    title: "Only some elements of a list",
    about: "The path matches all elements. The expression changes some, and returns the others unchanged.",
    patches: `
      - path: subsets[*].ports[*]
        expression: 'value.name === "http" ? {...value, appProtocol: "http"} : value'
    `,
    tenant: `
      subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ name: http, port: 80 }, { name: dns, port: 53 }] }]
    `,
  },
  {
    name: "host-names",
    title: "The name of a Service or Secret on the host",
    about: "virtualToHostDNS translates a DNS name; a reference translates the name of an object.",
    patches: `
      - path: metadata.annotations["example.com/upstream"]
        expression: virtualToHostDNS(value)
      - path: metadata.annotations["example.com/tls-secret"]
        reference: { apiVersion: v1, kind: Secret }
    `,
    tenant: `
      metadata: { annotations: { example.com/upstream: api.shop.svc, example.com/tls-secret: shop-tls } }
    `,
  },
  {
    name: "keep-away",
    title: "A value that must not reach the host",
    about: "The result null removes the value from the copy.",
    patches: `
      - { path: 'metadata.annotations["example.com/internal-note"]', expression: "null" }
    `,
    tenant: `
      metadata: { annotations: { team: shop, example.com/internal-note: see ticket } }
    `,
  },
];

/** The recipes of the guide to writing patches. */
export const RECIPE_EXAMPLES: readonly Example[] = RECIPES.map(({ name, title, about, patches, tenant }) => ({
  name,
  title,
  about,
  group,
  state: { vcluster: BLUE, config: endpointPatches(patches), tenant: endpoints(yamlText(tenant)) },
}));

function endpoints(body: string): string {
  const named = body.startsWith("metadata: {") ? body.replace("metadata: {", "metadata: { name: web, namespace: shop,") : undefined;
  return `apiVersion: v1\nkind: Endpoints\n${named ?? `metadata: { name: web, namespace: shop }\n${body}`}`;
}
