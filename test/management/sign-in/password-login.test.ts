/**
 * Login by password, and how many wrong attempts are allowed.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addressSubject, createAttempts } from "../../../src/management/sign-in/limits/attempts.ts";
import { SIGN_IN_LIMITS, type SignInLimits } from "../../../src/management/sign-in/limits/limits.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { PASSWORD, post, startPlatform, type Seen, type TestPlatform } from "./platform.ts";

/** The client's address, unless a test says otherwise. */
const HOME = "192.0.2.1";
let platform: TestPlatform;

async function start(limits: Partial<SignInLimits> = {}): Promise<void> {
  platform = await startPlatform({}, limits);
}
beforeEach(() => start());
afterEach(() => platform.close());

function signIn(username: string, password: string): Promise<Seen> {
  return post(`${platform.url}/auth/password/login`, { username, password });
}

test("129 the right password gives a key once, sent as JSON or as a form", async () => {
  const seen = await signIn("jane", PASSWORD);
  expect(seen).toMatchObject({ status: 200, body: { accessKey: "key-1", name: "login-1", expiresAt: "2026-01-21T00:00:00.000Z" } });
  expect(seen.headers.get("cache-control")).toBe("no-store");
  const form = new URLSearchParams({ username: "jane", password: PASSWORD }).toString();
  expect(await post(`${platform.url}/auth/password/login`, form)).toMatchObject({ status: 200, body: { accessKey: "key-2" } });
  expect(platform.signedIn).toEqual(
    Array(2).fill({ identity: { userId: "jane", username: "jane", groups: [], connector: "password" }, tokens: undefined }),
  );
});

test("a wrong password and an unknown user are answered alike", async () => {
  const [wrong, unknown] = [await signIn("jane", "x"), await signIn("joe", PASSWORD)];
  expect(wrong).toMatchObject({ status: 401, body: { message: "wrong user name or password" } });
  expect(unknown.body).toEqual(wrong.body);
  // Both are checked: that both take the same time is up to the port.
  expect(platform.verified).toEqual(["jane:x", `joe:${PASSWORD}`]);
});

test("123 no one signs in where passwords are disabled", async () => {
  platform.config = { password: { disabled: true } };
  expect(await signIn("jane", PASSWORD)).toMatchObject({ status: 403, body: { message: "forbidden: password login is disabled" } });
  expect(platform.verified).toEqual([]);
});

test.each<[string, string, number, string]>([
  ["application/json", "{", 400, "the body is not JSON"],
  ["application/json", "[]", 400, "the body is not a JSON object"],
  ["application/json", '{"username":"jane"}', 400, "the field password is missing, empty or not a string"],
  ["application/json", '{"username":"jane","password":1}', 400, "the field password is missing, empty or not a string"],
  ["application/x-www-form-urlencoded", "username=jane&password=", 400, "the field password is missing, empty or not a string"],
  ["text/plain", "username=jane&password=x", 415, "accepted media types include"],
  ["application/json", JSON.stringify({ username: "jane", password: "x".repeat(1_025) }), 400, "too long"],
  ["application/json", JSON.stringify({ username: "jane", password: "x".repeat(20_000) }), 413, "too large"],
])("a body of %s, %.40s, is %d", async (type, body, status, message) => {
  const answer = await fetch(`${platform.url}/auth/password/login`, { method: "POST", headers: { "content-type": type }, body });
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(message)]);
  expect(platform.verified).toEqual([]);
});

test("no password is in a log line", async () => {
  await signIn("jane", "hunter2");
  await fetch(`${platform.url}/auth/password/login`, { method: "POST", headers: { "content-type": "application/json" }, body: '"hunter2' });
  expect(platform.log).toHaveLength(2);
  expect(platform.log.join("\n")).not.toContain("hunter2");
});

