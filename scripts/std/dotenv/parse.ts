import { parseEnv } from "node:util";

/**
 * Reads the text of a dotenv file.
 *
 * @param text The file's text.
 * @returns Name to value.
 */
export function parse(text: string): Record<string, string> {
  return parseEnv(text) as Record<string, string>;
}
