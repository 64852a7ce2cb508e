/** A platform with a small quota, and users who use theirs up. */
import { afterEach, expect } from "vitest";
import { startPlatform, type Answered, type Client, type Platform } from "../platform.ts";

export const SECRETS = "/namespaces/shop/sharedsecrets";
export const TEAMS = "/teams";
export const KEYS = "/ownedaccesskeys";
export const APPLY = { type: "application/apply-patch+yaml" };
/** Objects of a kind that a user may have. */
export const OBJECTS = 4;

/** The platform of a test, which ends with the test. */
export class Setting {
  #platform: Platform | undefined;
  #made = 0;

  constructor() {
    afterEach(() => this.#platform?.stop());
  }

  get platform(): Platform {
    return this.#platform!;
  }

  get admin(): Client {
    return this.platform.admin;
  }

  /** A platform on which every user may make SharedSecrets and Teams, as "open" says. */
  async start(options: Parameters<typeof startPlatform>[0] = {}): Promise<void> {
    this.#platform = await startPlatform({ quota: { objects: OBJECTS }, ...options });
    const access = [{ verbs: ["create"], users: ["*"] }];
    await this.admin.send("POST", SECRETS, { metadata: { name: "open" }, spec: { access } });
    await this.admin.send("POST", TEAMS, { metadata: { name: "open" }, spec: { access } });
  }

  /** Stops the server, and starts another one. */
  async restart(options: Parameters<typeof startPlatform>[0]): Promise<void> {
    await this.platform.stop();
    this.#platform = await startPlatform({ quota: { objects: OBJECTS }, ...options });
  }

  /** A user with a key, which counts for that user. */
  user(name: string): Promise<Client & { readonly name: string }> {
    return this.platform.withKey({ user: name });
  }

  fresh(): string {
    return `made-${++this.#made}`;
  }

  /** An object of a kind, as its owner writes it. */
  bodyOf(path: string, owner: string, { name = this.fresh(), size = 0 } = {}) {
    const spec = path === KEYS ? {} : { owner: { user: owner } };
    return { metadata: { name, ...(size > 0 && { annotations: { size: "x".repeat(size) } }) }, spec };
  }

  async post(client: Client, path: string, owner: string, more: { name?: string; size?: number } = {}): Promise<Answered> {
    return client.send("POST", path, this.bodyOf(path, owner, more));
  }

  /** Makes objects until one is refused, and returns the names of those that were made. */
  async fill(client: Client, path: string, owner: string): Promise<string[]> {
    const there: string[] = [];
    for (;;) {
      const answer = await this.post(client, path, owner);
      if (answer.code === 403) return there;
      expect(answer.code, answer.text).toBe(201);
      there.push(answer.body.metadata.name!);
      if (there.length > 2 * OBJECTS) throw new Error("nothing was refused");
    }
  }
}
