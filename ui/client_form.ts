/**
 * The form of a client.
 * @module
 */
import {
  type BudgetLine,
  type ClientField,
  clientFields,
  concerns,
  describeWindow,
  type ManagedClient,
  readBudget,
  toBudget,
  toClientBody,
  windows,
} from "./client_fields.ts";
import { ResponseError } from "./connection.ts";
import { byId, el, setText } from "./dom.ts";

/** Sends the body; rejects with the proxy's error. */
type Send = (body: Readonly<Record<string, unknown>>) => Promise<void>;

/** A field of the form as it is shown. */
interface ShownField {
  readonly field: ClientField;
  readonly element: HTMLElement;
  readonly controls: readonly HTMLElement[];
  readonly problem: HTMLElement;
  /** Its value; undefined if it is empty. */
  readonly read: () => unknown;
}

/**
 * Opens the form.
 *
 * @param before The client that is changed; undefined for a new one.
 * @param send Is called with the body; the form closes once it resolves, and shows its error otherwise.
 */
export function openClientForm(before: ManagedClient | undefined, send: Send): void {
  const dialog = byId<HTMLDialogElement>("client-dialog");
  const form = byId<HTMLFormElement>("client-form");
  const shown = clientFields.filter(({ isFixed }) => before === undefined || !isFixed)
    .map((field) => showField(field, before?.[field.name]));
  setText(byId("client-title"), before === undefined ? "New client" : `Client ${before.name}`);
  setText(byId("client-save"), before === undefined ? "Create" : "Save");
  byId("client-fields").replaceChildren(...shown.map(({ element }) => element));
  showProblem(shown, undefined);
  byId("client-cancel").onclick = () => dialog.close();
  let isPending = false;
  form.onsubmit = (event) => {
    event.preventDefault();
    if (isPending) return;
    isPending = true;
    showProblem(shown, undefined);
    const values = Object.fromEntries(shown.map(({ field, read }) => [field.name, read()]));
    send(toClientBody(values, before)).then(() => dialog.close(), (error) => showProblem(shown, error))
      .finally(() => isPending = false).catch(reportError);
  };
  dialog.showModal();
}

function showField(field: ClientField, value: unknown): ShownField {
  const id = `client-${field.name}`;
  const problem = el("small", { id: `${id}-problem`, class: "problem", role: "alert" });
  const hint = el("small", { id: `${id}-hint`, class: "muted" }, field.hint ?? "");
  const described = { "aria-describedby": `${id}-hint ${id}-problem` };
  if (field.kind === "budget") return showBudget(field, { value, problem, described });
  const input = field.kind === "notes" ? el("textarea", { id, rows: "2", ...described }) : el("input", {
    id,
    type: field.kind === "count" ? "number" : field.kind === "date" ? "date" : "text",
    ...(field.kind === "count" ? { min: "0", step: "1" } : {}),
    autocomplete: "off",
    required: field.isFixed,
    ...described,
  });
  input.value = field.kind === "date" ? String(value ?? "").slice(0, 10) : String(value ?? "").replaceAll(",", ", ");
  const element = el("div", { class: "field" }, el("label", { for: id }, field.label), input, hint, problem);
  return { field, element, controls: [input], problem, read: () => readInput(field, input.value, value) };
}

function readInput({ kind }: ClientField, text: string, before: unknown): unknown {
  const value = text.trim();
  if (value === "") return undefined;
  if (kind === "count") return Number(value);
  if (kind === "list") return value.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return kind === "date" && value === String(before ?? "").slice(0, 10) ? before : value; // a time of that day stays
}

/** A row for each limit, and one more. */
function showBudget(
  field: ClientField,
  { value, problem, described }: {
    readonly value: unknown;
    readonly problem: HTMLElement;
    readonly described: Readonly<Record<string, string>>;
  },
): ShownField {
  const lines = readBudget(value);
  const unused = Object.keys(windows).filter((window) => !lines.some((line) => line.window === window));
  const shown: readonly Partial<BudgetLine>[] = [...lines, ...unused.map((window) => ({ window }))];
  const rows = shown.map((line) => showLine(line, described));
  const element = el("fieldset", { class: "field" }, el("legend", {}, field.label), ...rows.map((row) => row.element));
  element.append(problem);
  const read = () => {
    const given = rows.flatMap((row) => row.read() ?? []);
    return JSON.stringify(given) === JSON.stringify(lines) ? value : toBudget(given);
  };
  return { field, element, controls: rows.map(({ input }) => input), problem, read };
}

function showLine(line: Partial<BudgetLine>, described: Readonly<Record<string, string>>) {
  const { limit, window = "" } = line;
  const name = describeWindow({ ...line, window });
  const label = { "aria-label": `USD ${name}`, ...described };
  const input = el("input", { type: "number", min: "0", step: "any", ...label });
  input.value = limit === undefined ? "" : String(limit);
  const read = () => input.value === "" ? undefined : { ...line, limit: Number(input.value), window };
  return { element: el("div", { class: "line" }, input, el("span", {}, name)), input, read };
}

/** Shows an error at its field, or below all of them. */
function showProblem(shown: readonly ShownField[], error: unknown): void {
  const param = error instanceof ResponseError ? error.param : undefined;
  const wrong = shown.find(({ field }) => param !== undefined && concerns(param, field.name));
  for (const field of shown) {
    setText(field.problem, field === wrong ? (error as Error).message.replace(`${param}: `, "") : "");
    for (const control of field.controls) control.toggleAttribute("aria-invalid", field === wrong);
  }
  wrong?.controls[0]?.focus();
  setText(byId("client-error"), wrong !== undefined || error === undefined ? "" : (error as Error).message);
}
