/** Callers, each with a valid key or an old one, who send any request to any server; the model judges each answer. */
import { pathOf, versionOf, type Administrator } from "./administrator.ts";
import { DOUBTFUL, EXCUSED, KEY_MARKER, NAMESPACES, TEAMS, USERS, briefOf, type Answer, type Ground } from "./ground.ts";
import { isOutline, type Body, type Permissions, type Secret, type Verb } from "./model.ts";

const FRESH_MAX = 30;
/** Unknown fields of a body that is meant to hurt: so many, or twice, four, eight times as many. */
const UNKNOWN = 2_000;
const RECENT_KEYS = 20;

/** Options of a caller. */
export interface Caller {
  readonly key: string;
  /** For the journal: the user and the lane. */
  readonly who: string;
  readonly user: string;
}

/** Actions of a caller on one secret. */
interface Deed {
  readonly caller: Caller;
  readonly secret: Secret;
  readonly verb: Verb;
  /** The version that is sent back, or that a patch demands. */
  readonly base: Body | undefined;
  /** The value that is written is the author's own, and no other one's. */
  readonly count: number;
  readonly author: string;
  readonly dryRun: boolean;
}

/** All of them: a lane sends one request at a time, so that its values only grow. */
export class Callers {
  readonly #ground: Ground;
  readonly #administrator: Administrator;

  constructor(ground: Ground, administrator: Administrator) {
    this.#ground = ground;
    this.#administrator = administrator;
  }

  /** A caller with a valid key, or with one that was. */
  someone(lane: string): Caller {
    const { model, pick, upTo } = this.#ground;
    const good = Object.entries(model.world.keys).map(([key, user]) => ({ key, user }));
    const old = this.#administrator.oldKeys.slice(-RECENT_KEYS);
    const { key, user } = old.length > 0 && (good.length === 0 || upTo(8) === 0) ? pick(old) : pick(good);
    return { key, user, who: `${user}#${lane}` };
  }

  /** One request. */
  async call(lane: number): Promise<void> {
    const { model, pick, upTo } = this.#ground;
    const caller = this.someone(String(lane));
    const secret = pick([...model.secrets.values()].filter(({ goneAt }) => goneAt === Infinity || upTo(10) === 0));
    const what = upTo(100);
    if (what < 26) return this.#one(caller, secret, "get");
    if (what < 46) return this.#list(caller, pick(["", ...NAMESPACES]));
    if (what < 62) return this.#one(caller, secret, "update");
    if (what < 82) return this.#one(caller, secret, "patch");
    if (what < 88 && secret.fixed !== undefined) return this.#one(caller, secret, "delete");
    if (what < 93) return this.#others(caller);
    const fresh = [...model.secrets.values()].filter(({ fixed, goneAt }) => fixed && goneAt === Infinity);
    if (fresh.length < FRESH_MAX) await this.#create(caller, pick(NAMESPACES), upTo(4) === 0);
  }

  /** Checks every answer; returns whether it depends on permissions. */
  judge({ key, user, who }: Caller, sent: number, { code, text }: Answer): boolean {
    const { model } = this.#ground;
    const good = model.good(key, user, sent);
    if (code === 401 && good.surely) model.fail(who, `the good key ${key} is refused`);
    if (code !== 401 && !EXCUSED.has(code) && !good.possibly) model.fail(who, `the key ${key}, which is no more, is answered ${code}`);
    if (text.includes(KEY_MARKER)) model.fail(who, `an answer has the value of a key: ${text.slice(0, 500)}`);
    for (const secret of model.secrets.values()) {
      if (!text.includes(secret.marker)) continue;
      if (!model.since(sent, (world) => model.reads(world, user, secret)).possibly) model.fail(secret.key, `${who} is shown its data`);
    }
    return good.surely && code !== 401 && !EXCUSED.has(code);
  }

  async #one(caller: Caller, secret: Secret, verb: Verb): Promise<void> {
    const { model, upTo } = this.#ground;
    const { last } = secret;
    const base = verb === "update" || (verb === "patch" && upTo(3) === 0) ? last : undefined;
    if (base === undefined && verb === "update") return;
    const author = `lane-${caller.who.split("#")[1]}`;
    const deed: Deed = { caller, secret, verb, base, count: this.#ground.next(), author, dryRun: verb !== "get" && upTo(8) === 0 };
    const [floor, sent] = [model.floor(secret), model.tick()];
    if (verb === "delete" && !deed.dryRun) secret.deleting += 1;
    const [method, body] = this.#requestOf(deed);
    const path = `${pathOf(secret)}${deed.dryRun ? "?dryRun=All" : ""}`;
    const answer = await this.#ground.ask({ ...caller, method, path, ...(body && { body }) });
    const { code } = answer;
    if (DOUBTFUL.has(code)) secret.doubtAt = sent;
    else if (verb === "delete" && !deed.dryRun) secret.deleting -= 1;
    const judged = this.judge(caller, sent, answer);
    if (code === 200) this.#done(deed, sent, floor, answer);
    else if (code === 403 || code === 404) this.#refused(deed, sent, judged, answer);
    else if (judged && !mayBeAnswered(deed, code)) model.fail(secret.key, `${caller.who} ${verb}: ${code} ${answer.text.slice(0, 300)}`);
  }

