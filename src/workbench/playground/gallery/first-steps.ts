import { BLUE, endpointPatches, yamlText, type Example } from "./example.ts";

const group = "First steps";

/** Uses of patches, one idea at a time. The page opens with the first. */
export const FIRST_STEPS: readonly Example[] = [
  {
    name: "demo",
    title: "The demonstration's patches",
    about:
      "The patches of the demo command: a prefix, base64, a DNS name, a host name for each address and a reference. A user has edited the host object.",
    group,
    state: {
      vcluster: BLUE,
      config: yamlText(`
        sync:
          toHost:
            # Copies the Secrets that the Endpoints refer to.
            secrets:
              enabled: true
            endpoints:
              patches:
                # A prefix on the way to the host, removed on the way back.
                - path: metadata.annotations["example.com/team"]
                  expression: '"blue-" + value'
                  reverseExpression: 'value.replace(/^blue-/, "")'
                # Stored in base64 on the host.
                - path: metadata.annotations["example.com/banner"]
                  expression: btoa(value)
                  reverseExpression: atob(value)
                # The DNS name of a tenant Service becomes the name of the Service on the host.
                - path: metadata.annotations["example.com/upstream"]
                  expression: virtualToHostDNS(value)
                # One evaluation per address.
                - path: subsets[*].addresses[*].hostname
                  expression: context.vcluster.name + "-" + value
                  reverseExpression: value.slice(context.vcluster.name.length + 1)
                # The name of a Secret becomes the name that the Secret has on the host.
                - path: metadata.annotations["example.com/tls-secret"]
                  reference:
                    apiVersion: v1
                    kind: Secret
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web
          namespace: shop
          labels: { app: web }
          annotations:
            example.com/team: storefront
            example.com/banner: Welcome to the shop
            example.com/upstream: api.shop.svc
            example.com/tls-secret: shop-tls
        subsets:
          - addresses:
              - { ip: 10.1.0.11, hostname: web-0 }
              - { ip: 10.1.0.12, hostname: web-1 }
            ports:
              - { name: http, port: 8080 }
      `),
      // The team was storefront: the edit is synced back to the tenant without the prefix.
      host: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web-x-shop-x-blue
          namespace: vc-blue
          labels:
            app: web
          annotations:
            example.com/team: blue-payments
            example.com/banner: V2VsY29tZSB0byB0aGUgc2hvcA==
            example.com/upstream: api-x-shop-x-blue.vc-blue.svc.cluster.local
            example.com/tls-secret: shop-tls-x-shop-x-blue
        subsets:
          - addresses:
              - ip: 10.1.0.11
                hostname: blue-web-0
              - ip: 10.1.0.12
                hostname: blue-web-1
            ports:
              - name: http
                port: 8080
      `),
    },
  },
  {
    name: "two-ways",
    title: "To the host and back",
    about: "An expression and its reverse: the tenant's value gets a prefix on the host, and loses it on the way back.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: metadata.labels.app
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata: { name: web, namespace: shop, labels: { app: web, tier: front } }
        subsets:
          - addresses: [{ ip: 10.1.0.11 }]
            ports: [{ name: http, port: 8080 }]
      `),
    },
  },
  {
    name: "every-address",
    title: "A patch of every address",
    about: "A path with [*] matches each element of a list: all addresses move into another range, and back.",
    group,
    state: {
      vcluster: BLUE,
      config: endpointPatches(`
        - path: subsets[*].addresses[*].ip
          expression: 'value.replace(/^10\\.1\\./, "172.20.")'
          reverseExpression: 'value.replace(/^172\\.20\\./, "10.1.")'
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata: { name: api, namespace: shop }
        subsets:
          - addresses: [{ ip: 10.1.0.21 }, { ip: 10.1.0.22 }, { ip: 10.1.0.23 }]
            ports: [{ name: http, port: 8080 }]
          - addresses: [{ ip: 10.1.0.24 }]
            ports: [{ name: admin, port: 9090 }]
      `),
    },
  },
  {
    name: "reference",
    title: "The name of a Secret",
    about: "A reference patch replaces a name with the object's name on the host, and the syncer copies the object.",
    group,
    state: {
      vcluster: BLUE,
      config: yamlText(`
        sync:
          toHost:
            secrets:
              enabled: true
            endpoints:
              patches:
                - path: metadata.annotations["example.com/tls-secret"]
                  reference: { apiVersion: v1, kind: Secret }
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Endpoints
        metadata:
          name: web
          namespace: shop
          annotations: { example.com/tls-secret: shop-tls }
        subsets:
          - addresses: [{ ip: 10.1.0.11 }]
            ports: [{ port: 8443 }]
        ---
        apiVersion: v1
        kind: Secret
        metadata: { name: shop-tls, namespace: shop }
      `),
    },
  },
  {
    name: "endpoint-slices",
    title: "EndpointSlices",
    about: "Slices have their own patches. Their addresses are strings in a list. Their Service is renamed automatically.",
    group,
    state: {
      vcluster: BLUE,
      config: yamlText(`
        sync:
          toHost:
            # Host clients that read Endpoints get the same values.
            endpoints:
              patches:
                - path: subsets[*].addresses[*].hostname
                  expression: context.vcluster.name + "-" + value
                  reverseExpression: value.slice(context.vcluster.name.length + 1)
                - path: subsets[*].addresses[*].ip
                  expression: 'value.replace(/^10\\.1\\./, "172.20.")'
                  reverseExpression: 'value.replace(/^172\\.20\\./, "10.1.")'
            endpointSlices:
              enabled: true
              patches:
                - path: endpoints[*].hostname
                  expression: context.vcluster.name + "-" + value
                  reverseExpression: value.slice(context.vcluster.name.length + 1)
                - path: endpoints[*].addresses[*]
                  expression: 'value.replace(/^10\\.1\\./, "172.20.")'
                  reverseExpression: 'value.replace(/^172\\.20\\./, "10.1.")'
      `),
      tenant: yamlText(`
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata:
          name: db-1
          namespace: data
          labels: { kubernetes.io/service-name: db }
        addressType: IPv4
        endpoints:
          - { addresses: [10.1.2.1], hostname: db-0, conditions: { ready: true } }
          - { addresses: [10.1.2.2], hostname: db-1, conditions: { ready: true } }
        ports:
          - { name: postgres, port: 5432, protocol: TCP }
        ---
        apiVersion: v1
        kind: Service
        metadata: { name: db, namespace: data }
        spec:
          clusterIP: None
          ports: [{ name: postgres, port: 5432 }]
      `),
    },
  },
  {
    name: "service",
    title: "A Service",
    about: "Copies of Services keep the ports and only a few other fields. You can patch their labels and annotations.",
    group,
    state: {
      vcluster: BLUE,
      config: yamlText(`
        sync:
          toHost:
            services:
              patches:
                - path: metadata.annotations
                  expression: '({...value, "example.com/from": context.vcluster.name})'
                  reverseExpression: '(({"example.com/from": _from, ...rest}) => rest)(value)'
      `),
      tenant: yamlText(`
        apiVersion: v1
        kind: Service
        metadata: { name: web, namespace: shop, annotations: { example.com/team: storefront } }
        spec:
          type: NodePort
          ports: [{ name: http, port: 80, targetPort: 8080, nodePort: 30080 }]
      `),
    },
  },
];
