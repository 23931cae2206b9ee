/**
 * Finds personal data in texts: by form, and by checksum where there is one.
 * @module
 */

/** A kind of personal data. */
export type PersonalDataType = "email" | "phone" | "card" | "iban" | "ip" | "key";

/** A part of a text. */
interface FoundData {
  readonly type: PersonalDataType;
  readonly start: number;
  readonly end: number;
}

/** The longest match of any kind, characters. */
export const maxMatchLength = 320;

/**
 * Patterns of bounded length, which take linear time: no character can be matched in two ways, so that nothing is tried
 * again and again.
 */
const patterns: Readonly<Record<PersonalDataType, RegExp>> = {
  // letters of the Latin, Greek and Cyrillic scripts: others stand beside an address without a space
  email:
    /(?<![a-z\d\u00c0-\u024f\u0370-\u04ff_.%+-])[a-z\d\u00c0-\u024f\u0370-\u04ff_%+-](?:[a-z\d\u00c0-\u024f\u0370-\u04ff_.%+'-]{0,62}[a-z\d\u00c0-\u024f\u0370-\u04ff_%+-])?@(?:[a-z\d\u00c0-\u024f\u0370-\u04ff](?:[a-z\d\u00c0-\u024f\u0370-\u04ff-]{0,61}[a-z\d\u00c0-\u024f\u0370-\u04ff])?\.){1,8}(?:xn--[a-z\d-]{1,59}|[a-z\u00c0-\u024f\u0370-\u04ff]{2,24})(?![a-z\d\u00c0-\u024f\u0370-\u04ff_-])/gi,
  key:
    /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|tvly|csk|fw|r8)[-_][\w-]{16,200}|\bAIza[\w-]{30,40}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_\w{36,255}|\bglpat-[\w-]{20,64}|\bxox[abprs]-[\w-]{10,200}|\bmm_[\w-]{43}|\beyJ[\w-]{10,256}\.eyJ[\w-]{10,4096}(?:\.[\w-]{1,1024})?/g,
  iban: /(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/gi,
  card: /(?<!\d\.?)\d(?:[ .\-/\r\n]{0,2}\d){12,18}/g,
  ip:
    /(?<![\w.])(?<!\bv(?:ersion)?[ .]?)(?:\d{1,3}\.){3}\d{1,3}(?![\d.]\d)(?!\d)|(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4})(?![\w:])/gi,
  phone:
    /(?<![\w+])(?:\+|00)[1-9](?:[ .\-/]?\(?\d\)?){7,16}(?!\d)|(?<![\w+.-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])/g,
};

/**
 * What a text has to contain for a kind: most texts have none of it, and a search for a character, or for a pattern that
 * begins with few, takes a small part of the time of one for the data.
 */
const signs: Readonly<Record<PersonalDataType, (text: string) => boolean>> = {
  email: (text) => text.includes("@"),
  key: (text) => /[-_][\w-]{10}/.test(text) || ["AIza", "AKIA", "ASIA", ".eyJ"].some((sign) => text.includes(sign)),
  iban: hasDigits,
  card: hasDigits,
  ip: (text) => /\d\.\d{1,3}\.\d/.test(text) || /:[\da-f]{0,4}:/i.test(text),
  phone: hasDigits,
};

function hasDigits(text: string): boolean {
  return /\d/.test(text);
}

/** In this order, since a card number may look like a phone number. */
const order: readonly PersonalDataType[] = ["email", "key", "iban", "card", "ip", "phone"];

/** Finds personal data, in order; parts do not overlap. */
export function findPersonalData(text: string, types: ReadonlySet<PersonalDataType>): readonly FoundData[] {
  let found: readonly FoundData[] = [];
  for (const type of order) {
    if (types.has(type) && signs[type](text)) found = addFree(found, findParts(text, type));
  }
  return found;
}

/** Adds the parts that overlap no other. Both lists are in order. */
function addFree(found: readonly FoundData[], added: readonly FoundData[]): readonly FoundData[] {
  if (added.length === 0) return found;
  let at = 0;
  const free = added.filter(({ start, end }) => {
    while (at < found.length && found[at]!.end <= start) at++;
    return at === found.length || end <= found[at]!.start;
  });
  return [...found, ...free].sort((a, b) => a.start - b.start);
}

/** Finds the parts of a text that are what they look like. */
function findParts(text: string, type: PersonalDataType): FoundData[] {
  if (type === "card") return findChecked(text, { type, member: /\d/, min: 13, isValid: isCard });
  if (type === "iban") return findChecked(text, { type, member: /[A-Z0-9]/i, min: 15, isValid: isIban });
  return [...text.matchAll(patterns[type])].flatMap(({ 0: match, index }) => {
    if (type === "ip" && !isAddress(match) || type === "phone" && !hasPhoneLength(match)) return [];
    return [{ type, start: index, end: index + match.length }];
  });
}

/** How a number with a checksum is found. */
interface CheckedNumber {
  readonly type: PersonalDataType;
  /** Its characters; others separate them. */
  readonly member: RegExp;
  /** Minimum number of characters. */
  readonly min: number;
  readonly isValid: (characters: string) => boolean;
}

/** Finds numbers that begin and end with a group of characters and are valid: others may stand beside them. */
function findChecked(text: string, number: CheckedNumber): FoundData[] {
  const found: FoundData[] = [];
  const pattern = patterns[number.type];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const { 0: candidate, index: start } = match;
    const end = findEnd(text, { candidate, start }, number);
    if (end !== undefined) found.push({ type: number.type, start, end });
    pattern.lastIndex = end ?? start + /^[A-Z0-9]+/i.exec(candidate)![0].length; // the next group may begin one
  }
  return found;
}

