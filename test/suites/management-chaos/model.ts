/**
 * Permissions and expected objects, as far as the senders of requests can know them. A change of permissions counts as certain once it
 * was answered, as surely not there before it was sent, and as either in between.
 *
 * @module
 */

/** Grants of a rule. */
export type Verb = "get" | "list" | "update" | "patch" | "delete" | "create";

/** The owner and the rules of a secret, as they stand in its spec. */
export interface Permissions {
  readonly owner: { readonly user?: string; readonly team?: string };
  readonly access: readonly { readonly verbs: readonly Verb[]; readonly users: readonly string[]; readonly teams: readonly string[] }[];
}

/** All permissions at one time. */
export interface World {
  /** Owner of each valid key. */
  readonly keys: Readonly<Record<string, string>>;
  readonly teams: Readonly<Record<string, readonly string[]>>;
  /** Of the secrets whose permissions change, by `namespace/name`. */
  readonly permissions: Readonly<Record<string, Permissions>>;
}

/** An object of the API. */
export interface Body {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
  readonly spec: Permissions & { readonly displayName?: string; readonly data?: Readonly<Record<string, string>> };
}

/** A secret that a caller has requested, or made. What is unknown, because an answer was lost, may be either way. */
export interface Secret {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Where they never change; those of others are in the worlds. */
  readonly fixed?: Permissions;
  /** Stands in each of its values, as base64 shows it. */
  readonly marker: string;
  /** When it was known to be there. */
  bornAt: number;
  /** Deletions that may have happened, or may yet. */
  deleting: number;
  /** When the last request was sent whose answer was lost. */
  doubtAt: number;
  /** When it was known to be gone. */
  goneAt: number;
  /** The newest version that was shown as a whole. */
  last: Body | undefined;
  newest: number;
  readonly versions: Map<number, string>;
  /** Versions on which an acknowledged update counted. */
  readonly bases: Set<number>;
  /** The newest acknowledged value of each author. */
  readonly patched: Map<string, number>;
}

/** Possible truths: certain, or at some moment of the request. */
export interface Verdict {
  readonly surely: boolean;
  readonly possibly: boolean;
}

/** The state of a secret when a request was sent: it must show as much. */
export interface Floor {
  readonly newest: number;
  readonly patched: ReadonlyMap<string, number>;
}

