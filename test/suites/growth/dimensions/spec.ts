import { DRY, entries, many, ofRequest, secret, SECRETS, word, type Dimension } from "../dimension.ts";
import type { Ground, Sent } from "../ground.ts";

const path = `${SECRETS}?${DRY}`;
const KEYS = `/ownedaccesskeys?${DRY}`;
const administrator = (ground: Ground) => ground.platform.admin.key;
const key = (spec: object) => ({ metadata: { name: "one" }, spec });
const rule = (index: number) => ({ verbs: ["get"], resources: [{ group: "management.platform", resources: [word(index)] }] });
const scope = (of: object) => key({ user: "eve", scope: of });
const team = (spec: object) => ({ metadata: { name: "one" }, spec: { owner: { user: "eve" }, ...spec } });
const rules = (count: number) => many(count, (index) => ({ name: word(index), verbs: ["get"], users: [word(index)] }));

const MAKE_KEYS = {
  verbs: ["create", "list"],
  resources: [{ group: "management.platform", resources: ["ownedaccesskeys", "sharedsecrets"] }],
};

/** A dimension of a request with a key whose scope has so many rules. */
function withScopedKey(dimension: Pick<Dimension, "name" | "sizes">, sent: (size: number) => Sent): Dimension {
  const keys = new Map<number, string>();
  return {
    ...ofRequest(dimension, (size) => ({ ...sent(size), key: keys.get(size)! })),
    async grow(ground, size) {
      const body = { metadata: { name: `scoped-${size}` }, spec: { user: "eve", scope: { rules: [...many(size, rule), MAKE_KEYS] } } };
      const { text } = await ground.hold(201, { path: "/ownedaccesskeys", body });
      keys.set(size, /"key":"([^"]+)"/.exec(text)![1]!);
    },
  };
}