  #requestOf({ verb, secret, base, count, author }: Deed): [string, object?] {
    const data = { [author]: this.#ground.model.value(secret, count) };
    const displayName = textOf(author, count);
    if (verb === "get") return ["GET"];
    if (verb === "delete") return ["DELETE"];
    const { resourceVersion } = base?.metadata ?? {};
    if (verb === "update") {
      const { spec } = base!;
      return ["PUT", { metadata: { name: secret.name, resourceVersion }, spec: { ...spec, displayName, data: { ...spec.data, ...data } } }];
    }
    if (this.#ground.upTo(2) === 0) return ["PATCH", { metadata: { resourceVersion }, spec: { data, displayName } }];
    return [
      "PATCH",
      [
        ...(resourceVersion === undefined ? [] : [{ op: "test", path: "/metadata/resourceVersion", value: resourceVersion }]),
        { op: "add", path: "/spec/displayName", value: displayName },
        { op: "add", path: `/spec/data/${author}`, value: data[author] },
      ],
    ];
  }

  #done(
    { caller, secret, verb, base, count, author, dryRun }: Deed,
    sent: number,
    floor: ReturnType<Ground["model"]["floor"]>,
    { text }: Answer,
  ): void {
    const { model, acknowledged, patches } = this.#ground;
    const fail = (why: string) => model.fail(secret.key, `${caller.who} ${verb}: 200, ${why}`);
    if (!model.since(sent, (world) => model.may(world, caller.user, { verb, secret })).possibly) fail("and may not");
    if (!model.there(secret, sent).possibly) fail("and it is gone");
    if (dryRun) return;
    if (verb === "delete") return void (secret.goneAt = model.tick());
    const body = JSON.parse(text) as Body;
    const { key } = secret;
    const revision = Number(body.metadata.resourceVersion);
    model.show(secret, body, floor);
    if (isOutline(body) && model.since(sent, (world) => model.reads(world, caller.user, secret)).surely)
      fail("and is not shown what may be read");
    if (verb === "get") return;
    if (!isOutline(body) && body.spec.displayName !== textOf(author, count))
      fail(`${textOf(author, count)} is acknowledged as ${body.spec.displayName}`);
    secret.patched.set(author, count);
    if (base === undefined) return void patches.push({ key, revision });
    const previous = Number(base.metadata.resourceVersion);
    model.updated(secret, previous, revision);
    acknowledged.push({ type: "updated", key, revision, text: textOf(author, count), previous });
  }

