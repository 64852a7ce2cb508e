import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkKubeconfigFile, writeKubeconfigFile } from "../../../src/cli/files/kubeconfig-file.ts";
import { parseAddress, startProbeServer } from "../../../src/cli/process/probe-server.ts";
import { atMost, createTeardown } from "../../../src/cli/process/teardown.ts";
import { formatKubeconfig } from "../../../src/apiserver/access/kubeconfig.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-parts-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a probe server", () => {
  test("answers probes and metrics, and nothing else", async () => {
    let ready = false;
    const server = await startProbeServer({
      address: "127.0.0.1:0",
      probes: { "/healthz": () => "ok", "/readyz": () => (ready ? "ok" : { reason: "not yet" }) },
      metrics: () => "writes_total 1\n",
    });
    const get = async (path: string, method = "GET") => {
      const response = await fetch(`http://${server.address}${path}`, { method });
      return `${response.status} ${await response.text()}`;
    };
    try {
      expect(server.paths).toEqual(["/healthz", "/readyz", "/metrics"]);
      expect(await get("/healthz?verbose")).toBe("200 ok\n");
      expect(await get("/readyz")).toBe("503 not yet\n");
      ready = true;
      expect(await get("/readyz")).toBe("200 ok\n");
      expect(await get("/metrics")).toBe("200 writes_total 1\n");
      expect(await get("/healthz", "HEAD")).toBe("200 ");
      expect(await get("/healthz", "POST")).toBe("405 method not allowed\n");
      expect(await get("/constructor")).toBe("404 not found\n");
    } finally {
      await server.stop();
    }
  });

  test("explains what to do when its address is taken", async () => {
    const first = await startProbeServer({ address: "127.0.0.1:0" });
    try {
      await expect(startProbeServer({ address: first.address })).rejects.toMatchObject({
        code: "USAGE",
        message: expect.stringMatching(/^Cannot listen on "127\.0\.0\.1:\d+": .*EADDRINUSE/),
        details: { hint: expect.stringContaining("--metrics-address") },
      });
    } finally {
      await first.stop();
    }
  });
});

describe("parseAddress", () => {
  test.each([
    { text: ":8080", want: { host: undefined, port: 8080 } },
    { text: "127.0.0.1:0", want: { host: "127.0.0.1", port: 0 } },
    { text: "[::1]:9090", want: { host: "::1", port: 9090 } },
    { text: "localhost:65535", want: { host: "localhost", port: 65535 } },
  ])("reads $text", ({ text, want }) => {
    expect(parseAddress(text)).toEqual(want);
  });

  test.each(["", "8080", ":65536", "::1:80", "[::1]", "host:", "host:-1", "[x]:1"])("refuses %j", (text) => {
    expect(() => parseAddress(text)).toThrow(`Cannot listen on "${text}": expected host:port, for example :8080`);
  });
});

describe("a kubeconfig file", () => {
  const text = formatKubeconfig({ name: "tenant", url: "https://127.0.0.1:1" });
  const file = (name: string, content?: string) => {
    if (content !== undefined) writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  test.each([
    { why: "a new file", path: file("new") },
    { why: "an empty one", path: file("empty", "\n") },
    { why: "an earlier one of the same cluster", path: file("same", text) },
  ])("takes the place of $why", async ({ path }) => {
    await expect(checkKubeconfigFile({ path, name: "tenant" })).resolves.toBeUndefined();
  });

  const two = text.replace("current-context:", '- name: "work"\n  context: {}\ncurrent-context:');
  test.each([
    { why: "another cluster's", path: file("other", formatKubeconfig({ name: "work", url: "https://10.0.0.1" })) },
    { why: "one of several clusters", path: file("several", two) },
    { why: "something else", path: file("notes", "tenant") },
    { why: "something that is not YAML", path: file("broken", "a: [") },
    { why: "a directory", path: folder },
  ])("does not take the place of $why", async ({ path }) => {
    await expect(checkKubeconfigFile({ path, name: "tenant" })).rejects.toMatchObject({
      code: "CONFIG_FILE",
      message: expect.stringContaining(`Cannot write "${path}": `),
    });
  });

  test("is for its owner's eyes only, also where others could read it before", async () => {
    const path = file("open", text);
    await writeKubeconfigFile(path, text);
    expect({ text: readFileSync(path, "utf8"), mode: statSync(path).mode & 0o777 }).toEqual({ text, mode: 0o600 });
  });

  test("says where it cannot be written", async () => {
    await expect(writeKubeconfigFile(join(folder, "none", "x"), text)).rejects.toMatchObject({ code: "CONFIG_FILE" });
  });
});

describe("a teardown", () => {
  test("ends what was opened last first, and goes on after a failure", async () => {
    const ended: string[] = [];
    const teardown = createTeardown();
    teardown.add(() => void ended.push("first"));
    teardown.add(() => Promise.reject(new Error("second")));
    teardown.add(async () => void ended.push("third"));
    await expect(teardown.run()).rejects.toThrow("second");
    expect(ended).toEqual(["third", "first"]);
  });

  test("ends everything once", async () => {
    let ended = 0;
    const teardown = createTeardown();
    teardown.add(() => void (ended += 1));
    await teardown.run();
    await teardown.run();
    expect(ended).toBe(1);
  });
});

describe("atMost", () => {
  test("ends with what it waits for, and leaves no timer behind", async () => {
    const clock = createFakeClock();
    await atMost(clock, 1_000, Promise.resolve());
    expect(clock.pending).toBe(0);
  });

  test("does not wait any longer than that", async () => {
    const clock = createFakeClock();
    let ended = false;
    void atMost(clock, 1_000, new Promise(() => undefined)).then(() => (ended = true));
    await clock.advance(999);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(ended).toBe(true);
  });

  test("tells a failure", async () => {
    await expect(atMost(createFakeClock(), 1_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});
