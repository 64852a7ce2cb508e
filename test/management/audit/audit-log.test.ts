/**
 * The log over HTTP: the lines of requests in the file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { createAuditLog } from "../../../src/management/audit/audit-log.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { freshFolder, API, CANARY, configOf, folder, linesIn, path, start } from "./audit-setting.ts";

freshFolder();

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

test("refusals leave lines: of unknown callers, of forbidden requests, and of invalid ones", async () => {
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

test("an object's name is logged when the server makes it", async () => {
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

test("the lines of a key with a long scope have only the beginning of it", async () => {
  const { send, lines } = await start({ level: 1 });
  const scope = { rules: [{ verbs: ["get", "b".repeat(60_000)] }] };
  const made = await send("POST", "/ownedaccesskeys", { metadata: { name: "long" }, spec: { user: "jane", scope } });
  const { spec } = JSON.parse(made.text) as { spec: { key: string } };
  const { code } = await send("DELETE", "/teams/none", undefined, { headers: { authorization: `Bearer ${spec.key}` } });
  const [, refused] = await lines();
  const text = JSON.stringify(scope);
  const extra = { "platform/access-key": ["long"], "platform/scope": [`${text.slice(0, 1_024)}… (${text.length} characters)`] };
  expect([code, refused]).toEqual([403, expect.objectContaining({ user: expect.objectContaining({ extra }) })]);
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

test("sign-ins and logouts leave lines at every level except 0: the user and the key, or the reason for a refusal, but never the input", async () => {
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
      annotations: { "management.platform/request-object": "left out: it cannot be written as text" },
    }),
  ]);
  expect(readFileSync(path, "utf8")).not.toContain(CANARY);
});

test.each([
  ["sharedsecrets", { metadata: {}, status: "Failure", reason: "Invalid", code: 422 }],
  ["teams", { metadata: {}, status: "Failure", reason: "Invalid", code: 422, message: `quotes ${CANARY}`, details: { name: "a" } }],
])("a refusal of %s is reported with what it may say", async (resource, responseStatus) => {
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