describe("after wrong passwords", () => {
  test(`for one name from one address, ${SIGN_IN_LIMITS.failuresPerPair} by default, the right one is refused unseen there until the window ends`, async () => {
    for (let count = 0; count < 10; count++) expect((await signIn("jane", "x")).status).toBe(401);
    const asked = platform.verified.length;
    const refused = await signIn("jane", PASSWORD);
    expect([refused.status, refused.headers.get("retry-after"), platform.verified.length]).toEqual([429, "900", asked]);
    await platform.clock.advance(SIGN_IN_LIMITS.failureWindowMs - 1);
    expect((await signIn("jane", PASSWORD)).status).toBe(429);
    await platform.clock.advance(1);
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
  });

  test(`for one name, ${SIGN_IN_LIMITS.failuresPerUsername} by default, it is refused where it was never right, and nowhere else`, async () => {
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
    for (let count = 0; count < 100; count++) {
      platform.address = `198.51.100.${count}`;
      expect((await signIn("jane", "x")).status).toBe(401);
    }
    platform.address = "203.0.113.1";
    expect((await signIn("jane", PASSWORD)).status).toBe(429);
    platform.address = HOME;
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
    await platform.clock.advance(SIGN_IN_LIMITS.failureWindowMs);
    platform.address = "203.0.113.1";
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
  });

  test("an address where a name has signed in is known for it alone", async () => {
    await platform.close();
    await start({ failuresPerUsername: 1, knownMs: 10_000 });
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
    platform.address = "192.0.2.2";
    for (const name of ["jane", "joe"]) expect((await signIn(name, "x")).status).toBe(401);
    platform.address = HOME;
    expect([(await signIn("jane", PASSWORD)).status, (await signIn("joe", "x")).status]).toEqual([200, 429]);
    await platform.clock.advance(10_000);
    expect((await signIn("jane", PASSWORD)).status).toBe(429);
  });

  test(`from one address, ${SIGN_IN_LIMITS.failuresPerAddress} by default, every name is refused there, and nowhere else`, async () => {
    for (let count = 0; count < 50; count++) expect((await signIn(`user-${count}`, "x")).status).toBe(401);
    expect((await signIn("jane", PASSWORD)).status).toBe(429);
    platform.address = "192.0.2.2";
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
  });

  test("the limits can be set", async () => {
    await platform.close();
    await start({ failuresPerPair: 1, failuresPerAddress: 2, failureWindowMs: 1_000 });
    expect((await signIn("jane", "x")).status).toBe(401);
    expect((await signIn("jane", PASSWORD)).status).toBe(429);
    expect((await signIn("joe", "x")).status).toBe(401);
    expect((await signIn("jim", "x")).status).toBe(429);
    await platform.clock.advance(1_000);
    expect((await signIn("jane", PASSWORD)).status).toBe(200);
  });

  test("a right one clears its name there, but not the address: an account of one's own does not help to try others", async () => {
    await platform.close();
    await start({ failuresPerPair: 2, failuresPerAddress: 2 });
    for (const attempt of ["x", PASSWORD, "x", PASSWORD]) await signIn("jane", attempt);
    expect(platform.signedIn).toHaveLength(2);
    expect((await signIn("joe", "x")).status).toBe(401);
    expect([(await signIn("joe", "x")).status, (await signIn("jane", PASSWORD)).status]).toEqual([429, 200]);
  });

  test("many at one time count before their outcome is known", async () => {
    await platform.close();
    await start({ failuresPerPair: 3 });
    const outcomes: (() => void)[] = [];
    const gate = (): Promise<undefined> => new Promise((resolve) => void outcomes.push(() => resolve(undefined)));
    platform.ports = { ...platform.ports, verifyPassword: gate };
    const answers = Array.from({ length: 5 }, () => signIn("jane", "x"));
    await until("three are being checked", () => outcomes.length === 3);
    await until("two have been refused", () => platform.log.length === 2);
    outcomes.forEach((fail) => fail());
    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429]);
  });

  test("what is not a failure does not count", async () => {
    await platform.close();
    await start({ failuresPerPair: 1, failuresPerUsername: 1, failuresPerAddress: 1 });
    platform.ports = { ...platform.ports, verifyPassword: () => Promise.reject(new Error("the store is closed")) };
    expect([(await signIn("jane", PASSWORD)).status, (await signIn("jane", PASSWORD)).status]).toEqual([500, 500]);
  });
});

test("only a limited number of passwords is checked at one time", async () => {
  await platform.close();
  await start({ checksMax: 1 });
  const outcomes: (() => void)[] = [];
  const verifyPassword = (): Promise<undefined> => new Promise((resolve) => void outcomes.push(() => resolve(undefined)));
  platform.ports = { ...platform.ports, verifyPassword };
  const first = signIn("jane", "x");
  await until("one is being checked", () => outcomes.length === 1);
  expect((await signIn("joe", "x")).status).toBe(429);
  outcomes[0]!();
  expect((await first).status).toBe(401);
});

describe("attempts", () => {
  test("of the subject with the oldest window are forgotten when there are too many subjects", async () => {
    const attempts = createAttempts({ clock: createFakeClock(), max: 1, windowMs: 1_000, subjectsMax: 2 });
    for (const subject of ["a", "b", "c"]) await attempts.begin(subject);
    expect(await Promise.all(["a", "b", "c"].map((subject) => attempts.wait(subject)))).toEqual([undefined, 1, 1]);
  });

  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
  ])("from %s count for %s", (address, subject) => {
    expect(addressSubject(address)).toBe(subject);
  });
});