/** Fields of the kinds themselves. */
export const SPECS: readonly Dimension[] = [
  ofRequest({ name: "data keys of a SharedSecret", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({ data: entries(size, () => "YQ==") }),
  })),
  ofRequest({ name: "bytes of a SharedSecret", sizes: [0, 1_024, 1_048_576], beyond: 422 }, (size) => ({
    path,
    body: secret({ data: { a: Buffer.alloc(size).toString("base64") } }),
  })),
  ofRequest({ name: "access rules", sizes: [0, 16, 1_024], beyond: 413 }, (size) => ({ path, body: secret({ access: rules(size) }) })),
  {
    name: "access rules that are stored, with their roles",
    sizes: [0, 16, 512],
    async grow(ground, size, before) {
      if (before === 0 && size === 0) await ground.hold(201, { path: SECRETS, body: secret({}, { name: "stored" }) });
    },
    work(ground, size) {
      const to = (access: readonly object[] | null) =>
        ground.ready({
          method: "PATCH",
          path: `${SECRETS}/stored?fieldManager=growth`,
          type: "application/merge-patch+json",
          body: { spec: { access } },
        });
      const [set, reset] = [to(rules(size)), to(null)];
      // Each time from nothing.
      return async () => {
        const answer = await ground.send(set);
        await ground.send(reset);
        return answer;
      };
    },
  },
  ofRequest({ name: "users of an access rule", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({ access: [{ name: "a", verbs: ["get"], users: many(size, word) }] }),
  })),
  ofRequest({ name: "teams of an access rule", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path,
    body: secret({ access: [{ name: "a", verbs: ["get"], teams: many(size, word) }] }),
    key: administrator(ground),
  })),
  ofRequest({ name: "verbs of an access rule", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path,
    body: secret({ access: [{ name: "a", verbs: many(size, word), users: ["mia"] }] }),
    key: administrator(ground),
  })),
  ofRequest({ name: "the same verb of an access rule", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({ access: [{ name: "a", verbs: many(size, () => "get"), users: ["mia"] }] }),
  })),
  ofRequest({ name: "subresources of an access rule", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({ access: [{ name: "a", verbs: ["get"], subresources: many(size, word), users: ["mia"] }] }),
  })),
  ofRequest({ name: "pairs of a verb and a subresource of an access rule", sizes: [16, 64, 32_768], beyond: 422 }, (size, ground) => ({
    path,
    body: secret({ access: [{ name: "a", verbs: many(16, word), subresources: many(size / 16, word), users: ["mia"] }] }),
    key: administrator(ground),
  })),
  ofRequest({ name: "access rules that give the right to create", sizes: [0, 16, 1_024], beyond: 413 }, (size) => ({
    path,
    body: secret({ access: many(size, (index) => ({ name: word(index), verbs: ["create"], users: [word(index)] })) }),
  })),
  ofRequest({ name: "users of a Team", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path: `/teams?${DRY}`,
    body: team({ users: many(size, word) }),
  })),
  ofRequest({ name: "groups of a Team", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: `/teams?${DRY}`,
    body: team({ groups: many(size, word) }),
    key: administrator(ground),
  })),
  ofRequest({ name: "cluster roles of a Team", sizes: [0, 16, 4_096], beyond: 413 }, (size, ground) => ({
    path: `/teams?${DRY}`,
    body: team({ clusterRoles: many(size, (index) => ({ name: word(index) })) }),
    key: administrator(ground),
  })),
  ofRequest({ name: "groups of a User", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: `/users?${DRY}`,
    body: { metadata: { name: "one" }, spec: { username: "one", groups: many(size, word) } },
    key: administrator(ground),
  })),
  ofRequest({ name: "groups of a key", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: KEYS,
    body: key({ user: "eve", groups: many(size, word) }),
    key: administrator(ground),
  })),
  ofRequest({ name: "claims of a key", sizes: [0, 32, 8_192], beyond: 413 }, (size, ground) => ({
    path: KEYS,
    body: key({ user: "eve", identity: { extraClaims: entries(size, () => "x") } }),
    key: administrator(ground),
  })),
  ofRequest({ name: "scope rules of a key", sizes: [1, 8, 512], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ rules: many(size, rule) }),
  })),
  ofRequest({ name: "verbs of a scope rule", sizes: [1, 32, 4_096], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ rules: [{ verbs: many(size, word) }] }),
  })),
  ofRequest({ name: "resources of a scope rule", sizes: [1, 16, 1_024], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ rules: [{ resources: many(size, (index) => ({ group: word(index), resources: ["a"] })) }] }),
  })),
  ofRequest({ name: "resources of one group of a scope rule", sizes: [1, 32, 4_096], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ rules: [{ resources: [{ group: "a", resources: many(size, word) }] }] }),
  })),
  ofRequest({ name: "paths of a scope rule", sizes: [1, 32, 4_096], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ rules: [{ nonResourceURLs: many(size, (index) => `/${word(index)}`) }] }),
  })),
  ofRequest({ name: "projects of a scope", sizes: [1, 16, 2_048], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ projects: many(size, (index) => ({ project: word(index) })) }),
  })),
  ofRequest({ name: "roles of a scope", sizes: [1, 16, 1_024], beyond: 422 }, (size) => ({
    path: KEYS,
    body: scope({ roles: many(size, (index) => ({ role: "platformCLI", projects: [word(index)] })) }),
  })),
  ofRequest({ name: "scope rules of a token", sizes: [1, 8, 64], beyond: 422 }, (size) => ({
    path: "/directclusterendpointtokens",
    body: { spec: { scope: { rules: many(size, rule) } } },
  })),
  withScopedKey({ name: "scope rules of the key that asks", sizes: [1, 8, 512] }, () => ({ path: SECRETS })),
  {
    ...withScopedKey({ name: "scope rules of a key, and others of one that it makes", sizes: [1, 8, 512] }, (size) => ({
      path: KEYS,
      body: scope({ rules: many(size, (index) => ({ ...rule(index), verbs: ["get", "list"] })) }),
    })),
    answered: 403,
    stepsMax: 2_000_000,
  },
  withScopedKey({ name: "scope rules of a key, and of one that it makes", sizes: [1, 8, 512] }, (size) => ({
    path: KEYS,
    // The other way round, or it would be the same text.
    body: scope({ rules: [...many(size, rule).reverse(), MAKE_KEYS] }),
  })),
];
