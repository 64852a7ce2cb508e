/**
 * Objects as an API server sends them: parsed from JSON, with several of each, so that no bench uses only one object.
 *
 * @module
 */

/** Endpoints as far as the code written by hand looks at them. */
export interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly subsets: readonly { readonly addresses: readonly { readonly ip: string }[] }[];
}

/** Differences between the Endpoints. */
export interface SampleOptions {
  readonly subsets: number;
  /** Per subset. */
  readonly addresses: number;
  /** "own": as in a cluster, each object has annotations and optional metadata of its own. "same": all have the same. Default "own". */
  readonly metadata?: "own" | "same";
}

const INSTANCES = 8;

/** Eight Endpoints. */
export function endpoints({ subsets, addresses, metadata: kind = "own" }: SampleOptions): Sample[] {
  const address = (instance: number, subset: number, at: number) => ({
    ip: `10.${instance}.${subset * 4 + (at >> 8)}.${at & 255}`,
    nodeName: `node-${at}`,
    targetRef: { kind: "Pod", namespace: "shop", name: `db-${at}`, uid: `${instance}-${subset}-${at}` },
  });
  return Array.from({ length: INSTANCES }, (_, instance) => {
    const list = Array.from({ length: subsets }, (_, subset) => ({
      addresses: Array.from({ length: addresses }, (_, at) => address(instance, subset, at)),
      ports: [{ name: "db", port: 5432, protocol: "TCP" }],
    }));
    const metadata = metadataOf(kind === "own" ? instance : 0);
    return JSON.parse(JSON.stringify({ apiVersion: "v1", kind: "Endpoints", metadata, subsets: list })) as Sample;
  });
}

function metadataOf(instance: number) {
  return {
    name: `db-${instance}`,
    namespace: "shop",
    ...(instance % 2 === 1 && { labels: { app: "db" } }),
    ...(instance % 4 > 1 && { generation: 1 }),
    ...(instance > 3 && { finalizers: ["example.com/hold"] }),
    annotations: { [`example.com/note-${instance}`]: "x", "example.com/team": "blue" },
  };
}

/** Eight Pods. */
export function pods(): unknown[] {
  const container = (name: string) => ({
    name,
    image: `registry.example.com/${name}:1.2.3`,
    env: [
      { name: "LEVEL", value: "info" },
      { name: "REGION", value: "eu" },
    ],
    ports: [{ name: "http", containerPort: 8080 }],
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  });
  return Array.from({ length: INSTANCES }, (_, instance) => {
    const metadata = { name: `web-${instance}`, labels: { app: "web", "app.kubernetes.io/name": "web" }, annotations: { note: "x" } };
    const spec = { nodeName: "node-1", containers: [container("web"), container("proxy")], volumes: [{ name: "data", emptyDir: {} }] };
    const status = { phase: "Running", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] };
    return JSON.parse(JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec, status })) as unknown;
  });
}

/** The next item on every call. */
export function inTurn<T>(items: readonly T[]): () => T {
  let at = 0;
  return () => items[at++ % items.length]!;
}