/** Returns where the longest valid number ends that begins here. */
function findEnd(
  text: string,
  { candidate, start }: { readonly candidate: string; readonly start: number },
  { member, min, isValid }: CheckedNumber,
): number | undefined {
  let characters = candidate.replaceAll(/[^A-Z0-9]/gi, "");
  for (let end = candidate.length; characters.length >= min; end--) {
    if (!member.test(candidate[end - 1]!)) continue;
    if (!member.test(text[start + end] ?? "") && isValid(characters)) return start + end;
    characters = characters.slice(0, -1);
  }
  return undefined;
}

/**
 * Whether digits are a card number.
 *
 * Source: ISO/IEC 7812-1 (Luhn check digit; 2 to 6 are the first digits of banks and card schemes; those with 2 begin with
 * 2200 to 2204 or 2221 to 2720, which no year does).
 */
function isCard(digits: string): boolean {
  if (
    !/^(?:[3-6]|220[0-4]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(digits) ||
    digits === digits[0]!.repeat(digits.length)
  ) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const value = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? value * 2 : value;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * Whether characters are an IBAN.
 *
 * Source: ISO 13616 and ISO 7064 (MOD 97-10).
 */
function isIban(characters: string): boolean {
  if (!/^[A-Z]{2}\d{2}/i.test(characters)) return false;
  let rest = 0;
  for (const character of (characters.slice(4) + characters.slice(0, 4)).toUpperCase()) {
    const value = character <= "9" ? character.charCodeAt(0) - 48 : character.charCodeAt(0) - 55; // A is 10
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Whether a match is an IPv4 or IPv6 address, rather than a time, a version, or a name such as `a::b`. */
function isAddress(match: string): boolean {
  if (!match.includes(":")) return isIpv4(match);
  const groups = match.split(":");
  const gaps = match.match(/::/g)?.length ?? 0;
  if (/:::/.test(match) || gaps > 1 || !/\d/.test(match)) return false;
  const last = groups.at(-1)!;
  if (last.includes(".") && !isIpv4(last)) return false;
  const count = groups.filter((group) => group !== "").length + (last.includes(".") ? 1 : 0);
  return gaps === 1 ? count >= 2 && count < 8 : count === 8 && !groups.includes("");
}

function isIpv4(match: string): boolean {
  return match.split(".").every((part) => Number(part) <= 255 && !/^0\d/.test(part));
}

/** Source: ITU-T E.164, at most 15 digits. */
function hasPhoneLength(match: string): boolean {
  const count = match.replaceAll(/\D/g, "").length;
  return count >= 8 && count <= 17;
}
