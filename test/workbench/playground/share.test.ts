import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GALLERY } from "../../../src/workbench/playground/gallery.ts";
import type { PlaygroundState } from "../../../src/workbench/playground/protocol.ts";
import { FRAGMENT_MAX, packState, STATE_MAX, unpackState } from "../../../src/workbench/playground/share.ts";

async function fragmentOf(state: PlaygroundState): Promise<string> {
  const packed = await packState(state);
  if (!packed.ok) throw new Error(packed.message);
  return packed.fragment;
}
const fragmentWith = (json: string | Buffer) => `1.${deflateRawSync(json).toString("base64url")}`;

describe("a link", () => {
  test.each(GALLERY)("opens $name as it was shared, with and without its #", async ({ state }) => {
    const fragment = await fragmentOf(state);
    expect(fragment).toMatch(/^1\.[-\w]+$/);
    expect(await unpackState(fragment)).toEqual({ ok: true, state });
    expect(await unpackState(`#${fragment}`)).toEqual({ ok: true, state });
  });

  test("holds any text", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 200 });
    const state = fc.record({ config: text, settings: text, tenant: text, host: text }, { requiredKeys: ["config", "tenant"] });
    await fc.assert(
      fc.asyncProperty(state, async (one) => {
        expect(await unpackState(await fragmentOf(one))).toEqual({ ok: true, state: one });
      }),
      { numRuns: 50 },
    );
  });

  test("is not made of texts that are too long", async () => {
    const tenant = Array.from({ length: 40_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_011))).join("");
    expect(await packState({ config: "", tenant })).toMatchObject({ ok: false });
    expect(await packState({ config: "", tenant: "x".repeat(STATE_MAX) })).toMatchObject({ ok: false });
  });
});

describe("a link from someone else", () => {
  const good = fragmentWith(JSON.stringify({ config: "a: 1", tenant: "" }));
  const bomb = fragmentWith(Buffer.alloc(40_000_000, " "));

  test.each([
    ["without anything", "", "it is not a playground link"],
    ["to a heading", "#installation", "it is not a playground link"],
    ["of another version", "2.abc", "another version"],
    ["without data", "1.", "cut off"],
    ["in another alphabet", "1.<script>", "cut off"],
    ["that was cut off", good.slice(0, -5), "cut off"],
    ["of bytes that are not deflated", "1.AAAA", "cut off"],
    ["of something else than JSON", fragmentWith("a: 1"), "cut off"],
    ["of no UTF-8", fragmentWith(Buffer.from([0x22, 0xff, 0x22])), "cut off"],
    ["of a list", fragmentWith("[]"), "no state"],
    ["of nothing", fragmentWith("null"), "no state"],
    ["without a text", fragmentWith('{"config":""}'), "the configuration or the tenant object is missing"],
    ["with a number for a text", fragmentWith('{"config":"","tenant":1}'), "the configuration or the tenant object is missing"],
    ["with a map for the host object", fragmentWith('{"config":"","tenant":"","host":{}}'), "not a string"],
    ["with a name that is none", fragmentWith('{"config":"","tenant":"","vcluster":{"name":"../a","namespace":"b"}}'), "names"],
    ["with half a virtual cluster", fragmentWith('{"config":"","tenant":"","vcluster":{"name":"a"}}'), "names"],
    ["with settings that are no text", fragmentWith('{"config":"","tenant":"","settings":{}}'), "settings"],
    ["that is too long", `1.${"A".repeat(FRAGMENT_MAX)}`, "longer than any"],
    ["of forty million blanks", bomb, "too long"],
  ])("%s is refused with a reason", async (_, fragment, reason) => {
    expect(await unpackState(fragment)).toEqual({ ok: false, message: expect.stringContaining(reason) as string });
  });

  test("brings nothing but a state", async () => {
    const fragment = fragmentWith('{"config":"a","tenant":"b","__proto__":{"x":1},"more":2,"vcluster":{"name":"c","namespace":"d","e":3}}');
    expect(await unpackState(fragment)).toEqual({
      ok: true,
      state: { config: "a", tenant: "b", vcluster: { name: "c", namespace: "d" } },
    });
  });
});
