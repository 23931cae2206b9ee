// An implementation of @std/dotenv/stringify, which npm's deno-std lacks.

/** What double quotes need escapes for. */
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"' };

/**
 * Writes variables as lines of a dotenv file, without a final line break.
 *
 * @param variables Values by name.
 */
export function stringify(variables: Record<string, string>): string {
  return Object.entries(variables).map(([name, value]) => `${name}=${quote(value)}`).join("\n");
}

/** Quotes a value if necessary. Single quotes are literal; double quotes have escapes. */
function quote(value: string): string {
  if (/^\w*$/.test(value)) return value;
  if (!/[\\\n\r\t']/.test(value)) return `'${value}'`;
  return `"${value.replace(/[\\\n\r\t"]/g, (character) => escapes[character]!)}"`;
}
