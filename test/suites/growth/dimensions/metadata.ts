import { DRY, entries, many, ofRequest, secret, SECRETS, word, type Dimension } from "../dimension.ts";

const path = `${SECRETS}?${DRY}`;
const reference = (index: number) => ({ apiVersion: "v1", kind: "ConfigMap", name: word(index), uid: `uid-${word(index)}` });
const manager = (index: number, operation: string) => ({
  ...{ manager: word(index), operation, apiVersion: "management.platform/v1", time: "2026-01-01T00:00:00Z", fieldsType: "FieldsV1" },
  fieldsV1: { "f:metadata": { "f:labels": { [`f:${word(index)}`]: {} } } },
});

/** Metadata of an object. */
export const METADATA: readonly Dimension[] = [
  ofRequest({ name: "labels", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { labels: entries(size, () => "x") }),
  })),
  ofRequest({ name: "labels that are not valid", sizes: [1, 32, 8_192], beyond: 413, answered: 422 }, (size) => ({
    path,
    body: secret({}, { labels: { ...entries(size, () => "-"), "-": "x" } }),
  })),
  ofRequest({ name: "annotations", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { annotations: entries(size, () => "x") }),
  })),
  ofRequest({ name: "quarters of the bytes of an annotation", sizes: [0, 512, 65_536], beyond: 422 }, (size) => ({
    path,
    body: secret({}, { annotations: { a: "ab c".repeat(size).slice(1) } }),
  })),
  ofRequest({ name: "owner references", sizes: [0, 16, 1_024], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { ownerReferences: many(size, reference) }),
  })),
  ofRequest({ name: "owner references, each twice", sizes: [0, 16, 1_024], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { ownerReferences: many(size, (index) => reference(index >> 1)) }),
  })),
  ofRequest({ name: "finalizers", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { finalizers: many(size, (index) => `example.com/${word(index)}`) }),
  })),
  ofRequest({ name: "managed fields of appliers", sizes: [0, 16, 512], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { labels: entries(size, () => "x"), managedFields: many(size, (index) => manager(index, "Apply")) }),
  })),
  ofRequest({ name: "managed fields of writers", sizes: [0, 16, 512], beyond: 413 }, (size) => ({
    path,
    body: secret({}, { labels: entries(size, () => "x"), managedFields: many(size, (index) => manager(index, "Update")) }),
  })),
  ofRequest({ name: "length of a name", sizes: [1, 512, 1_048_576], answered: 422 }, (size) => ({
    path,
    body: secret({}, { name: `${"a".repeat(size)}_` }),
  })),
];
