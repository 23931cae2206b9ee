/**
 * What the upload of a file of batch requests has changed in its lines, so that the file can be downloaded as it was
 * uploaded.
 * @module
 */
import { memberText } from "../util/json_members.ts";
import { isObject } from "../util/is_object.ts";
import { editMemberTexts } from "../util/member_texts.ts";
import { readLines } from "./json_lines.ts";

/** Maximum size of all recorded changes, characters; of further lines only the model's name is restored. */
const maxChars = 64 * 1024;

type LineMembers = Readonly<Record<string, unknown>>;

/** Original JSON of changed members by key; null if there was none. */
type Originals = Readonly<Record<string, string | null>>;

/** The changes of one line. */
interface LineChange {
  /** Changed members of the line itself, except for `body`. */
  readonly line: Originals;
  readonly body: Originals;
}

/** The changes of all lines, as they are stored: each different one, and how many lines in a row have which. */
export interface LineChanges {
  readonly kinds: readonly LineChange[];
  readonly runs: readonly (readonly [kind: number, lines: number])[];
  /** Size of the uploaded file, bytes. */
  readonly bytes: number;
}

/**
 * Changes members of a line and of its body.
 *
 * @param bodies The parsed body, and the new one.
 * @returns The new text, and what restores the old one.
 */
export function changeLine(
  text: string,
  { before, after }: { readonly before: LineMembers; readonly after: LineMembers },
): { readonly text: string; readonly change: LineChange } {
  const bodyText = memberText(text, "body");
  const inBody = changesBetween(before, after, bodyText);
  const inLine: Record<string, string | null> = memberText(text, "method") === "" ? { method: null } : {};
  const edits = new Map([["body", editMemberTexts(bodyText, inBody.edits)]]);
  if ("method" in inLine) edits.set("method", '"POST"');
  return { text: editMemberTexts(text, edits), change: { line: inLine, body: inBody.originals } };
}

function changesBetween(before: LineMembers, after: LineMembers, text: string) {
  const edits = new Map<string, string | undefined>();
  const originals: Record<string, string | null> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (after[key] === before[key]) continue;
    edits.set(key, JSON.stringify(after[key]));
    originals[key] = Object.hasOwn(before, key) ? memberText(text, key) : null;
  }
  return { edits, originals };
}

/** Collects the changes of a file. */
export class ChangedLines {
  readonly #kinds = new Map<string, number>();
  readonly #runs: [kind: number, lines: number][] = [];
  #chars = 0;

  /** Adds the change of the next line. */
  add(change: LineChange): void {
    const kind = this.#rankChange(change);
    const last = this.#runs.at(-1);
    if (last !== undefined && last[0] === kind) last[1]++;
    else if (this.#runs.length * 8 < maxChars) this.#runs.push([kind, 1]);
  }

  /** @param bytes Size of the uploaded file. */
  toRecord(bytes: number): LineChanges {
    return { kinds: [...this.#kinds.keys()].map((json) => JSON.parse(json)), runs: this.#runs, bytes };
  }

  #rankChange(change: LineChange): number {
    const json = JSON.stringify(change);
    const kind = this.#kinds.get(json);
    if (kind !== undefined) return kind;
    if (this.#chars + json.length > maxChars) {
      const { model = null } = change.body;
      return this.#kinds.size === 0 ? this.#create(JSON.stringify({ line: {}, body: { model } })) : 0;
    }
    return this.#create(json);
  }

  #create(json: string): number {
    this.#chars += json.length;
    this.#kinds.set(json, this.#kinds.size);
    return this.#kinds.size - 1;
  }
}

/**
 * Restores the lines of a file.
 *
 * @param content The lines at the provider.
 * @param changes What was changed; undefined if it is not known any more.
 * @param name What the lines name as their model, if the changes are not known.
 */
export async function* restoreLines(
  content: AsyncIterable<Uint8Array>,
  { changes, name }: { readonly changes: LineChanges | undefined; readonly name: string },
): AsyncGenerator<Uint8Array> {
  const byName: LineChange = { line: {}, body: { model: JSON.stringify(name) } };
  const next = changes === undefined ? () => byName : changesInTurn(changes, byName);
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  let size = 0;
  for await (const { bytes } of readLines(content, Infinity)) {
    const line = encoder.encode(`${size === 0 ? "" : "\n"}${restoreLine(decoder.decode(bytes), next())}`);
    size += line.length;
    yield line;
  }
  if (changes === undefined || size < changes.bytes) yield encoder.encode("\n");
}

function changesInTurn({ kinds, runs }: LineChanges, last: LineChange): () => LineChange {
  let [run, line] = [0, 0];
  return () => {
    const [kind, lines] = runs[run] ?? [-1, Infinity];
    if (++line === lines) [run, line] = [run + 1, 0];
    return kinds[kind] ?? last;
  };
}

/** A line that is not the gateway's own is returned as it is. */
function restoreLine(text: string, { line, body }: LineChange): string {
  const bodyText = isJsonObject(text) ? memberText(text, "body") : "";
  if (!isJsonObject(bodyText)) return text;
  const edits = new Map(Object.entries(line).map(([key, json]) => [key, json ?? undefined]));
  edits.set(
    "body",
    editMemberTexts(bodyText, new Map(Object.entries(body).map(([key, json]) => [key, json ?? undefined]))),
  );
  return editMemberTexts(text, edits);
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
