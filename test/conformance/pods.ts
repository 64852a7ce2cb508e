/**
 * How Pods and Nodes are written by parts, before anything runs them; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json, RawAnswer } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };

/** No node has such a label: nothing places these Pods, in no cluster. */
const NOWHERE = { "example.com/nowhere": "true" };
const MAIN = { name: "main", image: "example.com/web:1" };

const causes = ({ json }: RawAnswer) => (json["details"]!["causes"] ?? []).map((cause: Json) => String(cause["field"]));

/** The cases of Pods. */
export function podCases(setting: () => RawSetting): void {
  const create = (name: string, spec: object) =>
    setting().raw.send("POST", setting().path("pods"), { body: { metadata: { name }, spec: { nodeSelector: NOWHERE, ...spec } } });
  const patch = (name: string, body: object, headers = STRATEGIC, query = "") =>
    setting().raw.send("PATCH", `${setting().path("pods", name)}${query}`, { body, headers });

  describe("pods", () => {
    test("a strategic merge patch changes one container, and one of its variables, by name", async () => {
      await create("p-patched", { containers: [MAIN, { name: "proxy", image: "example.com/proxy:1" }] });
      const { code, json } = await patch("p-patched", { spec: { containers: [{ name: "proxy", image: "example.com/proxy:2" }] } });
      const images = json["spec"]!["containers"]!.map((one) => [one["name"], one["image"]]);
      expect([code, images]).toEqual([200, [["main", "example.com/web:1"], ["proxy", "example.com/proxy:2"]]]); // prettier-ignore
      expect((await patch("p-patched", { spec: { containers: [{ image: "example.com/proxy:3" }] } })).code).toBe(422);
    });

    test("appliers own single containers, variables and ports; the key of a port includes its protocol", async () => {
      const apply = (manager: string, one: object) => {
        const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "p-applied" }, spec: { nodeSelector: NOWHERE, containers: [one] } };
        return patch("p-applied", body, APPLY, `?fieldManager=${manager}`);
      };
      const ports = [{ containerPort: 53 }, { containerPort: 53, protocol: "UDP" }];
      const { code, json } = await apply("one", { ...MAIN, ports, env: [{ name: "A", value: "1" }] });
      expect(code).toBe(201);
      const managed = json["metadata"]!["managedFields"]![0]!["fieldsV1"]!["f:spec"]!["f:containers"]![
        'k:{"name":"main"}'
      ] as unknown as Json;
      expect(Object.keys(managed["f:ports"]!)).toEqual([
        'k:{"containerPort":53,"protocol":"TCP"}',
        'k:{"containerPort":53,"protocol":"UDP"}',
      ]);
      expect(Object.keys(managed["f:env"]!)).toEqual(['k:{"name":"A"}']);
      expect(causes(await apply("two", { name: "main", image: "example.com/web:2" }))).toEqual(['.spec.containers[name="main"].image']);
    });

    test("conditions of a Pod are merged by type", async () => {
      await create("p-conditions", { containers: [MAIN] });
      const status = (body: object) =>
        setting().raw.send("PATCH", setting().path("pods", "p-conditions/status"), { body: { status: body }, headers: STRATEGIC });
      await status({ podIP: "10.1.0.7", conditions: [{ type: "Initialized", status: "True" }] });
      const { json } = await status({ conditions: [{ type: "Ready", status: "True" }] });
      expect(json["status"]!["conditions"]!.map((condition) => condition["type"]).sort()).toEqual(["Initialized", "Ready"]);
      expect([json["status"]!["podIP"], json["status"]!["phase"]]).toEqual(["10.1.0.7", "Pending"]);
    });
  });
}

/** The cases of Nodes. */
export function nodeCases(setting: () => RawSetting): void {
  describe("nodes", () => {
    const path = (name = "") => `/api/v1/nodes${name && `/${name}`}`;
    const withNode = async (rest: object, work: (name: string, created: RawAnswer) => Promise<void>) => {
      const { raw, namespace } = setting();
      const name = `${namespace}-node`;
      try {
        await work(name, await raw.send("POST", path(), { body: { metadata: { name }, ...rest } }));
      } finally {
        await raw.send("DELETE", path(name));
      }
    };
    const patch = (name: string, body: object) => setting().raw.send("PATCH", path(name), { body, headers: STRATEGIC });

    test("a node is created with its status", async () => {
      const capacity = { cpu: "4", memory: "1Gi" };
      await withNode({ status: { capacity } }, (_name, { code, json }) => {
        expect([code, json["status"]]).toMatchObject([201, { capacity }]);
        return Promise.resolve();
      });
    });

    test("addresses and conditions of a node are merged by type", async () => {
      await withNode({ status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } }, async (name) => {
        const { json } = await patch(`${name}/status`, { status: { addresses: [{ type: "Hostname", address: "n" }] } });
        const addresses = json["status"]!["addresses"]!.map((address) => String(address["type"])).sort();
        expect(addresses).toEqual(["Hostname", "InternalIP"]);
      });
    });
  });
}
