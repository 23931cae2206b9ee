/**
 * Serializes plain values as YAML, without a parser.
 * @module
 */

const plainText = /^[A-Za-z][A-Za-z0-9_./-]*$/;
const readAsOther = /^(?:true|false|yes|no|on|off|null|y|n)$/i;
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Serializes plain values as YAML. Strings are quoted unless every parser reads them as strings. */
export function writeYaml(document: Readonly<Record<string, unknown>>): string {
  return `${lines(document).join("\n")}\n`;
}

function lines(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? ["[]"] : value.flatMap((item) => nest("-", lines(item)));
  if (typeof value !== "object" || value === null) return [scalar(value)];
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return ["{}"];
  return members.flatMap(([key, member]) => {
    const isBlock = typeof member === "object" && member !== null && Object.keys(member).length > 0;
    return isBlock
      ? [`${scalar(key)}:`, ...lines(member).map((line) => `  ${line}`)]
      : [`${scalar(key)}: ${lines(member)[0]}`];
  });
}

function nest(mark: string, [first = "", ...others]: readonly string[]): string[] {
  return [`${mark} ${first}`, ...others.map((line) => `  ${line}`)];
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  if (plainText.test(value) && !readAsOther.test(value)) return value;
  return JSON.stringify(value).replace(unprintable, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
