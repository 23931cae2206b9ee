/**
 * Reads JSON bodies.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { checkMemberCount, invalid } from "../pipeline/check_body.ts";
import { bodyBounds, findJsonExcess } from "../util/bounded_json.ts";
import { memberText, repeatedMember } from "../util/json_members.ts";
import { HttpError } from "./error_body.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Maximum length of a member's name in an error message. */
const maxNameLength = 64;

/** A body, parsed and as received. */
interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/**
 * Reads the JSON body of a request.
 *
 * @param request Its headers are checked before the body is read.
 * @throws {HttpError} 415 if its headers specify another media type.
 * @throws {UnsupportedRequestError} `invalid_json` if it cannot be parsed, `invalid_value` for a repeated member, or more
 * than the bounds of a body.
 */
export async function readJson(
  request: Pick<PlainRequest, "headers">,
  read: () => Uint8Array | Promise<Uint8Array>,
): Promise<JsonBody> {
  checkType(request.headers);
  const bytes = await read();
  let text: string;
  try {
    text = decoder.decode(bytes); // also drops one leading byte order mark
  } catch {
    throw new UnsupportedRequestError("The body is not valid UTF-8", { code: "invalid_json" });
  }
  const excess = findJsonExcess(text, bodyBounds);
  if (excess !== undefined) throw invalid(`The body has ${excess}`);
  const value = parse(text);
  refuseRepeated(text, value);
  return { value, text };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const what = text.trim() === "" ? "is empty" : "is not valid JSON";
    throw new UnsupportedRequestError(`The body ${what}`, { code: "invalid_json" });
  }
}

/** Rejects repeated members: the proxy would validate one, and the provider might read the other. */
function refuseRepeated(text: string, value: unknown, path: string = ""): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  checkMemberCount(value);
  const repeated = repeatedMember(text);
  if (repeated !== undefined) {
    const param = path + (repeated.length > maxNameLength ? `${repeated.slice(0, maxNameLength)}…` : repeated);
    throw invalid(`${JSON.stringify(param)} is given twice`, param);
  }
  if (path === "" && "mesh" in value) refuseRepeated(memberText(text, "mesh"), value.mesh, "mesh.");
}

function checkType(headers: PlainRequest["headers"]): void {
  const type = headers.get("content-type");
  if (type === "application/json") return; // the common case
  const unsupported = (message: string) => new HttpError(message, { status: 415, code: "unsupported_media_type" });
  if (type !== null && !/^\s*application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)) {
    throw unsupported("The content type has to be application/json");
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupported("The charset has to be UTF-8");
}
