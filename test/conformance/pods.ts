/**
 * What the API server makes of Pods and Nodes, before anything runs them; part of the cluster suite.
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
  const container = async (name: string, more: object, spec: object = {}) => {
    const { code, json } = await create(name, { containers: [{ ...MAIN, ...more }], ...spec });
    expect(code).toBe(201);
    return json["spec"]!["containers"]![0]!;
  };

  describe("pods", () => {
    test("what is left out is filled in", async () => {
      const { json } = await create("p-plain", { containers: [{ ...MAIN, ports: [{ containerPort: 80 }] }] });
      expect(json["spec"]).toMatchObject({
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 30,
        dnsPolicy: "ClusterFirst",
        schedulerName: "default-scheduler",
        securityContext: {},
        enableServiceLinks: true,
        serviceAccountName: "default",
        serviceAccount: "default",
        priority: 0,
        preemptionPolicy: "PreemptLowerPriority",
      });
      expect(json["spec"]!["containers"]![0]).toMatchObject({
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      });
      expect(json["status"]).toMatchObject({ phase: "Pending", qosClass: "BestEffort" });
    });

    test.each([
      ["example.com/web", "Always"],
      ["example.com:5000/web:latest", "Always"],
      ["example.com:5000/web:1", "IfNotPresent"],
      [`example.com/web@sha256:${"a".repeat(64)}`, "IfNotPresent"],
    ])("of the image %s the pull policy is %s", async (image, policy) => {
      const found = await container(`p-pull-${Math.abs(image.length)}`, { image });
      expect(found["imagePullPolicy"]).toBe(policy);
    });

    test("probes, hooks, references to fields and volumes are completed", async () => {
      const volumes = [{ name: "none" }, { name: "config", configMap: { name: "c" } }, { name: "host", hostPath: { path: "/tmp" } }];
      const more = {
        readinessProbe: { httpGet: { port: 80 } },
        lifecycle: { preStop: { httpGet: { port: "http" } } },
        env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
      };
      const { json } = await create("p-parts", { containers: [{ ...MAIN, ...more }], volumes });
      const httpGet = { path: "/", scheme: "HTTP" };
      expect(json["spec"]!["containers"]![0]).toMatchObject({
        readinessProbe: {
          httpGet: { ...httpGet, port: 80 },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        lifecycle: { preStop: { httpGet: { ...httpGet, port: "http" } } },
        env: [{ name: "IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } }],
      });
      expect(json["spec"]!["volumes"]!.slice(0, 3)).toEqual([
        { name: "none", emptyDir: {} },
        { name: "config", configMap: { name: "c", defaultMode: 420 } },
        { name: "host", hostPath: { path: "/tmp", type: "" } },
      ]);
    });

    test("quantities have one spelling, bare numbers are quantities, other texts are 400", async () => {
      const limits = { cpu: 0.5, memory: "2048Mi", "example.com/device": "1e3" };
      const found = await container("p-amounts", { resources: { limits } });
      expect(found["resources"]!["limits"]).toEqual({ cpu: "500m", memory: "2Gi", "example.com/device": "1e3" });
      expect((await create("p-amounts-wrong", { containers: [{ ...MAIN, resources: { limits: { cpu: "much" } } }] })).code).toBe(400);
    });

    test("requests follow limits, and the class of service follows both", async () => {
      const some = { limits: { cpu: "1", memory: "1Gi" } };
      const whole = await create("p-guaranteed", { containers: [{ ...MAIN, resources: some }] });
      expect(whole.json["spec"]!["containers"]![0]!["resources"]).toEqual({ ...some, requests: some.limits });
      expect(whole.json["status"]!["qosClass"]).toBe("Guaranteed");
      const part = await create("p-burstable", {
        containers: [
          { ...MAIN, resources: some },
          { ...MAIN, name: "other" },
        ],
      });
      expect(part.json["status"]!["qosClass"]).toBe("Burstable");
    });

    test("a node that is gone is borne for five minutes, unless the Pod says otherwise", async () => {
      const key = "node.kubernetes.io/not-ready";
      const own = { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
      const { json } = await create("p-bearing", { containers: [MAIN], tolerations: [own] });
      expect(json["spec"]!["tolerations"]).toEqual([own, { ...own, key: "node.kubernetes.io/unreachable", tolerationSeconds: 300 }]);
      const all = await create("p-bearing-all", { containers: [MAIN], tolerations: [{ operator: "Exists" }] });
      expect(all.json["spec"]!["tolerations"]).toEqual([{ operator: "Exists" }]);
    });

    test("of a Pod little may change: images, deadlines, more tolerations", async () => {
      await create("p-fixed", { containers: [MAIN], activeDeadlineSeconds: 100 });
      const change = (spec: object) => patch("p-fixed", { spec });
      expect((await change({ containers: [{ name: "main", image: "example.com/web:2" }] })).code).toBe(200);
      expect((await change({ activeDeadlineSeconds: 50 })).code).toBe(200);
      expect(causes(await change({ activeDeadlineSeconds: 60 }))).toEqual(["spec.activeDeadlineSeconds"]);
      const refused = await change({ containers: [{ name: "main", env: [{ name: "A", value: "1" }] }] });
      expect([refused.code, causes(refused)]).toEqual([422, ["spec"]]);
      expect(String(refused.json["message"])).toContain(
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`",
      );
      expect((await change({ containers: [{ ...MAIN, name: "more" }] })).code).toBe(422);
      expect((await change({ hostname: "other" })).code).toBe(422);
    });

    test("a strategic merge patch reaches one container, and one of its variables, by name", async () => {
      await create("p-patched", { containers: [MAIN, { name: "proxy", image: "example.com/proxy:1" }] });
      const { code, json } = await patch("p-patched", { spec: { containers: [{ name: "proxy", image: "example.com/proxy:2" }] } });
      const images = json["spec"]!["containers"]!.map((one) => [one["name"], one["image"]]);
      expect([code, images]).toEqual([200, [["main", "example.com/web:1"], ["proxy", "example.com/proxy:2"]]]); // prettier-ignore
      expect((await patch("p-patched", { spec: { containers: [{ image: "example.com/proxy:3" }] } })).code).toBe(422);
    });

    test("appliers own containers, variables and ports one by one; the protocol of a port is part of its key", async () => {
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

    test("the addresses of a Pod are told in both of their fields", async () => {
      await create("p-addressed", { containers: [MAIN] });
      const status = (body: object) =>
        setting().raw.send("PATCH", setting().path("pods", "p-addressed/status"), { body: { status: body }, headers: STRATEGIC });
      expect((await status({ podIP: "10.1.0.7" })).json["status"]).toMatchObject({ podIP: "10.1.0.7", podIPs: [{ ip: "10.1.0.7" }] });
      const ready = { type: "Ready", status: "True" };
      await status({ conditions: [{ type: "Initialized", status: "True" }] });
      const conditions = (await status({ conditions: [ready] })).json["status"]!["conditions"]!;
      expect(conditions.map((condition) => condition["type"]).sort()).toEqual(["Initialized", "Ready"]);
      expect(conditions[0]).toMatchObject({ lastProbeTime: null, lastTransitionTime: null });
    });

    test("a Pod may be written in protobuf, as client-go writes it", async () => {
      const { raw, path } = setting();
      const varint = (value: number) => (value < 128 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);
      const block = (field: number, content: string) =>
        `${String.fromCharCode(...varint(field * 8 + 2), ...varint(content.length))}${content}`;
      const memory = block(1, `${block(1, "memory")}${block(2, block(1, "1024Mi"))}`);
      const probe = block(11, block(1, block(3, block(1, `\x08\x00\x10${String.fromCharCode(80)}`))));
      const main = `${block(1, "main")}${block(2, "example.com/web:1")}${block(8, memory)}${probe}`;
      const volume = `${block(1, "config")}${block(2, block(19, block(1, block(1, "c"))))}`;
      const selector = `${block(1, "example.com/nowhere")}${block(2, "true")}`;
      const object = `${block(1, block(1, "p-binary"))}${block(2, `${block(1, volume)}${block(2, main)}${block(7, selector)}`)}`;
      const body = Buffer.from(`k8s\0${block(1, `${block(1, "v1")}${block(2, "Pod")}`)}${block(2, object)}`, "latin1");
      const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
      const { code, json } = await raw.send("POST", path("pods"), { body, headers });
      expect([code, json["spec"]!["containers"]![0]]).toMatchObject([
        201,
        { name: "main", image: "example.com/web:1", resources: { limits: { memory: "1Gi" } }, readinessProbe: { tcpSocket: { port: 80 } } },
      ]);
      expect(json["spec"]!["volumes"]![0]).toMatchObject({ name: "config", configMap: { name: "c" } });
    });

    test("fields that containers do not have are dropped with a warning, or refused when asked to", async () => {
      const body = { metadata: { name: "p-surprise" }, spec: { nodeSelector: NOWHERE, containers: [{ ...MAIN, imagePolicy: "Always" }] } };
      const { raw, path } = setting();
      const strict = await raw.send("POST", `${path("pods")}?fieldValidation=Strict`, { body });
      expect([strict.code, String(strict.json["message"])]).toEqual([
        400,
        expect.stringContaining('unknown field "spec.containers[0].imagePolicy"'),
      ]);
      const { code, headers, json } = await raw.send("POST", path("pods"), { body });
      expect([code, json["spec"]!["containers"]![0]!["imagePolicy"]]).toEqual([201, undefined]);
      expect(String(headers["warning"])).toContain("imagePolicy");
    });

    const mount = (name: string) => ({ name, mountPath: "/data" });
    test.each<[why: string, field: string, spec: object]>([
      ["no containers", "spec.containers", { containers: [] }],
      ["no image", "spec.containers[0].image", { containers: [{ name: "main" }] }],
      ["no name of a container", "spec.containers[0].name", { containers: [{ image: "a" }] }],
      ["a name in capitals", "spec.containers[0].name", { containers: [{ ...MAIN, name: "Main" }] }],
      ["two containers of one name", "spec.containers[1].name", { containers: [MAIN, MAIN] }],
      ["an init container of a container's name", "spec.initContainers[0].name", { containers: [MAIN], initContainers: [MAIN] }],
      [
        "a port out of range",
        "spec.containers[0].ports[0].containerPort",
        { containers: [{ ...MAIN, ports: [{ containerPort: 65_536 }] }] },
      ],
      ["a port name without a letter", "spec.containers[0].ports[0].name", { containers: [{ ...MAIN, ports: [{ containerPort: 1, name: "80" }] }] }], // prettier-ignore
      ["an unknown protocol", "spec.containers[0].ports[0].protocol", { containers: [{ ...MAIN, ports: [{ containerPort: 1, protocol: "ICMP" }] }] }], // prettier-ignore
      ["a variable with an equals sign", "spec.containers[0].env[0].name", { containers: [{ ...MAIN, env: [{ name: "A=B" }] }] }],
      ["a variable with two sources", "spec.containers[0].env[0].valueFrom", { containers: [{ ...MAIN, env: [{ name: "A", value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }] }], // prettier-ignore
      ["a mount of no volume", "spec.containers[0].volumeMounts[0].name", { containers: [{ ...MAIN, volumeMounts: [mount("a")] }] }],
      ["two mounts in one place", "spec.containers[0].volumeMounts[1].mountPath", { containers: [{ ...MAIN, volumeMounts: [mount("a"), mount("a")] }], volumes: [{ name: "a" }] }], // prettier-ignore
      ["a request above its limit", "spec.containers[0].resources.requests", { containers: [{ ...MAIN, resources: { limits: { cpu: 1 }, requests: { cpu: "1001m" } } }] }], // prettier-ignore
      ["an unknown pull policy", "spec.containers[0].imagePullPolicy", { containers: [{ ...MAIN, imagePullPolicy: "Often" }] }],
      ["a probe that does nothing", "spec.containers[0].livenessProbe", { containers: [{ ...MAIN, livenessProbe: {} }] }],
      ["an unknown restart policy", "spec.restartPolicy", { containers: [MAIN], restartPolicy: "Sometimes" }],
      ["two sources of one volume", "spec.volumes[0].nfs", { containers: [MAIN], volumes: [{ name: "a", emptyDir: {}, nfs: { server: "a", path: "/" } }] }], // prettier-ignore
      [
        "ephemeral containers at creation",
        "spec.ephemeralContainers",
        { containers: [MAIN], ephemeralContainers: [{ ...MAIN, name: "look" }] },
      ],
      [
        "a toleration without key and operator",
        "spec.tolerations[0].operator",
        { containers: [MAIN], tolerations: [{ effect: "NoSchedule" }] },
      ],
    ])("%s is 422", async (_why, field, spec) => {
      const refused = await create("p-refused", spec);
      expect([refused.code, causes(refused)]).toEqual([422, expect.arrayContaining([field])]);
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

    test("a node is created with its status, and gives what it has unless it says less", async () => {
      await withNode({ status: { capacity: { cpu: 4, memory: "1024Mi" } } }, async (_name, { code, json }) => {
        const amounts = { cpu: "4", memory: "1Gi" };
        expect([code, json["status"]]).toMatchObject([201, { capacity: amounts, allocatable: amounts }]);
        expect(json["status"]!["daemonEndpoints"]).toEqual({ kubeletEndpoint: { Port: 0 } });
      });
    });

    test("addresses and conditions of a node are merged by type", async () => {
      await withNode({ status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } }, async (name) => {
        const { json } = await patch(`${name}/status`, { status: { addresses: [{ type: "Hostname", address: "n" }] } });
        const addresses = json["status"]!["addresses"]!.map((address) => String(address["type"])).sort();
        expect(addresses).toEqual(["Hostname", "InternalIP"]);
      });
    });

    test("the address range and the provider of a node can be given once", async () => {
      await withNode({}, async (name) => {
        const given = await patch(name, { spec: { podCIDR: "10.2.0.0/24", providerID: "a://1" } });
        expect(given.json["spec"]).toMatchObject({ podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24"], providerID: "a://1" });
        expect((await patch(name, { spec: { podCIDR: "10.3.0.0/24" } })).code).toBe(422);
        expect((await patch(name, { spec: { providerID: "a://2" } })).code).toBe(422);
      });
    });

    test("taints are known by key and effect, and have one of three effects", async () => {
      await withNode({}, async (name) => {
        const taint = { key: "team", value: "blue", effect: "NoSchedule" };
        expect((await patch(name, { spec: { taints: [taint, { ...taint, effect: "NoExecute" }] } })).code).toBe(200);
        expect(causes(await patch(name, { spec: { taints: [taint, taint] } }))).toEqual(["spec.taints[1]"]);
        expect(causes(await patch(name, { spec: { taints: [{ ...taint, effect: "Never" }] } }))).toEqual(["spec.taints[0].effect"]);
      });
    });
  });
}
