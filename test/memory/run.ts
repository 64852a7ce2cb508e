/**
 * A management server within the memory of its manifest, from outside: its Node gets the heap that the manifest gives it, one SharedSecret
 * of 1 MB is written again and again, readers read slowly, and the kernel says how large the process was at most.
 *
 *   npm run test:memory -- [--updates 1000] [--only TEXT] [--heap MIB]
 *
 * Each kind of store has a server of its own. The exit code is 1 when a server ends, refuses a write, or was larger than the manifest allows.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { hold, runCases } from "../outside/cases.ts";
import { Command, temporaryFolder } from "../outside/processes.ts";
import { etcdVersion, startEtcd } from "../support/etcd.ts";
import { ownPorts } from "../support/own-port.ts";

const { values } = parseArgs({
  options: {
    updates: { type: "string", default: "1000" },
    only: { type: "string", default: "" },
    heap: { type: "string", default: "256" },
  },
});
const ADMIN_KEY = "administrator".repeat(5);
const SECRETS = "/kubernetes/management/apis/management.platform/v1/namespaces/default/sharedsecrets";

async function send(url: string, method: string, path: string, body?: string, type = "application/json") {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": type },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return { code: response.status, text };
}
function memoryOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (field: string) => Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / 1024);
  return { peak: of("VmHWM"), now: of("VmRSS") };
}

async function play(store: "memory" | "sqlite" | "etcd"): Promise<string> {
  const folder = temporaryFolder();
  const [port] = await ownPorts(1);
  writeFileSync(join(folder, "admin.key"), ADMIN_KEY);
  writeFileSync(join(folder, "encryption.key"), Buffer.alloc(32, 7).toString("base64"));
  const etcd = store === "etcd" ? await startEtcd() : undefined;
  const where = {
    memory: ["--memory"],
    sqlite: ["--data", "data", "--encryption-key-file", "encryption.key"],
    etcd: ["--etcd", etcd?.url ?? "", "--encryption-key-file", "encryption.key"],
  }[store];
  const start = async () => {
    const one = new Command(["management", ...where, "--http", "--port", String(port), "--admin-key-file", "admin.key"], {
      folder,
      node:
        values.heap === "0" ? [] : [`--max-old-space-size=${values.heap}`, ...(process.env["NODE_MORE"] ?? "").split(" ").filter(Boolean)],
    });
    if (!(await one.said("Access key of the administrator"))) throw new Error(one.output);
    return one;
  };
  let server = await start();
  try {
    const url = `http://127.0.0.1:${port}`;
    const data = (count: number) =>
      JSON.stringify({ metadata: { name: "large" }, spec: { data: { a: Buffer.alloc(750_000, count).toString("base64") } } });
    await send(url, "POST", SECRETS, data(0));
    const told = [`start ${memoryOf(server.child.pid!).now}`];
    for (let count = 1; count <= Number(values.updates); count += 1) {
      const { code, text } = await send(url, "PATCH", `${SECRETS}/large`, data(count), "application/merge-patch+json");
      hold(code === 200, `update ${count} is answered ${code}: ${text.slice(0, 300)} ${server.output.slice(-800)}`);
      if (count % 250 === 0) told.push(`${count}: ${memoryOf(server.child.pid!).now}`);
    }
    const { peak } = memoryOf(server.child.pid!);
    await server.stop();
    server = await start();
    told.push(`again: ${JSON.stringify(memoryOf(server.child.pid!))}`);
    return `peak ${peak} MiB; ${told.join(", ")}`;
  } finally {
    await server.kill();
    await etcd?.remove();
  }
}
const stores = (["memory", "sqlite", "etcd"] as const)
  .filter((s) => s !== "etcd" || etcdVersion !== undefined)
  .filter((name) => name.includes(values.only));
await runCases(
  stores.map((name) => ({ name, run: () => play(name) })),
  { lanes: 1 },
);
process.exit();
