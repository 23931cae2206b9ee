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
export type Send = (body: Readonly<Record<string, unknown>>) => Promise<void>;

/** A field of the form as it is shown. */
interface ShownField {
  readonly field: ClientField;
  readonly element: HTMLElement;
  readonly controls: readonly HTMLElement[];
  readonly problem: HTMLElement;
  /** Its value; undefined if it is empty. */
  readonly read: () => unknown;
}

/** Options of {@linkcode openClientForm}. */
interface FormOptions {
  /** The client that is changed; undefined for a new one. */
  readonly before: ManagedClient | undefined;
  /** Names of the teams it may belong to. */
  readonly teams: readonly string[];
  /** Is called with the body; the form closes once it resolves, and shows its error otherwise. */
  readonly send: Send;
}

/** Opens the form. */
export function openClientForm({ before, teams, send }: FormOptions): void {
  const dialog = byId<HTMLDialogElement>("client-dialog");
  const form = byId<HTMLFormElement>("client-form");
  const shown = clientFields.filter(({ kind, isFixed }) => kind === "team" ? teams.length > 0 : !isFixed || !before)
    .map((field) => showField(field, before?.[field.name], teams));
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

function showField(field: ClientField, value: unknown, teams: readonly string[]): ShownField {
  const id = `client-${field.name}`;
  const problem = el("small", { id: `${id}-problem`, class: "problem", role: "alert" });
  const hint = el("small", { id: `${id}-hint`, class: "muted" }, field.hint ?? "");
  const described = { "aria-describedby": `${id}-hint ${id}-problem` };
  if (field.kind === "budget") return showBudget(field, { value, problem, described });
  if (field.kind === "flag") return showFlag(field, { id, value, problem, described });
  const input = createInput(field, { id, described, teams });
  input.value = toInputText(field, value);
  const element = el("div", { class: "field" }, el("label", { for: id }, field.label), input, hint, problem);
  return { field, element, controls: [input], problem, read: () => readInput(field, input.value, value) };
}

function showFlag(
  field: ClientField,
  { id, value, problem, described }: {
    readonly id: string;
    readonly value: unknown;
    readonly problem: HTMLElement;
    readonly described: Readonly<Record<string, string>>;
  },
): ShownField {
  const input = el("input", { id, type: "checkbox", checked: value === true, ...described });
  const element = el("div", { class: "field" }, el("label", { class: "check" }, input, field.label), problem);
  return { field, element, controls: [input], problem, read: () => input.checked || (value === true ? false : value) };
}

function createInput(
  { kind, isRequired }: ClientField,
  { id, described, teams }: {
    readonly id: string;
    readonly described: Readonly<Record<string, string>>;
    readonly teams: readonly string[];
  },
): HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement {
  if (kind === "notes") return el("textarea", { id, rows: "2", ...described });
  if (kind === "team") {
    const options = ["", ...teams].map((value) => el("option", { value }, value || "None"));
    return el("select", { id, ...described }, ...options);
  }
  const type = kind === "count" ? "number" : kind === "date" ? "date" : "text";
  const bounds = kind === "count" ? { min: "0", step: "1" } : {};
  return el("input", { id, type, ...bounds, autocomplete: "off", required: isRequired, ...described });
}

function toInputText({ kind }: ClientField, value: unknown): string {
  if (value === undefined) return "";
  if (kind === "date") return getDay(value);
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function readInput({ kind }: ClientField, text: string, before: unknown): unknown {
  const value = text.trim();
  if (value === "") return undefined;
  if (kind === "count") return Number(value);
  if (kind === "list") return value.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return kind === "date" && value === getDay(before) ? before : value; // a time of that day stays
}

function getDay(time: unknown): string {
  return String(time ?? "").slice(0, 10);
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
