/**
 * Builds the playground: one HTML file that holds its scripts, styles and the engine, and names the digest of each in its policy, so
 * that it works from any server, any folder and any disk, and reaches no network.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { build, defineConfig, type InlineConfig, type Plugin, type Rolldown } from "vite";
import { WORKER_ELEMENT } from "../src/workbench/playground/worker-element.ts";
import { readMeteredEngine } from "../src/engine/sandbox/quickjs/metered-engine.ts";
import { checkPagePackages, noticeOf } from "./page-packages.ts";

const inProject = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Files that need Node, or time, and what stands in for them in a browser. */
const STAND_INS = [
  { find: /^.*\/base\/digest\.ts$/, replacement: inProject("src/workbench/playground/browser/digest.ts") },
  { find: "node:net", replacement: inProject("src/workbench/playground/browser/net.ts") },
  { find: /^.*\/metered-engine\.ts$/, replacement: inProject("src/workbench/playground/browser/metered-engine.ts") },
];

/** The engine as Node runs it: the package's file, checked, and rewritten by the sandbox's own rewriter. */
const engine = await readMeteredEngine();

const shared = {
  configFile: false,
  root: inProject("src/workbench/playground/page"),
  logLevel: "warn",
  resolve: { alias: STAND_INS },
  define: { "process.env.NODE_ENV": '"production"' },
} satisfies InlineConfig;

const output = { target: "es2023", reportCompressedSize: false, modulePreload: false, write: false } as const;

/** The worker's script, which a blob makes a worker of: plain script, no module, nothing to load. */
async function buildWorker(): Promise<Rolldown.OutputChunk> {
  const built = (await build({
    ...shared,
    define: {
      ...shared.define,
      INLINED_ENGINE: JSON.stringify(deflateRawSync(engine, { level: 9 }).toString("base64")),
      INLINED_DIGEST: JSON.stringify(createHash("sha256").update(engine).digest("hex")),
    },
    build: { ...output, lib: { entry: inProject("src/workbench/playground/worker/worker.ts"), formats: ["iife"], name: "playground" } },
  })) as Rolldown.RolldownOutput[];
  const chunks = built.flatMap((one) => one.output);
  if (chunks.length !== 1 || chunks[0]!.type !== "chunk") throw new Error("The worker is one script, and nothing else");
  return chunks[0]!;
}

/** Puts scripts and styles into the page, and their digests into its policy. */
function inlineEverything(): Plugin {
  return {
    name: "inline-everything",
    enforce: "post",
    async generateBundle(_options, bundle) {
      const html = bundle["index.html"];
      if (html?.type !== "asset") throw new Error("The page is called index.html");
      const texts = Object.values(bundle).map((file) => ({
        name: file.fileName,
        text: file.type === "chunk" ? file.code : Buffer.from(file.source).toString("utf8"),
      }));
      const only = (ending: string) => {
        const found = texts.filter(({ name }) => name.endsWith(ending));
        if (found.length !== 1) throw new Error(`The page has one file ${ending}, found ${found.map(({ name }) => name).join(", ")}`);
        return found[0]!.text.trim();
      };
      const worker = await buildWorker();
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      checkPagePackages([...chunks, worker].flatMap(({ modules }) => Object.keys(modules)));
      html.source = pageOf(texts.find(({ name }) => name === "index.html")!.text, {
        script: only(".js"),
        style: only(".css"),
        worker: worker.code.trim(),
      });
      for (const { name } of texts) if (name !== "index.html") delete bundle[name];
      const left = Object.keys(bundle);
      if (left.length !== 1) throw new Error(`Everything is in the page, but for ${left.join(", ")}`);
    },
  };
}

interface Parts {
  readonly script: string;
  readonly style: string;
  readonly worker: string;
}

function pageOf(html: string, { script, style, worker }: Parts): string {
  for (const text of [script, worker]) if (/<\/script|<!--/i.test(text)) throw new Error("A script must not end its own element");
  if (/<\/style/i.test(style)) throw new Error("Styles must not end their own element");
  const policy = [
    "default-src 'none'",
    `script-src ${digestOf(script)} 'wasm-unsafe-eval'`,
    `style-src ${digestOf(style)}`,
    "img-src data:",
    "worker-src blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const without = html.replace(/\s*<script type="module"[^>]*><\/script>/, "").replace(/\s*<link rel="stylesheet"[^>]*>/, "");
  const filled = without
    // Before anything that it is about.
    .replace(
      /(<meta charset="utf-8"\s*\/?>)/i,
      (found) => `${found}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    )
    .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
    .replace("</body>", () => {
      const data = `<script type="text/plain" id="${WORKER_ELEMENT}">${worker}</script>`;
      return `  ${data}\n    <script type="module">${script}</script>\n  </body>`;
    })
    // Last, where it delays nothing.
    .replace("</html>", () => `${noticeOf(inProject("node_modules"))}\n</html>`);
  if (!filled.includes(policy) || !filled.includes(script) || !filled.includes(style)) throw new Error("The page is not as expected");
  return filled;
}

function digestOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

export default defineConfig({
  ...shared,
  base: "./",
  plugins: [inlineEverything()],
  build: {
    ...output,
    write: true,
    outDir: inProject("dist/playground"),
    emptyOutDir: true,
    assetsInlineLimit: Infinity,
    cssCodeSplit: false,
  },
});
