import { connect, type Socket } from "node:net";
import { DRY, ofRequest, secret, SECRETS, word, type Dimension } from "../dimension.ts";
import type { Ground, Sent } from "../ground.ts";

type Named = Pick<Dimension, "name" | "sizes">;

/** A dimension of what is stored: so many are there when the request is sent. */
function ofStored({ name, sizes }: Named, made: (index: number, ground: Ground) => Sent, sent: (ground: Ground) => Sent): Dimension {
  return {
    ...ofRequest({ name, sizes }, (_size, ground) => sent(ground)),
    async grow(ground, size, before) {
      for (let index = before; index < size; index += 1) await ground.hold(201, made(index, ground));
    },
  };
}

const administrator = (ground: Ground) => ground.platform.admin.key;
const ownSecret = (index: number): Sent => ({ path: SECRETS, body: secret({ data: { a: "YQ==" } }, { name: word(index) }) });
/** Two of these are more than one piece of an answer, so that no size pays for pieces that the size before did without. */
const largeSecret = (index: number): Sent => ({
  path: SECRETS,
  body: secret({ data: { a: "YWFh".repeat(8_192) } }, { name: word(index) }),
});
const ownTeam = (index: number): Sent => ({
  path: "/teams",
  body: { metadata: { name: word(index) }, spec: { owner: { user: "eve" }, users: ["eve"] } },
});
/** Fewer than the quota of one user. */
const MANY = 256;

/** Watches that are open, by ground. */
const watches = new Map<Ground, Socket[]>();

/** One watch; resolves when the server has answered. */
async function openWatch(ground: Ground): Promise<Socket> {
  const socket = connect(Number(new URL(ground.platform.management.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(ground.ready({ path: `${SECRETS}?watch=1`, key: administrator(ground) }));
  await new Promise((answered) => socket.once("data", answered));
  socket.resume();
  return socket;
}

/** How many objects, keys, teams and watches there are. Sizes end where a run of all dimensions would take long. */
export const COLLECTIONS: readonly Dimension[] = [
  ofStored({ name: "objects of a list", sizes: [1, 16, MANY] }, largeSecret, () => ({ path: SECRETS })),
  ofStored({ name: "objects of a table", sizes: [1, 16, MANY] }, ownSecret, () => ({
    path: SECRETS,
    headers: [["Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"]],
  })),
  ofStored({ name: "objects of a list in YAML", sizes: [1, 16, MANY] }, ownSecret, () => ({
    path: SECRETS,
    headers: [["Accept", "application/yaml"]],
  })),
  ofStored({ name: "objects beside a page of one", sizes: [2, 16, MANY] }, ownSecret, () => ({ path: `${SECRETS}?limit=1` })),
  {
    ...ofRequest({ name: "objects of a page", sizes: [1, 16, MANY] }, (size) => ({ path: `${SECRETS}?limit=${size}` })),
    async grow(ground, _size, before) {
      if (before === 0) for (let index = 0; index < MANY; index += 1) await ground.hold(201, largeSecret(index));
    },
  },
  ofStored({ name: "objects of a list, of which a selector takes none", sizes: [1, 16, MANY] }, ownSecret, () => ({
    path: `${SECRETS}?labelSelector=a%3Db`,
  })),
  ofStored({ name: "objects of a collection that is deleted", sizes: [1, 16, MANY] }, ownSecret, (ground) => ({
    ...{ method: "DELETE", path: `${SECRETS}?dryRun=All`, key: administrator(ground) },
  })),
  ofStored({ name: "objects beside one that is made", sizes: [1, 16, MANY] }, ownSecret, () => ({
    path: `${SECRETS}?${DRY}`,
    body: secret({}),
  })),
  ofStored(
    { name: "keys of a user, of a list", sizes: [1, 16, 256] },
    (index) => ({ path: "/ownedaccesskeys", body: { metadata: { name: word(index) }, spec: { user: "eve" } } }),
    () => ({ path: "/ownedaccesskeys" }),
  ),
  ofStored(
    { name: "keys of a user, beside one that is made", sizes: [1, 16, 256] },
    (index) => ({ path: "/ownedaccesskeys", body: { metadata: { name: word(index) }, spec: { user: "eve" } } }),
    () => ({ path: `/ownedaccesskeys?${DRY}`, body: { metadata: { name: "one" }, spec: { user: "eve" } } }),
  ),
  ofStored({ name: "teams of a user", sizes: [1, 16, 256] }, ownTeam, () => ({ path: `${SECRETS}?${DRY}`, body: secret({}) })),
  ofStored({ name: "teams of a user who lists them", sizes: [1, 16, 256] }, ownTeam, () => ({ path: "/teams" })),
  ofStored(
    { name: "users, beside one that is made", sizes: [1, 16, 256] },
    (index, ground) => ({
      path: "/users",
      body: { metadata: { name: word(index) }, spec: { username: word(index) } },
      key: administrator(ground),
    }),
    (ground) => ({ path: `/users?${DRY}`, body: { metadata: { name: "one" }, spec: { username: "one" } }, key: administrator(ground) }),
  ),
  {
    ...ofRequest({ name: "watches of an object that changes", sizes: [1, 16, 256] }, () => ({
      method: "PUT",
      path: `${SECRETS}/watched`,
      body: secret({}, { name: "watched" }),
    })),
    async grow(ground, size, before) {
      if (before === 0) await ground.hold(201, { path: SECRETS, body: secret({}, { name: "watched" }) });
      const open = watches.get(ground) ?? [];
      watches.set(ground, open);
      while (open.length < size) open.push(await openWatch(ground));
    },
    work(ground) {
      let count = 0;
      return () => {
        const body = { spec: { description: String((count += 1) + Math.random()) } };
        return ground.send(
          ground.ready({ method: "PATCH", path: `${SECRETS}/watched?fieldManager=growth`, type: "application/merge-patch+json", body }),
        );
      };
    },
  },
];
