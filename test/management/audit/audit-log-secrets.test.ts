/**
 * The log over HTTP: what never gets into the file.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { freshFolder, CANARY, path, start } from "./audit-setting.ts";

freshFolder();

test("every record is one line that moves no cursor", async () => {
  const { send, lines } = await start({ level: 4 });
  await send("POST", "/teams", { metadata: { name: "dev" }, spec: { displayName: "a\nb\u2028c\u009b2Jd\u202ee" } });
  expect(await lines()).toMatchObject([{ requestObject: { spec: { displayName: "a\nb\u2028c\u009b2Jd\u202ee" } } }]);
  expect(readFileSync(path, "utf8")).toMatch(/^[^\n\u2028\u009b\u202e]+\n$/);
});
const CANARY_BYTES = Buffer.from(CANARY).toString("base64");
const EVERYTHING = { policy: { rules: [{ level: "RequestResponse" }] } };

test.each<[string, object]>([
  ...[1, 2, 3, 4].map((level) => [`level ${level}`, { level }] as [string, object]),
  ["a policy for everything", EVERYTHING],
  ["a policy for secrets alone", { policy: { rules: [{ level: "RequestResponse", resources: [{ group: "*", resources: ["*"] }] }] } }],
])("no key, token, password or secret is in the file with %s", async (_, audit) => {
  const vault = {
    vault: { auth: { token: CANARY } },
    auth: { oidc: { issuerUrl: "https://id.example", clientId: "c", clientSecret: CANARY } },
  };
  const { send, lines, adminKey } = await start({ ...audit }, vault);
  const secrets = "/namespaces/p-shop/sharedsecrets";
  const secret = { metadata: { name: "db" }, spec: { data: { password: CANARY_BYTES } } };
  const said: string[] = [];
  const ask = async (...request: Parameters<typeof send>) => {
    const answer = await send(...request);
    said.push(answer.text);
    return answer;
  };
  const applied = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(secret) };
  expect((await ask("POST", secrets, { ...secret, metadata: { ...secret.metadata, annotations: applied } })).code).toBe(201);
  await ask("GET", `${secrets}/db`);
  await ask("GET", secrets);
  await ask("GET", "/sharedsecrets");
  await ask("GET", `${secrets}?includeObject=Object`, undefined, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
  const current = JSON.parse((await ask("GET", `${secrets}/db`)).text) as object;
  expect((await ask("PUT", `${secrets}/db`, current)).code).toBe(200);
  expect(
    (await ask("PATCH", `${secrets}/db`, { spec: { data: { more: CANARY_BYTES } } }, { type: "application/merge-patch+json" })).code,
  ).toBe(200);
  await ask("PATCH", `${secrets}/db`, [{ op: "add", path: "/spec/data/x", value: CANARY_BYTES }], { type: "application/json-patch+json" });
  await ask("PATCH", `${secrets}/db?fieldManager=me&force=true`, secret, { type: "application/apply-patch+yaml" });
  await ask("POST", secrets, { metadata: { name: "bad" }, spec: { data: { password: CANARY } } });
  await ask("POST", secrets, { metadata: { name: "bad" }, spec: { data: CANARY } });
  await ask("POST", secrets, `{"spec":{"data":{"a":"${CANARY}`);
  await ask("POST", "/teams", { kind: "SharedSecret", metadata: { name: "bad" }, spec: { data: { password: CANARY } } });
  await ask("DELETE", `${secrets}/db`);
  const made = JSON.parse((await ask("POST", "/ownedaccesskeys", { metadata: { name: "ci" }, spec: { user: "jane" } })).text) as {
    spec: { key: string };
  };
  const own = `${CANARY}-own-key-that-is-long-enough-to-be-one`;
  await ask("POST", "/ownedaccesskeys", {
    metadata: { name: "own" },
    spec: { user: "jane", key: own, identity: { connectorData: CANARY } },
  });
  await ask("PATCH", "/ownedaccesskeys/ci", { spec: { key: `${own}-2` } }, { type: "application/merge-patch+json" });
  await ask("GET", "/ownedaccesskeys");
  await ask("POST", "/users", { metadata: { name: "jane" }, spec: { password: CANARY } });
  await ask("GET", "/users/jane");
  const token = JSON.parse((await ask("POST", "/directclusterendpointtokens", { spec: { ttl: 60 } })).text) as {
    status: { token: string };
  };
  await ask("GET", "/config/config");
  await ask("GET", "/config");
  await ask("POST", "/kubernetes/management/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: CANARY } });
  // The test proves something only because the answers contain them.
  const answers = said.join("\n");
  for (const secretText of [CANARY, CANARY_BYTES, made.spec.key, token.status.token]) expect(answers).toContain(secretText);
  expect((await lines()).length).toBeGreaterThan(5);
  const text = readFileSync(path, "utf8");
  for (const secretText of [CANARY, CANARY_BYTES, made.spec.key, token.status.token, adminKey]) expect(text).not.toContain(secretText);
});
