import { describe, expect, test } from "vitest";
import { createSettings, type SettingsStorage } from "../../../src/workbench/playground/page/settings/settings.ts";

const DEFAULTS = { theme: "system", compare: "tenant", welcomed: false };
const DRAFT = { config: "a: 1", tenant: "b: 2", host: "c: 3", vcluster: { name: "blue", namespace: "vc-blue" } };

/** A browser's storage that holds `text` under whatever name is asked for. */
function storageWith(text: string | null): SettingsStorage & { text: string | null } {
  return {
    text,
    getItem() {
      return this.text;
    },
    setItem(_name, value) {
      this.text = value;
    },
  };
}

const settingsOf = (text: string | null) => createSettings(() => storageWith(text)).get();

describe("settings", () => {
  test("come back as they were set", () => {
    const storage = storageWith(null);
    const settings = createSettings(() => storage);
    expect(settings.get()).toEqual(DEFAULTS);
    settings.set({ theme: "dark" });
    settings.set({ compare: "synced", draft: DRAFT, welcomed: true });
    const kept = { theme: "dark", compare: "synced", draft: DRAFT, welcomed: true };
    expect(settings.get()).toEqual(kept);
    expect(createSettings(() => storage).get()).toEqual(kept);
  });

  test.each([
    ["nothing", null],
    ["no JSON", "{"],
    ["null", "null"],
    ["a text", '"dark"'],
    ["values of another version", '{"theme":"blue","compare":3,"welcomed":"yes","draft":"text"}'],
    ["a draft without a text", '{"draft":{"config":"a"}}'],
    ["a draft with a host object that is not a string", '{"draft":{"config":"","tenant":"","host":{}}}'],
    ["a draft with half a virtual cluster", '{"draft":{"config":"","tenant":"","vcluster":{"name":"a"}}}'],
    ["a draft with a text for a virtual cluster", '{"draft":{"config":"","tenant":"","vcluster":"a"}}'],
    ["keys of every object", '{"__proto__":{"theme":"dark"},"constructor":{"prototype":{}}}'],
  ])("are the defaults where the browser kept %s", (_, text) => {
    expect(settingsOf(text)).toEqual(DEFAULTS);
  });

  test("hold until the page is closed where the browser keeps nothing", () => {
    const settings = createSettings(() => {
      throw new Error("forbidden");
    });
    settings.set({ theme: "light" });
    expect(settings.get()).toEqual({ ...DEFAULTS, theme: "light" });
  });

  test("hold until the page is closed where the storage is full", () => {
    const full: SettingsStorage = {
      getItem: () => null,
      setItem() {
        throw new Error("quota exceeded");
      },
    };
    const settings = createSettings(() => full);
    settings.set({ draft: DRAFT });
    expect(settings.get().draft).toEqual(DRAFT);
  });
});
