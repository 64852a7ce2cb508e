import { expect, test } from "vitest";
import type { ObjectList } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { LIST_TEXT_MAX, listAll } from "../../../src/kube/runtime/informer/list-all.ts";

/** Lists from a server whose page `n` is what `page` says, and counts how many it was asked for. */
async function listFrom(page: (n: number) => ObjectList) {
  let pages = 0;
  const client = { list: async () => page((pages += 1)) };
  const listing = listAll({ client, resource: ENDPOINTS, scope: {}, pageSize: 500, signal: new AbortController().signal });
  const outcome = await listing.then(
    ({ items }) => ({ items: items.length }),
    (error: unknown) => ({ error: error as Error }),
  );
  return { pages, ...outcome };
}

const item = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "db" } };
const TENTH = Math.floor(LIST_TEXT_MAX / 10);

test("pages without an end are given up when they hold more text than a list may", async () => {
  const { pages, ...outcome } = await listFrom(() => ({ items: [item], resourceVersion: "1", continue: "again", textLength: TENTH }));
  expect(outcome).toMatchObject({
    error: { code: "API_LIST_TOO_LARGE", message: "Cannot list endpoints: the server returns more than 134217728 characters" },
  });
  expect(pages).toBe(11);
});

test("pages without an end and without text are given up by their number", async () => {
  const { pages, ...outcome } = await listFrom(() => ({ items: [], resourceVersion: "1", continue: "again" }));
  expect(outcome).toMatchObject({
    error: { code: "API_LIST_TOO_LARGE", message: "Cannot list endpoints: the server returns more than 10000 pages" },
  });
  expect(pages).toBe(10_000);
});

test("a list that just fits is read", async () => {
  const outcome = await listFrom((n) => ({ items: [item], resourceVersion: "1", textLength: TENTH, ...(n < 10 && { continue: `${n}` }) }));
  expect(outcome).toEqual({ pages: 10, items: 10 });
});

test("pages of unknown length, as in process, count by their number only", async () => {
  const outcome = await listFrom((n) => ({ items: [item], resourceVersion: "1", ...(n < 2_000 && { continue: `${n}` }) }));
  expect(outcome).toEqual({ pages: 2_000, items: 2_000 });
});
