/** The settings that have a field: those that change what the playground shows. Their types come from the schema of the settings. */
import { SETTINGS_SCHEMA } from "../../../../engine/config/settings-schema.ts";
import type { ObjectSchema, Schema } from "../../../../schema/schema.ts";
import type { SettingPath } from "./written-settings.ts";

/** A setting with a field. */
export interface SettingField {
  readonly path: SettingPath;
  /** As in the documentation: `addressPolicy.allow`. */
  readonly name: string;
  readonly schema: Schema;
  /** Describes the setting and the chosen value; `undefined` means the default. */
  help(chosen: string | undefined): string;
}

/** Fields below one heading. */
export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly SettingField[];
}

/** All fields, in the order of the form. */
export const FIELD_GROUPS: readonly FieldGroup[] = [
  group("Addresses", ["addressPolicy.allow", "addressPolicy.deny", "addressPolicy.action"]),
  group("Patches that fail", ["onError", "limits.fuel", "limits.objectFuel"]),
  group("What is copied", ["backends", "requireService", "references.mode"]),
  group("Names and paths", ["hostClusterDomain", "pathSyntax"]),
];

function group(title: string, names: readonly string[]): FieldGroup {
  return { title, fields: names.map(fieldOf) };
}

function fieldOf(name: string): SettingField {
  const path = name.split(".");
  const schema = path.reduce<Schema>((outer, key) => (outer as ObjectSchema).fields[key]!, SETTINGS_SCHEMA);
  return { path, name, schema, help: (chosen) => helpOf(schema, chosen) };
}

/** The description of a setting. For a choice, its general part and the part about the chosen value. */
function helpOf(schema: Schema, chosen: string | undefined): string {
  const { description = "" } = schema;
  if (schema.type !== "literals") return description;
  const names = schema.values.map(String);
  const parts = description.split(new RegExp(`(?=(?<=^|[.] )(?:${names.join("|")}): )`));
  const value = chosen !== undefined && names.includes(chosen) ? chosen : String(schema.default);
  const meaning = parts.find((part) => part.startsWith(`${value}: `));
  return meaning === undefined ? description : [parts[0], meaning].join("").trim();
}
