/**
 * Replaces names and ids that a vendor rejects.
 * @module
 */
import type { IdentifierRule } from "../contracts/model.ts";
import { hash53 } from "./hash.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Length of the hash in a replacement: 62⁸ values, which 53 bits nearly exhaust. */
const hashChars = 8;

/** The characters that rules accept besides letters and digits; replacements for one that accepts any have few. */
const punctuations = { any: "_-", alphanumeric: "", word: "_-", dotted: "_-." };

/**
 * Finds a replacement for each identifier that a rule rejects. No two identifiers get the same one. A replacement
 * depends on the identifier alone, unless an earlier identifier has it.
 *
 * @param identifiers The identifiers, in order; repeated ones count once.
 * @returns The replacements, by identifier. Identifiers that are sent unchanged are missing.
 *
 * @example
 * ```ts
 * renameIdentifiers(["fs.read", "fs_read"], { characters: "word" }); // fs.read → fs_read, fs_read → fs_read_1ZMd4Ysq
 * ```
 */
export function renameIdentifiers(identifiers: Iterable<string>, rule: IdentifierRule): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  const taken = new Set<string>();
  for (const identifier of new Set(identifiers)) {
    let replacement = isAccepted(identifier, rule) ? identifier : toAccepted(identifier, rule);
    for (let attempt = 1; taken.has(replacement); attempt++) replacement = toHashed(identifier, rule, attempt);
    taken.add(replacement);
    if (replacement !== identifier) renamed.set(identifier, replacement);
  }
  return renamed;
}

/** Whether a rule accepts an identifier. */
export function isAccepted(identifier: string, rule: IdentifierRule): boolean {
  const { characters = "any", starts_with_letter: hasLetter = false } = rule;
  if (!fits(identifier, rule) || hasLetter && !startsWithLetter(identifier)) return false;
  if (characters === "any") return true;
  const punctuation = punctuations[characters];
  for (let at = 0; at < identifier.length; at++) if (!isAcceptedChar(identifier[at]!, punctuation)) return false;
  return true;
}

function fits({ length }: string, { min_length = 1, max_length = Infinity }: IdentifierRule): boolean {
  return length >= min_length && length <= max_length;
}

function toAccepted(identifier: string, rule: IdentifierRule): string {
  const cleaned = clean(identifier, rule);
  return fits(cleaned, rule) ? cleaned : toHashed(identifier, rule, 0);
}

/** Replaces characters that are not accepted, or removes them if `_` is not accepted either. */
function clean(identifier: string, rule: IdentifierRule): string {
  const { characters = "any", starts_with_letter: hasLetter = false } = rule;
  const punctuation = punctuations[characters];
  const filler = characters === "alphanumeric" ? "" : "_";
  let text = "";
  for (const char of identifier) text += isAcceptedChar(char, punctuation) ? char : filler;
  return hasLetter && !startsWithLetter(text) ? `${filler || "x"}${text}` : text;
}

/** The beginning of an identifier, so far as there is room, and a hash of all of it. */
function toHashed(identifier: string, rule: IdentifierRule, attempt: number): string {
  const { characters, min_length = 1, max_length = Infinity } = rule;
  const separator = characters === "alphanumeric" ? "" : "_";
  const room = Math.max(0, max_length - hashChars - separator.length);
  const start = clean(identifier, rule).slice(0, room) + separator;
  const length = Math.max(hashChars, min_length - start.length);
  return start + toDigits(hash53(attempt === 0 ? identifier : `${attempt}:${identifier}`), length);
}

function toDigits(value: number, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest = Math.floor(rest / alphabet.length)) {
    digits += alphabet[rest % alphabet.length];
  }
  return digits;
}

function isAcceptedChar(char: string, punctuation: string): boolean {
  return /[a-zA-Z0-9]/.test(char) || punctuation.includes(char);
}

function startsWithLetter(text: string): boolean {
  return /^[a-zA-Z_]/.test(text);
}
