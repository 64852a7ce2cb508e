import { describe, expect, test } from "vitest";
import { startCluster } from "../../src/clusters.ts";
import { createRawClient } from "../conformance/raw-client.ts";

describe("reviews", () => {
  const ask = async (path: string, kind: string, spec: object) => {
    const cluster = await startCluster({ name: "demo" });
    const raw = createRawClient(cluster);
    const answer = await raw.send("POST", `/apis/${path}`, {
      body: { kind, apiVersion: path.replace(/\/[^/]+$/, ""), metadata: {}, spec },
    });
    const listed = await raw.send("GET", `/apis/${path}`);
    await raw.close();
    await cluster.stop();
    return { ...answer, listed: listed.code };
  };

  test.each([
    {
      why: "may I do this: yes",
      path: "authorization.k8s.io/v1/selfsubjectaccessreviews",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
      status: { allowed: true },
    },
    {
      why: "what may I do: everything",
      path: "authorization.k8s.io/v1/selfsubjectrulesreviews",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: "default" },
      status: { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], incomplete: false },
    },
  ])("$why; nothing is stored", async ({ path, kind, spec, status }) => {
    const { code, json, listed } = await ask(path, kind, spec);
    expect([code, json, listed]).toMatchObject([201, { kind, spec, status }, 405]);
  });

  test("who am I: the user that the server knows", async () => {
    const cluster = await startCluster({ name: "demo" });
    const raw = createRawClient(cluster);
    const { code, json } = await raw.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: { metadata: {} } });
    expect([code, json["status"]]).toEqual([
      201,
      { userInfo: { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] } },
    ]);
    await raw.close();
    await cluster.stop();
  });
});
