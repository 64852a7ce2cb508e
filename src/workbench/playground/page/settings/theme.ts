import { fill, h } from "../dom/h.ts";
import { icon, type IconName } from "../dom/icons.ts";
import type { SettingsStore, Theme } from "./settings.ts";

const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const ICONS: Readonly<Record<Theme, IconName>> = { system: "auto", light: "light", dark: "dark" };
const NAMES: Readonly<Record<Theme, string>> = { system: "as the system", light: "light", dark: "dark" };

/** A button that cycles through system colours, light and dark; the page starts with the last choice. */
export function createThemeButton(settings: SettingsStore): HTMLButtonElement {
  const button = h("button", { type: "button", class: "button button-bare button-icon", "data-action": "theme" });
  const show = () => {
    const { theme } = settings.get();
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    const label = `Colours: ${NAMES[theme]}. Change to ${NAMES[NEXT[theme]]}`;
    button.setAttribute("aria-label", label);
    button.title = label;
    fill(button, icon(ICONS[theme]));
  };
  button.addEventListener("click", () => {
    settings.set({ theme: NEXT[settings.get().theme] });
    show();
  });
  show();
  return button;
}
