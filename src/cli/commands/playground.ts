import { readFile } from "node:fs/promises";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { aborted, examples } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { parsePort } from "../options.ts";
import { startPageServer } from "../page-server.ts";

interface PlaygroundOptions {
  readonly port?: number;
}

/** `playground`: the page on loopback until it is stopped. */
export function definePlayground(command: Command, { terminal }: CommandContext): void {
  command
    .option("--port <port>", "TCP port on loopback; a free one when left out", parsePort)
    .addHelpText("after", examples("endpoint-sync playground --port 7070"))
    .action(async ({ port }: PlaygroundOptions) => {
      const page = await readPage();
      const stop = terminal.stopSignal();
      const server = await startPageServer(page, port === undefined ? {} : { port });
      try {
        terminal.out(`Playground: ${server.url}\nWhat you write there stays in the browser. Ctrl-C ends it.\n`);
        await aborted(stop);
      } finally {
        await server.stop();
      }
    });
}

/** The package's root is at the same distance from the sources and from what is built of them. */
const PAGE = new URL("../../../dist/playground/index.html", import.meta.url);

/** @throws USAGE in a source checkout that has not built it. */
async function readPage(): Promise<string> {
  try {
    return await readFile(PAGE, "utf8");
  } catch (cause) {
    const fromSources = fileURLToPath(import.meta.url).includes(`${sep}src${sep}cli${sep}`);
    const hint = fromSources ? "Build it: npm run build:playground; npm run playground does both" : "Install the package anew";
    throw new EngineError("USAGE", "Cannot find the page of the playground", { cause, details: { hint } });
  }
}
