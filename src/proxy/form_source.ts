/**
 * Reads the form of an upload as a stream: fields, the file, and later fields.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { FileSource } from "../infrastructure/uploads.ts";
import { checkCase, invalid, memberFinder, missing } from "../pipeline/check_body.ts";
import { concat } from "../util/bytes.ts";
import { FormError, type IncomingPart, readFormStream } from "../util/form_stream.ts";
import { isObject } from "../util/is_object.ts";

/** Maximum length of one field, bytes. */
const maxFieldBytes = 64 * 1024;

const findField = memberFinder(["file", "purpose", "expires_after[anchor]", "expires_after[seconds]", "mesh[pool]"]);

type FormFields = Record<string, string>;

/**
 * Reads a form up to its file.
 *
 * @param body The form. `laterFields` reads what follows the file.
 * @param boundary The delimiter of its parts.
 * @throws {UnsupportedRequestError} If it has no file, or is malformed.
 */
export async function formSource(body: AsyncIterable<Uint8Array>, boundary: string): Promise<FileSource> {
  const parts = readFormStream(body, boundary);
  const fields: FormFields = {};
  for (;;) {
    const part = await readNextPart(parts);
    if (part === undefined) throw missing("file");
    if (part.filename === undefined) {
      await addField(fields, part);
      continue;
    }
    if (part.name !== "file") throw invalid(`"${part.name}" is not a field for a file: use "file"`, part.name);
    return {
      name: part.filename,
      type: part.type,
      content: readPartContent(part),
      fields,
      pool: fields["mesh[pool]"],
      laterFields: () => fieldsAfter(parts, fields),
    };
  }
}

async function fieldsAfter(parts: AsyncGenerator<IncomingPart>, earlier: FormFields): Promise<FormFields> {
  const fields: FormFields = {};
  for (;;) {
    const part = await readNextPart(parts);
    if (part === undefined) return fields;
    if (part.filename !== undefined) throw invalid("One file is uploaded at a time", part.name);
    if (Object.hasOwn(earlier, part.name)) throw twice(part.name);
    await addField(fields, part);
  }
}

/** Readers differ in which of several fields with one name counts. */
function twice(name: string): UnsupportedRequestError {
  return invalid(`The form has the field ${JSON.stringify(name.slice(0, 80))} twice`, name);
}

async function addField(fields: FormFields, { name, bytes }: IncomingPart): Promise<void> {
  checkCase(name, findField);
  if (Object.hasOwn(fields, name)) throw twice(name);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > maxFieldBytes) throw invalid(`"${name}" is over ${maxFieldBytes} bytes`, name);
    chunks.push(chunk);
  }
  const text = new TextDecoder().decode(concat(chunks));
  if (name === "mesh") fields["mesh[pool]"] = poolIn(text);
  else fields[name] = text;
}

/** Some clients write objects as JSON. */
function poolIn(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value.pool === "string") return value.pool;
  } catch {
    // reported below
  }
  throw invalid('"mesh" has to be an object with "pool"', "mesh");
}

async function* readPartContent({ bytes }: IncomingPart): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw translated(error);
  }
}

async function readNextPart(parts: AsyncGenerator<IncomingPart>): Promise<IncomingPart | undefined> {
  try {
    const { done, value } = await parts.next();
    return done ? undefined : value;
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (!(error instanceof FormError)) return error;
  return new UnsupportedRequestError(
    `The body is not a valid form: its boundary is wrong, or it has ${error.message}`,
    {
      code: "invalid_value",
    },
  );
}
