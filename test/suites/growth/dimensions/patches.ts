import { DRY, entries, many, ofRequest, secret, SECRETS, word, type Dimension } from "../dimension.ts";
import type { Ground } from "../ground.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

/** Where patches go: an object of its own for each size, as large as the patch. */
const placeOf = (size: number) => `${SECRETS}/large-${size}`;
const patched = (size: number) => `${placeOf(size)}?${DRY}`;
const rule = (index: number) => ({ name: word(index), verbs: ["get"], users: [word(index)] });

async function makeLarge(ground: Ground, size: number, spec: object, metadata: object = {}): Promise<void> {
  await ground.hold(201, { path: SECRETS, body: secret(spec, { name: `large-${size}`, ...metadata }) });
}

const ofPatch = (
  { name, sizes, beyond, answered }: Pick<Dimension, "name" | "sizes" | "beyond" | "answered">,
  { type, spec, metadata }: { type: string; spec?: (size: number) => object; metadata?: (size: number) => object },
  body: (size: number) => unknown,
) => {
  const make = (ground: Ground, size: number) => makeLarge(ground, size, spec?.(size) ?? {}, metadata?.(size));
  const dimension = { name, sizes, ...(beyond !== undefined && { beyond }), ...(answered !== undefined && { answered }), grow: make };
  return ofRequest(dimension, (size) => ({ method: "PATCH", path: patched(Math.min(size, sizes[2])), type, body: body(size) }));
};

const reference = (index: number) => ({ apiVersion: "v1", kind: "ConfigMap", name: word(index), uid: word(index) });
const withData = { spec: (size: number) => ({ data: entries(size, () => "YQ==") }) };
const withAccess = { spec: (size: number) => ({ access: many(size, rule) }) };
const withLabels = { metadata: (size: number) => ({ labels: entries(size, () => "x") }) };

