/**
 * Reading a JSON body.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { maxContainers } from "../pipeline/check_body.ts";
import { memberText, repeatedMember } from "../util/json_members.ts";
import { HttpError } from "./error_body.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Maximum length of a member's name in a message. */
const maxNameLength = 64;

/** A body, parsed and as received. */
interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/**
 * Reads the JSON body of a request.
 *
 * @param request Its headers are checked before anything is read.
 * @throws {HttpError} 415 when its headers name another media type.
 * @throws {UnsupportedRequestError} `invalid_json` when it does not parse, `invalid_value` for a repeated member.
 */
export async function readJson(
  request: Pick<PlainRequest, "headers">,
  read: () => Promise<Uint8Array>,
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

/** The proxy checks what the provider reads, which may be the other one of two members. */
function refuseRepeated(text: string, value: unknown, path: string = ""): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const repeated = repeatedMember(text, value);
  if (repeated !== undefined) {
    const param = path + (repeated.length > maxNameLength ? `${repeated.slice(0, maxNameLength)}…` : repeated);
    throw new UnsupportedRequestError(`${JSON.stringify(param)} is given twice`, { code: "invalid_value", param });
  }
  if (path === "" && "mesh" in value) refuseRepeated(memberText(text, "mesh"), value.mesh, "mesh.");
}

/** Whether a text has more containers than a request may have: parsing millions of them would block all requests. */
function hasTooMany(text: string): boolean {
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = endOfString(text, at);
      if (at < 0) return false; // no JSON: the parser says so
    } else if ((code === 91 || code === 123) && ++containers > maxContainers) return true;
  }
  return false;
}

/** From an opening quote to the closing one; -1 when there is none. */
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
  if (type === "application/json" && encoding === null) return; // as nearly all have it
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
