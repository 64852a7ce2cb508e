import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
];

/** The Chromium that `CHROMIUM` names, else the one that is installed; undefined where there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const named = process.env["CHROMIUM"];
  const candidates = named === undefined ? folders.flatMap((folder) => NAMES.map((name) => join(folder, name))) : [named];
  return candidates.find((file) => existsSync(file));
}

/** Says on standard output what does not run here. */
export function tellSkipped(what: string): void {
  process.stdout.write(`skipped: ${what} (none of ${NAMES.join(", ")} is installed, and CHROMIUM names none)\n`);
}

/** Starts a browser without a window. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}
