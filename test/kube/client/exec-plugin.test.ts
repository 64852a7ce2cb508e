import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { runExecPlugin, type ExecOptions, type ExecSpec } from "../../../src/kube/client/credentials/exec-plugin.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const environment = { PATH: process.env["PATH"], INHERITED: "yes" };

function run(exec: ExecSpec, options: Partial<ExecOptions> = {}) {
  const { signal } = new AbortController();
  return runExecPlugin({
    exec,
    environment,
    cluster: { server: "https://host" },
    clock: systemClock,
    timeoutMs: 10_000,
    signal,
    ...options,
  });
}

function sh(script: string, more: Partial<ExecSpec> = {}): ExecSpec {
  return { command: "sh", args: ["-c", script], ...more };
}

const answer = (status: object) => `echo '${JSON.stringify({ kind: "ExecCredential", status })}'`;

describe("a credential plugin", () => {
  test("gives a token with its expiry", async () => {
    expect(await run(sh(answer({ token: "t", expirationTimestamp: "2026-01-01T00:00:00Z" })))).toEqual({
      token: "t",
      certificate: undefined,
      key: undefined,
      expiresAt: Date.UTC(2026, 0, 1),
    });
  });

  test("gives a client certificate and key", async () => {
    expect(await run(sh(answer({ clientCertificateData: "C", clientKeyData: "K" })))).toEqual({
      token: undefined,
      certificate: "C",
      key: "K",
      expiresAt: undefined,
    });
  });

  test("is told what is wanted of it, and has its environment", async () => {
    const script = 'echo "{\\"status\\":{\\"token\\":\\"$INHERITED $OWN $(echo $KUBERNETES_EXEC_INFO | tr -d \\\\\\" )\\"}}"';
    const exec = sh(script, {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      env: [{ name: "OWN", value: "mine" }],
      provideClusterInfo: true,
    });
    expect((await run(exec)).token).toBe(
      "yes mine {apiVersion:client.authentication.k8s.io/v1beta1,kind:ExecCredential,spec:{interactive:false,cluster:{server:https://host}}}",
    );
  });

  test.each([
    { exec: sh("echo secret-token"), message: /did not return JSON$/, why: "answers no JSON" },
    { exec: sh(answer({})), message: /did not return an ExecCredential/, why: "answers no credential" },
    {
      exec: sh(answer({ clientCertificateData: "C" })),
      message: /did not return an ExecCredential/,
      why: "answers a certificate without a key",
    },
    { exec: sh("echo null"), message: /did not return an ExecCredential/, why: "answers null" },
    { exec: sh("echo 'please log in' >&2; exit 3"), message: /"sh": exit code 3, "please log in"/, why: "fails" },
    { exec: sh("kill -9 $$"), message: /exit code null/, why: "is killed" },
    { exec: { command: "/no/such/plugin", installHint: "Install it" }, message: /ENOENT \(Install it\)/, why: "is not there" },
    { exec: sh("yes | head -c 3000000"), message: /more than 1048576 bytes/, why: "answers without an end" },
    { exec: sh("yes | head -c 3000000 >&2; sleep 10"), message: /more than 1048576 bytes/, why: "complains without an end" },
  ])("that $why is API_UNAUTHORIZED", async ({ exec, message }) => {
    await expect(run(exec)).rejects.toMatchObject({ code: "API_UNAUTHORIZED", message: expect.stringMatching(message) as string });
  });

  test("never has its answer quoted", async () => {
    await expect(run(sh("echo secret-token"))).rejects.toMatchObject({ message: expect.not.stringContaining("secret") as string });
  });

  test("is killed when it takes too long", async () => {
    const clock = createFakeClock();
    const running = run(sh("sleep 60"), { clock, timeoutMs: 5_000 });
    const failed = expect(running).rejects.toMatchObject({
      code: "API_UNAUTHORIZED",
      message: expect.stringContaining("longer than 5000 ms") as string,
    });
    await clock.advance(5_000);
    await failed;
  });

  test("is killed when the client closes", async () => {
    const closing = new AbortController();
    const failed = expect(run(sh("sleep 60"), { signal: closing.signal })).rejects.toMatchObject({ code: "API_UNAUTHORIZED" });
    closing.abort();
    await failed;
  });
});
