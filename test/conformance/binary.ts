/**
 * Objects in Kubernetes' binary form, as clients in Go write them; part of the cluster suite. The bytes are put together by hand from
 * the numbers in the API's `generated.proto` files.
 */
import { describe, expect, test } from "vitest";
import type { RawSetting } from "./raw-setting.ts";

const HEADERS = { "content-type": "application/vnd.kubernetes.protobuf", accept: "application/vnd.kubernetes.protobuf, */*" };

const varint = (value: number): Buffer => {
  const parts: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 0x80)) parts.push((left % 0x80) | 0x80);
  return Buffer.from([...parts, left]);
};
/** A field that is a number, or a truth value. */
const number = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)]);
/** A field that is a text or a message. */
const block = (field: number, ...content: readonly (Buffer | string)[]) => {
  const bytes = Buffer.concat(content.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
};
const object = (apiVersion: string, kind: string, ...parts: readonly Buffer[]) =>
  Buffer.concat([Buffer.from("k8s\0"), block(1, block(1, apiVersion), block(2, kind)), block(2, ...parts), block(3, ""), block(4, "")]);
const named = (name: string) => block(1, block(1, name));

/** The cases; `setting` is called when a test runs. */
export function binaryCases(setting: () => RawSetting): void {
  const post = (path: string, body: Buffer) => setting().raw.send("POST", path, { body, headers: HEADERS });
  const grouped = (group: string, plural: string) => `/apis/${group}/v1/namespaces/${setting().namespace}/${plural}`;
  const moment = Date.parse("2026-01-02T03:04:05Z") / 1_000;

  describe("protobuf", () => {
    test("an Event in protobuf is read, and returned in JSON if any type is accepted", async () => {
      const { namespace, path } = setting();
      const parts = [
        named("binary.1"),
        block(2, block(1, "Endpoints"), block(2, namespace), block(3, "db"), block(5, "v1")),
        block(3, "Tested"),
        block(4, "It was tested."),
        block(5, block(1, "suite"), block(2, "node-1")),
        block(6, number(1, moment)),
        block(7, number(1, moment)),
        number(8, 3),
        block(9, "Warning"),
        block(10, number(1, moment), number(2, 678_901_000)),
        block(11, number(1, 4), block(2, number(1, moment))),
        block(12, "Testing"),
        block(14, "example.com/suite"),
        block(15, "suite-1"),
      ];
      const { code, json } = await post(path("events"), object("v1", "Event", ...parts));
      expect([code, json]).toMatchObject([
        201,
        {
          metadata: { name: "binary.1", namespace },
          involvedObject: { kind: "Endpoints", namespace, name: "db", apiVersion: "v1" },
          reason: "Tested",
          message: "It was tested.",
          source: { component: "suite", host: "node-1" },
          firstTimestamp: "2026-01-02T03:04:05Z",
          lastTimestamp: "2026-01-02T03:04:05Z",
          count: 3,
          type: "Warning",
          eventTime: "2026-01-02T03:04:05.678901Z",
          series: { count: 4, lastObservedTime: "2026-01-02T03:04:05.000000Z" },
          action: "Testing",
          reportingComponent: "example.com/suite",
          reportingInstance: "suite-1",
        },
      ]);
    });

    test("a Lease in protobuf is read, as leader elections write it", async () => {
      const path = grouped("coordination.k8s.io", "leases");
      const spec = [block(1, "a"), number(2, 15), block(3, number(1, moment)), block(4, number(1, moment), number(2, 1_000)), number(5, 2)];
      const { code, json } = await post(path, object("coordination.k8s.io/v1", "Lease", named("binary"), block(2, ...spec)));
      expect([code, json["spec"]]).toEqual([
        201,
        {
          holderIdentity: "a",
          leaseDurationSeconds: 15,
          acquireTime: "2026-01-02T03:04:05.000000Z",
          renewTime: "2026-01-02T03:04:05.000001Z",
          leaseTransitions: 2,
        },
      ]);
    });

    test("an EndpointSlice in protobuf is read, as slice controllers write it", async () => {
      const endpoint = [
        block(1, "10.1.0.1"),
        block(2, number(1, 1), number(2, 1), number(3, 0)),
        block(3, "db-0"),
        block(4, block(1, "Pod"), block(3, "db-0")),
        block(6, "node-1"),
        block(7, "zone-a"),
        block(8, block(1, block(1, "zone-a"))),
      ];
      const port = [block(1, "pg"), block(2, "TCP"), number(3, 5432), block(4, "example.com/pg")];
      const parts = [named("binary"), block(2, ...endpoint), block(3, ...port), block(4, "IPv4")];
      const { code, json } = await post(
        grouped("discovery.k8s.io", "endpointslices"),
        object("discovery.k8s.io/v1", "EndpointSlice", ...parts),
      );
      expect([code, json]).toMatchObject([
        201,
        {
          addressType: "IPv4",
          endpoints: [
            {
              addresses: ["10.1.0.1"],
              conditions: { ready: true, serving: true, terminating: false },
              hostname: "db-0",
              targetRef: { kind: "Pod", name: "db-0" },
              nodeName: "node-1",
              zone: "zone-a",
              hints: { forZones: [{ name: "zone-a" }] },
            },
          ],
          ports: [{ name: "pg", protocol: "TCP", port: 5432, appProtocol: "example.com/pg" }],
        },
      ]);
    });

    test("a status in protobuf, as controllers of load balancers send it, is accepted", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("services"), {
        body: { metadata: { name: "binary" }, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
      });
      const condition = [block(1, "Ready"), block(2, "True"), number(3, 1), block(4, number(1, moment)), block(5, "Made"), block(6, "")];
      const status = block(3, block(1, block(1, block(1, "192.0.2.9"), block(3, "VIP"))), block(2, ...condition));
      const body = object("v1", "Service", named("binary"), status);
      const { code, json } = await raw.send("PUT", `${path("services", "binary")}/status`, { body, headers: HEADERS });
      await raw.send("DELETE", path("services", "binary"));
      const lastTransitionTime = "2026-01-02T03:04:05Z";
      expect([code, json["status"]]).toEqual([
        200,
        {
          loadBalancer: { ingress: [{ ip: "192.0.2.9", ipMode: "VIP" }] },
          conditions: [{ type: "Ready", status: "True", observedGeneration: 1, lastTransitionTime, reason: "Made", message: "" }],
        },
      ]);
    });

    test("the options of a deletion may be in protobuf, and take effect", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "binary" } } });
      const remove = (...parts: readonly Buffer[]) =>
        raw.send("DELETE", path("configmaps", "binary"), { body: object("v1", "DeleteOptions", ...parts), headers: HEADERS });
      expect((await remove(block(2, block(1, "another-uid")))).code).toBe(409);
      expect((await remove(block(5, "All"))).code).toBe(200);
      expect((await remove(number(1, 0), block(4, "Background"))).code).toBe(200);
      expect((await raw.send("GET", path("configmaps", "binary"))).code).toBe(404);
    });
  });
}
