/**
 * Everyday use of Pods and Nodes by the kubectl programs of this machine; see `session.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCluster, type Cluster } from "../../../src/clusters.ts";
import { NODES } from "../../../src/cluster/kinds/nodes.ts";
import { PODS } from "../../../src/cluster/kinds/pods.ts";
import { findKubectls } from "./find-kubectl.ts";
import { AGE, createKubectl, type Kubectl } from "./kubectl.ts";

const found = findKubectls(process.env);
const used = process.env["KUBECTL"] === "all" ? found : found.slice(-1);

const pod = ({ image = "example.com/web:1", level = "info" } = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", labels: { app: "web" } },
  spec: {
    volumes: [{ name: "data", emptyDir: {} }],
    containers: [
      {
        name: "main",
        image,
        env: [
          { name: "LEVEL", value: level },
          { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        ],
        ports: [
          { name: "http", containerPort: 8080 },
          { name: "dns", containerPort: 53, protocol: "UDP" },
        ],
        resources: { requests: { cpu: "500m", memory: "1Gi" } },
        volumeMounts: [{ name: "data", mountPath: "/data" }],
        readinessProbe: { httpGet: { port: "http" } },
      },
      { name: "proxy", image: "example.com/proxy:1" },
    ],
  },
});

interface Stored {
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
}

describe.each(used)("kubectl 1.$minor with Pods", ({ path }) => {
  let cluster: Cluster;
  let kubectl: Kubectl;
  const images = async () => {
    const object = (await cluster.client.get(PODS, { namespace: "default", name: "web" })) as unknown as Stored;
    return Object.fromEntries(object.spec.containers.map(({ name, image }) => [name, image.slice(image.lastIndexOf("/") + 1)]));
  };

  beforeAll(async () => {
    cluster = await startCluster({ name: "demo" });
    kubectl = createKubectl(path, cluster.kubeconfig);
  });
  afterAll(async () => {
    kubectl?.close();
    await cluster?.stop();
  });

  test("applies, shows no difference to what it applied, and applies another image", async () => {
    expect(await kubectl.ok("apply -f -", pod())).toBe("pod/web created\n");
    expect(await kubectl.ok("apply -f -", pod())).toBe("pod/web unchanged\n");
    const diff = await kubectl.run("diff -f -", pod());
    expect([diff.code, diff.out, diff.err]).toEqual([0, "", ""]);
    expect(await kubectl.ok("apply -f -", pod({ image: "example.com/web:2" }))).toBe("pod/web configured\n");
    expect(await images()).toEqual({ main: "web:2", proxy: "proxy:1" });
  });

  test("takes away a container that it no longer applies, and one of its variables and ports", async () => {
    const labels = { app: "parts" };
    const deployment = (containers: object[]) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "parts" },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    });
    const main = (env: object[], ports: object[]) => ({ name: "main", image: "example.com/web:1", env, ports });
    const one = { name: "A", value: "1" };
    const port = { containerPort: 8080 };
    const other = { name: "proxy", image: "example.com/proxy:1" };
    await kubectl.ok("apply -f -", deployment([main([one, { name: "B", value: "2" }], [{ containerPort: 53 }, port]), other]));
    const applied = await kubectl.run("apply -f -", deployment([main([one], [port])]));
    expect([applied.out, applied.err]).toEqual(["deployment.apps/parts configured\n", ""]);
    const { spec } = JSON.parse(await kubectl.ok("get deployment parts -o json")) as { spec: { template: { spec: object } } };
    expect(spec.template.spec).toEqual({ containers: [main([one], [port])] });
    expect(await kubectl.ok("set env deployment/parts B=3")).toBe("deployment.apps/parts env updated\n");
    expect(await kubectl.ok("get deployment parts -o jsonpath={.spec.template.spec.containers[0].env[*].name}")).toBe("A B");
  });

  test("creates a Deployment and a budget from the command line", async () => {
    expect(await kubectl.ok("create deployment made --image=example.com/web:1 --replicas=2 --port=80 -- serve --all")).toContain("created");
    const { spec } = JSON.parse(await kubectl.ok("get deployment made -o json")) as { spec: object };
    expect(spec).toMatchObject({
      replicas: 2,
      selector: { matchLabels: { app: "made" } },
      template: { spec: { containers: [{ name: "web", image: "example.com/web:1", command: ["serve", "--all"], ports: [{ containerPort: 80 }] }] } }, // prettier-ignore
    });
    await kubectl.ok("create poddisruptionbudget made --selector=app=made --min-available=50%");
    const budget = JSON.parse(await kubectl.ok("get pdb made -o json")) as { spec: object };
    expect(budget.spec).toEqual({ minAvailable: "50%", selector: { matchLabels: { app: "made" } } });
  });

  test("patches the image of one container, by strategic merge and by its own command", async () => {
    const patch = { spec: { containers: [{ name: "proxy", image: "example.com/proxy:2" }] } };
    expect(await kubectl.ok(["patch", "pod", "web", "-p", JSON.stringify(patch)])).toBe("pod/web patched\n");
    expect(await images()).toEqual({ main: "web:2", proxy: "proxy:2" });
    expect(await kubectl.ok("set image pod/web main=example.com/web:3")).toBe("pod/web image updated\n");
    expect(await images()).toEqual({ main: "web:3", proxy: "proxy:2" });
  });

  test("labels a Pod and finds it by its label", async () => {
    expect(await kubectl.ok("label pod web tier=front")).toBe("pod/web labeled\n");
    expect(await kubectl.ok("get pods -l tier=front -o name")).toBe("pod/web\n");
    expect(await kubectl.ok("get pods --field-selector=spec.restartPolicy=Always -o name")).toBe("pod/web\n");
  });

  test("applies on the server: two managers, each with a container of its own", async () => {
    const own = (name: string, image: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "shared" }, spec: { containers: [{ name, image }] } }); // prettier-ignore
    await kubectl.ok("apply --server-side --field-manager=one -f -", own("main", "example.com/web:1"));
    const again = await kubectl.run("apply --server-side --field-manager=two -f -", own("main", "example.com/web:2"));
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('.spec.containers[name="main"].image')]);
    await kubectl.ok("apply --server-side --force-conflicts --field-manager=two -f -", own("main", "example.com/web:2"));
    await kubectl.ok("delete pod shared");
  });

  test("explains Pods as far as the server knows them", async () => {
    const text = await kubectl.ok("explain pod");
    expect(text).toContain("Containers that run together.");
    expect(text).toMatch(/ {2}spec\t<Object>[^\n]*\n +Containers, and how they run\./);
    expect(await kubectl.ok("explain pod.metadata.labels")).toContain("map[string]string");
  });

  test("shows Pods and Nodes, narrow, wide and described", async () => {
    const rows = (text: string) => text.trim().split("\n").map((line) => line.trim().split(/ {2,}/)); // prettier-ignore
    const status = { conditions: [{ type: "Ready", status: "True" }], podIP: "10.1.0.9", phase: "Running" };
    await kubectl.ok(["patch", "pod", "web", "--subresource=status", "-p", JSON.stringify({ status })]);
    const [head, row] = rows(await kubectl.ok("get pod web -o wide"));
    expect(head).toEqual(["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"]);
    expect(row).toEqual(["web", "0/2", "Running", "0", expect.stringMatching(AGE), "10.1.0.9", "<none>", "<none>", "<none>"]);
    expect(await kubectl.ok("wait --for=condition=Ready pod/web --timeout=90s")).toBe("pod/web condition met\n");
    const described = await kubectl.ok("describe pod web");
    expect(described).toMatch(/LEVEL: +info/);
    expect(described).toMatch(/Readiness: +http-get \/\/:http/);
    const requests = await kubectl.ok("get pod web -o jsonpath={.spec.containers[0].resources.requests}");
    expect(JSON.parse(requests)).toEqual({ cpu: "500m", memory: "1Gi" });
  });

  test("taints, cordons and labels a node", async () => {
    await kubectl.ok("create -f -", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n1" },
      status: { capacity: { cpu: 4, memory: "2048Ki" } },
    });
    expect(await kubectl.ok("taint nodes n1 team=blue:NoSchedule")).toBe("node/n1 tainted\n");
    expect(await kubectl.ok("cordon n1")).toBe("node/n1 cordoned\n");
    const { spec, status } = (await cluster.client.get(NODES, { namespace: "", name: "n1" })) as unknown as Record<
      "spec" | "status",
      object
    >;
    expect(spec).toMatchObject({ unschedulable: true });
    expect(spec).toMatchObject({ taints: [{ key: "team", value: "blue", effect: "NoSchedule" }] });
    expect(status).toEqual({ capacity: { cpu: 4, memory: "2048Ki" } });
    expect(await kubectl.ok("get node n1")).toContain("Unknown,SchedulingDisabled");
    expect(await kubectl.ok("describe node n1")).toMatch(/Taints: +team=blue:NoSchedule/);
  });

  test("runs a Pod from the command line and deletes it", async () => {
    expect(await kubectl.ok("run quick --image=example.com/web --port=80 --env=A=1")).toBe("pod/quick created\n");
    const made = await cluster.client.get(PODS, { namespace: "default", name: "quick" });
    expect(made!["spec"]).toMatchObject({ containers: [{ name: "quick", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }] }); // prettier-ignore
    expect(await kubectl.ok("delete pod quick --timeout=90s")).toMatch(/^pod "quick" deleted/);
  });
});
