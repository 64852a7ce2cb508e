import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";

/** The playground's page, as `npm run build:playground` writes it, without writing it. */
export async function buildPage(): Promise<string> {
  const configFile = fileURLToPath(new URL("../../../.config/vite.playground.config.ts", import.meta.url));
  const { output } = (await build({ configFile, logLevel: "warn", build: { write: false } })) as Rolldown.RolldownOutput;
  const [page] = output.filter((file) => file.fileName === "index.html");
  if (page?.type !== "asset" || output.length !== 1) throw new Error("The build makes index.html, and nothing else");
  return String(page.source);
}
