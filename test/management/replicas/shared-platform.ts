/** One platform for all tests of a file, which stay apart by the names of what they make. */
import { afterAll, beforeAll, expect } from "vitest";
import { at, startPlatform, type Answered, type Platform } from "../platform.ts";

/** A platform that its file's hooks start and stop. */
export interface SharedPlatform extends Omit<Platform, "stop"> {
  /** A name that is used nowhere else here. */
  fresh(what?: string): string;
  /** Creates an object as the administrator, under a fresh name, and returns its path. */
  make(collection: string, spec: object, metadata?: object): Promise<string>;
}

/** Call it at the top of a test file. */
export function sharePlatform(options: Parameters<typeof startPlatform>[0] = {}): SharedPlatform {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform(options);
  });
  afterAll(() => platform.stop());

  let made = 0;
  const fresh = (what = "object") => `${what}-${++made}`;
  return {
    get management() {
      return platform.management;
    },
    get clock() {
      return platform.clock;
    },
    get admin() {
      return platform.admin;
    },
    as: (key) => platform.as(key),
    withKey: (spec) => platform.withKey(spec),
    fresh,
    async make(collection, spec, metadata = {}) {
      const name = fresh();
      const { code, text } = await platform.admin.send("POST", collection, { metadata: { name, ...metadata }, spec });
      expect(code, text).toBe(201);
      return `${collection}/${name}`;
    },
  };
}

/** The last part of a path: the name of the object. */
export function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The value of the access key that an answer contains, once. */
export function keyOf(answer: Answered): string {
  return String(at(answer, "spec", "key"));
}
