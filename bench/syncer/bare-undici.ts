/**
 * The minimum: the cost of reading both clusters and of one write per change on this machine, with undici alone. It compares and watches
 * nothing, so every program that does the job costs more.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { Pool } from "undici";
import { answer, usage } from "./child.ts";

interface KubeConfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
}

interface Item {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

interface List {
  readonly metadata: { readonly continue?: string };
  readonly items: Item[] | null;
}

/** The page size of the syncer. */
const PAGE = 500;
const HOST = "/api/v1/namespaces/vc-blue";

const [folder] = process.argv.slice(2) as [string];
const [tenant, host] = [connect("tenant"), connect("host")];
const lists = await Promise.all([
  listAll(tenant, "/api/v1/services"),
  listAll(tenant, "/api/v1/endpoints"),
  listAll(host, `${HOST}/services`),
  listAll(host, `${HOST}/endpoints`),
]);
const startedMs = performance.now();
const copies = lists[3];

type Side = ReturnType<typeof connect>;

function connect(side: string) {
  const { clusters, users } = load(readFileSync(join(folder, `${side}.kubeconfig`), "utf8")) as KubeConfig;
  const [{ cluster }, { user }] = [clusters[0]!, users[0]!];
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text, "base64"));
  const pairs = { ca: cluster["certificate-authority-data"], cert: user["client-certificate-data"], key: user["client-key-data"] };
  const tls = Object.fromEntries(Object.entries(pairs).flatMap(([name, text]) => (text === undefined ? [] : [[name, bytes(text)]])));
  const headers = { accept: "application/json", ...(user["token"] !== undefined && { authorization: `Bearer ${user["token"]}` }) };
  return { pool: new Pool(new URL(cluster["server"]!).origin, { connections: 8, connect: tls }), headers };
}

async function listAll({ pool, headers }: Side, path: string): Promise<Item[]> {
  const items: Item[] = [];
  let next = "";
  do {
    const response = await pool.request({ method: "GET", path: `${path}?limit=${PAGE}${next}`, headers });
    const page = (await response.body.json()) as List;
    for (const item of page.items ?? []) items.push(item);
    next = page.metadata.continue === undefined || page.metadata.continue === "" ? "" : `&continue=${page.metadata.continue}`;
  } while (next !== "");
  return items;
}

async function write(index: number, tag: string): Promise<void> {
  const item = copies[index % copies.length]!;
  const annotations = { ...item.metadata.annotations, "example.com/floor": tag };
  const body = JSON.stringify({ apiVersion: "v1", kind: "Endpoints", ...item, metadata: { ...item.metadata, annotations } });
  const headers = { ...host.headers, "content-type": "application/json" };
  const response = await host.pool.request({ method: "PUT", path: `${HOST}/endpoints/${item.metadata.name}`, headers, body });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
  copies[index % copies.length] = JSON.parse(text) as Item;
}

answer({
  usage,
  started: () => ({ startedMs }),
  change: async ({ count, perSecond, run }: { count: number; perSecond: number; run: string }) => {
    const from = performance.now();
    for (let index = 0; index < count; index += 1) {
      const waitMs = from + (index * 1000) / perSecond - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      await write(index, `${run}-${index}`);
    }
    return {};
  },
});
