/**
 * A management server within the memory of its manifest, from outside: it gets the heap and the limits of the manifest, one SharedSecret of
 * 1 MB is written again and again, it starts once more on what is stored, and the kernel says how large the process was at most.
 *
 *   npm run test:memory -- [--updates 1000] [--only TEXT]
 *
 * Each kind of store has a server of its own. The exit code is 1 when a server ends, refuses a write, or was larger than the manifest allows.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { hold, runCases } from "../outside/cases.ts";
import { Command, ROOT, temporaryFolder } from "../outside/processes.ts";
import { etcdVersion, startEtcd } from "../../support/etcd.ts";
import { ownPorts } from "../../support/own-port.ts";

const { values } = parseArgs({ options: { updates: { type: "string", default: "1000" }, only: { type: "string", default: "" } } });

const ADMIN_KEY = "administrator".repeat(5);
const SECRETS = "/kubernetes/management/apis/management.platform/v1/namespaces/default/sharedsecrets";
const STORES = ["memory", "sqlite", "etcd"] as const;
type Store = (typeof STORES)[number];

/** Limits of the container in the manifest. */
function manifestOf(store: Store) {
  const text = readFileSync(join(ROOT, `deploy/management/${store === "etcd" ? "etcd" : "sqlite"}/management.yaml`), "utf8");
  return {
    node: /NODE_OPTIONS, value: (.*?) \}/.exec(text)![1]!.split(" "),
    limits: [...text.matchAll(/- (--max-\S+)/g)].map(([, flag]) => flag!),
    memory: Number(/limits: \{ memory: (\d+)Mi \}/.exec(text)![1]),
  };
}

async function send(url: string, method: string, path: string, body: string) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": type },
    body,
  });
  return { code: response.status, text: (await response.text()).slice(0, 300) };
}

/** The largest that a process was, in MiB. */
function peakOf(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024);
}

async function play(store: Store): Promise<string> {
  const folder = temporaryFolder();
  const [port] = await ownPorts(1);
  const url = `http://127.0.0.1:${port}`;
  const { node, limits, memory } = manifestOf(store);
  writeFileSync(join(folder, "admin.key"), ADMIN_KEY);
  writeFileSync(join(folder, "encryption.key"), Buffer.alloc(32, 7).toString("base64"));
  const etcd = store === "etcd" ? await startEtcd({ args: ["--quota-backend-bytes=8589934592"] }) : undefined;
  const place = { memory: ["--memory"], sqlite: ["--data", "data"], etcd: ["--etcd", etcd?.url ?? ""] }[store];
  const key = store === "memory" ? [] : ["--encryption-key-file", "encryption.key"];
  const options = ["--http", "--port", String(port), "--admin-key-file", "admin.key", ...place, ...key, ...limits];
  const start = async () => {
    const server = new Command(["management", ...options], { folder, node });
    hold(await server.said("Access key of the administrator"), `the server ended: ${server.output.slice(-1_000)}`);
    return server;
  };
  let server = await start();
  try {
    const body = (count: number) =>
      JSON.stringify({ metadata: { name: "large" }, spec: { data: { a: Buffer.alloc(750_000, count).toString("base64") } } });
    const { code } = await send(url, "POST", SECRETS, body(0));
    hold(code === 201, `the first write is answered ${code}`);
    for (let count = 1; count <= Number(values.updates); count += 1) {
      const answer = await send(url, "PATCH", `${SECRETS}/large`, body(count)).catch((error: unknown) => ({
        code: 0,
        text: String(error),
      }));
      hold(answer.code === 200, `update ${count} is answered ${answer.code} ${answer.text}; ${server.output.slice(-600)}`);
    }
    const first = peakOf(server.child.pid!);
    await server.stop();
    server = await start();
    const again = peakOf(server.child.pid!);
    const told = `at most ${first} MiB, and ${again} MiB at the next start, of ${memory}`;
    hold(Math.max(first, again) <= memory, told);
    return told;
  } finally {
    await server.kill();
    await etcd?.remove();
  }
}

const stores = STORES.filter((store) => store.includes(values.only) && (store !== "etcd" || etcdVersion !== undefined));
await runCases(
  stores.map((store) => ({ name: `${values.updates} updates of 1 MB on ${store}`, run: () => play(store) })),
  { lanes: 1 },
);
process.exit();