/** Patches of each kind; the object grows with the patch. */
export const PATCHES: readonly Dimension[] = [
  ofPatch({ name: "operations of a JSON patch", sizes: [0, 16, 2_048], beyond: 413 }, { type: JSON_PATCH, ...withData }, (size) =>
    many(size, (index) => ({ op: "add", path: `/spec/data/${word(size + index)}`, value: "YQ==" })),
  ),
  ofPatch({ name: "items that a JSON patch puts first", sizes: [0, 16, 1_024], beyond: 413 }, { type: JSON_PATCH }, (size) => [
    { op: "add", path: "/metadata/finalizers", value: [] },
    ...many(size, (index) => ({ op: "add", path: "/metadata/finalizers/0", value: `example.com/${word(index)}` })),
  ]),
  ofPatch({ name: "removals by a JSON patch", sizes: [0, 16, 2_048], beyond: 413 }, { type: JSON_PATCH, ...withData }, (size) =>
    many(size, (index) => ({ op: "remove", path: `/spec/data/${word(index)}` })),
  ),
  ofPatch({ name: "tests of a JSON patch", sizes: [0, 16, 2_048], beyond: 413 }, { type: JSON_PATCH, ...withData }, (size) =>
    many(size, (index) => ({ op: "test", path: `/spec/data/${word(index)}`, value: "YQ==" })),
  ),
  ofPatch(
    { name: "copies of a JSON patch", sizes: [0, 16, 2_048], beyond: 413 },
    { type: JSON_PATCH, spec: () => ({ data: entries(64, () => "YQ==") }) },
    (size) => many(size, (index) => ({ op: "copy", from: "/spec/data", path: `/${word(index % 100)}` })),
  ),
  ofPatch({ name: "moves of a JSON patch", sizes: [0, 16, 2_048], beyond: 413 }, { type: JSON_PATCH, ...withData }, (size) =>
    many(size, (index) => ({ op: "move", from: `/spec/data/${word(index)}`, path: `/spec/data/${word(size + index)}` })),
  ),
  ofPatch({ name: "keys of a merge patch", sizes: [0, 32, 8_192], beyond: 413 }, { type: MERGE_PATCH, ...withData }, (size) => ({
    spec: { data: entries(size, (index) => (index % 2 === 0 ? null : "Yg==")) },
  })),
  ofPatch({ name: "access rules that are replaced", sizes: [0, 16, 1_024], beyond: 413 }, { type: MERGE_PATCH, ...withAccess }, (size) => ({
    spec: { access: many(size, (index) => rule(index + (size >> 1))) },
  })),
  ofPatch(
    { name: "owner references that are replaced", sizes: [0, 16, 1_024], beyond: 413 },
    { type: MERGE_PATCH, metadata: (size) => ({ ownerReferences: many(size, reference) }) },
    (size) => ({ metadata: { ownerReferences: many(size, (index) => reference(size - index)) } }),
  ),
  ofPatch({ name: "items of a strategic merge patch", sizes: [0, 16, 1_024], beyond: 413 }, { type: STRATEGIC, ...withAccess }, (size) => ({
    spec: { access: many(size, (index) => rule(index + (size >> 1))) },
  })),
  ofPatch(
    { name: "finalizers of a strategic merge patch", sizes: [0, 32, 4_096], beyond: 413 },
    { type: STRATEGIC, metadata: (size) => ({ finalizers: many(size, (index) => `example.com/${word(index)}`) }) },
    (size) => ({
      metadata: {
        finalizers: many(size >> 1, (index) => `example.com/${word(index + size)}`),
        "$deleteFromPrimitiveList/finalizers": many(size >> 1, (index) => `example.com/${word(index)}`),
        "$setElementOrder/finalizers": many(size, (index) => `example.com/${word(index + (size >> 1))}`),
      },
    }),
  ),
  ofPatch({ name: "owner references of a strategic merge patch", sizes: [0, 16, 1_024], beyond: 413 }, { type: STRATEGIC }, (size) => ({
    metadata: {
      ownerReferences: many(size, reference),
      "$setElementOrder/ownerReferences": many(size, (index) => ({ uid: word(index) })),
    },
  })),
  ofPatch({ name: "fields that are applied", sizes: [0, 32, 8_192], beyond: 413 }, { type: APPLY, ...withLabels }, (size) => ({
    ...{ apiVersion: "management.platform/v1", kind: "SharedSecret", metadata: { name: `large-${size}` } },
    spec: { data: entries(size, () => "YQ==") },
  })),
  ofPatch(
    { name: "fields that are applied against their owner", sizes: [1, 32, 8_192], beyond: 413, answered: 409 },
    { type: APPLY, ...withLabels },
    (size) => ({
      ...{ apiVersion: "management.platform/v1", kind: "SharedSecret" },
      metadata: { name: `large-${size}`, labels: entries(size, () => "other") },
    }),
  ),
  ofPatch({ name: "owner references that are applied", sizes: [0, 16, 1_024], beyond: 413 }, { type: APPLY }, (size) => ({
    ...{ apiVersion: "management.platform/v1", kind: "SharedSecret" },
    metadata: {
      name: `large-${size}`,
      ownerReferences: many(size, reference),
    },
  })),
  {
    ...ofRequest({ name: "appliers of an object", sizes: [1, 16, 256] }, (size) => ({
      method: "PATCH",
      path: `${SECRETS}/shared?dryRun=All&fieldManager=growth&force=true`,
      type: APPLY,
      body: {
        ...{ apiVersion: "management.platform/v1", kind: "SharedSecret" },
        metadata: { name: "shared", labels: entries(size, () => "y") },
      },
    })),
    async grow(ground, size, before) {
      if (before === 0) await ground.hold(201, { path: SECRETS, body: secret({}, { name: "shared" }) });
      for (let index = before; index < size; index += 1) {
        const labels = { [word(index)]: "x", common: "x" };
        await ground.hold(200, {
          ...{ method: "PATCH", path: `${SECRETS}/shared?fieldManager=${word(index)}`, type: APPLY },
          body: { apiVersion: "management.platform/v1", kind: "SharedSecret", metadata: { name: "shared", labels } },
        });
      }
    },
  },
];
