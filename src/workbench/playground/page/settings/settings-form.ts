/**
 * Fields for the settings that change what the playground shows. The text of the settings is authoritative: fields show its values, and
 * change it in place.
 *
 * @module
 */
import type { Problem } from "../../../../schema/problem.ts";
import { h } from "../dom/h.ts";
import { FIELD_GROUPS, type SettingField } from "./form-fields.ts";
import { createControl } from "./setting-controls.ts";
import { readSettings, settingAt, type SettingPath, type SettingValue } from "./written-settings.ts";

/** The fields of the settings. */
export interface SettingsForm {
  readonly element: HTMLElement;
  /** Shows the values of a text. Does not count as an edit. */
  show(text: string): void;
  /** Shows the problems of each field. */
  complain(problems: readonly Problem[]): void;
  /** Moves the focus to the first field. */
  focus(): void;
}

/** Options of the form. */
export interface SettingsFormOptions {
  /** Fields of the virtual cluster, which come first. */
  readonly vcluster: readonly HTMLElement[];
  /** Changes one setting of the text; `undefined` removes it. Reports whether the text could be changed. */
  readonly change: (path: SettingPath, value: SettingValue | undefined) => boolean;
}

/** A form of the settings. */
export function createSettingsForm({ vcluster, change }: SettingsFormOptions): SettingsForm {
  const unreadable = h(
    "p",
    { class: "settings-unreadable", hidden: true },
    "The text below cannot be read, so its fields are disabled. The results show what is wrong with it.",
  );
  const fields = new Map<SettingField, ShownField>();
  const groups = FIELD_GROUPS.map(({ title, fields: members }) => {
    const shown = members.map((field) => {
      const one = createField(field, (value) => change(field.path, value));
      fields.set(field, one);
      return one.element;
    });
    return h("fieldset", { class: "settings-group" }, h("legend", {}, title), ...shown);
  });
  const element = h(
    "div",
    { class: "settings-form" },
    h("fieldset", { class: "settings-group" }, h("legend", {}, "Virtual cluster"), h("div", { class: "settings-names" }, ...vcluster)),
    unreadable,
    ...groups,
  );
  return {
    element,
    show(text) {
      const settings = readSettings(text);
      unreadable.hidden = settings !== undefined;
      for (const group of groups) group.disabled = settings === undefined;
      if (settings !== undefined) for (const [{ path }, field] of fields) field.show(settingAt(settings, path));
    },
    complain(problems) {
      const own = problems.filter(({ file }) => file === "settings");
      for (const [{ name }, field] of fields) field.complain(own.filter((problem) => isOf(problem, name)));
    },
    focus: () => element.querySelector("input")?.focus(),
  };
}

function isOf({ field }: Problem, name: string): boolean {
  return field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`);
}

interface ShownField {
  readonly element: HTMLElement;
  show(value: unknown): void;
  complain(problems: readonly Problem[]): void;
}

const CLOSED = "This field cannot change the setting as it is written in the text. Edit the text instead.";

function createField(field: SettingField, change: (value: SettingValue | undefined) => boolean): ShownField {
  const id = `setting-${field.name.replaceAll(".", "-")}`;
  const help = h("p", { class: "setting-help", id: `${id}-help` });
  const wrong = h("p", { class: "setting-wrong", id: `${id}-wrong`, hidden: true });
  let shown: unknown;
  const explain = (value: unknown) => void (help.textContent = field.help(typeof value === "string" ? value : undefined));
  const control = createControl(field, { id, describedBy: `${help.id} ${wrong.id}` }, (value) => {
    if (!change(value)) {
      control.show(shown);
      return showMessage("warning", CLOSED);
    }
    shown = value;
    explain(value);
  });
  const showMessage = (tone: "error" | "warning", text: string): void => {
    wrong.dataset["tone"] = tone;
    wrong.hidden = text === "";
    wrong.textContent = text;
  };
  return {
    element: h("div", { class: "setting" }, h("label", { for: id }, field.name), control.element, help, wrong),
    show(value) {
      shown = value;
      control.show(value);
      explain(value);
    },
    complain(problems) {
      const isError = problems.some(({ severity }) => severity === "error");
      control.element.setAttribute("aria-invalid", String(isError));
      const texts = problems.map(({ message, hint }) => (hint === "" ? `${message}.` : `${message}. ${hint}.`));
      showMessage(isError ? "error" : "warning", texts.join(" "));
    },
  };
}
