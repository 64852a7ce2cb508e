/**
 * Interactions of keys, and their validity: a model of the rules of decision 79, in objects of one process that know each other
 * directly. Nothing here is of `src`. Times are in seconds.
 */

/** How long keys last that say nothing else; 0 is no limit. */
export interface ModelLimits {
  max: number;
  login: number;
}

/** A User as long as it is there; the next one of its name is another one. */
export class ModelUser {
  disabled = false;
  gone = false;
  /** Counts its passwords. */
  password = 0;
}

/** Whose a key is: a user's by name, or the team's. */
export interface ModelOwner {
  readonly user?: string;
  readonly team?: string;
}

/** The person behind a key. */
interface ModelPerson {
  readonly name: string;
  user: ModelUser | undefined;
}

/** Content of a key. */
export interface ModelSpec extends ModelOwner {
  readonly type: string;
  readonly ttl: number;
  readonly idle: boolean;
}

/** One key. */
export interface ModelKey {
  readonly name: string;
  spec: ModelSpec;
  disabled: boolean;
  gone: boolean;
  /** Makes roots, and may do everything. */
  readonly administers: boolean;
  readonly madeAt: number;
  usedAt: number | undefined;
  /** The key with which it was made, unless it is a root. */
  readonly maker: ModelKey | undefined;
  /** Ends with the person and not with its maker. */
  readonly free: boolean;
  rootAt: number;
  boundAt: number;
  /** The user who made it, or made it stand for another user. */
  person: ModelPerson | undefined;
  /** The user who gave it its value; undefined if an administrator or a sign-in did. */
  holder: ModelPerson | undefined;
  user: ModelUser | undefined;
  password: number | undefined;
}

/** A requested change of a key. */
export interface ModelChange {
  readonly spec?: Partial<ModelSpec>;
  readonly disabled?: boolean;
  readonly value?: true;
  readonly text?: true;
}

const CHAIN_MAX = 16;

/** All keys of a sequence, and the people. */
export class Model {
  now = 0;
  readonly limits: ModelLimits = { max: 0, login: 0 };
  readonly users = new Map<string, ModelUser>();
  readonly members = new Set<string>();
  readonly keys: ModelKey[] = [];

  /** A key by the administrator, or by a sign-in. */
  root(name: string, spec: ModelSpec, administers = false): ModelKey {
    return this.#add({ name, spec, administers, maker: undefined, free: false });
  }

  mayMake(author: ModelKey, owner: ModelOwner): boolean {
    if (!this.works(author)) return false;
    if (author.administers) return true;
    const length = this.isSignIn(author) && author.spec.user !== undefined ? 1 : this.chain(author).length + 1;
    return this.#isOwn(author, owner) && length <= CHAIN_MAX;
  }

  make(author: ModelKey, name: string, spec: ModelSpec): ModelKey {
    if (author.administers) return this.root(name, spec);
    const free = this.isSignIn(author) && author.spec.user !== undefined;
    const key = this.#add({ name, spec, administers: false, maker: author, free });
    key.rootAt = author.rootAt;
    key.person = this.#person(author);
    key.holder = this.#holder(author);
    return key;
  }

