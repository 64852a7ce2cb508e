import { describe, expect, test } from "vitest";
import { createCoreKinds } from "../../src/cluster/core-kinds.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { tableOf } from "../../src/apiserver/http/answer/table.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";

const kinds = createCoreKinds(createSeededChance());
const NOW = Date.parse("2026-01-03T03:00:00Z");

interface Row {
  readonly kind: string;
  readonly why: string;
  readonly object: Readonly<Record<string, unknown>>;
  /** Cells that are not wide, but for the name in front. */
  readonly cells: readonly unknown[];
  readonly wide?: readonly unknown[];
}

const address = (count: number) => Array.from({ length: count }, (_, index) => ({ ip: `10.0.0.${index + 1}` }));

/** An object that is neither a text nor a number to JavaScript, which asks it for both. */
const UNTOLD = { toString: 1, valueOf: 1 };

const ROWS: readonly Row[] = [
  {
    kind: "Service",
    why: "with node ports and a selector",
    object: {
      spec: { type: "NodePort", clusterIP: "10.96.0.9", ports: [{ port: 80, nodePort: 30080, protocol: "TCP" }, { port: 53, protocol: "UDP" }], selector: { b: "2", a: "1" } }, // prettier-ignore
    },
    cells: ["NodePort", "10.96.0.9", "<none>", "80:30080/TCP,53/UDP", "2d3h"],
    wide: ["a=1,b=2"],
  },
  {
    kind: "Service",
    why: "headless, without ports",
    object: { spec: { type: "ClusterIP", clusterIP: "None", externalIPs: ["192.0.2.1", "192.0.2.2"] } },
    cells: ["ClusterIP", "None", "192.0.2.1,192.0.2.2", "<none>", "2d3h"],
    wide: ["<none>"],
  },
  {
    kind: "Service",
    why: "that stands for a name",
    object: { spec: { type: "ExternalName", externalName: "db.example.com" } },
    cells: ["ExternalName", "<none>", "db.example.com", "<none>", "2d3h"],
  },
  {
    kind: "Service",
    why: "that waits for its load balancer",
    object: { spec: { type: "LoadBalancer", clusterIP: "10.96.0.9" }, status: { loadBalancer: {} } },
    cells: ["LoadBalancer", "10.96.0.9", "<pending>", "<none>", "2d3h"],
  },
  {
    kind: "Service",
    why: "that has its load balancer",
    object: {
      spec: { type: "LoadBalancer", clusterIP: "10.96.0.9" },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.7" }, { hostname: "lb.example.com" }] } },
    },
    cells: ["LoadBalancer", "10.96.0.9", "192.0.2.7,lb.example.com", "<none>", "2d3h"],
  },
  { kind: "Endpoints", why: "without addresses", object: { subsets: [{ notReadyAddresses: address(1) }] }, cells: ["<none>", "2d3h"] },
  {
    kind: "Endpoints",
    why: "with more addresses than are shown",
    object: { subsets: [{ addresses: address(3), ports: [{ port: 80 }, { port: 443 }] }, { addresses: [{ ip: "fd00::1" }] }] },
    cells: ["10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 4 more...", "2d3h"],
  },
  {
    kind: "Endpoints",
    why: "with an IPv6 address",
    object: { subsets: [{ addresses: [{ ip: "fd00::1" }], ports: [{ port: 80 }] }] },
    cells: ["[fd00::1]:80", "2d3h"],
  },
  {
    kind: "EndpointSlice",
    why: "with ports",
    object: { addressType: "IPv4", ports: [{ port: 80 }, { name: "all" }], endpoints: [{ addresses: ["10.0.0.1"] }] },
    cells: ["IPv4", "80,all", "10.0.0.1", "2d3h"],
  },
  {
    kind: "EndpointSlice",
    why: "with nothing",
    object: { addressType: "IPv4", ports: null, endpoints: null },
    cells: ["IPv4", "<unset>", "<unset>", "2d3h"],
  },
  { kind: "ConfigMap", why: "of both kinds of data", object: { data: { a: "1", b: "2" }, binaryData: { c: "" } }, cells: [3, "2d3h"] },
  { kind: "ConfigMap", why: "without data", object: {}, cells: [0, "2d3h"] },
  { kind: "Secret", why: "opaque", object: { type: "Opaque", data: { a: "" } }, cells: ["Opaque", 1, "2d3h"] },
  { kind: "Namespace", why: "in use", object: { status: { phase: "Active" } }, cells: ["Active", "2d3h"] },
  { kind: "Lease", why: "that is held", object: { spec: { holderIdentity: "a-1" } }, cells: ["a-1", "2d3h"] },
  { kind: "Lease", why: "without a holder", object: { spec: {} }, cells: ["", "2d3h"] },
  {
    kind: "Pod",
    why: "that runs",
    object: {
      spec: { containers: [{}, {}], nodeName: "n1" },
      status: { phase: "Running", podIP: "10.1.0.1", containerStatuses: [{ ready: true, restartCount: 2 }, { restartCount: 1 }] },
    },
    cells: ["1/2", "Running", 3, "2d3h"],
    wide: ["10.1.0.1", "n1", "<none>", "<none>"],
  },
  {
    kind: "Pod",
    why: "whose parts are not what they should be",
    object: { spec: { containers: "x" }, status: { containerStatuses: [7, { restartCount: "many" }] } },
    cells: ["0/0", "", 0, "2d3h"],
    wide: ["<none>", "<none>", "<none>", "<none>"],
  },
  {
    kind: "Pod",
    why: "whose numbers cannot be turned into numbers",
    object: {
      spec: { containers: [{}] },
      status: { containerStatuses: [{ restartCount: UNTOLD, state: { terminated: { exitCode: UNTOLD, signal: UNTOLD } } }] },
    },
    cells: ["0/1", "ExitCode:0", 0, "2d3h"],
  },
  {
    kind: "Deployment",
    why: "whose selector cannot be turned into a text",
    object: { spec: { selector: { matchLabels: { a: UNTOLD }, matchExpressions: [{ key: "b", operator: "In", values: [UNTOLD, "c"] }] } } },
    cells: ["0/1", 0, 0, "2d3h"],
    wide: ["", "", 'a={"toString":1,"valueOf":1},b in (c,{"toString":1,"valueOf":1})'],
  },
  {
    kind: "Node",
    why: "whose status is a name of every object",
    object: { status: { conditions: [{ type: "Ready", status: "constructor" }] } },
    cells: ["NotReady", "<none>", "2d3h", ""],
  },
  {
    kind: "Pod",
    why: "of which one container does not start, and one condition of two holds",
    object: {
      spec: { containers: [{}], readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] },
      status: {
        phase: "Running",
        nominatedNodeName: "n2",
        conditions: [{ type: "a", status: "True" }, { type: "b", status: "False" }], // prettier-ignore
        containerStatuses: [{ state: { running: {} } }, { state: { waiting: { reason: "CrashLoopBackOff" } } }],
      },
    },
    cells: ["0/1", "CrashLoopBackOff", 0, "2d3h"],
    wide: ["<none>", "<none>", "n2", "1/2"],
  },
  {
    kind: "Pod",
    why: "of which one container has ended while another runs",
    object: {
      spec: { containers: [{}, {}] },
      status: { phase: "Running", containerStatuses: [{ state: { terminated: { reason: "Completed" } } }, { state: { running: {} } }] },
    },
    cells: ["0/2", "Running", 0, "2d3h"],
  },
  {
    kind: "Pod",
    why: "whose container ended without a reason",
    object: { spec: { containers: [{}] }, status: { phase: "Failed", containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] } },
    cells: ["0/1", "ExitCode:3", 0, "2d3h"],
  },
  {
    kind: "Pod",
    why: "that may not be placed yet",
    object: { spec: { containers: [{}], schedulingGates: [{ name: "a" }] }, status: { phase: "Pending" } },
    cells: ["0/1", "SchedulingGated", 0, "2d3h"],
  },
  {
    kind: "Node",
    why: "of which nothing is known",
    object: {},
    cells: ["Unknown", "<none>", "2d3h", ""],
    wide: ["<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"],
  },
  {
    kind: "Node",
    why: "that is ready, with roles",
    object: {
      metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge" } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        nodeInfo: { kubeletVersion: "v1.33.1", osImage: "Linux", kernelVersion: "6.1", containerRuntimeVersion: "containerd://2" },
        addresses: [{ type: "InternalIP", address: "192.0.2.3" }],
      },
    },
    cells: ["Ready,SchedulingDisabled", "edge,worker", "2d3h", "v1.33.1"],
    wide: ["192.0.2.3", "<none>", "Linux", "6.1", "containerd://2"],
  },
];

