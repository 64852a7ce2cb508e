import { DRY, entries, many, ofRequest, secret, SECRETS, word, type Dimension } from "../dimension.ts";

const path = `${SECRETS}?${DRY}`;
const YAML = "application/yaml";
const head = "metadata: {name: one}\nspec:\n  owner: {user: eve}\n";
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

/** Bodies: how many fields, how deep, how long, and in YAML. */
export const BODIES: readonly Dimension[] = [
  ofRequest({ name: "unknown fields", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret(
      {},
      {},
      entries(size, () => 1),
    ),
  })),
  ofRequest({ name: "unknown fields, ignored", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path: `${path}&fieldValidation=Ignore`,
    body: secret(
      {},
      {},
      entries(size, () => 1),
    ),
  })),
  ofRequest({ name: "unknown fields, refused", sizes: [1, 32, 8_192], beyond: 413, answered: 400 }, (size) => ({
    path: `${path}&fieldValidation=Strict`,
    body: secret(
      {},
      {},
      entries(size, () => 1),
    ),
  })),
  ofRequest({ name: "unknown fields in a list", sizes: [0, 16, 1_024], beyond: 413 }, (size) => ({
    path,
    body: secret({ access: many(size, (index) => ({ [word(index)]: 1 })) }),
  })),
  ofRequest({ name: "repeated fields", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: `{"metadata":{"name":"one"},"spec":{"owner":{"user":"eve"},"data":{"a":"YQ=="${',"a":"YQ=="'.repeat(size)}}}}`,
  })),
  ofRequest({ name: "depth of an unknown field", sizes: [1, 8, 128], beyond: 400 }, (size) => ({
    path,
    body: `{"metadata":{"name":"one"},"spec":{"owner":{"user":"eve"}},"x":${nested(size)}}`,
  })),
  ofRequest({ name: "items of an unknown list", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: secret({}, {}, { x: many(size, () => 1) }),
  })),
  ofRequest({ name: "bytes of an unknown text", sizes: [0, 1_024, 2_097_152], beyond: 413 }, (size) => ({
    path,
    body: secret({}, {}, { x: "a".repeat(size) }),
  })),
  ofRequest({ name: "bytes of a text that is all escapes", sizes: [0, 1_024, 1_048_576], beyond: 413 }, (size) => ({
    path,
    body: secret({}, {}, { x: "\\".repeat(size) }),
  })),
  ofRequest({ name: "bytes that are not JSON", sizes: [1, 1_024, 2_097_152], beyond: 413, answered: 400 }, (size) => ({
    path,
    body: `"${"a".repeat(size)}" b`,
  })),
  ofRequest({ name: "fields in YAML", sizes: [0, 32, 4_096], beyond: 413 }, (size) => ({
    path,
    body: `${head}  data:\n${many(size, (index) => `    ${word(index)}: YQ==\n`).join("")}`,
    type: YAML,
  })),
  ofRequest({ name: "unknown fields in YAML", sizes: [0, 32, 4_096], beyond: 413 }, (size) => ({
    path,
    body: `${head}${many(size, (index) => `${word(index)}: 1\n`).join("")}`,
    type: YAML,
  })),
  ofRequest({ name: "repeated fields in YAML", sizes: [2, 32, 4_096], beyond: 413, answered: 400 }, (size) => ({
    path,
    body: `${head}${many(size, (index) => `${word(index >> 1)}: 1\n`).join("")}`,
    type: YAML,
  })),
  ofRequest({ name: "items in YAML", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: `${head}  x:\n${"  - a\n".repeat(size)}`,
    type: YAML,
  })),
  ofRequest({ name: "flow items in YAML", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: `${head}  x: [${"a,".repeat(size)}]`,
    type: YAML,
  })),
  ofRequest({ name: "depth in YAML", sizes: [1, 8, 64], beyond: 400 }, (size) => ({
    path,
    body: `${head}x: ${"[".repeat(size)}${"]".repeat(size)}`,
    type: YAML,
  })),
  ofRequest({ name: "aliases in YAML", sizes: [0, 8, 512], beyond: 400 }, (size) => ({
    path,
    body: `${head}x: &a [b]\ny:\n${"- *a\n".repeat(size)}`,
    type: YAML,
  })),
  ofRequest({ name: "values that aliases in YAML stand for", sizes: [16, 32, 8_192], beyond: 400 }, (size) => ({
    path,
    body: `${head}x: &a [${"b,".repeat(size / 16)}]\ny:\n${"- *a\n".repeat(15)}`,
    type: YAML,
  })),
  ofRequest({ name: "comments before empty items in YAML", sizes: [0, 32, 4_096], beyond: 413 }, (size) => ({
    path,
    body: `${head}x:\n${"# a\n".repeat(size)}${"-\n".repeat(size)}`,
    type: YAML,
  })),
  ofRequest({ name: "comments before empty values in YAML", sizes: [4, 32, 4_096], beyond: 413, answered: 400 }, (size) => ({
    path,
    body: `${head}x:\n${"# a\n".repeat(size)}  - [${":,".repeat(size / 2)}]`,
    type: YAML,
  })),
  ofRequest({ name: "lines of a text in YAML", sizes: [1, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: `${head}x: |\n${"  a\n".repeat(size)}`,
    type: YAML,
  })),
  ofRequest({ name: "bytes of a plain text in YAML", sizes: [4, 1_024, 2_097_152], beyond: 413 }, (size) => ({
    path,
    body: `${head}x: ${"ab c".repeat(size / 4)}d\n`,
    type: YAML,
  })),
  ofRequest({ name: "comments in YAML", sizes: [0, 32, 8_192], beyond: 413 }, (size) => ({
    path,
    body: `${head}${"# a\n".repeat(size)}`,
    type: YAML,
  })),
];
