/**
 * Secrets in a dotenv file: `NAME=value`, a line each.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import { type Dotenv, dotenvName, parseDotenv } from "../../src/util/dotenv.ts";
import { FileSecrets, secretFile, type SecretFormat } from "./_file_secrets.ts";
import { SecretFileError } from "./_secret_file_error.ts";
import { dotenvDeclaration } from "./declarations.ts";

const { id } = dotenvDeclaration;

/** A file of another kind is wrong in every line: so many are named. */
const maxShown = 3;

/**
 * Secrets of a dotenv file; settings: `path`, `.env` unless given. It is read as it is, nothing is expanded; comments
 * and the other lines stay when it is written. **Everyone who can read the file can read the secrets.**
 */
export const dotenvSecrets: Connector<"secretStore"> = {
  ...dotenvDeclaration,
  create: ({ path = ".env" }, runtime) =>
    new FileSecrets({ store: id, format: dotenv, ...secretFile(id, path, runtime) }),
};

/** What {@linkcode parseDotenv} refuses in every file, or would come back as U+FFFD. */
const unwritable = /[\0\uFFFD]|\p{Surrogate}/u;

const dotenv: SecretFormat = {
  read: (text) => new Map(checked(text).entries.map(({ name, value }) => [name, value])),
  async put(written = "", name, value) {
    if (!dotenvName.test(name)) {
      throw new SecretFileError("a name there has letters, digits, _, - and . only, and does not begin with a digit");
    }
    if (unwritable.test(value)) {
      throw new SecretFileError("the value has a NUL or what is no UTF-8 text in it, which no dotenv file holds");
    }
    const { stringify } = await import("@std/dotenv/stringify"); // lazily: what is loaded at once has no dependency
    const line = `${stringify({ [name]: value })}\n`;
    const file = checked(written);
    const last = file.entries.findLast((entry) => entry.name === name);
    if (last !== undefined) {
      const [from, to] = last.span;
      return file.text.slice(0, from) + line + file.text.slice(to);
    }
    const isWhole = file.text === "" || file.text.endsWith("\n");
    return `${file.text}${isWhole ? "" : "\n"}${line}`;
  },
  drop(written, name) {
    const { text, entries } = checked(written);
    let left = text;
    for (const { span: [from, to] } of entries.filter((entry) => entry.name === name).reverse()) {
      left = left.slice(0, from) + left.slice(to);
    }
    return left;
  },
};

/** A file with a slip in it is not used by halves: the secret that is missing may stand in that line. */
function checked(text: string): Dotenv {
  const file = parseDotenv(text);
  if (file.problems.length === 0) return file;
  const shown = file.problems.slice(0, maxShown).map(({ line, message }) => `line ${line} ${message}`);
  const more = file.problems.length - shown.length;
  throw new SecretFileError(`${shown.join("; ")}${more === 0 ? "" : `; and ${more} more`}`);
}
