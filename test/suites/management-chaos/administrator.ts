/** The administrator, who creates and removes permissions, keys and users, one change after the other, each until it is surely answered. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import { ADMIN_KEY, EXCUSED, KEY_MARKER, NAMESPACES, TEAMS, USERS, type Answer, type Asked, type Ground } from "./ground.ts";
import type { Body, Permissions, Secret, Verb, World } from "./model.ts";

const VERBS: readonly Verb[] = ["get", "list", "update", "patch", "delete", "create"];
const SECRETS = 6;
const AGAIN_MS = 100;
/** Of keys that end by themselves. */
const TTL_SECONDS = 5;
/** The server counts from a whole second. */
const ROUNDED_MS = 1_000;
const EXPIRING_MAX = 4;
/** A request whose answer was lost is over by then. */
const DOUBT_TICKS = 500;

/** Why a change is refused that an earlier try has made. That another server is about to make it is a conflict too, and may come to nothing. */
const DONE_BEFORE: Readonly<Record<string, string>> = { POST: "AlreadyExists", DELETE: "NotFound" };

/** The path of a secret. */
export const pathOf = ({ namespace, name }: Pick<Secret, "namespace" | "name">) => `/namespaces/${namespace}/sharedsecrets/${name}`;

/** Owners and permissions, initially and at each change. */
export function randomPermissions({ upTo, pick, some }: Ground): Permissions {
  const rule = () => ({ verbs: [...new Set([pick(VERBS), ...some(VERBS)])], users: some(USERS), teams: some(TEAMS) });
  return { owner: upTo(2) === 0 ? { user: pick(USERS) } : { team: pick(TEAMS) }, access: Array.from({ length: upTo(3) }, rule) };
}

/** A key of a user. */
interface Key {
  readonly name: string;
  readonly value: string;
}

/** A user with all permissions. */
export class Administrator {
  /** Keys that worked once, and whose they were. */
  readonly oldKeys: { readonly key: string; readonly user: string }[] = [];
  readonly #ground: Ground;
  /** The key of each user that lasts. */
  readonly #keys = new Map<string, Key>();
  readonly #expiring: { readonly value: string; readonly user: string; readonly endsMs: number }[] = [];
  readonly #going: () => boolean;

  constructor(ground: Ground, going: () => boolean) {
    this.#ground = ground;
    this.#going = going;
  }

  /** The name of a user's key. */
  keyName(user: string): string {
    return this.#keys.get(user)?.name ?? "none";
  }

  /** Makes everything that is there at first. */
  async begin(): Promise<void> {
    const { model } = this.#ground;
    for (const name of USERS) await this.#insist({ method: "POST", path: "/users", body: { metadata: { name }, spec: {} } });
    for (const name of TEAMS) await this.#insist({ method: "POST", path: "/teams", body: { metadata: { name }, spec: {} } });
    for (const team of TEAMS) await this.#changeTeam(team);
    for (const user of USERS) await this.#giveKey(user);
    for (const namespace of NAMESPACES) for (let index = 0; index < SECRETS; index += 1) await this.#makeSecret(namespace, `s${index}`);
    model.bury();
  }

  /** One change. */
  async change(): Promise<void> {
    const { upTo, pick, model } = this.#ground;
    const what = upTo(9);
    if (what < 3) await this.#changeTeam(pick(TEAMS));
    else if (what < 6) await this.#changePermissions(model.secrets.get(pick(Object.keys(model.world.permissions)))!);
    else if (what < 8) await this.#changeKey(pick(USERS));
    else await this.#clear();
  }

  /** Writes once more, and answers the revision: anyone who has heard of it has heard of all. */
  async mark(text: string): Promise<number> {
    const answer = await this.#insist({ method: "PATCH", path: "/namespaces/a/sharedsecrets/s0", body: { spec: { displayName: text } } });
    return versionOf(answer);
  }

