/**
 * Secret references in strings: `${secrets:NAME}`, escaped as `$${secrets:`.
 * @module
 */

const opening = "${secrets:";
const escaped = "$${secrets:";
const namePattern = /^[A-Za-z0-9_.@/+=-]{1,256}$/;
/** Misspelled references: `${NAME}`, `${env:NAME}`, `${secrets.NAME}`, `${NAME:-default}`, `${{ secrets.NAME }}`. */
const mistaken =
  /\$\{(?:\{ ?)?(?:(?:env|secrets?|process\.env|os\.environ)[:./])?([A-Za-z_]\w*)(?::?[-?][^}]{0,200})?(?: ?\})?\}/i;

/** Variables as other programs write them, and references without their frame. */
const variableForms = [
  /^(?:os\.environ[/.]|process\.env\.|env[:/]|secrets?[:.])([A-Za-z_]\w*)$/,
  /^(?:os\.environ|process\.env)\[["']([A-Za-z_]\w*)["']\]$/,
  /^\$(?:env:)?([A-Za-z_]\w*)$/,
  /^\$\(([A-Za-z_]\w*)\)$/,
  /^%([A-Za-z_]\w*)%$/,
  /^\{(?:(?:env|secrets?)[.:])?([A-Za-z_]\w*)\}$/,
  /^\{\{ ?(?:(?:env|secrets?)[.:])?([A-Za-z_]\w*) ?\}\}$/,
];

/** The plain name of a variable with an API key, a token or another secret. */
const secretVariable = /^[A-Z][A-Z0-9_]{1,100}_(?:KEY|TOKEN|SECRET|PASSWORD)$/;

/**
 * The problem of a string that names a variable in the syntax of another program, if that is all it contains.
 *
 * @param isSecret Whether a plain name, such as `OPENAI_API_KEY`, is one as well.
 */
export function variableProblem(text: string, isSecret = false): string | undefined {
  let name = isSecret && secretVariable.test(text) ? text : undefined;
  for (const form of variableForms) name ??= form.exec(text)?.[1];
  return name && `is the name of a variable, which is not read here: write "\${secrets:${name}}"`;
}

/** Whether a name is valid in a reference. */
export function isSecretName(name: string): boolean {
  return namePattern.test(name);
}

type Part = { readonly literal: string } | { readonly name: string };

/**
 * Finds the references of a string.
 *
 * @example
 * ```ts
 * referencesIn("Bearer ${secrets:TOKEN}"); // { names: ["TOKEN"] }
 * ```
 */
export function referencesIn(text: string): {
  /** In order of appearance, without duplicates. */
  readonly names: readonly string[];
  /** What is wrong with the string, if anything. */
  readonly problem?: string;
} {
  if (!text.includes("${")) return { names: [] };
  const { parts, problem } = split(text);
  const names = [...new Set(parts.flatMap((part) => "name" in part ? [part.name] : []))];
  return problem === undefined ? { names } : { names, problem };
}

/**
 * Resolves the references in a string; references inside a secret's value are not resolved.
 *
 * @param get Looks up a secret; undefined if it does not exist.
 */
export function resolveReferences(
  text: string,
  get: (name: string) => string | undefined,
): { text: string; missing: readonly string[] } {
  if (!text.includes("${")) return { text, missing: [] };
  const missing = new Set<string>();
  const resolved = split(text).parts.map((part) => {
    if ("literal" in part) return part.literal;
    const value = get(part.name);
    if (value === undefined) missing.add(part.name);
    return value ?? "";
  });
  return { text: resolved.join(""), missing: [...missing] };
}

/** Escapes a string, so that {@linkcode resolveReferences} returns it unchanged. */
export function escapeReferences(text: string): string {
  return text.split(opening).join(escaped);
}

function split(text: string): { parts: Part[]; problem?: string } {
  const parts: Part[] = [];
  let from = 0;
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, from)) {
    if (at > from && text[at - 1] === "$") {
      parts.push({ literal: text.slice(from, at - 1) + opening });
      from = at + opening.length;
      continue;
    }
    const end = text.indexOf("}", at);
    const name = text.slice(at + opening.length, end);
    if (end === -1 || !namePattern.test(name)) return { parts, problem: malformed(end, name) };
    parts.push({ literal: text.slice(from, at) }, { name });
    from = end + 1;
  }
  parts.push({ literal: text.slice(from) });
  const problem = describeReferenceProblem(parts);
  return problem === undefined ? { parts } : { parts, problem };
}

function malformed(end: number, name: string): string {
  const rule = 'write "${secrets:NAME}", or "$${secrets:" for the literal characters';
  if (end === -1) return `unclosed secret reference: ${rule}`;
  if (name === "") return `secret reference without a name: ${rule}`;
  return name.includes("$")
    ? `secret references cannot be nested: ${rule}`
    : `invalid character in a secret's name: ${rule}`;
}

function describeReferenceProblem(parts: readonly Part[]): string | undefined {
  for (const part of parts) {
    const name = "literal" in part ? mistaken.exec(part.literal)?.[1] : undefined;
    if (name !== undefined) return `"\${${name}}" refers to nothing: write "\${secrets:${name}}"`;
  }
  return undefined;
}
