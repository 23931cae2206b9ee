/**
 * Secrets in a dotenv file: `NAME=value`, one per line.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import { type Dotenv, dotenvName, parseDotenv } from "../../src/util/dotenv.ts";
import { importStd } from "../../src/util/import_std.ts";
import { FileSecrets, secretFile, type SecretFormat } from "./_file_secrets.ts";
import { SecretFileError } from "./_secret_file_error.ts";
import { dotenvDeclaration } from "./declarations.ts";

const { id, attributes } = dotenvDeclaration;

/** Maximum number of invalid lines that an error reports: in a file of another format, all are invalid. */
const maxShown = 3;

/**
 * Secrets in a dotenv file. Settings: `path`, `.env` by default. Values are read literally, without expansion; comments
 * and other lines are preserved on writes. **Everyone with access to the file can read the secrets.**
 */
export const dotenvSecrets: Connector<"secretStore"> = {
  ...dotenvDeclaration,
  create: ({ path = attributes.path.default }, runtime) =>
    new FileSecrets({ store: id, format: dotenv, ...secretFile(id, path, runtime) }),
};

/** Characters that {@linkcode parseDotenv} rejects, or that would be read back as U+FFFD. */
const unwritable = /[\0\uFFFD]|\p{Surrogate}/u;

const dotenv: SecretFormat = {
  read: (text) => new Map(parseCheckedDotenv(text).entries.map(({ name, value }) => [name, value])),
  async put(written = "", name, value) {
    if (!dotenvName.test(name)) {
      throw new SecretFileError("a name may contain letters, digits, _, - and ., and must not start with a digit");
    }
    if (unwritable.test(value)) {
      throw new SecretFileError("the value contains a NUL or invalid Unicode, which a dotenv file cannot hold");
    }
    const { stringify } = await importStd(() => import("@std/dotenv/stringify"), "dotenv/stringify.ts"); // the core has no dependencies
    const line = `${stringify({ [name]: value })}\n`;
    const file = parseCheckedDotenv(written);
    const last = file.entries.findLast((entry) => entry.name === name);
    if (last !== undefined) {
      const [from, to] = last.span;
      return file.text.slice(0, from) + line + file.text.slice(to);
    }
    const isComplete = file.text === "" || file.text.endsWith("\n");
    return `${file.text}${isComplete ? "" : "\n"}${line}`;
  },
  drop(written, name) {
    const { text, entries } = parseCheckedDotenv(written);
    let left = text;
    for (const { span: [from, to] } of entries.filter((entry) => entry.name === name).reverse()) {
      left = left.slice(0, from) + left.slice(to);
    }
    return left;
  },
};

/** A file with an invalid line is rejected as a whole: that line may contain the secret. */
function parseCheckedDotenv(text: string): Dotenv {
  const file = parseDotenv(text);
  if (file.problems.length === 0) return file;
  const shown = file.problems.slice(0, maxShown).map(({ line, message }) => `line ${line} ${message}`);
  const more = file.problems.length - shown.length;
  throw new SecretFileError(`${shown.join("; ")}${more === 0 ? "" : `; and ${more} more`}`);
}