  /** Sends a change until it is answered for sure: each of them may be sent twice. */
  async #insist(asked: Omit<Asked, "key" | "who">, mayBeDone = false): Promise<Answer> {
    const { model } = this.#ground;
    for (let doubt = mayBeDone; ; doubt = true) {
      const answer = await this.#ground.ask({ ...asked, key: ADMIN_KEY, who: "admin" });
      if (!this.#going() || (answer.code >= 200 && answer.code < 300)) return answer;
      if (doubt && (isHeld(answer) || answer.text.includes(`"reason":"${DONE_BEFORE[asked.method]}"`))) return answer;
      if (!EXCUSED.has(answer.code) && answer.code !== 409)
        model.fail(asked.path, `${asked.method} is answered the administrator: ${answer.code} ${answer.text}`);
      await delay(systemClock, AGAIN_MS);
    }
  }

  async #changeTeam(team: string): Promise<void> {
    const { model, some } = this.#ground;
    const users = some(USERS);
    await model.change({ ...model.world, teams: { ...model.world.teams, [team]: users } }, async () => {
      await this.#insist({ method: "PATCH", path: `/teams/${team}`, body: { spec: { users } } });
      return true;
    });
  }

  async #makeSecret(namespace: string, name: string): Promise<void> {
    const { model } = this.#ground;
    const permissions = randomPermissions(this.#ground);
    const secret = model.expect(namespace, name);
    await model.change({ ...model.world, permissions: { ...model.world.permissions, [secret.key]: permissions } }, async () => {
      const spec = { ...permissions, data: { first: model.value(secret, this.#ground.next()) } };
      const path = `/namespaces/${namespace}/sharedsecrets`;
      await this.#insist({ method: "POST", path, body: { metadata: { name }, spec } });
      const { text } = await this.#insist({ method: "GET", path: pathOf(secret) });
      model.show(secret, JSON.parse(text) as Body, model.floor(secret));
      return true;
    });
  }

  async #changePermissions(secret: Secret): Promise<void> {
    const { model } = this.#ground;
    const permissions = randomPermissions(this.#ground);
    const owner = { user: null, team: null, ...permissions.owner };
    await model.change({ ...model.world, permissions: { ...model.world.permissions, [secret.key]: permissions } }, async () => {
      const floor = model.floor(secret);
      const { code, text } = await this.#insist({ method: "PATCH", path: pathOf(secret), body: { spec: { ...permissions, owner } } });
      if (code === 200) model.show(secret, JSON.parse(text) as Body, floor);
      return true;
    });
  }

  async #changeKey(user: string): Promise<void> {
    const { upTo, model } = this.#ground;
    const { name, value } = this.#keys.get(user)!;
    const path = `/ownedaccesskeys/${name}`;
    const way = upTo(6);
    if (way === 5) return this.#giveExpiring(user);
    if (way === 4) {
      const before = model.world.keys;
      await this.#leave(user, { method: "PATCH", path: `/users/${user}`, body: { spec: { disabled: true } } });
      await delay(systemClock, AGAIN_MS);
      await this.#put(before, { method: "PATCH", path: `/users/${user}`, body: { spec: { disabled: false } } });
      return;
    }
    if (way === 3) {
      const lost = Object.entries(model.world.keys).filter(([, of]) => of === user);
      // By its uid: a server that stands still may carry a lost try out when the user has been made again.
      const found = await this.#insist({ method: "GET", path: `/users/${user}` });
      if (found.code !== 200) return;
      const { uid } = (JSON.parse(found.text) as { metadata: { uid: string } }).metadata;
      await this.#leave(user, { method: "DELETE", path: `/users/${user}`, body: { preconditions: { uid } } });
      for (const [key] of lost) this.oldKeys.push({ key, user });
      await delay(systemClock, AGAIN_MS);
      await this.#insist({ method: "POST", path: "/users", body: { metadata: { name: user }, spec: {} } });
      return this.#giveKey(user);
    }
    const { [value]: _old, ...others } = model.world.keys;
    if (way === 0) {
      const next = this.#newValue(user);
      const answer = await this.#put({ ...others, [next]: user }, { method: "PATCH", path, body: { spec: { key: next } } });
      if (isHeld(answer)) return;
      this.#keys.set(user, { name, value: next });
      model.revoke(value, versionOf(answer));
    } else {
      const taken = way === 1 ? { method: "DELETE", path } : { method: "PATCH", path, body: { spec: { disabled: true } } };
      const answer = await this.#put(others, taken);
      if (way === 2) model.revoke(value, versionOf(answer));
      await delay(systemClock, AGAIN_MS);
      await this.#giveKey(user);
      if (way === 2) await this.#insist({ method: "DELETE", path });
    }
    this.oldKeys.push({ key: value, user });
  }

  /** The keys from now on, by a change. */
  async #put(keys: World["keys"], asked: Omit<Asked, "key" | "who">): Promise<Answer> {
    const { model } = this.#ground;
    let answer: Answer | undefined;
    await model.change({ ...model.world, keys }, async () => !isHeld((answer = await this.#insist(asked))));
    return answer!;
  }

  /** No key of a user works from now on. */
  async #leave(user: string, asked: Omit<Asked, "key" | "who">): Promise<void> {
    await this.#put(Object.fromEntries(Object.entries(this.#ground.model.world.keys).filter(([, of]) => of !== user)), asked);
  }

  #newValue(user: string): string {
    return `key-of-${user}-${this.#ground.next()}${KEY_MARKER}`;
  }

  async #giveKey(user: string): Promise<void> {
    const { model } = this.#ground;
    for (;;) {
      const key = { name: `key-${user}-${this.#ground.next()}`, value: this.#newValue(user) };
      const body = { metadata: { name: key.name }, spec: { user, key: key.value } };
      const answer = await this.#put({ ...model.world.keys, [key.value]: user }, { method: "POST", path: "/ownedaccesskeys", body });
      if (isHeld(answer)) continue;
      this.#keys.set(user, key);
      return;
    }
  }

  async #giveExpiring(user: string): Promise<void> {
    if (this.#expiring.length >= EXPIRING_MAX) return;
    const { model } = this.#ground;
    const value = this.#newValue(user);
    const body = { metadata: { name: `ends-${user}-${this.#ground.next()}` }, spec: { user, key: value, ttl: TTL_SECONDS } };
    const surely = performance.now() + TTL_SECONDS * 1_000 - ROUNDED_MS;
    model.end(value, surely, Infinity);
    const answer = await this.#put({ ...model.world.keys, [value]: user }, { method: "POST", path: "/ownedaccesskeys", body });
    const endsMs = performance.now() + TTL_SECONDS * 1_000;
    model.end(value, surely, endsMs);
    if (!isHeld(answer)) this.#expiring.push({ value, user, endsMs });
  }

  /** Forgets keys that have ended, and deletes what may be there or not because answers were lost. */
  async #clear(): Promise<void> {
    const { model } = this.#ground;
    const ended = this.#expiring.filter(({ endsMs }) => endsMs < performance.now());
    for (const key of ended) {
      this.#expiring.splice(this.#expiring.indexOf(key), 1);
      this.oldKeys.push({ key: key.value, user: key.user });
      const { [key.value]: _ended, ...keys } = model.world.keys;
      await model.change({ ...model.world, keys }, async () => true);
    }
    const doubtful = ({ fixed, goneAt, bornAt, deleting, doubtAt }: Secret) =>
      fixed !== undefined && goneAt === Infinity && (bornAt === Infinity || deleting > 0) && doubtAt < model.now - DOUBT_TICKS;
    for (const secret of [...model.secrets.values()].filter(doubtful)) {
      secret.deleting += 1;
      await this.#insist({ method: "DELETE", path: pathOf(secret) }, true);
      secret.goneAt = model.tick();
    }
    model.bury();
  }
}

/** A value that a killed server was about to give is held for a while, and given to no other key. */
function isHeld({ code, text }: Answer): boolean {
  return code === 422 && text.includes("the value of another key");
}

/** The version in an answer. */
export function versionOf({ text }: Answer): number {
  return Number(/"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? Infinity);
}
