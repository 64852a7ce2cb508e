/** A platform for each test about keys, and callers that make and change them. */
import { expect } from "vitest";
import { at, MERGE_PATCH, startPlatform, type Answered, type Client, type Platform } from "../platform.ts";
import { keyOf } from "../replicas/shared-platform.ts";

export const KEYS = "/ownedaccesskeys";
export const STRONG = "chosen-value-with-more-than-32-characters";
/** A caller with the name of its key. */
export type Named = Client & { readonly name: string };

/** A platform for one test, with its own clock and settings. */
export async function onPlatform(config: string, run: (own: Own) => Promise<void>): Promise<void> {
  const platform = await startPlatform({ config });
  try {
    await run(new Own(platform));
  } finally {
    await platform.stop();
  }
}

/** Callers of one platform, with short methods. */
export class Own {
  readonly platform: Platform;
  #made = 0;

  constructor(platform: Platform) {
    this.platform = platform;
  }

  get admin(): Client {
    return this.platform.admin;
  }

  key(spec: object): Promise<Named> {
    return this.platform.withKey(spec);
  }

  post(author: Client, spec: object): Promise<Answered> {
    return author.send("POST", KEYS, { metadata: { name: `made-${++this.#made}` }, spec });
  }

  async make(author: Client, spec: object = {}): Promise<Named> {
    const made = await this.post(author, spec);
    expect(made.code, made.text).toBe(201);
    return { ...this.platform.as(keyOf(made)), name: made.body.metadata.name! };
  }

  change(author: Client, { name }: { readonly name: string }, spec: object): Promise<Answered> {
    return author.send("PATCH", `${KEYS}/${name}`, { spec }, MERGE_PATCH);
  }

  async wait(seconds: number): Promise<void> {
    this.platform.clock.jump(seconds * 1_000);
    await this.platform.clock.advance(0);
  }

  user(name: string, spec: object = {}): Promise<Answered> {
    return this.admin.send("POST", "/users", { metadata: { name }, spec });
  }

  /** Signs in with a password. */
  async login(name: string, password: string): Promise<Named> {
    const response = await fetch(`${this.platform.management.url}/auth/password/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: name, password }),
    });
    const { accessKey, name: key } = (await response.json()) as { accessKey: string; name: string };
    expect(response.status).toBe(200);
    return { ...this.platform.as(accessKey), name: key };
  }
}

/** A key's answer to a request that every caller may make. */
export const codeOf = async (client: Client) => (await client.send("GET", "/teams")).code;
export const codesOf = async (...clients: Client[]) => {
  const codes = [];
  for (const client of clients) codes.push(await codeOf(client));
  return codes;
};
export const whyOf = async (client: Client) => at(await client.send("GET", "/teams"), "message");