function rowOf(kind: string, given: Readonly<Record<string, unknown>>) {
  const definition = kinds.find(({ type }) => type.kind === kind)!;
  const metadata = { name: "it", creationTimestamp: "2026-01-01T00:00:00Z", ...(given["metadata"] as object) };
  const object = { apiVersion: "v1", kind, ...given, metadata } as KubeObject;
  const table = tableOf([object], { definition, include: "None", now: NOW, metadata: {} }) as {
    columnDefinitions: { name: string; priority: number }[];
    rows: { cells: unknown[] }[];
  };
  const cells = table.rows[0]!.cells.map((cell, index) => ({ cell, ...table.columnDefinitions[index]! }));
  return {
    first: cells[0]!,
    narrow: cells.filter(({ priority }) => priority === 0).map(({ cell }) => cell),
    wide: cells.filter(({ priority }) => priority === 1).map(({ cell }) => cell),
  };
}

describe("columns", () => {
  test.each(ROWS)("of a $kind $why", ({ kind, object, cells, wide }) => {
    const row = rowOf(kind, object);
    expect(row.narrow).toEqual(["it", ...cells]);
    expect(row.first).toMatchObject({ name: "Name", format: "name" });
    if (wide !== undefined) expect(row.wide).toEqual(wide);
  });

  test("of an Event put the time first and the name last", () => {
    const event = {
      involvedObject: { kind: "Service", name: "db", fieldPath: "spec" },
      type: "Warning",
      reason: "Renamed",
      message: " It has another name now.\n",
      source: { component: "syncer", host: "n1" },
      firstTimestamp: "2026-01-03T02:00:00Z",
      lastTimestamp: "2026-01-03T02:59:00Z",
      eventTime: null,
      count: 4,
    };
    expect(rowOf("Event", event).narrow).toEqual(["60s", "Warning", "Renamed", "service/db", "It has another name now."]);
    expect(rowOf("Event", event).wide).toEqual(["spec", "syncer, n1", "60m", 4, "it"]);
    const bare = { involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null, eventTime: null };
    expect(rowOf("Event", bare).narrow).toEqual(["<unknown>", "", "", "/", ""]);
    expect(rowOf("Event", bare).wide).toEqual(["", "", "<unknown>", 1, "it"]);
  });
});