/** Three bytes of text are four of base64, so that the marker stands at the beginning of each value. */
const MARKER_LENGTH = 12;

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Everything that is known. Its time is a count of events. */
export class Model {
  readonly secrets = new Map<string, Secret>();
  readonly problems: string[] = [];
  readonly #journal: string[] = [];
  readonly #worlds: { world: World; from: number; to: number }[] = [
    { world: { keys: {}, teams: {}, permissions: {} }, from: 0, to: Infinity },
  ];
  /** Of each moment, in milliseconds. */
  readonly #times: number[] = [];
  /** Of keys that end by themselves, in milliseconds: until when they surely work, and after when they surely do not. */
  readonly #ends = new Map<string, { readonly surely: number; readonly possibly: number }>();
  /** The versions that took keys away for good. */
  readonly #revoked = new Map<string, number>();
  /** The newest revision that a caller was shown. */
  revision = 0;
  #now = 0;

  /** The next moment. */
  tick(): number {
    this.#times.push(performance.now());
    return (this.#now += 1);
  }

  get now(): number {
    return this.#now;
  }

  /** The permissions that were asked for last. */
  get world(): World {
    return this.#worlds.at(-1)!.world;
  }

  /** Changes permissions; `act` resolves once that was answered: to false when it has surely not happened. */
  async change(world: World, act: () => Promise<boolean>): Promise<boolean> {
    const before = this.#worlds.at(-1)!;
    const next = { world, from: this.tick(), to: Infinity };
    this.#worlds.push(next);
    const happened = await act();
    before.to = this.tick();
    if (!happened) {
      next.to = before.to;
      this.#worlds.push({ world: before.world, from: before.to, to: Infinity });
    }
    if (this.#worlds.length > 2 * WORLDS) this.#worlds.splice(0, WORLDS);
    return happened;
  }

  /** A key ends by itself. */
  end(key: string, surely: number, possibly: number): void {
    this.#ends.set(key, { surely, possibly });
  }

  /** A version took a key away for good. */
  revoke(key: string, revision: number): void {
    this.#revoked.set(key, revision);
  }

  /** The version that took a key away; without end while none has. */
  revokedBy(key: string): number {
    return this.#revoked.get(key) ?? Infinity;
  }

  /** Reports whether a key has belonged to a user since a moment. */
  good(key: string, user: string, sent: number): Verdict {
    const { surely, possibly } = this.since(sent, ({ keys }) => keys[key] === user);
    const end = this.#ends.get(key) ?? { surely: Infinity, possibly: Infinity };
    return { surely: surely && performance.now() < end.surely, possibly: possibly && this.#times[sent - 1]! <= end.possibly };
  }

  /** The worlds between two moments. */
  #between(sent: number, answered: number): World[] {
    return this.#worlds.filter(({ from, to }) => from <= answered && to >= sent).map(({ world }) => world);
  }

  /** Whether something held all along since a moment, or at some time. */
  since(sent: number, holds: (world: World) => boolean): Verdict {
    const worlds = this.#between(sent, this.#now).map(holds);
    return { surely: worlds.every(Boolean), possibly: worlds.some(Boolean) };
  }

  /** Whether a user may do something with a secret, should it be there. */
  may(world: World, user: string, { verb, secret }: { readonly verb: Verb; readonly secret: Secret }): boolean {
    const permissions = secret.fixed ?? world.permissions[secret.key]!;
    const isIn = (team: string) => world.teams[team]?.includes(user) === true;
    const owns = permissions.owner.user === user || (permissions.owner.team !== undefined && isIn(permissions.owner.team));
    if (owns && verb !== "create") return true;
    return permissions.access.some(({ verbs, users, teams }) => verbs.includes(verb) && (users.includes(user) || teams.some(isIn)));
  }

  /** Whether a user may read a secret, by whichever verb: anyone who may only write it is answered which one it is. */
  reads(world: World, user: string, secret: Secret): boolean {
    return this.may(world, user, { verb: "get", secret }) || this.may(world, user, { verb: "list", secret });
  }

  /** Whether a secret was there since a moment. */
  there(secret: Secret, sent: number): Verdict {
    return { surely: secret.bornAt <= sent && secret.deleting === 0 && secret.goneAt === Infinity, possibly: secret.goneAt > sent };
  }

  /** A secret that is about to be made. */
  expect(namespace: string, name: string, fixed?: Permissions): Secret {
    const key = `${namespace}/${name}`;
    const marker = base64(`${key}:`.padEnd(MARKER_LENGTH, ":"));
    const history = { versions: new Map<number, string>(), bases: new Set<number>(), patched: new Map<string, number>() };
    const secret = { key, namespace, name, marker, bornAt: Infinity, deleting: 0, goneAt: Infinity };
    const made: Secret = { ...secret, ...history, doubtAt: this.#now, last: undefined, newest: 0, ...(fixed && { fixed }) };
    this.secrets.set(key, made);
    return made;
  }

  /** A value of a secret. */
  value({ key }: Secret, count: number): string {
    return base64(`${`${key}:`.padEnd(MARKER_LENGTH, ":")}${count}`);
  }

  /** Minimum that a request sent now must show. */
  floor({ newest, patched }: Secret): Floor {
    return { newest, patched: new Map(patched) };
  }

  /** A caller was shown a version, as a whole or only its number. */
  show(secret: Secret, body: Body, floor: Floor): void {
    const version = Number(body.metadata.resourceVersion);
    if (version < floor.newest) this.fail(secret.key, `version ${version} is shown after ${floor.newest}`);
    this.#shown(secret, version);
    if (isOutline(body)) return;
    const { displayName, data = {} } = body.spec;
    const content = JSON.stringify([displayName, Object.entries(data).sort(), body.spec.access, body.spec.owner]);
    const known = secret.versions.get(version);
    if (known !== undefined && known !== content) this.fail(secret.key, `version ${version} is ${known} and ${content}`);
    secret.versions.set(version, content);
    for (const [author, count] of floor.patched) {
      const shown = countIn(data[author]);
      if (shown < count) this.fail(secret.key, `version ${version} has ${shown} of ${author}, of whom ${count} was acknowledged`);
    }
    if (version >= Number(secret.last?.metadata.resourceVersion ?? 0)) secret.last = body;
  }

  #shown(secret: Secret, version: number): void {
    this.revision = Math.max(this.revision, version);
    secret.newest = Math.max(secret.newest, version);
    if (secret.bornAt === Infinity) secret.bornAt = this.tick();
  }

  /** A list as of a revision has a version: there must be none between them. */
  list(secret: Secret, version: number, revision: number): void {
    const between = [...secret.versions.keys()].filter((other) => other > version && other <= revision);
    if (between.length > 0) this.fail(secret.key, `a list of ${revision} has version ${version}, and ${between.join(" ")} lie between`);
  }

  /** An update was acknowledged that counted on a version. */
  updated(secret: Secret, base: number, version: number): void {
    if (secret.bases.has(base)) this.fail(secret.key, `two updates of version ${base} were acknowledged`);
    secret.bases.add(base);
    const between = [...secret.versions.keys()].filter((other) => other > base && other < version);
    if (between.length > 0) this.fail(secret.key, `an update of version ${base} became ${version}, over ${between.join(" ")}`);
  }

  /** Forgets what is gone for long. */
  bury(): void {
    for (const [key, { goneAt }] of this.secrets) if (goneAt < this.#now - BURIED) this.secrets.delete(key);
  }

  /** One line of what happens, which names whatever it is about. */
  note(line: string): void {
    this.#journal.push(`${this.#now} ${line}`);
    if (this.#journal.length > JOURNAL_MAX) this.#journal.shift();
  }

  /** Something is wrong; prints the last lines that have a text. */
  fail(about: string, what: string): void {
    const lines = this.#journal.filter((line) => line.includes(about)).slice(-TOLD);
    if (this.problems.length >= PROBLEMS_MAX) return;
    this.problems.push(`${about} at ${this.#now}: ${what}\n${lines.map((line) => `    ${line}`).join("\n")}`);
  }
}

/** Reports whether a body says only which object it is. */
export function isOutline({ spec }: Body): boolean {
  return Object.keys(spec).length === 0;
}

const JOURNAL_MAX = 20_000;
const TOLD = 12;
const PROBLEMS_MAX = 200;
/** Of each length of time more than any request takes. */
const WORLDS = 20_000;
const BURIED = 5_000;

function countIn(value: string | undefined): number {
  return value === undefined ? 0 : Number(/:(\d+)$/.exec(Buffer.from(value, "base64").toString())?.[1] ?? 0);
}
