/**
 * Reads JSON bodies.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { maxContainers } from "../pipeline/check_body.ts";
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
 * @throws {UnsupportedRequestError} `invalid_json` if it cannot be parsed, `invalid_value` for a repeated member.
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
  if (text.length > 2 * maxContainers && hasTooMany(text)) {
    throw new UnsupportedRequestError(`The body has over ${maxContainers} objects and arrays`, {
      code: "invalid_value",
    });
  }
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
  const repeated = repeatedMember(text, value);
  if (repeated !== undefined) {
    const param = path + (repeated.length > maxNameLength ? `${repeated.slice(0, maxNameLength)}…` : repeated);
    throw new UnsupportedRequestError(`${JSON.stringify(param)} is given twice`, { code: "invalid_value", param });
  }
  if (path === "" && "mesh" in value) refuseRepeated(memberText(text, "mesh"), value.mesh, "mesh.");
}

/** Whether a text has too many containers, since parsing millions of them would block all other requests. */
function hasTooMany(text: string): boolean {
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = endOfString(text, at);
      if (at < 0) return false; // invalid JSON, reported by the parser
    } else if ((code === 91 || code === 123) && ++containers > maxContainers) return true;
  }
  return false;
}

/** The index of the closing quote of a string; -1 if there is none. */
function endOfString(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return -1;
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === 92) slashes--;
    if ((at - slashes) % 2 === 0) return at;
  }
}

function checkType(headers: PlainRequest["headers"]): void {
  const type = headers.get("content-type");
  const encoding = headers.get("content-encoding");
  if (type === "application/json" && encoding === null) return; // the common case
  const unsupported = (message: string) => new HttpError(message, { status: 415, code: "unsupported_media_type" });
  if (type !== null && !/^\s*application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)) {
    throw unsupported("The content type has to be application/json");
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupported("The charset has to be UTF-8");
  if (!/^(identity)?$/i.test(encoding ?? "")) {
    throw unsupported("A compressed body is not supported: send it as it is");
  }
}
