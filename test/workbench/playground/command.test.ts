/**
 * `endpoint-sync playground`: the page on loopback, under its own policy.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { servePlayground } from "../../../src/cli/commands/playground.ts";
import { startPageServer, type PageServer } from "../../../src/cli/process/page-server.ts";
import { createTestTerminal, run } from "../../cli/support.ts";

const PAGE = `<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'" /><title>ä</title>`;

let server: PageServer | undefined;
afterEach(() => server?.stop());

describe("the server", () => {
  test("sends the page with its policy, and no page may frame it", async () => {
    server = await startPageServer(PAGE);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/$/);
    for (const path of ["", "index.html", "?a=b"]) {
      const response = await fetch(server.url + path);
      expect(await response.text()).toBe(PAGE);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
    }
  });

  test("has nothing else, and takes nothing", async () => {
    server = await startPageServer(PAGE);
    expect((await fetch(`${server.url}package.json`)).status).toBe(404);
    expect((await fetch(`${server.url}folder/index.html`)).status).toBe(404);
    const posted = await fetch(server.url, { method: "POST", body: "x" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const head = await fetch(server.url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("refuses a port that is taken, and a page without a policy", async () => {
    server = await startPageServer(PAGE);
    const port = Number(new URL(server.url).port);
    await expect(startPageServer(PAGE, { port })).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining(String(port)) as string,
    });
    await expect(startPageServer("<!doctype html>")).rejects.toMatchObject({ code: "USAGE" });
  });
});

describe("the command", () => {
  let folder = "";
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "playground-command-"))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("serves until it is stopped", async () => {
    const page = pathToFileURL(join(folder, "index.html"));
    await writeFile(page, PAGE);
    const terminal = createTestTerminal();
    const ended = servePlayground(terminal, { page, port: 0 });
    await expect.poll(() => terminal.stdout).toMatch(/^Playground: http:\/\/127/);
    const url = /http:\S+/.exec(terminal.stdout)![0];
    expect(await (await fetch(url)).text()).toBe(PAGE);
    terminal.interrupt();
    await ended;
    await expect(fetch(url)).rejects.toThrow();
  });

  test("is always at the same port, and says where it is when that is taken", async () => {
    expect((await run(["playground", "--help"])).stdout).toContain("default: 7411");
    const page = pathToFileURL(join(folder, "index.html"));
    await writeFile(page, PAGE);
    server = await startPageServer(PAGE);
    const usualPort = Number(new URL(server.url).port);
    const terminal = createTestTerminal();
    const ended = servePlayground(terminal, { page, usualPort });
    await expect.poll(() => terminal.stdout).toMatch(/^Playground: http:\/\/127/);
    expect(terminal.stderr).toMatch(new RegExp(`^Port ${usualPort} is in use, perhaps by another playground`));
    const url = /http:\S+/.exec(terminal.stdout)![0];
    expect([url === server.url, await (await fetch(url)).text()]).toEqual([false, PAGE]);
    terminal.interrupt();
    await ended;
  });

  test("says in a source checkout how to build what is missing", async () => {
    const page = pathToFileURL(join(folder, "none.html"));
    await expect(servePlayground(createTestTerminal(), { page })).rejects.toMatchObject({
      code: "USAGE",
      details: { hint: expect.stringContaining("npm run build:playground") as string },
    });
  });

  test("refuses a port that is none", async () => {
    expect(await run(["playground", "--port", "99999"])).toMatchObject({ code: 2, stdout: "" });
  });
});
