/**
 * Serves the rooms that a browser can run (paths, expressions, sandbox) as plain modules: TypeScript without its types, packages by an
 * import map. The page runs `fuel-table.ts` and posts what it found.
 */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(import.meta.dirname, "../../..");
const BODY_MAX = 1_000_000;

/** Packages by the name that source files import, with the file that a browser gets. */
const PACKAGES: Readonly<Record<string, string>> = {
  acorn: join(dirname(createRequire(import.meta.url).resolve("acorn")), "acorn.mjs"),
  "@jitl/quickjs-wasmfile-release-sync/wasm": fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")),
};

const TYPES: Readonly<Record<string, string>> = {
  ts: "text/javascript",
  mjs: "text/javascript",
  json: "application/json",
  wasm: "application/wasm",
};

const imports = Object.fromEntries(Object.keys(PACKAGES).map((name) => [name, `/package/${name}`]));
const PAGE = `<!doctype html>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
  const report = (result) => fetch("/report", { method: "POST", body: JSON.stringify(result) });
  try {
    const { findDifferences } = await import("/test/suites/engines/fuel-table.ts");
    const rows = await (await fetch("/fixtures/expressions/fuel.json")).json();
    await report({ engine: navigator.userAgent, differences: await findDifferences(rows) });
  } catch (error) {
    await report({ engine: navigator.userAgent, differences: [String(error?.stack ?? error)] });
  }
</script>`;

/** Result of the page. */
export interface BrowserReport {
  readonly engine: string;
  readonly differences: readonly string[];
}

/** A server on a port of its own, and the report that is going to come. */
export interface BrowserServer {
  readonly url: string;
  readonly report: Promise<BrowserReport>;
  close(): void;
}

/** Starts the server on the loopback address: pages from there count as secure, so that the page has `crypto.subtle`. */
export async function startBrowserServer(): Promise<BrowserServer> {
  let settle: (report: BrowserReport) => void = () => undefined;
  const report = new Promise<BrowserReport>((reported) => (settle = reported));
  const server = createServer((request, response) => void answer(request, response, (found) => settle(found)));
  await new Promise<void>((started) => void server.listen(0, "127.0.0.1", started));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    report,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, settle: (report: BrowserReport) => void): Promise<void> {
  const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
  try {
    if (path === "/report") {
      settle(JSON.parse(await readBody(request)) as BrowserReport);
      response.end();
    } else if (path === "/") {
      response.setHeader("content-type", "text/html; charset=utf-8").end(PAGE);
    } else {
      await sendFile(path, response);
    }
  } catch {
    response.writeHead(404).end();
  }
}

async function sendFile(path: string, response: ServerResponse): Promise<void> {
  const name = path.slice("/package/".length);
  const file = path.startsWith("/package/") && Object.hasOwn(PACKAGES, name) ? PACKAGES[name]! : sourceFile(path);
  const contents = await readFile(file);
  response.setHeader("content-type", TYPES[file.split(".").at(-1)!] ?? "text/plain");
  response.end(file.endsWith(".ts") ? stripTypeScriptTypes(contents.toString("utf8")) : contents);
}

/** Nothing but what the page needs is served. */
function sourceFile(path: string): string {
  const file = join(ROOT, path);
  const allowed = ["src", "test/suites/engines", "fixtures/expressions"].some((folder) => file.startsWith(join(ROOT, folder) + sep));
  if (!allowed) throw new Error(`${path} is not served`);
  return file;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_MAX) throw new Error("The report is too long");
  }
  return body;
}
