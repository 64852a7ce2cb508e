/** Random sequences of what happens to keys, on the management API without a network and on the model of it. */
import { systemChance } from "../../../src/base/chance.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { DEFAULT_MANAGEMENT_CONFIG } from "../../../src/management/config/config.ts";
import { openManagementApi, type ManagementApi } from "../../../src/management/api/management-api.ts";
import { OWNED_ACCESS_KEYS, TEAMS, USERS } from "../../../src/management/kinds/types.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { Chance } from "../outside/cases.ts";
import { Model, type ModelChange, type ModelKey, type ModelSpec } from "./model.ts";

const START_MS = Date.UTC(2026, 5, 1, 12);
const TTLS: readonly number[] = [0, 0, 5, 20, 60];
const TYPES: readonly string[] = ["User", "User", "User", "Other", "Login"];
const WAITS: readonly number[] = [1, 3, 10, 40];
const PEOPLE: readonly string[] = ["jane", "bob"];
const TEAM = "ops";
const STEPS = 24;
/** One sequence in so many begins with a chain that is nearly too long. */
const LONG_EVERY = 40;
const SAME: ModelSpec = { user: "jane", type: "User", ttl: 0, idle: false };
/** One password in so many sequences: its digest takes longer than all the rest of one. */
const PASSWORD_EVERY = 200;

/**
 * Plays one sequence after the other, each from nothing, for as long as it takes or until one differs from the model.
 *
 * @throws Error with the seed, the difference and the steps that led there.
 */
export async function play(seeds: Iterable<number>): Promise<void> {
  const clock = createFakeClock(START_MS);
  const parts = { store: createMemoryStore({ history: 100 }), clock, chance: systemChance, logger: silentLogger };
  const api = await openManagementApi({ ...parts, config: DEFAULT_MANAGEMENT_CONFIG, issuer: () => "https://platform.example" });
  try {
    for (const seed of seeds) await playOne(api, clock, seed);
  } finally {
    await api.stop();
  }
}

