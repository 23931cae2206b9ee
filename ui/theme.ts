/**
 * Light or dark: the system's choice, unless it was changed in this tab.
 * @module
 */
import { byId } from "./dom.ts";

const key = "modelmesh-theme";

/** Makes the button switch between both. */
export function addThemeButton(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const chosen = sessionStorage.getItem(key);
  if (chosen !== null) root.dataset.theme = chosen;
  byId("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme === undefined ? system.matches : root.dataset.theme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    sessionStorage.setItem(key, root.dataset.theme);
  });
}
