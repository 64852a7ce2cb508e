/**
 * Every overlay of `deploy/` is built and applied by a kubectl of this machine, and its Pods have what is asked of good neighbours.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readVersion } from "../../src/cli/process/version.ts";
import { startCluster, type Cluster } from "../../src/clusters.ts";
import { parseConfig } from "../../src/engine/config/config.ts";
import { parseSettings } from "../../src/engine/config/settings.ts";
import { NAMESPACES } from "../../src/kube/object/resource.ts";
import { createKubectl, type Kubectl } from "../suites/kubectl/kubectl.ts";
import { build, folderOf, kubectlPath, ofKind } from "./overlays.ts";

const SIDECARS = ["sidecar/single-namespace", "sidecar/references-and-slices", "sidecar/multi-namespace"];
const MANAGEMENT = ["management/sqlite", "management/etcd"];
const TENANT = ["sidecar/tenant/basic", "sidecar/tenant/references-and-slices"];
const NAMES = ["vc-blue", "blue-shop", "blue-data", "platform"];

describe.runIf(kubectlPath !== undefined)("kubectl", () => {
  let cluster: Cluster;
  let kubectl: Kubectl;
  const applied = async (words: string) => (await kubectl.ok(words)).trim().split("\n");
  beforeAll(async () => {
    cluster = await startCluster({ name: "host" });
    for (const name of NAMES) await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    kubectl = createKubectl(kubectlPath!, cluster.kubeconfig);
  });
  afterAll(async () => {
    kubectl?.close();
    await cluster?.stop();
  });

  test.each([...SIDECARS, ...MANAGEMENT, ...TENANT])("applies %s, the second time without a change, and on the server", async (overlay) => {
    const first = await applied(`apply -k ${folderOf(overlay)}`);
    expect(first).toHaveLength(build(overlay).length);
    const versions = () => kubectl.ok(`get -k ${folderOf(overlay)} -o jsonpath={.items[*].metadata.resourceVersion}`);
    const before = await versions();
    await applied(`apply -k ${folderOf(overlay)}`);
    expect(await versions()).toBe(before);
    expect((await kubectl.run(`diff -k ${folderOf(overlay)}`)).code).toBe(0);
    const onServer = await applied(`apply --server-side --force-conflicts -k ${folderOf(overlay)}`);
    expect(onServer.filter((line) => !line.endsWith(" serverside-applied"))).toEqual([]);
  });

  test("puts a container into the Pod of a virtual cluster, where its configuration is", async () => {
    const labels = { app: "vcluster" };
    const blue = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "blue", namespace: "vc-blue" },
      spec: {
        serviceName: "blue",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "syncer", image: "vcluster" }] } },
      },
    };
    await kubectl.ok("apply -f -", blue);
    const made = await applied(`apply -k ${folderOf("sidecar/in-pod")}`);
    expect(made).toContain("configmap/endpoint-sync-config-blue created");
    await kubectl.ok(`patch statefulset -n vc-blue blue --patch-file ${folderOf("sidecar/in-pod/container")}/container.yaml`);
    const { spec } = JSON.parse(await kubectl.ok("get -n vc-blue statefulset blue -o json")) as Workload;
    const [container] = spec.template.spec.containers!.filter(({ name }) => name === "endpoint-sync");
    expect(spec.template.spec.containers!.map(({ name }) => name).sort()).toEqual(["endpoint-sync", "syncer"]);
    expect(container!.image).toBe(`endpoint-sync:${readVersion()}`);
    expect(spec.template.metadata.labels).toEqual({ ...labels, "endpoint-sync": "in-pod" });
    const mounts = (container!.volumeMounts ?? []).map(({ mountPath }) => mountPath);
    const files = container!.args.flatMap((argument) => /=(\/etc\/.*)$/.exec(argument)?.slice(1) ?? []);
    expect(files.filter((file) => mounts.some((mount) => file.startsWith(`${mount}/`)))).toHaveLength(3);
    await kubectl.ok("delete statefulset -n vc-blue blue");
    await kubectl.ok(`delete -k ${folderOf("sidecar/in-pod")}`);
  });

  test("shows what was applied", async () => {
    const told = await kubectl.ok("get deployments,statefulsets,poddisruptionbudgets,networkpolicies -A");
    expect(told).toMatch(/vc-blue +deployment\.apps\/endpoint-sync-blue +0\/2 /);
    expect(told).toMatch(/platform +statefulset\.apps\/endpoint-sync-management +0\/1 /);
    expect(told).toMatch(/vc-blue +poddisruptionbudget\.policy\/endpoint-sync-blue +N\/A +1 +0 /);
    expect(told).toMatch(/vc-blue +networkpolicy\.networking\.k8s\.io\/endpoint-sync-blue +app\.kubernetes\.io\/component=sidecar,/);
  });

  test("changes an image by a patch of the template, and restarts", async () => {
    await kubectl.ok("set image -n vc-blue deployment/endpoint-sync-blue sidecar=endpoint-sync:9");
    await kubectl.ok("rollout restart -n vc-blue deployment/endpoint-sync-blue");
    const template = JSON.parse(await kubectl.ok("get -n vc-blue deployment endpoint-sync-blue -o json")) as Workload;
    expect(template.spec.template.spec.containers![0]!.image).toBe("endpoint-sync:9");
    expect(template.spec.template.spec.containers![0]!.args).toContain("--leader-elect");
    expect(template.spec.template.metadata.annotations).toHaveProperty("kubectl.kubernetes.io/restartedAt");
  });
});

type Named = readonly { readonly name: string }[];

interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port?: string };
}

interface PodSpec {
  readonly securityContext?: object;
  readonly volumes?: Named;
  readonly containers?: readonly {
    readonly name: string;
    readonly image: string;
    readonly args: readonly string[];
    readonly ports?: Named;
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
    readonly startupProbe?: Probe;
    readonly livenessProbe?: Probe;
    readonly readinessProbe?: Probe;
  }[];
}

interface Workload {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: object };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template: {
      readonly metadata: { readonly labels: object; readonly annotations?: object };
      readonly spec: PodSpec;
    };
  };
}

describe.runIf(kubectlPath !== undefined).each([...SIDECARS, ...MANAGEMENT])("%s", (overlay) => {
  const objects = kubectlPath === undefined ? [] : build(overlay);
  const workload = [...ofKind<Workload>(objects, "Deployment"), ...ofKind<Workload>(objects, "StatefulSet")];
  const pod: PodSpec = workload[0]?.spec.template.spec ?? {};
  const [container] = pod.containers ?? [];

  test("has one workload of one container of this version, from no registry", () => {
    expect([workload.length, pod.containers?.length, container?.image]).toEqual([1, 1, `endpoint-sync:${readVersion()}`]);
    expect(JSON.stringify(objects)).not.toContain("CHANGE-ME");
  });

  test("has a configuration without errors or warnings", () => {
    const maps = ofKind<{ data: Record<string, string> }>(objects, "ConfigMap").map(({ data }) => data);
    const said = maps.flatMap((data) => {
      const settings = data["settings.yaml"] === undefined ? undefined : parseSettings(data["settings.yaml"], { file: "settings.yaml" });
      const config = data["vcluster.yaml"] === undefined ? undefined : parseConfig(data["vcluster.yaml"], { file: "vcluster.yaml" });
      return [settings, config].flatMap((result) => (result === undefined ? [] : result.ok ? result.warnings : result.problems));
    });
    expect(said).toEqual([]);
  });

  test("runs without permissions on its node", () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(container).toMatchObject({
      securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      resources: { requests: { memory: expect.any(String) as string }, limits: { memory: expect.any(String) as string } },
    });
  });

  test("is probed where it answers", () => {
    const ports = new Set(container?.ports?.map(({ name }) => name));
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe].map((probe) => probe?.httpGet);
    expect(probes.map((probe) => probe?.path)).toEqual(["/livez", "/livez", "/readyz"]);
    expect(probes.every((probe) => ports.has(probe?.port ?? ""))).toBe(true);
  });

  test("gives its Pods the labels by which Service, budget and policy find them", () => {
    const { labels } = workload[0]!.spec.template.metadata;
    const selectors = [
      workload[0]!.spec.selector.matchLabels,
      ...ofKind<{ spec: { selector: object } }>(objects, "Service").map(({ spec }) => spec.selector),
      ...ofKind<{ spec: { selector: { matchLabels: object } } }>(objects, "PodDisruptionBudget").map(
        ({ spec }) => spec.selector.matchLabels,
      ),
      ...ofKind<{ spec: { podSelector: { matchLabels: object } } }>(objects, "NetworkPolicy").map(
        ({ spec }) => spec.podSelector.matchLabels,
      ),
    ];
    expect(selectors.length).toBeGreaterThanOrEqual(3);
    for (const selector of selectors) expect(labels).toMatchObject(selector);
  });

  test("mounts volumes that it has", () => {
    const claims = (workload[0]!.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
    const volumes = [...claims, ...(pod.volumes ?? []).map(({ name }) => name)];
    const mounted = (container?.volumeMounts ?? []).map(({ name }) => name);
    expect([mounted.length > 0, mounted.filter((name) => !volumes.includes(name))]).toEqual([true, []]);
  });

  test("mounts what its arguments name", () => {
    const mounts = (container?.volumeMounts ?? []).map(({ mountPath }) => mountPath);
    const files = (container?.args ?? []).flatMap((argument) => /=(\/(?:etc|var)\/.*)$/.exec(argument)?.slice(1) ?? []);
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => !mounts.some((mount) => file.startsWith(`${mount}/`)))).toEqual([]);
  });
});

describe.runIf(kubectlPath !== undefined)("what is decided Service by Service where nothing is written", () => {
  const rulesOf = (overlay: string) =>
    [...ofKind<{ rules: object[] }>(build(overlay), "Role"), ...ofKind<{ rules: object[] }>(build(overlay), "ClusterRole")].flatMap(
      ({ rules }) => rules,
    );
  const slices = (...verbs: readonly string[]) => ({ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs });

  test.each(["sidecar/single-namespace", "sidecar/in-pod"])("is allowed by %s", (overlay) => {
    const rules = rulesOf(overlay);
    expect(rules).toContainEqual(slices("get", "list", "watch", "create", "update", "delete"));
    expect(rules.some((rule) => JSON.stringify(rule).includes("endpoints") && JSON.stringify(rule).includes("get"))).toBe(true);
  });

  test("is allowed in each namespace of several", () => {
    const rules = rulesOf("sidecar/multi-namespace");
    expect(rules).toContainEqual(slices("list", "watch"));
    expect(rules.filter((rule) => JSON.stringify(rule) === JSON.stringify(slices("get", "create", "update", "delete")))).toHaveLength(2);
    expect(rules.filter((rule) => JSON.stringify(rule).includes('["endpoints","services"],"verbs":["get"]'))).toHaveLength(2);
  });

  test.each(TENANT)("is allowed in the tenant by %s", (overlay) => {
    expect(rulesOf(overlay)).toContainEqual(slices("get", "list", "watch", "update"));
  });
});