  mayChange(author: ModelKey, key: ModelKey, change: ModelChange): boolean {
    if (!this.works(author)) return false;
    if (author.administers) return true;
    if (!this.#isOwn(author, key.spec)) return false;
    if (!this.#gives(key, change)) return true;
    const after = { ...key.spec, ...change.spec };
    if (!this.#isOwn(author, after)) return false;
    if (after.type === "Login" && key.spec.type !== "Login") return false;
    if (this.isSignIn(key) && (!this.isSignIn(author) || after.type !== "Login" || moves(key.spec, after))) return false;
    return !(key.disabled && change.disabled === false && this.#descends(author, key));
  }

  change(author: ModelKey, key: ModelKey, change: ModelChange): void {
    const gives = this.#gives(key, change);
    const after = { ...key.spec, ...change.spec };
    if (!author.administers && gives) {
      key.boundAt = Math.min(key.boundAt, this.#boundBy(author, key, after));
      key.rootAt = Math.min(key.rootAt, author.rootAt);
      if (moves(key.spec, after)) key.person = this.#person(author) ?? key.person;
    }
    if (change.value) key.holder = author.administers ? undefined : this.#holder(author);
    if (after.user !== key.spec.user) [key.user, key.password] = [this.users.get(after.user ?? ""), undefined];
    key.spec = after;
    if (after.type === "Login") key.password ??= key.user?.password;
    if (change.disabled !== undefined) key.disabled = change.disabled;
  }

  mayDelete(author: ModelKey, key: ModelKey): boolean {
    return this.works(author) && (author.administers || this.#isOwn(author, key.spec));
  }

  addUser(name: string): void {
    const user = new ModelUser();
    this.users.set(name, user);
    // Keys of a name belong to the first User of it.
    for (const key of this.keys) {
      if (key.spec.user === name && key.user === undefined) [key.user, key.password] = [user, key.spec.type === "Login" ? 0 : undefined];
      for (const one of [key.person, key.holder]) if (one?.name === name) one.user ??= user;
    }
  }

  removeUser(name: string): void {
    this.users.get(name)!.gone = true;
    this.users.delete(name);
  }

  works(key: ModelKey): boolean {
    const { spec, user, person, holder } = key;
    if (key.gone || key.disabled || this.now >= this.#ownEnd(key, this.limits.max)) return false;
    if ([person, holder].some((one) => this.#isOut(one?.user, one?.name)) || this.#isOut(user, spec.user)) return false;
    if (spec.type === "Login" && key.password !== undefined && key.password !== user!.password) return false;
    if (spec.team !== undefined && [person, holder].some((one) => one && !this.members.has(one.name))) return false;
    return key.maker === undefined || key.free || this.works(key.maker);
  }

  /** An administrator or a sign-in made it as the sign-in key. */
  isSignIn(key: ModelKey): boolean {
    return key.spec.type === "Login" && key.maker === undefined;
  }

  /** The key and those with which it ends. */
  chain(key: ModelKey): ModelKey[] {
    return key.maker === undefined || key.free ? [key] : [key, ...this.chain(key.maker)];
  }

  #add(parts: Pick<ModelKey, "name" | "spec" | "administers" | "maker" | "free">): ModelKey {
    const user = this.users.get(parts.spec.user ?? "");
    const key: ModelKey = {
      ...parts,
      ...{
        disabled: false,
        gone: false,
        madeAt: this.now,
        usedAt: undefined,
        rootAt: this.now,
        boundAt: Infinity,
        person: undefined,
        holder: undefined,
        user,
      },
      password: parts.spec.type === "Login" ? user?.password : undefined,
    };
    this.keys.push(key);
    return key;
  }

  #isOwn(author: ModelKey, { user, team }: ModelOwner): boolean {
    if (team !== undefined) return author.spec.team === team || (author.spec.user !== undefined && this.members.has(author.spec.user));
    return user !== undefined && author.spec.user === user;
  }

  #person(author: ModelKey): ModelPerson | undefined {
    const name = author.spec.user;
    return name === undefined ? undefined : { name, user: this.users.get(name) };
  }

  /** Persons who may know the value of a given key: its user, for a team's key those who may know that one, or its maker. */
  #holder(author: ModelKey): ModelPerson | undefined {
    const own = this.#person(author);
    if (own !== undefined) return own;
    const known = this.chain(author).map(({ holder, person }) => holder ?? person);
    const found = known.find((candidate) => candidate !== undefined);
    return found && { ...found };
  }

  /** The User that was known is gone, or anyone who has the name now is disabled. */
  #isOut(known: ModelUser | undefined, name: string | undefined): boolean {
    return known?.gone === true || (name !== undefined && this.users.get(name)?.disabled === true);
  }

  #gives(key: ModelKey, { spec = {}, disabled, value }: ModelChange): boolean {
    const differs = (Object.keys(spec) as (keyof ModelSpec)[]).some((field) => spec[field] !== key.spec[field]);
    return value === true || differs || (key.disabled && disabled === false);
  }

  #descends(key: ModelKey, other: ModelKey): boolean {
    return key.maker !== undefined && (key.maker === other || this.#descends(key.maker, other));
  }

  #ttl({ ttl, type }: ModelSpec): number {
    return ttl === 0 && type === "Login" ? this.limits.login : ttl;
  }

  #ownEnd({ spec, madeAt, usedAt, rootAt, boundAt }: ModelKey, max: number): number {
    const ttl = this.#ttl(spec);
    const byTtl = ttl === 0 ? Infinity : (spec.idle ? (usedAt ?? madeAt) : madeAt) + ttl;
    return Math.min(byTtl, boundAt, max === 0 ? Infinity : rootAt + max);
  }

  #endByTtl(key: ModelKey): number {
    return Math.min(...this.chain(key).map((link) => (link.gone ? 0 : this.#ownEnd(link, 0))));
  }

  #boundBy(author: ModelKey, key: ModelKey, after: ModelSpec): number {
    const [before, later] = [this.#ttl(key.spec), this.#ttl(after)];
    const longer = before > 0 && (later === 0 || later > before || (after.idle && !key.spec.idle));
    if (author === key) return longer ? this.#endByTtl(key) : Infinity;
    return this.isSignIn(author) || this.chain(key).includes(author) ? Infinity : this.#endByTtl(author);
  }
}

function moves(before: ModelSpec, after: ModelSpec): boolean {
  return after.user !== before.user || after.team !== before.team;
}
