/**
 * The log over HTTP: what requests leave in the file, and what never gets there.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { createAuditLog } from "../../../src/management/audit/audit-log.ts";
import type { AuditLog } from "../../../src/management/audit/audit-log.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { startManagement } from "../../../src/management/management.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";

const API = "/kubernetes/management/apis/management.platform/v1";
/** Paths that are not below that of the resources. */
const OUTSIDE = /^\/(kubernetes|auth|elsewhere|\.well-known)\b/;
const cleanups: (() => Promise<void>)[] = [];
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-log-"));
  path = join(folder, "audit.log");
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

/** The configuration with these settings of `audit`. */
function configOf(audit: object, rest: object = {}) {
  const result = parseManagementConfig(JSON.stringify({ ...rest, audit: { enabled: true, path, ...audit } }));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

interface Sent {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Started {
  readonly log: AuditLog;
  readonly adminKey: string;
  send(method: string, path: string, body?: unknown, how?: Sent): Promise<{ code: number; text: string; auditID: string }>;
  /** Opens a watch and resolves once it answers. */
  watch(path: string): Promise<void>;
  /** Stops everything; what the file has then. */
  lines(): Promise<Line[]>;
}

type Line = Readonly<Record<string, unknown>> & {
  readonly stage: string;
  readonly verb: string;
  readonly level: string;
  readonly requestURI: string;
};

async function start(audit: object, rest: object = {}): Promise<Started> {
  const config = configOf(audit, rest);
  const log = createAuditLog({ clock: createFakeClock(Date.UTC(2026, 5, 1)), logger: silentLogger });
  await log.configure(config.audit);
  const management = await startManagement({ tls: false, config, audit: log.audit });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= management.stop().then(() => log.stop()));
  cleanups.push(stop);
  const adminKey = management.adminKey!;
  return {
    log,
    adminKey,
    async send(method, at, body, { type = "application/json", headers = {} } = {}) {
      const url = `${management.url}${OUTSIDE.test(at) ? "" : API}${at}`;
      const answer = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${adminKey}`,
          "user-agent": "tool/1",
          ...(body !== undefined && { "content-type": type }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return { code: answer.status, text: await answer.text(), auditID: answer.headers.get("audit-id")! };
    },
    watch: (at) =>
      new Promise((resolve, reject) => {
        const request = get(`${management.url}${API}${at}`, { headers: { authorization: `Bearer ${adminKey}` } }, (answer) => {
          answer.on("error", () => {});
          answer.resume();
          resolve();
        });
        request.on("error", reject);
      }),
    async lines() {
      await stop();
      return linesIn(path);
    },
  };
}

function linesIn(file: string): Line[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Line);
}

const TEAM = { metadata: { name: "dev" }, spec: { displayName: "Developers" } };

test("row 170: with audit.enabled a request leaves a line", async () => {
  const { send, lines } = await start({});
  const { auditID } = await send("POST", "/teams?fieldManager=me", TEAM);
  expect(await lines()).toEqual([
    {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Request",
      auditID,
      stage: "ResponseComplete",
      requestURI: `${API}/teams?fieldManager=me`,
      verb: "create",
      user: expect.objectContaining({ username: expect.any(String), groups: expect.arrayContaining(["platform:admins"]) }),
      sourceIPs: ["127.0.0.1"],
      userAgent: "tool/1",
      objectRef: { resource: "teams", name: "dev", apiGroup: "management.platform", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: TEAM,
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      stageTimestamp: "2026-06-01T00:00:00.000000Z",
    },
  ]);
});

test("row 170: audit.enabled without audit.path is a configuration error", () => {
  expect(parseManagementConfig("audit: { enabled: true }")).toMatchObject({ ok: false, problems: [{ field: "audit.path" }] });
});

test("row 170: nothing is written unless audit.enabled", async () => {
  const { send, lines, log } = await start({ enabled: false, level: 4 });
  await send("POST", "/teams", TEAM);
  await expect(lines()).rejects.toThrow("ENOENT");
  expect(readdirSync(folder)).toEqual([]);
  await log.stop();
});

test("row 171: audit.level 4 has bodies and answers, of reads too", async () => {
  const { send, lines } = await start({ level: 4 });
  await send("POST", "/teams", TEAM);
  await send("GET", "/teams/dev");
  const answered = expect.objectContaining({ kind: "Team", metadata: expect.objectContaining({ name: "dev" }) });
  expect((await lines()).map(({ verb, level, requestObject, responseObject }) => [verb, level, requestObject, responseObject])).toEqual([
    ["create", "RequestResponse", TEAM, answered],
    ["get", "RequestResponse", undefined, answered],
  ]);
});

test("row 172: the first rule that matches a request decides", async () => {
  const rules = [
    { level: "None", verbs: ["list"] },
    { level: "Metadata", resources: [{ group: "management.platform", resources: ["teams"] }] },
  ];
  const { send, lines } = await start({ policy: { rules, omitStages: ["RequestReceived"] } });
  await send("GET", "/teams");
  await send("POST", "/teams", TEAM);
  await send("GET", "/users");
  expect((await lines()).map(({ verb, level, requestObject }) => [verb, level, requestObject])).toEqual([
    ["create", "Metadata", undefined],
  ]);
});

test.each([
  [[], ["RequestReceived", "ResponseStarted", "ResponseComplete"]],
  [["RequestReceived"], ["ResponseStarted", "ResponseComplete"]],
  [["ResponseStarted", "ResponseComplete"], ["RequestReceived"]],
])("row 173: with omitStages %j a watch leaves %j", async (omitStages, stages) => {
  const { watch, lines } = await start({ policy: { rules: [{ level: "Metadata", verbs: ["watch"] }], omitStages } });
  await watch("/teams?watch=true");
  expect((await lines()).map(({ stage }) => stage)).toEqual(stages);
});

test("row 173: without a rule that matches there is no line", async () => {
  const { send, lines } = await start({ policy: { rules: [{ level: "Metadata", verbs: ["delete"] }] } });
  await send("POST", "/teams", TEAM);
  expect(await lines()).toEqual([]);
});

test("refusals leave lines: of who is unknown, of who may not, and of what is wrong", async () => {
  const { send, lines } = await start({ level: 3 });
  await send("GET", "/teams", undefined, { headers: { authorization: "Bearer wrong" } });
  await send("POST", "/teams", TEAM, { headers: { "impersonate-user": "nobody" } });
  await send("GET", "/teams/absent");
  const seen = (await lines()).map(({ user, impersonatedUser, responseStatus }) => [user, impersonatedUser, responseStatus]);
  const administrator = expect.objectContaining({ groups: expect.arrayContaining(["platform:admins"]) });
  expect(seen).toEqual([
    [{}, undefined, expect.objectContaining({ code: 401, reason: "Unauthorized" })],
    [administrator, expect.objectContaining({ username: "nobody" }), expect.objectContaining({ code: 403, reason: "Forbidden" })],
    [administrator, undefined, expect.objectContaining({ code: 404, message: expect.stringContaining('"absent" not found') })],
  ]);
});

test("an object's name is told when the server makes it", async () => {
  const { send, lines } = await start({ level: 2 });
  const made = JSON.parse((await send("POST", "/teams", { metadata: { generateName: "dev-" } })).text) as { metadata: { name: string } };
  expect((await lines())[0]).toMatchObject({ objectRef: { name: made.metadata.name } });
});

test("a body that is too long, or nested too deeply, is left out, with a note; the request is answered", async () => {
  const { send, lines } = await start({ level: 3 });
  const long = await send("POST", "/teams", { metadata: { name: "long", annotations: { a: "x".repeat(2_200_000) } } });
  const deep = await send("POST", "/teams", `{"metadata":{"name":"deep"},"spec":${"[".repeat(200_000)}${"]".repeat(200_000)}}`);
  expect([long.code, deep.code].every((code) => code >= 400 && code < 500)).toBe(true);
  const [first, second] = await lines();
  expect(first).toMatchObject({
    annotations: { "management.platform/request-object": expect.stringMatching(/^left out: it has 22\d{5} bytes, more than 2097152$/) },
  });
  expect(first).not.toHaveProperty("requestObject");
  expect(second!.responseStatus).toMatchObject({ code: deep.code });
});

test("every line is one line that moves no cursor", async () => {
  const { send, lines } = await start({ level: 4 });
  await send("POST", "/teams", { metadata: { name: "dev" }, spec: { displayName: "a\nb\u2028c\u009b2Jd\u202ee" } });
  expect(await lines()).toMatchObject([{ requestObject: { spec: { displayName: "a\nb\u2028c\u009b2Jd\u202ee" } } }]);
  expect(readFileSync(path, "utf8")).toMatch(/^[^\n\u2028\u009b\u202e]+\n$/);
});

const CANARY = "canary-hunter2";
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
  // The test is worth something only because the answers do have them.
  const answers = said.join("\n");
  for (const secretText of [CANARY, CANARY_BYTES, made.spec.key, token.status.token]) expect(answers).toContain(secretText);
  expect((await lines()).length).toBeGreaterThan(5);
  const text = readFileSync(path, "utf8");
  for (const secretText of [CANARY, CANARY_BYTES, made.spec.key, token.status.token, adminKey]) expect(text).not.toContain(secretText);
});

test("row 177: audit.compress, maxSize and maxBackups reach the file", async () => {
  const { send, lines } = await start({ level: 3, maxSize: 1, maxBackups: 1, compress: true });
  for (let number = 0; number < 5; number++) {
    await send("POST", "/teams", { metadata: { name: `t${number}` }, spec: { description: `${number}`.repeat(450_000) } });
  }
  const last = await lines();
  const [rotated, current, ...more] = readdirSync(folder).sort();
  expect([current, more]).toEqual(["audit.log", []]);
  const before = gunzipSync(readFileSync(join(folder, rotated!))).toString();
  expect(
    before
      .split("\n")
      .slice(0, -1)
      .map((text) => (JSON.parse(text) as { objectRef: { name: string } }).objectRef.name),
  ).toEqual(["t2", "t3"]);
  expect(last).toMatchObject([{ objectRef: { name: "t4" } }]);
});

test("other settings are at work at once: another level, another file, none", async () => {
  const { send, log, lines } = await start({ level: 1 });
  const other = join(folder, "other.log");
  await send("GET", "/teams");
  await log.configure(configOf({ level: 2 }).audit);
  await send("GET", "/teams");
  await log.configure(configOf({ level: 2, path: other }).audit);
  await send("GET", "/users");
  await log.configure(configOf({ enabled: false }).audit);
  await send("GET", "/teams");
  expect((await lines()).map(({ requestURI }) => requestURI)).toEqual([`${API}/teams`]);
  expect(linesIn(other).map(({ requestURI }) => requestURI)).toEqual([`${API}/users`]);
});

test("a path that can not be written is an error, and the file from before stays", async () => {
  const { send, log, lines } = await start({ level: 2 });
  const error = await log.configure(configOf({ path: folder }).audit).catch((thrown: unknown) => thrown);
  expect(isEngineError(error, "CONFIG_FILE")).toBe(true);
  await send("GET", "/teams");
  expect(await lines()).toHaveLength(1);
});

test("row 178: disableAgentSyncBack, dataStoreEndpoint and dataStoreTTL are shown, and their types checked", async () => {
  const { send } = await start({ disableAgentSyncBack: true, dataStoreEndpoint: "mysql://db", dataStoreTTL: 72 });
  const shown = JSON.parse((await send("GET", "/config/config")).text) as { status: { audit: object } };
  expect(shown.status.audit).toMatchObject({ disableAgentSyncBack: true, dataStoreEndpoint: "mysql://db", dataStoreTTL: 72 });
  const wrong = parseManagementConfig("audit: { disableAgentSyncBack: 1, dataStoreEndpoint: [], dataStoreTTL: soon }");
  const fields = wrong.ok ? [] : wrong.problems.map(({ field }) => field);
  expect(fields).toEqual(["audit.disableAgentSyncBack", "audit.dataStoreEndpoint", "audit.dataStoreTTL"]);
});

test("the levels leave one line of a request, and two of a watch", async () => {
  const { send, watch, lines } = await start({ level: 2 });
  await send("GET", "/teams");
  await watch("/users?watch=true");
  await until("the watch has begun", () => readFileSync(path, "utf8").includes("ResponseStarted"));
  expect((await lines()).map(({ verb, stage }) => `${verb} ${stage}`)).toEqual([
    "list ResponseComplete",
    "watch ResponseStarted",
    "watch ResponseComplete",
  ]);
});

test("sign-ins and logouts leave lines at every level but 0: who came with which key, or why not; and never what was typed", async () => {
  const { send, lines } = await start({ level: 1 });
  await send("POST", "/users", { metadata: { name: "jane" }, spec: { password: "horse battery" } });
  const signIn = (password: string) => send("POST", "/auth/password/login", { username: "jane", password });
  const refused = await signIn("staple battery");
  const { auditID, text } = await signIn("horse battery");
  const { accessKey, name } = JSON.parse(text) as { accessKey: string; name: string };
  await send("GET", "/auth/oidc/callback?code=secret-code&state=secret-state");
  await send("POST", "/auth/logout", undefined, { headers: { authorization: `Bearer ${accessKey}` } });
  await send("GET", "/.well-known/jwks.json");
  await send("GET", "/elsewhere");
  const told = (await lines()).filter(({ requestURI }) => !requestURI.startsWith(API));
  expect(told).toMatchObject([
    { requestURI: "/auth/password/login", verb: "post", level: "Metadata", user: {}, auditID: refused.auditID },
    { auditID, annotations: { "management.platform/signed-in": "jane", "management.platform/access-key": name } },
    { requestURI: "/auth/oidc/callback?code=********&state=********", responseStatus: { code: 404 } },
    { requestURI: "/auth/logout", responseStatus: { code: 200 } },
  ]);
  expect(told[0]).toMatchObject({ responseStatus: { code: 401, message: "wrong user name or password" } });
  const log = readFileSync(path, "utf8");
  for (const secret of ["battery", accessKey, "secret-code", "secret-state"]) expect(log).not.toContain(secret);
});

test("a request in which the server fails leaves a line of the stage Panic, which quotes nothing", async () => {
  const log = createAuditLog({ clock: createFakeClock(), logger: silentLogger });
  await log.configure(configOf({ level: 3 }).audit);
  const attributes = {
    verb: "create",
    group: "management.platform",
    version: "v1",
    resource: "teams",
    subresource: "",
    namespace: "",
    name: "",
  };
  const trail = log.audit({ auditID: "1", attributes, method: "POST", requestURI: "/", sourceIPs: [], userAgent: "", receivedAt: 0 })!;
  let deep: unknown = CANARY;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  trail.requestObject!(deep);
  trail.panic!(new Error(CANARY));
  await log.stop();
  expect(linesIn(path)).toEqual([
    expect.objectContaining({
      stage: "Panic",
      responseStatus: { metadata: {}, status: "Failure", reason: "InternalError", code: 500 },
      annotations: { "management.platform/request-object": "left out: it has no text" },
    }),
  ]);
  expect(readFileSync(path, "utf8")).not.toContain(CANARY);
});

test.each([
  ["sharedsecrets", { metadata: {}, status: "Failure", reason: "Invalid", code: 422 }],
  ["teams", { metadata: {}, status: "Failure", reason: "Invalid", code: 422, message: `quotes ${CANARY}`, details: { name: "a" } }],
])("a refusal of %s is told with what it may say", async (resource, responseStatus) => {
  const log = createAuditLog({ clock: createFakeClock(), logger: silentLogger });
  await log.configure(configOf({ level: 2 }).audit);
  const attributes = { verb: "update", group: "management.platform", version: "v1", resource, subresource: "", namespace: "", name: "a" };
  const trail = log.audit({ auditID: "1", attributes, method: "PUT", requestURI: "/", sourceIPs: [], userAgent: "", receivedAt: 0 })!;
  const details = { name: "a", causes: [{ message: CANARY }] };
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "Invalid",
    code: 422,
    message: `quotes ${CANARY}`,
    details,
  };
  trail.complete(422, () => status);
  await log.stop();
  expect(linesIn(path)[0]!.responseStatus).toEqual(responseStatus);
});