  #refused({ caller, secret, verb, base, dryRun }: Deed, sent: number, judged: boolean, answer: Answer): void {
    const { model } = this.#ground;
    // A body with rules that have changed meanwhile asks for other permissions.
    const current = secret.fixed ?? model.world.permissions[secret.key]!;
    const stays = () => model.since(sent, ({ permissions }) => permissions[secret.key] === model.world.permissions[secret.key]).surely;
    const same = verb !== "update" || (samePermissions(base!.spec, current) && stays());
    const may = model.since(sent, (world) => model.may(world, caller.user, { verb, secret }));
    if (!judged || !may.surely || !model.there(secret, sent).surely || !same) return;
    model.fail(secret.key, `${caller.who} ${verb}${dryRun ? " (dry run)" : ""}: ${answer.code}, and may: ${briefOf(answer)}`);
  }

  async #list(caller: Caller, namespace: string): Promise<void> {
    const { model } = this.#ground;
    const all = [...model.secrets.values()].filter((secret) => namespace === "" || secret.namespace === namespace);
    const floors = new Map(all.map((secret) => [secret.key, model.floor(secret)]));
    const [known, sent] = [model.revision, model.tick()];
    const path = `${namespace === "" ? "" : `/namespaces/${namespace}`}/sharedsecrets`;
    const answer = await this.#ground.ask({ ...caller, method: "GET", path });
    const judged = this.judge(caller, sent, answer);
    if (answer.code !== 200) return;
    const { items, metadata } = JSON.parse(answer.text) as { items: Body[]; metadata: { resourceVersion: string } };
    const revision = Number(metadata.resourceVersion);
    if (revision < known) model.fail(caller.who, `lists ${path} as of ${revision}, after ${known}`);
    model.revision = Math.max(model.revision, revision);
    const listed = new Map(items.map((item) => [`${item.metadata.namespace}/${item.metadata.name}`, item]));
    if (listed.size < items.length) model.fail(caller.who, `lists an object of ${path} twice`);
    for (const [key, item] of listed) this.#listed({ caller, sent, revision, floor: floors.get(key) ?? FIRST }, key, item);
    for (const secret of all) {
      const sees = model.since(sent, (world) => model.may(world, caller.user, { verb: "list", secret }));
      if (judged && !listed.has(secret.key) && sees.surely && model.there(secret, sent).surely)
        model.fail(secret.key, `${caller.who} does not list it`);
    }
  }

  #listed(
    { caller, sent, revision, floor }: { caller: Caller; sent: number; revision: number; floor: typeof FIRST },
    key: string,
    item: Body,
  ) {
    const { model } = this.#ground;
    const secret = model.secrets.get(key);
    if (secret === undefined) return model.fail(key, `${caller.who} lists it, and no caller made it`);
    const sees = model.since(sent, (world) => model.may(world, caller.user, { verb: "list", secret }));
    if (!sees.possibly) model.fail(key, `${caller.who} lists it, and may not`);
    if (!model.there(secret, sent).possibly) model.fail(key, `${caller.who} lists it, and it is gone`);
    model.show(secret, item, floor);
    model.list(secret, Number(item.metadata.resourceVersion), revision);
  }

  async #create(caller: Caller, namespace: string, hostile: boolean): Promise<void> {
    const { model, upTo, acknowledged } = this.#ground;
    const { user, who } = caller;
    const others = [...model.secrets.values()].filter((secret) => secret.namespace === namespace && secret.fixed === undefined);
    const permissions: Permissions = { owner: { user }, access: [] };
    const secret = model.expect(namespace, `n${this.#ground.next()}`, permissions);
    const [sent, text] = [model.tick(), textOf(who, this.#ground.next())];
    const fields = hostile ? UNKNOWN * 2 ** upTo(4) : 0;
    const unknown = Object.fromEntries(Array.from({ length: fields }, (_, index) => [`unknown${index}`, 0]));
    const spec = { ...permissions, displayName: text, data: { first: model.value(secret, this.#ground.next()) } };
    const query = hostile && upTo(2) === 0 ? "?fieldValidation=Strict" : "";
    const path = `/namespaces/${namespace}/sharedsecrets${query}`;
    const answer = await this.#ground.ask({
      ...caller,
      method: "POST",
      path,
      body: { metadata: { name: secret.name }, spec, ...unknown },
      hostile,
    });
    const judged = this.judge(caller, sent, answer);
    const may = model.since(sent, (world) => others.some((other) => model.may(world, user, { verb: "create", secret: other })));
    if (answer.code === 201) {
      if (!may.possibly) model.fail(secret.key, `${who} creates it, and may not`);
      model.show(secret, JSON.parse(answer.text) as Body, FIRST);
      acknowledged.push({ type: "created", key: secret.key, revision: versionOf(answer), text, previous: 0 });
      return;
    }
    if (judged && may.surely && answer.code === 403) model.fail(secret.key, `${who} may create it: ${briefOf(answer)}`);
    if (DOUBTFUL.has(answer.code)) secret.doubtAt = sent;
    else secret.goneAt = sent;
  }

  /** Objects that only administrators and their owners may see: people, teams and keys. */
  async #others(caller: Caller): Promise<void> {
    const { model, upTo, pick } = this.#ground;
    const other = pick(USERS.filter((user) => user !== caller.user));
    const path = pick([
      `/users/${other}`,
      `/teams/${pick(TEAMS)}`,
      `/ownedaccesskeys/${this.#administrator.keyName(other)}`,
      "/users",
      "/ownedaccesskeys",
    ]);
    const sent = model.tick();
    const method = path.lastIndexOf("/") > 0 && upTo(2) === 0 ? "PATCH" : "GET";
    const query = method === "PATCH" ? "?dryRun=All" : "";
    const answer = await this.#ground.ask({ ...caller, method, path: `${path}${query}`, ...(query !== "" && { body: { spec: {} } }) });
    this.judge(caller, sent, answer);
    if (answer.code !== 200) return;
    if (path.lastIndexOf("/") > 0) return model.fail(caller.who, `${method} ${path} is answered 200, and is not theirs`);
    const { items } = JSON.parse(answer.text) as { items: { metadata: { name: string }; spec: { user?: string } }[] };
    const owner = ({ metadata, spec }: (typeof items)[number]) => (path === "/users" ? metadata.name : spec.user);
    for (const item of items)
      if (owner(item) !== caller.user) model.fail(caller.who, `${path} shows ${item.metadata.name}, which is not theirs`);
  }
}

const FIRST: ReturnType<Ground["model"]["floor"]> = { newest: 0, patched: new Map() };

const textOf = (author: string, count: number) => `${author}-${count}`;

/** Others write at the same time, and a test in a patch says so in another way. */
function mayBeAnswered({ verb, base }: Deed, code: number): boolean {
  return verb !== "get" && (code === 409 || (verb === "patch" && base !== undefined && code === 422));
}

const samePermissions = ({ owner, access }: Permissions, current: Permissions) =>
  JSON.stringify([owner.user, owner.team, access]) === JSON.stringify([current.owner.user, current.owner.team, current.access]);