async function playOne(api: ManagementApi, clock: FakeClock, seed: number): Promise<void> {
  const game = new Game(api, seed);
  try {
    await game.begin();
    for (let step = 0; step < STEPS; step++) {
      await game.step(clock);
      await game.compare(step === STEPS - 1);
    }
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}\n${game.steps.join("\n")}`, { cause: error });
  }
  for (const type of [OWNED_ACCESS_KEYS, USERS, TEAMS]) await api.registry.deleteCollection(type, {});
}

class Game {
  readonly steps: string[] = [];
  readonly #api: ManagementApi;
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #model = new Model();
  /** The values that each key has had; the last one is its own. */
  readonly #values = new Map<ModelKey, string[]>();
  #made = 0;

  constructor(api: ManagementApi, seed: number) {
    this.#api = api;
    this.#seed = seed;
    this.#chance = new Chance(seed);
  }

  async begin(): Promise<void> {
    const { registry } = this.#api;
    await registry.create(TEAMS, "", { metadata: { name: TEAM }, spec: { users: ["jane"] } });
    this.#model.members.add("jane");
    if (this.#chance.below(2) === 0) await this.#addUser("jane");
    await this.#root({ user: "jane", type: "User", ttl: this.#chance.one(TTLS), idle: false });
    await this.#root({ user: "jane", type: "Login", ttl: 0, idle: false });
    await this.#root({ team: TEAM, type: "User", ttl: 0, idle: false });
    if (this.#chance.below(2) === 0) await this.#root({ user: "bob", type: "User", ttl: 0, idle: false });
    await this.#root({ user: "boss", type: "User", ttl: this.#chance.one(TTLS), idle: false }, ["platform:admins"]);
    if (this.#chance.below(LONG_EVERY) === 0) for (let length = 1; length <= 16; length++) await this.#make(this.#model.keys.at(-1), SAME);
    await this.#configure();
  }

  /** One act of a person, or of time. */
  async step(clock: FakeClock): Promise<void> {
    const acts: (() => Promise<void>)[] = [
      () => this.#make(),
      () => this.#make(),
      () => this.#change(this.#anyChange()),
      () => this.#change(this.#anyChange()),
      () => this.#change({ value: true }),
      () => this.#change({ disabled: true }),
      () => this.#change({ disabled: false }, this.#disabledKey()),
      () =>
        this.#root({
          ...(this.#chance.below(3) === 0 ? { team: TEAM } : { user: "jane" }),
          type: this.#chance.one(["User", "Login"]),
          ttl: this.#chance.one(TTLS),
          idle: this.#chance.below(4) === 0,
        }),
      () => this.#delete(),
      () => this.#use(),
      () => this.#person(),
      () => this.#membership(),
      () => this.#configure(),
      () => this.#wait(clock),
      () => this.#wait(clock),
    ];
    await this.#chance.one(acts)();
  }

  /** Every key is good exactly if the model says so; one that had other values too, if this is the end. */
  async compare(end: boolean): Promise<void> {
    for (const [key, values] of this.#values) {
      if (key.spec.type === "Login" && !key.gone && !this.#model.works(key)) key.gone = !(await this.#isStored(key));
      for (const [index, value] of values.entries()) {
        const isOwn = index === values.length - 1;
        if (!isOwn && !end) continue;
        const wanted = isOwn && this.#model.works(key);
        const works = await this.#isGood(value);
        if (works !== wanted)
          throw new Error(`${key.name} ${works ? "works, and should not" : "does not work, and should"} (value ${index})`);
      }
    }
  }

  async #isGood(value: string): Promise<boolean> {
    const review = await this.#api.registry.create(TOKEN_REVIEWS, "", { spec: { token: value } });
    return (review["status"] as { authenticated?: boolean }).authenticated === true;
  }

  /** Keys of sign-ins are deleted some time after their end. */
  async #isStored({ name }: ModelKey): Promise<boolean> {
    return (await this.#api.registry.list(OWNED_ACCESS_KEYS)).items.some(({ metadata }) => metadata.name === name);
  }

  async #root(spec: ModelSpec, groups: readonly string[] = []): Promise<void> {
    const name = this.#name();
    const made = await this.#api.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec: { ...bodyOf(spec), groups } });
    this.#values.set(this.#model.root(name, spec, groups.length > 0), [valueOf(made)]);
    this.steps.push(`root ${name} ${JSON.stringify(spec)}`);
  }

  async #make(author = this.#someKey(), spec = this.#spec(author)): Promise<void> {
    const name = this.#name();
    this.steps.push(`${author.name} makes ${name} ${JSON.stringify(spec)}`);
    const may = this.#model.mayMake(author, spec);
    const made = await this.#as(author, may, "create", name, (user) =>
      this.#api.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec: bodyOf(spec) }, { user }),
    );
    if (made !== undefined) this.#values.set(this.#model.make(author, name, spec), [valueOf(made)]);
  }

  #anyChange(): ModelChange {
    const chance = this.#chance;
    const specs: Partial<ModelSpec>[] = [
      { ttl: chance.one(TTLS) },
      { idle: chance.below(2) === 0 },
      { type: chance.one(TYPES) },
      { user: undefined, team: TEAM } as unknown as Partial<ModelSpec>,
      { user: "jane", team: undefined } as unknown as Partial<ModelSpec>,
    ];
    return chance.below(6) === 0 ? { text: true } : { spec: chance.one(specs) };
  }

  async #change(change: ModelChange, key = this.#someKey()): Promise<void> {
    const author = this.#someKey();
    if (key.administers || key.gone) return;
    this.steps.push(`${author.name} changes ${key.name} ${JSON.stringify(change, (_name, value: unknown) => value ?? null)}`);
    const value = change.value && `value-${this.#seed}-${++this.#made}-abcdefghijklmnopqrstuvwxyz`;
    const spec = {
      ...(change.spec && patchOf(change.spec)),
      ...(change.disabled !== undefined && { disabled: change.disabled }),
      ...(change.text && { description: `text ${this.#made}` }),
      ...(value && { key: value }),
    };
    const may = this.#model.mayChange(author, key, change);
    const changed = await this.#as(author, may, "patch", key.name, (user) =>
      this.#api.registry.patch(OWNED_ACCESS_KEYS, { namespace: "", name: key.name }, "merge", { spec }, { user }),
    );
    if (changed === undefined) return;
    this.#model.change(author, key, change);
    if (value) this.#values.get(key)!.push(value);
  }

  async #delete(): Promise<void> {
    const [author, key] = [this.#someKey(), this.#someKey()];
    if (key.administers || key.gone || this.#chance.below(2) === 0) return;
    this.steps.push(`${author.name} deletes ${key.name}`);
    const done = await this.#as(author, this.#model.mayDelete(author, key), "delete", key.name, (user) =>
      this.#api.registry.delete(OWNED_ACCESS_KEYS, { namespace: "", name: key.name }, { user }),
    );
    if (done !== undefined) key.gone = true;
  }

  async #use(): Promise<void> {
    const key = this.#someKey();
    this.steps.push(`${key.name} is used`);
    await this.#as(key, this.#model.works(key), "create", "x", () => Promise.resolve(true));
  }

  async #person(): Promise<void> {
    const name = this.#chance.one(PEOPLE);
    const user = this.#model.users.get(name);
    const at = { namespace: "", name };
    const { registry } = this.#api;
    if (user === undefined) return this.#addUser(name);
    if (this.#seed % PASSWORD_EVERY === 0) {
      this.steps.push(`${name} gets another password`);
      await registry.patch(USERS, at, "merge", { spec: { password: `password ${++this.#made}` } });
      user.password++;
    } else if (this.#chance.below(3) === 0) {
      this.steps.push(`${name} is deleted`);
      await registry.delete(USERS, at);
      this.#model.removeUser(name);
    } else {
      this.steps.push(`${name} is ${user.disabled ? "enabled" : "disabled"}`);
      await registry.patch(USERS, at, "merge", { spec: { disabled: !user.disabled } });
      user.disabled = !user.disabled;
    }
  }

  async #addUser(name: string): Promise<void> {
    this.steps.push(`${name} is made`);
    await this.#api.registry.create(USERS, "", { metadata: { name }, spec: {} });
    this.#model.addUser(name);
  }

  async #membership(): Promise<void> {
    const { members } = this.#model;
    const name = this.#chance.one(PEOPLE);
    this.steps.push(`${name} ${members.has(name) ? "leaves" : "joins"}`);
    if (!members.delete(name)) members.add(name);
    await this.#api.registry.patch(TEAMS, { namespace: "", name: TEAM }, "merge", { spec: { users: [...members] } });
  }

  async #configure(): Promise<void> {
    const { limits } = this.#model;
    limits.max = this.#chance.one([0, 0, 0, 30, 90]);
    limits.login = this.#chance.one([0, 15, 50]);
    this.steps.push(`limits ${JSON.stringify(limits)}`);
    const auth = { ...DEFAULT_MANAGEMENT_CONFIG.auth, accessKeyMaxTTLSeconds: limits.max, loginAccessKeyTTLSeconds: limits.login };
    await this.#api.configure({ ...DEFAULT_MANAGEMENT_CONFIG, auth });
  }

  async #wait(clock: FakeClock): Promise<void> {
    const seconds = this.#chance.one(WAITS);
    this.steps.push(`${seconds} s`);
    this.#model.now += seconds;
    await clock.advance(seconds * 1_000);
    await this.#api.settled();
  }

  /** Acts with a key, if the API allows it: it must do so exactly if the model does. */
  async #as<Done>(
    author: ModelKey,
    may: boolean,
    verb: string,
    name: string,
    act: (user: User) => Promise<Done>,
  ): Promise<Done | undefined> {
    const worked = this.#model.works(author);
    const done = await this.#attempt(author, { verb, name }, act);
    if (worked) author.usedAt = this.#model.now;
    if ((done !== undefined) !== may) throw new Error(`${author.name} ${may ? "may" : "may not"} ${verb} ${name}`);
    return done;
  }

  async #attempt<Done>(author: ModelKey, { verb, name }: { verb: string; name: string }, act: (user: User) => Promise<Done>) {
    const { authenticate, permissions } = this.#api;
    const headers = { authorization: `Bearer ${this.#values.get(author)!.at(-1)}` };
    try {
      const user = (await authenticate({ headers } as Parameters<typeof authenticate>[0]))!;
      const resource = { group: "management.platform", version: "v1", resource: OWNED_ACCESS_KEYS.plural, subresource: "", namespace: "" };
      const named = verb === "create" ? "" : name;
      return permissions.decide(user, { ...resource, verb, name: named }).allowed ? await act(user) : undefined;
    } catch (error) {
      if (isEngineError(error, "API_UNAUTHORIZED", "API_FORBIDDEN")) return undefined;
      throw error;
    }
  }

  #spec(author: ModelKey): ModelSpec {
    const chance = this.#chance;
    return { ...this.#owner(author), type: chance.one(TYPES), ttl: chance.one(TTLS), idle: chance.below(4) === 0 };
  }

  #owner(author: ModelKey): Pick<ModelSpec, "user" | "team"> {
    if (this.#chance.below(4) === 0) return { team: TEAM };
    return { user: author.administers ? this.#chance.one(PEOPLE) : (author.spec.user ?? "jane") };
  }

  #someKey(): ModelKey {
    const good = this.#model.keys.filter((key) => this.#model.works(key));
    return this.#chance.one(good.length > 0 && this.#chance.below(4) > 0 ? good : this.#model.keys);
  }

  #disabledKey(): ModelKey {
    const disabled = this.#model.keys.filter((key) => key.disabled && !key.gone);
    return disabled.length > 0 ? this.#chance.one(disabled) : this.#someKey();
  }

  /** Sometimes one that a key had before. */
  #name(): string {
    const gone = this.#model.keys.filter((key) => key.gone && !this.#model.keys.some((other) => other.name === key.name && !other.gone));
    return gone.length > 0 && this.#chance.below(2) === 0 ? this.#chance.one(gone).name : `key-${++this.#made}`;
  }
}

type User = NonNullable<Awaited<ReturnType<ManagementApi["authenticate"]>>>;

const TOKEN_REVIEWS: ResourceType = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
};

function valueOf(made: object): string {
  return (made as { spec: { key: string } }).spec.key;
}

function bodyOf({ user, team, type, ttl, idle }: ModelSpec): object {
  return { ...(user !== undefined && { user }), ...(team !== undefined && { team }), type, ttl, ttlAfterLastActivity: idle };
}

/** A merge patch: null for removed fields. */
function patchOf(spec: Partial<ModelSpec>): object {
  const { idle, ...rest } = spec;
  const fields = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, value ?? null]));
  return { ...fields, ...(idle !== undefined && { ttlAfterLastActivity: idle }) };
}
