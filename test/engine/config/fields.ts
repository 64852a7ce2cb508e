import { isRecord } from "../../../src/base/json.ts";

/** Dotted names of every field of a schema, be it ours or a JSON schema; `*` stands for items and chosen keys. */
export function fieldsOf(schema: unknown, field = ""): string[] {
  const below = (name: string, member: unknown) => [join(field, name), ...fieldsOf(member, join(field, name))];
  if (!isRecord(schema)) return [];
  const named = schema["fields"] ?? schema["properties"];
  if (isRecord(named)) return Object.entries(named).flatMap(([name, member]) => below(name, member));
  const inner = [schema["items"], schema["values"], schema["additionalProperties"]].find(
    (member) => isRecord(member) && "description" in member,
  );
  return inner === undefined ? [] : below("*", inner);
}

/** Places of a JSON schema that have no description. */
export function undescribed(schema: unknown, field = ""): string[] {
  if (!isRecord(schema)) return [];
  const own = typeof schema["description"] === "string" && schema["description"] !== "" ? [] : [field];
  const named = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const inner = [schema["items"], schema["additionalProperties"]].filter(isRecord).map((member): [string, unknown] => ["*", member]);
  return [...own, ...[...named, ...inner].flatMap(([name, member]) => undescribed(member, join(field, name)))];
}

function join(field: string, name: string): string {
  return field === "" ? name : `${field}.${name}`;
}
