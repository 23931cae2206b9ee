/**
 * Elements of the page. Strings become text, never markup.
 * @module
 */

/** What an element may contain. */
export type Child = Node | string;

/** Attributes; `true` sets one without a value, `false` and undefined leave it out. */
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Makes an element. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** An element of the page by its id. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

/** Sets an element's text if it differs: screen readers do not read an unchanged text again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets the extent of a bar through CSSOM: the page's policy forbids style attributes. */
export function setSpan(bar: HTMLElement, { start = 0, share }: { start?: number; share: number }): void {
  bar.style.left = `${start * 100}%`;
  bar.style.width = `${Math.min(1, Math.max(0, share)) * 100}%`;
}

/** Options of {@linkcode choice}. */
interface ChoiceOptions<Value extends string> {
  /** Labels by value. */
  readonly options: Readonly<Record<Value, string>>;
  readonly selected: Value;
  readonly onChange: (value: Value) => void;
}

/** Fills a fieldset with radio buttons, of which one is selected. */
export function choice<Value extends string>(id: string, { options, selected, onChange }: ChoiceOptions<Value>): void {
  const labels = Object.entries<string>(options).map(([value, text]) => {
    const input = el("input", { type: "radio", name: id, value, checked: value === selected });
    input.addEventListener("change", () => onChange(value as Value));
    return el("label", {}, input, text);
  });
  byId(id).append(el("div", { class: "options" }, ...labels));
}
