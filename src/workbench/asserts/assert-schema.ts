import type { Infer, ListSchema, ObjectSchema, Schema } from "../../schema/schema.ts";

const PATH = {
  type: "string",
  required: true,
  description: "Path of the value, as in patches. With [*], the assertion must hold for every match, and there must be at least one match.",
  jsonSchema: { examples: ["subsets[0].addresses[0].ip", 'metadata.annotations["example.com/x"]'] },
} as const;

const assertion = <Fields extends Record<string, Schema>>(description: string, fields: Fields) =>
  ({ type: "object", description, refuseNull: true, fields: { path: PATH, ...fields } }) as const satisfies ObjectSchema;

/** A value that may be null, so the schema cannot require it; `readAsserts` checks that it is present. */
const given = (description: string) => ({ type: "any", description }) as const;

/** JSON's names of value kinds; integer is a number without a fraction. */
const VALUE_TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;

/** One entry of `asserts`. Exactly one field other than `not` must be given; `readAsserts` reports any other entry. */
export const ASSERT = {
  type: "object",
  description: "A statement about the resulting object. One statement per entry, with not: true for its opposite.",
  fields: {
    equal: assertion("The value equals this one, including all nested values.", {
      value: given("The value to compare with, which may be null."),
    }),
    notEqual: assertion("The value is different or absent.", { value: given("The value to compare with.") }),
    exists: assertion("There is a value, which may be null.", {}),
    notExists: assertion("There is no value.", {}),
    contains: assertion("A list contains this item, or a string contains this part.", {
      content: given("The item, or the part of the text."),
      count: { type: "integer", minimum: 0, description: "Exact number of times that the list contains the item. Default: at least once." },
      any: {
        type: "boolean",
        default: false,
        description: "If true, an item that is a map matches if it contains the members of content; other members are allowed.",
      },
    }),
    isSubset: assertion("A map has at least these members; the same applies to nested maps.", {
      content: {
        type: "map",
        required: true,
        values: given("Each value is the expected value of a member."),
        description: "The members, by name.",
      },
    }),
    matchRegex: assertion("A string has a part that matches a regular expression.", {
      pattern: {
        type: "string",
        required: true,
        description: "Regular expression in JavaScript syntax, with the flag u. Use ^ and $ to match the whole text.",
      },
    }),
    lengthEqual: assertion("A list, map or string has this many items, members or characters.", {
      count: {
        type: "integer",
        required: true,
        minimum: 0,
        description: "Number of items, members or characters. Characters are UTF-16 code units.",
      },
    }),
    isType: assertion("The value is of this type.", {
      type: { type: "literals", required: true, values: VALUE_TYPES, description: "The type, by its name in JSON." },
    }),
    isNullOrEmpty: assertion("The value is absent, null, or an empty string, list or map.", {}),
    unchanged: {
      type: "object",
      description: "The object is the same as without any patch.",
      refuseNull: true,
      fields: {
        except: {
          type: "list",
          default: [],
          items: { type: "string", description: "Each entry is a path, with or without [*]." },
          description: "Paths of values that may differ, including everything below them.",
        },
      },
    },
    not: { type: "boolean", default: false, description: "If true, the opposite of the statement must hold." },
  },
} as const satisfies ObjectSchema;

/** `asserts:` of a test, and of a sequence's expectation of an object. */
export const ASSERTS = {
  type: "list",
  description: "Statements about the resulting object; all must hold.",
  items: ASSERT,
  minItems: 1,
  maxItems: 1_000,
} as const satisfies ListSchema;

/** An entry of {@link ASSERTS}, decoded. */
export type AssertDefinition = Infer<typeof ASSERT>;
