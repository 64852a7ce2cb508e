/**
 * `cluster --platform-...`: a cluster that accepts a platform's tokens, from the command line.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createRawClient } from "../../conformance/raw-client.ts";
import { createTestPlatform, ISSUER, requestFor, type TestPlatform } from "../../management/tokens/signed.ts";
import { useServingCommands } from "../serving-commands.ts";
import { run } from "../support.ts";

const { folder, serve } = useServingCommands();
const jwks = join(folder, "jwks.json");
const kubeconfig = join(folder, "kubeconfig");

const NAMED = ["cluster", "--name", "c1", "--kubeconfig", kubeconfig];
const flags = (keys: string, target = "cluster=c1") => ["--platform-issuer", ISSUER, "--platform-keys", keys, "--platform-target", target];

/** The codes of requests with tokens, in their order. */
async function begin(argv: readonly string[]) {
  const { terminal } = await serve([...NAMED, ...argv], { ready: /get namespaces\n/ });
  const { clusters } = load(readFileSync(kubeconfig, "utf8")) as { clusters: { cluster: Record<string, string> }[] };
  const { server = "", "certificate-authority-data": ca = "" } = clusters[0]!.cluster;
  const codeWith = async (token: string) => {
    const raw = createRawClient({ url: server, caPem: Buffer.from(ca, "base64").toString(), token });
    const { code } = await raw.send("GET", "/api/v1/namespaces");
    await raw.close();
    return code;
  };
  return { terminal, codeWith };
}

async function tokensOf({ signer }: TestPlatform) {
  const scoped = [
    { clusters: [{ cluster: "c1" }] },
    { clusters: [{ cluster: "c2" }] },
    { virtualClusters: [{ project: "web", virtualCluster: "blue" }] },
  ];
  return Promise.all(scoped.map(async (scope) => (await signer.sign(requestFor({ scopes: [scope] }))).token));
}

describe("a cluster that accepts a platform's tokens", () => {
  test.each([
    ["cluster=c1", [200, 403, 403]],
    ["cluster=c2", [403, 200, 403]],
    ["virtualCluster=web/blue", [403, 403, 200]],
  ])("is %s to it", async (target, codes) => {
    const platform = await createTestPlatform(systemClock);
    writeFileSync(jwks, JSON.stringify(platform.keys.published()));
    const { codeWith, terminal } = await begin(flags(jwks, target));
    expect(await Promise.all((await tokensOf(platform)).map(codeWith))).toEqual(codes);
    expect(terminal.stderr).toBe("");
  });

  test("reads the keys from the platform, and does without it from then on", async () => {
    const platform = await createTestPlatform(systemClock);
    const server = createServer((_request, response) => response.end(JSON.stringify(platform.keys.published())));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { codeWith, terminal } = await begin(flags(`http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`));
    server.close();
    server.closeAllConnections();
    await once(server, "close");
    const [token] = await tokensOf(platform);
    expect(await codeWith(token!)).toBe(200);
    expect(terminal.stderr).toBe("");
  });

  test("starts without the platform, refuses its tokens, and says why", async () => {
    const platform = await createTestPlatform(systemClock);
    const { codeWith, terminal } = await begin(flags("http://127.0.0.1:9/jwks"));
    expect(await codeWith((await tokensOf(platform))[0]!)).toBe(401);
    expect(terminal.stderr).toContain("Cannot read the platform's keys; the keys that were read earlier remain valid");
  });
});

describe("a cluster does not start", () => {
  const refusal = async (...argv: readonly string[]) => {
    const { code, stderr } = await run([...NAMED, ...argv]);
    return `${code} ${stderr}`;
  };

  test("with some of the options alone", async () => {
    const [, , ...rest] = flags(jwks);
    expect(await refusal(...rest)).toBe(
      "2 error USAGE: --platform-issuer, --platform-keys and --platform-target must be specified together\n  See --help.\n",
    );
  });

  test.each(["c1", "cluster=", "virtualCluster=blue", "virtualCluster=a/b/c", "cluster=a/b"])("with the target %s", async (target) => {
    expect(await refusal(...flags(jwks, target))).toMatch(/^2 .*Expected cluster=NAME or virtualCluster=PROJECT\/NAME/);
  });

  test("with an issuer that is not a URL", async () => {
    expect(await refusal(...flags(jwks), "--platform-issuer", "platform")).toMatch(/^2 .*Expected the URL/);
  });

  test("with keys over plain HTTP from elsewhere", async () => {
    expect(await refusal(...flags("http://platform.example/jwks"))).toMatch(
      /^2 error USAGE: --platform-keys must not be read over plain HTTP\n/,
    );
  });

  test.each([
    ["no JSON", "{", "CONFIG_SYNTAX"],
    ["no keys", "{}", "CONFIG_VALUE"],
  ])("with a file of keys that holds %s", async (_what, text, code) => {
    const file = join(folder, "wrong.json");
    writeFileSync(file, text);
    expect(await refusal(...flags(file))).toMatch(new RegExp(`^2 error ${code}: `));
  });
});
