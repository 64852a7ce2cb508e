/**
 * The only function that expressions can call on the other side: `virtualToHostDNS`.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { CONTEXT, answer, createTestSandbox, failureOf } from "./support.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

describe("virtualToHostDNS", () => {
  const name = 'virtualToHostDNS("db.shop.svc")';

  test("asks the given function, with the very string", async () => {
    const asked: string[] = [];
    const own = await createSandbox({ toHostDns: (text) => (asked.push(text), `<${text}>`) });
    expect(answer(own, "virtualToHostDNS(value)", "a\0\ud800\ufeff")).toEqual({
      value: "<a\0\ud800\ufeff>".replace(/[\0\ud800]/g, "\ufffd"),
    });
    expect(asked).toEqual(["a\0\ud800\ufeff"]);
  });

  test("takes names that were put together in any way, of any length that a name may have", async () => {
    const own = await createSandbox({ limits: { fuel: 5e8 }, toHostDns: (text) => String(text.length) });
    const lengths = (make: string) =>
      answer(own, `Array.from({ length: 254 }, (_, length) => +virtualToHostDNS(${make}) - length).every(rest => rest === 0)`);
    expect(lengths('Array(length).fill("x").reduce((all, one) => all + one, "")')).toEqual({ value: true });
    expect(lengths('Array(length).fill("é").reduce((all, one) => one + all, "")')).toEqual({ value: true });
    expect(lengths('("a".repeat(9000) + "b".repeat(9000)).slice(8900, 8900 + length)')).toEqual({ value: true });
  });

  test("refuses a longer text before it is read", async () => {
    const asked: string[] = [];
    const own = await createSandbox({ toHostDns: (text) => (asked.push(text), text) });
    const long = failureOf(own, 'virtualToHostDNS("a".repeat(9000) + value + "b".repeat(9000))');
    expect(long.message).toContain("Cannot translate a DNS name of 18003 characters: it has at most 253");
    const { fuel: made } = own.evaluate(own.compile('"a".repeat(1e6).length'), { value: 1, context: CONTEXT });
    const { fuel: refused } = failureOf(own, 'virtualToHostDNS("a".repeat(1e6))').details;
    expect((refused as number) - made).toBeLessThan(2000);
    expect(asked).toEqual([]);
  });

  test("answers no text that looks like a message of an error", async () => {
    const odd = await createSandbox({ toHostDns: () => "!secret" });
    expect(failureOf(odd, name).message).toContain("virtualToHostDNS() failed");
  });

  test("throws an error that can be caught when there is no such function", async () => {
    const bare = await createSandbox();
    expect(failureOf(bare, name).message).toContain("virtualToHostDNS() is not available here");
    expect(answer(bare, `(() => { try { return ${name} } catch (error) { return error instanceof Error } })()`)).toEqual({ value: true });
  });

  test("throws the message of an error with a code", () => {
    expect(failureOf(sandbox, 'virtualToHostDNS("nowhere")').message).toContain('Error: Cannot translate DNS name "nowhere"');
  });

  test("has its price in fuel", () => {
    const { fuel } = sandbox.evaluate(sandbox.compile(name), { value: 1, context: CONTEXT });
    expect(fuel).toBeGreaterThan(1000);
  });

  test("reveals nothing about an unexpected error of the host", async () => {
    const broken = await createSandbox({
      toHostDns: () => {
        throw new Error("secret of the host");
      },
    });
    expect(failureOf(broken, name).message).toContain("virtualToHostDNS() failed");
    expect(failureOf(broken, name).message).not.toContain("secret");
  });

  test("cannot be used to evaluate in the middle of an evaluation", async () => {
    const nested: Sandbox = await createSandbox({ toHostDns: () => String(answer(nested, "1 + 1")) });
    expect(failureOf(nested, name).message).toContain("virtualToHostDNS() failed");
    expect(answer(nested, "value")).toEqual({ value: "abc" });
  });

  test("survives whatever the function does", async () => {
    const odd = await createSandbox({ toHostDns: () => undefined as unknown as string });
    expect(answer(odd, name)).toEqual({ code: "EXPRESSION_ERROR" });
    expect(answer(odd, "value")).toEqual({ value: "abc" });
  });
});
