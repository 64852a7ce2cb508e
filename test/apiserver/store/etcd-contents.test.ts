/** Contents of a store in etcd, and how it reads them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { openEtcdStore, type EtcdStoreOptions } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import type { Cipher } from "../../../src/apiserver/store/cipher.ts";
import type { Store } from "../../../src/apiserver/store/store.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { tellAll } from "../support/tell-all.ts";

const WORD = "open-sesame";

/** Tells keys and places apart, and hides the text; no more is asked of it here. */
function cipherOf(password: string): Cipher {
  const head = (at: string) => `${password}|${at}|`;
  return {
    seal: (at, text) => Buffer.from(`${head(at)}${text}`).toString("base64"),
    open(at, sealed) {
      const text = Buffer.from(sealed, "base64").toString();
      if (!text.startsWith(head(at))) throw new Error("no");
      return text.slice(head(at).length);
    },
  };
}

async function failureOf(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => "no failure",
    (reason: unknown) => reason,
  );
  if (!isEngineError(error)) return String(error);
  const { code = 0 } = (error.details["status"] ?? {}) as { code?: number };
  return `${error.code} ${code} ${error.message}`;
}

const encode = (text: string) => Buffer.from(text).toString("base64");
const decode = (text: string) => Buffer.from(text, "base64").toString();

