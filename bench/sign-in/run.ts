/**
 * Processor time that the management API takes for one sign-in by OpenID Connect: the redirect to the provider, and the way back with its
 * code, the request for the tokens by TLS, the check of the ID token, and the key. It is `process.cpuUsage()` of the server's own process, user and
 * system; provider and browser are in another one. No password is hashed.
 *
 *   npm run bench:sign-in -- [--logins 200] [--rounds 3]
 *
 * The exit code is 1 when one kind of sign-in takes more than 50 ms.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createProviderFetch } from "../../src/management/sign-in/oidc/provider-fetch.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "../../test/management/sign-in/provider.ts";
import type { StoreKind } from "./server.ts";

const { values } = parseArgs({ options: { logins: { type: "string", default: "200" }, rounds: { type: "string", default: "3" } } });
const LOGINS = Number(values.logins);
const ROUNDS = Number(values.rounds);
const GOAL_MS = 50;
const WARM_UP = 50;

const folder = mkdtempSync(join(tmpdir(), "sign-in-bench-"));
const provider = await startProvider({ tls: true });
const caFile = join(folder, "ca.pem");
writeFileSync(caFile, provider.caPem);
const config = JSON.stringify({ auth: { oidc: { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, caFile } } });
const atProvider = createProviderFetch({ ca: provider.caPem });

/** One sign-in of the user with this number, as a browser goes through it. */
async function signIn(url: string, number: number): Promise<void> {
  const name = `user-${number}`;
  provider.claims = { sub: name, preferred_username: name, email: `${name}@acme.example`, email_verified: true, groups: ["dev", "ops"] };
  const headers = { "x-forwarded-for": `10.0.${number >> 8}.${number & 255}`, accept: "application/json" };
  const begun = await fetch(`${url}/auth/oidc/login`, { redirect: "manual", headers });
  const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const back = await atProvider(begun.headers.get("location")!, { method: "GET", headers: {} });
  const ended = await fetch(back.headers.get("location")!, { redirect: "manual", headers: { ...headers, cookie } });
  const answer = await ended.text();
  if (ended.status !== 200 || !answer.includes("accessKey"))
    throw new Error(`the sign-in ended with ${ended.status}: ${answer.slice(0, 500)}`);
}

/** Milliseconds that the process has computed so far. */
async function computed(child: ChildProcess): Promise<number> {
  child.send("cpu");
  const [microseconds] = (await once(child, "message")) as [number];
  return microseconds / 1_000;
}

/** Milliseconds per sign-in: of users who were never there, and of the same users again. */
async function round(kind: StoreKind): Promise<readonly [number, number]> {
  const child = fork(join(import.meta.dirname, "server.ts"), [kind, config], { execArgv: ["--no-warnings"] });
  const [url] = (await once(child, "message")) as [string];
  for (let number = 0; number < WARM_UP; number += 1) await signIn(url, 10_000 + number);
  const times: number[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const before = await computed(child);
    for (let number = 0; number < LOGINS; number += 1) await signIn(url, number);
    times.push(((await computed(child)) - before) / LOGINS);
  }
  child.disconnect();
  await once(child, "exit");
  return times as [number, number];
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)]!;
}

console.log(`${ROUNDS} rounds of ${LOGINS} sign-ins, after ${WARM_UP} to warm up, load ${loadavg()[0]!.toFixed(1)}\n`);
let worst = 0;
for (const kind of ["memory", "file"] as const) {
  const rounds: (readonly [number, number])[] = [];
  for (let index = 0; index < ROUNDS; index += 1) rounds.push(await round(kind));
  const [first, again] = [0, 1].map((turn) => rounds.map((times) => times[turn]!));
  for (const [what, times] of [
    ["new user", first!],
    ["user who was there before", again!],
  ] as const) {
    worst = Math.max(worst, median(times));
    console.log(
      `store in ${kind === "file" ? "a file" : "memory"}, ${what}: ${median(times).toFixed(1)} ms (${times.map((time) => time.toFixed(1)).join(", ")})`,
    );
  }
}
await provider.close();
rmSync(folder, { recursive: true });
if (worst > GOAL_MS) console.log(`Missed: ${worst.toFixed(1)} ms, more than ${GOAL_MS}`);
process.exitCode = worst > GOAL_MS ? 1 : 0;
