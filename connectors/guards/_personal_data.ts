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

/** Patterns of bounded length, which take linear time. */
const patterns: Readonly<Record<PersonalDataType, RegExp>> = {
  email:
    /(?<![\w.%+-])[\w%+-](?:[\w.%+-]{0,62}[\w%+-])?@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}(?![\w-])/gi,
  key:
    /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|tvly|csk|fw|r8)[-_][\w-]{16,200}|\bAIza[\w-]{30,40}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_\w{36,255}|\bglpat-[\w-]{20,64}|\bxox[abprs]-[\w-]{10,200}|\bmm_[\w-]{43}|\beyJ[\w-]{10,150}\.eyJ[\w-]{10,100}/g,
  iban: /(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}){3,10}(?![A-Z0-9])/gi,
  card: /(?<![\d.,])\d(?:[ .\-/]{0,2}\d){12,30}(?!\d)/g,
  ip: /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]\d)(?!\d)|(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi,
  phone:
    /(?<![\w+])(?:\+|00)[1-9]\d{0,2}(?:[ .\-/]?\(?\d{1,5}\)?){2,6}(?!\d)|(?<![\w+.-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])/g,
};

/** In this order, since a card number may look like a phone number. */
const order: readonly PersonalDataType[] = ["email", "key", "iban", "card", "ip", "phone"];

/** Finds personal data, in order; parts do not overlap. */
export function findPersonalData(text: string, types: ReadonlySet<PersonalDataType>): FoundData[] {
  const found: FoundData[] = [];
  const isFree = (start: number, end: number) => found.every((other) => end <= other.start || other.end <= start);
  for (const type of order) {
    if (!types.has(type)) continue;
    for (const match of text.matchAll(patterns[type])) {
      for (const [start, end] of listParts(type, match[0])) {
        const [from, to] = [match.index + start, match.index + end];
        if (isFree(from, to)) found.push({ type, start: from, end: to });
      }
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/** The parts of a match that are what they look like. */
function listParts(type: PersonalDataType, match: string): readonly (readonly [start: number, end: number])[] {
  switch (type) {
    case "card":
      return findChecked(match, /\d/, { min: 13, max: 19, isValid: isCard });
    case "iban":
      return findChecked(match, /[A-Z0-9]/i, { min: 15, max: 34, isValid: isIban });
    case "ip":
      return isAddress(match) ? [[0, match.length]] : [];
    case "phone":
      return hasPhoneLength(match) ? [[0, match.length]] : [];
    default:
      return [[0, match.length]];
  }
}

/** Finds runs of characters that begin and end with a group and are valid: other numbers may stand beside them. */
function findChecked(match: string, member: RegExp, { min, max, isValid }: {
  readonly min: number;
  readonly max: number;
  readonly isValid: (characters: string) => boolean;
}): (readonly [number, number])[] {
  const indexes = [...match].flatMap((character, index) => member.test(character) ? [index] : []);
  const isEdge = (index: number) => index === 0 || indexes[index]! - indexes[index - 1]! > 1;
  const parts: (readonly [number, number])[] = [];
  for (let first = 0; first + min <= indexes.length; first++) {
    if (!isEdge(first)) continue;
    for (let count = Math.min(max, indexes.length - first); count >= min; count--) {
      const next = first + count;
      if (next < indexes.length && !isEdge(next)) continue;
      const characters = indexes.slice(first, next).map((index) => match[index]).join("");
      if (!isValid(characters)) continue;
      parts.push([indexes[first]!, indexes[next - 1]! + 1]);
      first = next - 1;
      break;
    }
  }
  return parts;
}

/**
 * Whether digits are a card number.
 *
 * Source: ISO/IEC 7812-1 (Luhn check digit; 2 to 6 are the first digits of banks and card schemes).
 */
function isCard(digits: string): boolean {
  if (!/^[2-6]/.test(digits) || new Set(digits).size === 1) return false;
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
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Whether a match is an IPv4 or IPv6 address, rather than a time or a version. */
function isAddress(match: string): boolean {
  if (match.includes(".")) return match.split(".").every((part) => Number(part) <= 255 && !/^0\d/.test(part));
  const groups = match.split(":");
  const gaps = match.match(/::/g)?.length ?? 0;
  if (/:::/.test(match) || gaps > 1) return false;
  return gaps === 1 ? groups.filter((group) => group !== "").length >= 2 : groups.length === 8 && !groups.includes("");
}

/** Source: ITU-T E.164, at most 15 digits. */
function hasPhoneLength(match: string): boolean {
  const count = match.replaceAll(/\D/g, "").length;
  return count >= 8 && count <= 17;
}