describeEtcd("what is in etcd", () => {
  let etcd: Etcd;
  let prefixes = 0;
  let prefix = "";
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  beforeEach(() => void (prefix = `/contents/${(prefixes += 1)}`));

  const open = (options: Partial<EtcdStoreOptions> = {}) => openEtcdStore({ endpoints: [etcd.url], prefix, ...options });
  const put = (name: string, value: string) => etcd.ask("/v3/kv/put", { key: encode(`${prefix}/${name}`), value: encode(value) });
  const everything = async (): Promise<[string, string][]> => {
    const { kvs = [] } = (await etcd.ask("/v3/kv/range", { key: encode(`${prefix}/`), range_end: encode(`${prefix}0`) })) as {
      kvs?: { key: string; value: string }[];
    };
    return kvs.map(({ key: at, value }) => [decode(at), decode(value)]);
  };

  test("is an object below its key, the last write, and nothing else", async () => {
    const store = await open();
    await store.create(key("a"), object("a", WORD));
    const own = await everything();
    expect(own.map(([at]) => at)).toEqual([`${prefix}/last`, `${prefix}/objects${key("a")}`]);
    expect(JSON.parse(own[1]![1])).toEqual(object("a", WORD));
    await store.close();
  });

  test("is sealed if there is a cipher, no matter who writes and reads", async () => {
    const [writer, reader] = [await open({ cipher: cipherOf("k") }), await open({ cipher: cipherOf("k") })];
    const created = await writer.create(key("a"), object("a", WORD));
    expect(await reader.get(key("a"))).toEqual(created);
    expect(await reader.update(key("a"), object("a", `${WORD}-2`), created!.revision)).toBeDefined();
    expect((await everything()).some(([, value]) => value.includes(WORD))).toBe(false);
    await writer.close();
    await reader.close();
    const again = await open({ cipher: cipherOf("k") });
    expect((await again.get(key("a")))!.object["data"]).toEqual({ text: `${WORD}-2` });
    await again.close();
  });

  test("is not opened with another key", async () => {
    const store = await open({ cipher: cipherOf("k") });
    await store.create(key("a"), object("a", WORD));
    const failure = await failureOf(open({ cipher: cipherOf("other") }));
    expect(failure).toMatch(/^STORE_FAILED 0 .*"\/core\/configmaps\/shop\/a" cannot be decrypted: it was encrypted with a different key/);
    await store.close();
  });

  test("is opened with the present key alone, though its past was sealed with another one", async () => {
    const before = await open({ cipher: cipherOf("old") });
    const { revision } = (await before.create(key("a"), object("a", "one")))!;
    await before.close();
    const both: Cipher = {
      seal: cipherOf("new").seal,
      open: (at, text) => cipherOf(text.startsWith(encode("new|").slice(0, 4)) ? "new" : "old").open(at, text),
    };
    const rotating = await open({ cipher: both });
    await rotating.update(key("a"), object("a", "two"), revision);
    await rotating.close();
    const after = await open({ cipher: cipherOf("new") });
    expect((await after.get(key("a")))!.object["data"]).toEqual({ text: "two" });
    expect(await failureOf(after.list({ prefix: PREFIX, revision }))).toMatch(/^API_EXPIRED/);
    await after.close();
  });

  test("stops a server that cannot read what another one wrote, until it can", async () => {
    const keys = { password: "old" };
    const patient = { giveUpMs: 30_000, silentMs: 100, heartbeatMs: 3_600_000 };
    const reader = await open({
      cipher: { seal: (at, text) => cipherOf(keys.password).seal(at, text), open: (at, text) => cipherOf(keys.password).open(at, text) },
      times: patient,
    });
    const writer = await open({ cipher: cipherOf("new") });
    await writer.create(key("a"), object("a", "one"));
    expect(await failureOf(reader.get(key("a")))).toMatch(/^STORE_FAILED 0 .*cannot be decrypted/);
    keys.password = "new";
    for (let found = false; !found;) found = (await reader.get(key("a")).catch(() => undefined)) !== undefined;
    await writer.close();
    await reader.close();
  });

  test("of a newer program is left alone", async () => {
    await put("last", "2 another");
    expect(await failureOf(open())).toMatch(/^STORE_FAILED 0 .*its format is "2", but this version supports only format 1/);
  });

  test("that is not an object is refused by name, and not quoted", async () => {
    await put("objects/core/configmaps/shop/a", `{"${WORD}":`);
    await put("last", "1 another");
    const failure = await failureOf(open());
    expect(failure).toMatch(/^STORE_FAILED 0 .*the value of "\/core\/configmaps\/shop\/a" is not an object/);
    expect(failure).not.toContain(WORD);
  });

  test("is told by each store that opens it as by one that was there all the time", async () => {
    const store = await open();
    for (let round = 0; round < 30; round += 1) {
      const at = key(`n${round % 4}`);
      const present = await store.get(at);
      if (present === undefined) await store.create(at, object("n", String(round)));
      else if (round % 3 === 0) await store.delete(at, present.revision);
      else await store.update(at, object("n", String(round)), present.revision);
      // In the middle of it, so that the past of the next one begins within.
      if (round === 11) await store.compact();
    }
    const late = await open();
    expect(await tellAll(late)).toEqual(await tellAll(store));
    const small = await open({ history: 5 });
    expect(await failureOf(small.list({ prefix: PREFIX, revision: (await small.revision()) - 6 }))).toMatch(/^API_EXPIRED/);
    expect((await small.list({ prefix: PREFIX, revision: (await small.revision()) - 5 })).objects.length).toBeGreaterThan(0);
    for (const one of [store, late, small]) await one.close();
  });

  test("is read page by page", async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 1_234 }, (_, index) => store.create(key(`n${index}`), object("n"))));
    const late = await open();
    expect((await late.list({ prefix: PREFIX })).objects).toEqual((await store.list({ prefix: PREFIX })).objects);
    await late.close();
    await store.close();
  });

  test.each([1_600_000, 5_000_000])("has no room for an object of %i bytes, which is answered as too large", async (size) => {
    const store = await open();
    expect(await failureOf(store.create(key("a"), object("a", "x".repeat(size))))).toMatch(/^\S+ 413 Request entity too large/);
    const { revision } = (await store.create(key("a"), object("a", "x".repeat(1_400_000))))!;
    expect(await failureOf(store.update(key("a"), object("a", "x".repeat(size)), revision))).toMatch(/^\S+ 413 /);
    expect((await store.get(key("a")))!.revision).toBe(revision);
    await store.close();
  });

  test.each(["/core/a\0b", "/core/a\ud800"])("has no key that would come back as another one: %j", async (at) => {
    const store = await open();
    await expect(store.create(at, object("a"))).rejects.toThrow("a key contains no unpaired surrogate");
    expect(await store.create("/core/😀", object("a"))).toBeDefined();
    await store.close();
  });

  test("is neither written nor read after a close, which waits for what has begun", async () => {
    const store = await open();
    const writing = ["a", "b", "c"].map((name) => store.create(key(name), object(name)));
    await store.close();
    expect((await Promise.all(writing)).every((stored) => stored !== undefined)).toBe(true);
    for (const late of [store.create(key("d"), object("d")), store.get(key("a")), store.list({ prefix: PREFIX }), store.revision()])
      expect(await failureOf(late)).toMatch(/^STORE_FAILED 0 .*closed/);
  });
});

describeEtcd("an etcd that is full", () => {
  test("refuses writes in words that help, and still reads", async () => {
    const etcd = await startEtcd({ args: ["--quota-backend-bytes=1000000"] });
    const store: Store = await openEtcdStore({ endpoints: [etcd.url] });
    const fill = async () => {
      for (let count = 0; count < 100; count += 1) await store.create(key(`n${count}`), object("n", "x".repeat(100_000)));
    };
    expect(await failureOf(fill())).toMatch(/^STORE_FAILED 507 etcd has no space left/);
    expect(await store.get(key("n0"))).toBeDefined();
    await store.close();
    await etcd.remove();
  });
});
