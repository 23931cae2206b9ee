/**
 * A guard of personal data: refuses it, replaces it, or replaces it and puts it back into the response.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Guard, GuardContext, GuardedText, GuardReplacement, GuardVerdict } from "../../src/contracts/guard.ts";
import { piiDeclaration } from "./declarations.ts";
import { findPersonalData, maxMatchLength, type PersonalDataType } from "./_personal_data.ts";
import { isAscii, readPlainText } from "./_plain_text.ts";
import { onlyAt } from "./_stages.ts";

/** The guard; its declaration documents the attributes. */
export const piiGuard: Connector<"guard"> = /* @__PURE__ */ Object.assign({ create: createPiiGuard }, piiDeclaration);

/** A part of one text. */
interface Part {
  readonly type: PersonalDataType;
  /** Index of the text. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
  /** The whole of what was found, which may go on in the next text; undefined in the parts after the first. */
  readonly value: string | undefined;
}

/** What any personal data in ASCII contains, also in escapes of JSON. V8 searches for such a set many characters at a time. */
const sign = /[\d@\-_\\]/;

/** Whether a text may have personal data, also in digits of other scripts. Most texts have none of it, or soon. */
function hasSign(text: string): boolean {
  return sign.test(text) || text.includes("AIza") || text.includes("AKIA") || text.includes("ASIA") ||
    text.includes(".eyJ") || !isAscii(text);
}

/** Whether a text is one of several parts, which may have personal data only together. */
function isPart(path: string): boolean {
  return path.endsWith("].text");
}

function createPiiGuard({ types, action = "mask", stages }: Readonly<Record<string, unknown>>): Guard {
  const wanted = new Set((types ?? piiDeclaration.attributes.types.values) as readonly PersonalDataType[]);
  const restored = new WeakMap<object, Placeholders>();
  return onlyAt(stages, {
    reach: maxMatchLength,
    check: (texts, context) => {
      if (action === "restore" && context.stage === "response") return restore(texts, restored.get(context.request));
      if (!texts.some(({ path, text }) => isPart(path) || hasSign(text))) return { action: "allow" };
      const parts = findParts(texts, wanted);
      const [first] = parts;
      if (first === undefined) return { action: "allow" };
      if (action === "block") return { action: "block", code: first.type, path: texts[first.at]!.path };
      return replace(texts, parts, placeholdersFor(context, { texts, restored, isNumbered: action === "restore" }));
    },
  });
}

/** Finds personal data, in texts and in what the parts of one message make together. */
function findParts(texts: readonly GuardedText[], wanted: ReadonlySet<PersonalDataType>): Part[] {
  return groupParts(texts).flatMap((group) => {
    const plain = group.map((index) => readPlainText(texts[index]!.text, mayBeJson(texts[index]!)));
    const joined = plain.map(({ text }) => text).join("");
    return findPersonalData(joined, wanted).flatMap(({ type, start, end }): Part[] => {
      const value = joined.slice(start, end);
      let from = 0;
      return group.flatMap((at, index): Part[] => {
        const { text, starts } = plain[index]!;
        const [first, last] = [Math.max(start - from, 0), Math.min(end - from, text.length)];
        const isFirst = start >= from;
        from += text.length;
        if (first >= last) return [];
        const toOriginal = (index: number) => starts === undefined ? index : starts[index]!;
        return [{ type, at, start: toOriginal(first), end: toOriginal(last), value: isFirst ? value : undefined }];
      });
    });
  });
}

/** Indexes of texts by the list that they are parts of; a text of its own is a group of one. */
function groupParts(texts: readonly GuardedText[]): number[][] {
  const groups: number[][] = [];
  let before: string | undefined;
  texts.forEach(({ path }, index) => {
    const list = /^(.*\bcontent)\[\d+\]\.text$/.exec(path)?.[1];
    if (list !== undefined && list === before) groups.at(-1)!.push(index);
    else groups.push([index]);
    before = list;
  });
  return groups;
}

/** A name for what was replaced. */
const placeholder = /\[[A-Z]{2,5}_\d{1,6}\]/g;

/** Whether a text is JSON. */
function isJson({ path }: GuardedText): boolean {
  return path.endsWith(".arguments");
}

/** Whether a text may be JSON: the results of tools often are. */
function mayBeJson(guarded: GuardedText): boolean {
  return isJson(guarded) || /^\s*[{[]/.test(guarded.text);
}

function replace(texts: readonly GuardedText[], parts: readonly Part[], placeholders: Placeholders): GuardVerdict {
  const replaced = new Map<number, { text: string; end: number; types: Set<string> }>();
  for (const { type, at, start, end, value } of parts) {
    const { text } = texts[at]!;
    const done = replaced.get(at) ?? { text: "", end: 0, types: new Set() };
    const placeholder = value === undefined ? "" : placeholders.nameFor(type, value);
    done.text += text.slice(done.end, start) + placeholder;
    done.end = end;
    done.types.add(type);
    replaced.set(at, done);
  }
  const changed = [...replaced].map(([at, { text, end, types }]): GuardReplacement => ({
    path: texts[at]!.path,
    text: text + texts[at]!.text.slice(end),
    rule: [...types].join(","),
  }));
  return { action: "replace", texts: changed };
}

/** Names for what was replaced in one request. */
class Placeholders {
  readonly #isNumbered: boolean;
  readonly #isTaken: (name: string) => boolean;
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** @param options Whether equal values get equal numbers; and which names the texts contain already. */
  constructor({ isNumbered, isTaken }: { readonly isNumbered: boolean; readonly isTaken: (name: string) => boolean }) {
    this.#isNumbered = isNumbered;
    this.#isTaken = isTaken;
  }

  nameFor(type: PersonalDataType, value: string): string {
    const label = type.toUpperCase();
    if (!this.#isNumbered) return `[${label}]`;
    let name = this.#names.get(value);
    if (name !== undefined) return name;
    do {
      const number = (this.#counts.get(label) ?? 0) + 1;
      this.#counts.set(label, number);
      name = `[${label}_${number}]`;
    } while (this.#isTaken(name));
    this.#names.set(value, name);
    this.#values.set(name, value);
    return name;
  }

  /** The value that a name stands for; undefined if it stands for none. */
  valueOf(name: string): string | undefined {
    return this.#values.get(name);
  }
}

function placeholdersFor({ request }: GuardContext, { texts, restored, isNumbered }: {
  readonly texts: readonly GuardedText[];
  readonly restored: WeakMap<object, Placeholders>;
  readonly isNumbered: boolean;
}): Placeholders {
  const taken = new Set(texts.flatMap(({ text }) => text.match(placeholder) ?? []));
  const isTaken = (name: string) => taken.has(name);
  const placeholders = new Placeholders({ isNumbered, isTaken });
  if (isNumbered) restored.set(request, placeholders);
  return placeholders;
}

/** Puts back what was replaced in the request. */
function restore(texts: readonly GuardedText[], placeholders: Placeholders | undefined): GuardVerdict {
  if (placeholders === undefined) return { action: "allow" };
  const changed = texts.flatMap((guarded): GuardReplacement[] => {
    const { path, text } = guarded;
    const after = text.replaceAll(placeholder, (name) => {
      const value = placeholders.valueOf(name) ?? name;
      return isJson(guarded) ? JSON.stringify(value).slice(1, -1) : value;
    });
    return after === text ? [] : [{ path, text: after, rule: "restore" }];
  });
  return changed.length === 0 ? { action: "allow" } : { action: "replace", texts: changed };
}
