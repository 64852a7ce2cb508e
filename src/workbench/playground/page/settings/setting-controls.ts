/** One control for each type of setting. An empty control means the default: the setting is removed from the text. */
import { h } from "../dom/h.ts";
import type { SettingField } from "./form-fields.ts";
import type { SettingValue } from "./written-settings.ts";

/** A control of a setting. */
export interface Control {
  readonly element: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  /** Shows a value of the text, of any type; `undefined` is the default. */
  show(value: unknown): void;
}

interface Names {
  readonly id: string;
  readonly describedBy: string;
}

/** A control that calls `change` with what the user selects or types. */
export function createControl(field: SettingField, names: Names, change: (value: SettingValue | undefined) => void): Control {
  const { schema } = field;
  if (schema.type === "literals") return choice(schema.values.map(String), String(schema.default), names, change);
  if (schema.type === "boolean")
    return choice(["true", "false"], String(schema.default), names, (value) => change(value === undefined ? value : value === "true"));
  if (schema.type === "list") return lines(names, change);
  if (schema.type === "integer") return count(schema, names, change);
  return text(schema as { readonly default?: unknown }, names, change);
}

function attributes({ id, describedBy }: Names) {
  return { id, "aria-describedby": describedBy };
}

function choice(values: readonly string[], byDefault: string, names: Names, change: (value: string | undefined) => void): Control {
  const element = h(
    "select",
    { ...attributes(names), onchange: () => change(element.value === "" ? undefined : element.value) },
    h("option", { value: "" }, `${byDefault} (default)`),
    ...values.map((value) => h("option", { value }, value)),
  );
  return {
    element,
    show: (value) => void (element.value = values.includes(String(value)) ? String(value) : ""),
  };
}

/** Attributes of fields whose text must not be corrected. */
const PLAIN = { spellcheck: "false", autocomplete: "off", autocapitalize: "off" };

function lines(names: Names, change: (value: readonly string[] | undefined) => void): Control {
  const element = h("textarea", {
    ...attributes(names),
    ...PLAIN,
    rows: 2,
    placeholder: "one per line",
    oninput() {
      const values = element.value.split(/[\s,]+/).filter((value) => value !== "");
      change(values.length === 0 ? undefined : values);
    },
  });
  return { element, show: (value) => void (element.value = Array.isArray(value) ? value.join("\n") : "") };
}

interface Count {
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

function count({ default: byDefault, minimum, maximum }: Count, names: Names, change: (value: number | undefined) => void): Control {
  const element = h("input", {
    ...attributes(names),
    type: "number",
    min: minimum,
    max: maximum,
    step: 1,
    placeholder: `${Number(byDefault).toLocaleString("en")} (default)`,
    oninput() {
      if (!element.validity.badInput) change(element.value === "" ? undefined : Number(element.value));
    },
  });
  return { element, show: (value) => void (element.value = typeof value === "number" ? String(value) : "") };
}

function text({ default: byDefault }: { readonly default?: unknown }, names: Names, change: (value: string | undefined) => void): Control {
  const element = h("input", {
    ...attributes(names),
    ...PLAIN,
    type: "text",
    placeholder: `${String(byDefault)} (default)`,
    oninput: () => change(element.value === "" ? undefined : element.value),
  });
  return { element, show: (value) => void (element.value = typeof value === "string" ? value : "") };
}
