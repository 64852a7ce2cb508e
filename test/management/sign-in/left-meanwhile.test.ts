/**
 * A key of a sign-in that goes at the moment at which the provider is asked about it: at each request, and in each way. The groups stay what the
 * provider says, for the keys that the user made with it.
 */
import { describe, expect, test } from "vitest";
import { at } from "../platform.ts";
import { CASES } from "./doubles/cases.ts";
import type { Double } from "./doubles/world.ts";
import { post } from "./platform.ts";
import { after, platform, signIn, start, stopAfterEach, type Login } from "./refresh-setting.ts";

stopAfterEach();

const GOES: readonly (readonly [string, (login: Login) => Promise<unknown>])[] = [
  ["signs out", ({ key }) => post(`${platform.management.url}/auth/logout`, {}, { authorization: `Bearer ${key}` })],
  ["deletes it", (login) => login.send("DELETE", `/ownedaccesskeys/${login.name}`)],
];
const TOKEN: Readonly<Record<string, string>> = {
  sourceHostB: "/oauth/token",
  directoryProviderA: "googleapis.com/token",
  directoryProviderB: "/oauth2/v2.0/token",
};
const PLACES = CASES.filter(([kind]) => kind !== "clusterManager").flatMap(([kind, makeCase]) =>
  [...makeCase().places, ...(TOKEN[kind] === undefined ? [] : [TOKEN[kind]])].map((place) => [kind, place, makeCase] as const),
);

describe.each(GOES)("a user who %s", (_, go) => {
  test.each(PLACES)("while %s is asked at %s keeps the groups, which go on following", async (kind, place, makeCase) => {
    const provider = makeCase();
    const groups = provider.restrictions.at(kind === "sourceHostA" ? 0 : -1)!;
    groups.join([groups.name]);
    let meanwhile: (() => Promise<unknown>) | undefined;
    const double: Double = async (asked) => {
      const act = asked.place.endsWith(place) ? meanwhile : undefined;
      if (act !== undefined) meanwhile = undefined;
      await act?.();
      return provider.double(asked);
    };
    await start({ ...provider, double }, kind);
    const login = await signIn(kind);
    const own = platform.as(
      String(at(await login.send("POST", "/ownedaccesskeys", { metadata: { name: "own" }, spec: {} }), "spec", "key")),
    );
    const user = String(at(await platform.admin.send("GET", "/ownedaccesskeys/own"), "spec", "user"));
    const groupsOfUser = async () => at(await platform.admin.send("GET", `/users/${user}`), "spec", "groups");
    meanwhile = () => go(login);
    expect(await after(own)).toBe(200);
    expect(meanwhile).toBeUndefined();
    expect((await login.send("GET", "/teams")).code).toBe(401);
    for (let round = 0; round < 2; round += 1) expect(await after(own)).toBe(200);
    expect(await groupsOfUser()).toEqual(groups.groups);
    groups.join([]);
    expect(await after(own)).toBe(200);
    expect((await groupsOfUser()) ?? []).toEqual([]);
  });
});
