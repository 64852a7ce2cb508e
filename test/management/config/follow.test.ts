import { describe, expect, test } from "vitest";
import { CONFIG_POLL_MS, followConfigFile } from "../../../src/management/config/follow.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

/** A followed file whose text the test sets; the events, in order. */
function followed(text: string, onChange: () => void | Promise<void> = () => {}) {
  const clock = createFakeClock();
  const told: string[] = [];
  const unchanged: string[] = [];
  const file = { text, failure: undefined as string | undefined };
  const follower = followConfigFile({
    file: "platform.yaml",
    environment: { VAULT_ADDR: "https://vault.example.com" },
    clock,
    text,
    read: async () => {
      if (file.failure !== undefined) throw new Error(file.failure);
      return file.text;
    },
    onChange: async (config, warnings) => {
      await onChange();
      told.push(`changed ${config.auth.accessKeyMaxTTLSeconds} ${config.vault.address} ${warnings.length}`);
    },
    onUnchanged: () => void unchanged.push(file.text),
    onProblem: ({ message, problems }) => told.push(`${message} (${problems.map(({ file, line }) => `${file}:${line}`).join()})`),
  });
  return { clock, told, unchanged, file, follower, poll: () => clock.advance(2 * CONFIG_POLL_MS) };
}

const cap = (seconds: number | string) => `auth: {accessKeyMaxTTLSeconds: ${seconds}}\n`;

describe("a followed configuration file", () => {
  test("passes on changes, and only those", async () => {
    const { told, file, poll, follower } = followed(cap(1));
    await poll();
    expect(told).toEqual([]);
    file.text = `# Only a comment more\n${cap(1)}`;
    await poll();
    expect(told).toEqual([]);
    file.text = cap(2);
    await poll();
    await poll();
    expect(told).toEqual(["changed 2 https://vault.example.com 0"]);
    await follower.stop();
  });

  test("is compared with the configuration in effect, not with the one at the start", async () => {
    const { told, file, poll, follower } = followed(cap(1));
    for (const seconds of [2, 1]) {
      file.text = cap(seconds);
      await poll();
    }
    expect(told).toEqual([2, 1].map((seconds) => `changed ${seconds} https://vault.example.com 0`));
    await follower.stop();
  });

  test.each(["", "# all of it is gone\n"])(
    "that is emptied to %j while it is written leaves the old configuration at work",
    async (text) => {
      const { told, file, poll, follower } = followed(cap(1));
      file.text = text;
      await poll();
      await poll();
      expect(told).toEqual(["The configuration is empty; keeping the previous one ()"]);
      file.text = cap(2);
      await poll();
      expect(told.slice(1)).toEqual(["changed 2 https://vault.example.com 0"]);
      await follower.stop();
    },
  );

  test("with errors leaves the old configuration in effect, is reported once, and is applied when it is good again", async () => {
    const { told, file, poll, follower } = followed(cap(1));
    file.text = cap("many");
    await poll();
    await poll();
    expect(told).toEqual(["The configuration has errors; keeping the previous one (platform.yaml:1)"]);
    file.text = cap(1);
    await poll();
    expect(told).toHaveLength(1);
    file.text = cap(3);
    await poll();
    expect(told[1]).toBe("changed 3 https://vault.example.com 0");
    await follower.stop();
  });

  test("whose errors are undone is reported as equal to the configuration in effect", async () => {
    const { unchanged, file, poll, follower } = followed(cap(1));
    file.text = cap("many");
    await poll();
    expect(unchanged).toEqual([]);
    file.text = cap(1);
    await poll();
    expect(unchanged).toEqual([cap(1)]);
    await follower.stop();
  });

  test("that cannot be read is reported once and read again", async () => {
    const { told, file, poll, follower } = followed(cap(1));
    file.failure = "no such file";
    await poll();
    await poll();
    expect(told).toEqual(["The configuration cannot be read: no such file ()"]);
    file.failure = undefined;
    file.text = cap(2);
    await poll();
    expect(told[1]).toBe("changed 2 https://vault.example.com 0");
    await follower.stop();
  });

  test("that cannot be applied is reported, and tried again on request", async () => {
    let fails = true;
    const { told, file, poll, follower } = followed(cap(1), () => {
      if (fails) throw new Error("port in use");
    });
    file.text = cap(2);
    await poll();
    await poll();
    expect(told).toEqual(["The configuration could not be applied; keeping the previous one: port in use ()"]);
    fails = false;
    await follower.reload();
    expect(told[1]).toBe("changed 2 https://vault.example.com 0");
    await follower.stop();
  });

  test("is read at once on request", async () => {
    const { told, file, follower } = followed(cap(1));
    file.text = cap(2);
    await follower.reload();
    expect(told).toEqual(["changed 2 https://vault.example.com 0"]);
    await follower.stop();
  });

  test("is left alone after the end, which waits for work in progress", async () => {
    let finish = () => {};
    const { told, file, poll, follower, clock } = followed(cap(1), () => new Promise((resolve) => (finish = resolve)));
    file.text = cap(2);
    await poll();
    const end = follower.stop().then(() => told.push("ended"));
    finish();
    await end;
    expect(told).toEqual(["changed 2 https://vault.example.com 0", "ended"]);
    file.text = cap(3);
    await poll();
    await follower.reload();
    expect(told).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });
});
