import { BLUE, endpointPatches, yamlText, type Example } from "./example.ts";

const group = "When something is wrong";

const TENANT = yamlText(`
  apiVersion: v1
  kind: Endpoints
  metadata:
    name: web
    namespace: shop
    labels: { app: web, team: shop }
    annotations: { example.com/team: storefront }
  subsets:
    - addresses: [{ ip: 10.1.0.11 }, { ip: 10.1.0.12 }]
      ports: [{ name: http, port: 8080 }]
`);

/** Mistakes that the playground shows before they reach a cluster. */
export const MISTAKES: readonly Example[] = [
  {
    name: "oscillating-pair",
    title: "A pair that oscillates",
    about: "The reverse expression removes one character too few, so values grow in every round. The verdict shows the smallest example.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations[*]
          expression: '"my-prefix-" + value'
          reverseExpression: value.slice("my-prefix".length)
      `),
      tenant: TENANT,
    },
  },
  {
    name: "broken-expression",
    title: "Broken expressions",
    about: "Three mistakes from the guide, each with its position and the correction.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations["example.com/team"]
          expression: '"blue-" + value;'
          revereExpression: 'value.replace(/^blue-/, "")'
        - path: subsets[?(@.addresses)].addresses[*].hostname
          expression: context.vcluster.name + "-" + value
      `),
      tenant: TENANT,
    },
  },
  {
    name: "throws",
    title: "An expression that throws",
    about: "The failure shows the value of each part of the expression, and costs fuel. Other values are unaffected.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations["example.com/team"]
          expression: value.owner.name.toUpperCase()
        - path: metadata.labels.team
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
      `),
      tenant: TENANT,
    },
  },
  {
    name: "endless",
    title: "An expression that does not end",
    about: "Every evaluation has limited fuel: an endless loop is stopped after the same number of steps everywhere.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.labels.app
          expression: '(() => { for (;;); })()'
      `),
      tenant: TENANT,
    },
  },
  {
    name: "no-match",
    title: "A path that finds nothing",
    about: "Paths never create anything. The first path is misspelled, and the second one names a label that does not exist.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: subsets[*].adresses[*].ip
          expression: value
        - path: metadata.labels.tier
          expression: '"front"'
      `),
      tenant: TENANT,
    },
  },
  {
    name: "denied",
    title: "A protected field",
    about: "If a patch changes the syncer's markers, the syncer restores them and keeps the rest of the result.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations
          expression: '({...value, "example.com/stage": "test", "sync.platform/vcluster": "x"})'
      `),
      tenant: TENANT,
    },
  },
  {
    name: "wrong-type",
    title: "A result of the wrong type",
    about: "Annotation values are strings, so a number is refused and the annotation is left out.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations["example.com/team"]
          expression: value.length
      `),
      tenant: TENANT,
    },
  },
  {
    name: "address-policy",
    title: "An address that is not allowed",
    about: "The settings allow one network. A patch moves two addresses into it; a third stays outside and is left out on the host.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: subsets[*].addresses[*].ip
          expression: value.replace(/^10\\.1\\./, "172.20.")
      `),
      settings: yamlText(`
        # Allowed networks. They are checked after all patches.
        addressPolicy:
          allow: [172.20.0.0/16]
      `),
      tenant: TENANT.replace("{ ip: 10.1.0.12 }", "{ ip: 10.1.0.12 }, { ip: 192.168.7.7 }"),
    },
  },
];
