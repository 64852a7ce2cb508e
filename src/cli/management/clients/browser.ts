import { spawn } from "node:child_process";

/** The command by which each system opens an address. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  linux: ["xdg-open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the person's browser, where that is known; the address has been shown anyway. */
export function openBrowser(url: string): void {
  const [command, ...given] = OPENERS[process.platform] ?? [];
  if (command === undefined) return;
  const child = spawn(command, [...given, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
