import { BLUE, endpointPatches, yamlText, type Example } from "./example.ts";

const group = "Edits on the host";

/** Edits of the copy by a user of the host, and the syncer's responses. */
export const HOST_EDITS: readonly Example[] = [
  {
    name: "edit-flows-back",
    title: "An edit that is synced back",
    about: "A user of the host changes annotations and an address: the tenant object gets the changes, without the prefix.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations["example.com/team"]
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web
          namespace: shop
          annotations: { example.com/team: storefront, example.com/contact: ada }
        subsets:
          - addresses: [{ ip: 10.1.0.11 }]
            ports: [{ name: http, port: 8080 }]
      `),
      host: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web-x-shop-x-blue
          namespace: vc-blue
          annotations:
            example.com/team: blue-platform
            example.com/contact: grace
        subsets:
          - addresses:
              - ip: 10.1.0.12
            ports:
              - name: http
                port: 8080
      `),
    },
  },
  {
    name: "edit-one-way",
    title: "An edit that is undone",
    about: "Without reverseExpression, an edit of the patched field is undone, while the other edit is synced back.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations["example.com/upstream"]
          expression: virtualToHostDNS(value)
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web
          namespace: shop
          labels: { app: web }
          annotations: { example.com/upstream: api.shop.svc }
        subsets:
          - addresses: [{ ip: 10.1.0.11 }]
            ports: [{ port: 8080 }]
      `),
      host: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web-x-shop-x-blue
          namespace: vc-blue
          labels:
            app: web-canary
          annotations:
            example.com/upstream: elsewhere.example.com
        subsets:
          - addresses:
              - ip: 10.1.0.11
            ports:
              - port: 8080
      `),
    },
  },
  {
    name: "edit-not-inverse",
    title: "An edit that would never settle",
    about:
      "reverseExpression does not remove the hyphen, so the value would change in each round. The edit is refused, which prevents a loop.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.annotations[*]
          expression: '"my-prefix-" + value'
          reverseExpression: value.slice("my-prefix".length)
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata: { name: web, namespace: shop, annotations: { team: shop } }
        subsets:
          - addresses: [{ ip: 10.1.0.11 }]
            ports: [{ port: 8080 }]
      `),
      host: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web-x-shop-x-blue
          namespace: vc-blue
          annotations:
            team: my-prefix-ops
        subsets:
          - addresses:
              - ip: 10.1.0.11
            ports:
              - port: 8080
      `),
    },
  },
  {
    name: "edit-new-keys",
    title: "New labels on the host",
    about: "Labels and annotations that are added on the host reach the tenant, except those of other tools.",
    group,
    state: {
      vcluster: BLUE,
      config: "sync:\n  toHost:\n    endpoints:\n      patches: []\n",
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata: { name: web, namespace: shop }
        subsets:
          - addresses: [{ ip: 10.1.0.11 }]
            ports: [{ port: 8080 }]
      `),
      host: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web-x-shop-x-blue
          namespace: vc-blue
          labels:
            tier: front
          annotations:
            example.com/reviewed: "yes"
            kubectl.kubernetes.io/last-applied-configuration: "{}"
        subsets:
          - addresses:
              - ip: 10.1.0.11
            ports:
              - port: 8080
      `),
    },
  },
];
