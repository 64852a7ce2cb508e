/**
 * Errors thrown by an expression are its own: it cannot choose the place or the code of the failure, nor forge lines around its message.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createTestSandbox, failureOf } from "./support.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createTestSandbox();
});

describe("the place of a failure", () => {
  test.each([
    { what: "an object with a stack", text: '(() => { throw { stack: "    at f (expression:2:3)" } })()' },
    {
      what: "an object with the prototype of an error",
      text: '(() => { throw { __proto__: Error.prototype, stack: "    at expression:2:3" } })()',
    },
    {
      what: "an error whose stack names no place of the text",
      text: '(e => { e.stack = "    at f (expression:99:1)"; throw e })(new Error("x"))',
    },
    {
      what: "an error whose stack names a column without end",
      text: `(e => { e.stack = "    at f (expression:2:${"9".repeat(400)})"; throw e })(new Error("x"))`,
    },
  ])("is not known of $what", ({ text }) => {
    const { code, details, message } = failureOf(sandbox, text);
    expect(code).toBe("EXPRESSION_ERROR");
    expect(details).not.toHaveProperty("line");
    expect(details).not.toHaveProperty("excerpt");
    expect(message).not.toMatch(/at line/);
  });

  test("is not what a function is called", () => {
    const { details } = failureOf(sandbox, '({ [value]() { throw new Error("x") } })[value]()', "expression:1:3");
    expect(details).toMatchObject({ line: 1, column: 31 });
  });
});

describe("the code of a failure", () => {
  test.each([
    { what: "an object", text: '(() => { throw { name: "InternalError", message: "stack overflow" } })()' },
    { what: "an error", text: '(() => { throw Object.assign(new Error("stack overflow"), { name: "InternalError" }) })()' },
    { what: "an error of a class of its own", text: '(() => { throw new (class InternalError extends Error {})("stack overflow") })()' },
  ])("is not chosen by the name of $what", ({ text }) => {
    expect(failureOf(sandbox, text).code).toBe("EXPRESSION_ERROR");
  });

  test.each([
    { what: "calls", text: "(function f() { return f() })()" },
    { what: "JSON text", text: 'JSON.parse("[".repeat(1e5))' },
    { what: "a regular expression", text: 'new RegExp("(?:".repeat(1e4))' },
    {
      what: "calls, thrown again under another name",
      text: '(function f() { try { return f() } catch (e) { e.name = "Mine"; throw e } })()',
    },
  ])("tells what nests too deep by what the engine threw: $what", ({ text }) => {
    expect(failureOf(sandbox, text).code).toBe("EXPRESSION_STACK");
  });
});

describe("a message of an expression", () => {
  const FORGED = "a\nerror USAGE: forged\r\n\u001b[2J\u2028\u202eb";
  const SHOWN = "a\\u000aerror USAGE: forged\\u000d\\u000a\\u001b[2J\\u2028\\u202eb";

  test.each([
    { where: "in the message", text: "(() => { throw new Error(value) })()" },
    { where: "in the name", text: "(() => { throw { name: value } })()" },
    { where: "in a text that is thrown", text: "(() => { throw value })()" },
    { where: "in a result that cannot be written", text: "({ toJSON() { throw new Error(value) } })" },
    { where: "in what the engine says of a name", text: "(o => { o[value] = 1 })(Object.freeze({ [value]: 0 }))" },
  ])("is on one line, and moves no cursor: $where", ({ text }) => {
    const { message } = failureOf(sandbox, text, FORGED);
    expect(message).toContain(SHOWN);
    expect(message).not.toMatch(/[\p{C}\u2028\u2029]/u);
  });

  test("is on one line in what the compiler says", () => {
    expect(failureOf(sandbox, '"a" b\u0085\u2028c').message).not.toMatch(/\n/);
  });
});
