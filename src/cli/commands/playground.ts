import { readFile } from "node:fs/promises";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { aborted, examples, type CommandContext } from "../process/command.ts";
import { parsePort } from "../input/options.ts";
import { startPageServer, type PageServer } from "../process/page-server.ts";
import type { Terminal } from "../process/terminal.ts";

/** How the page is served. */
export interface PlaygroundOptions {
  /** Default: `usualPort`, or a free port if that is in use. */
  readonly port?: number;
  /** The port to try first if `port` is not set. Default: 7411. */
  readonly usualPort?: number;
  /** The page. Default: the page in the package. */
  readonly page?: URL;
}

/** The relative path of the page is the same in the sources and in the build. */
const PAGE = new URL("../../../dist/playground/index.html", import.meta.url);

/** Always the same port: links and the browser's storage belong to an address, so they remain valid after a restart. */
const PORT = 7411;

/** `playground`: serves the page on loopback until it is stopped. */
export function definePlayground(command: Command, { terminal }: CommandContext): void {
  command
    .option("--port <port>", `TCP port on loopback (default: ${PORT}, or a free port if it is taken)`, parsePort)
    .addHelpText("after", examples("endpoint-sync playground --port 7070"))
    .action((options: { readonly port?: number }) => servePlayground(terminal, options));
}

/**
 * Serves the page until a stop signal.
 *
 * @throws USAGE when the page was not built, or a requested port is in use.
 */
export async function servePlayground(terminal: Terminal, { page = PAGE, port, usualPort = PORT }: PlaygroundOptions): Promise<void> {
  const text = await readPage(page);
  const stop = terminal.stopSignal();
  const server = await (port === undefined ? startAtUsualPort(terminal, text, usualPort) : startPageServer(text, { port }));
  try {
    terminal.out(`Playground: ${server.url}\nYour texts stay in the browser. Press Ctrl-C to stop.\n`);
    await aborted(stop);
  } finally {
    await server.stop();
  }
}

async function startAtUsualPort(terminal: Terminal, text: string, port: number): Promise<PageServer> {
  try {
    return await startPageServer(text, { port });
  } catch (error) {
    if (!isEngineError(error, "USAGE")) throw error;
    const server = await startPageServer(text, { port: 0 });
    terminal.err(`Port ${port} is in use, perhaps by another playground. Earlier links and stored texts are available only at that port`);
    return server;
  }
}

async function readPage(page: URL): Promise<string> {
  try {
    return await readFile(page, "utf8");
  } catch (cause) {
    const fromSources = fileURLToPath(import.meta.url).includes(`${sep}src${sep}cli${sep}`);
    const hint = fromSources
      ? "Build it with npm run build:playground, or build and serve it with npm run playground"
      : "Install the package again";
    throw new EngineError("USAGE", "Cannot find the page of the playground", { cause, details: { hint } });
  }
}
