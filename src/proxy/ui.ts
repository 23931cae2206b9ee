/**
 * `/ui`: the dashboard, a static page without any data of the mesh. The page asks for a token and reads the data with
 * it. This module is imported with the first request for the page.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { decompress } from "../util/gzip.ts";
import { fromBase64, toBase64 } from "../util/base64.ts";
import { importStd } from "../util/import_std.ts";
import { hashes, packedPage } from "./_ui_page.ts";
import { HttpError } from "./error_body.ts";
import type { Exchange } from "./exchange.ts";

/** The page in one encoding. */
interface Representation {
  readonly bytes: Uint8Array;
  readonly tag: string;
}

const mediaType = "text/html";

/** Only the inlined script and style run, no request leaves the origin, and strings cannot become markup. */
const policy = [
  "default-src 'none'",
  `script-src '${hashes.script}'`,
  `style-src '${hashes.style}'`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const representations = new Map<"gzip" | "identity", Promise<Representation>>();

/**
 * Serves the page.
 *
 * @throws {HttpError} 406 if neither HTML nor one of the encodings is accepted.
 */
export async function dashboard({ request, headers }: Exchange): Promise<PlainResponse> {
  const accepted = new Headers(["accept", "accept-encoding"].flatMap((name) => {
    const value = request.headers.get(name);
    return value === null ? [] : [[name, value]];
  }));
  const { accepts, acceptsEncodings } = await importStd(() => import("@std/http/negotiation"), "http/negotiation.ts");
  const { ifNoneMatch } = await importStd(() => import("@std/http/etag"), "http/etag.ts");
  const encoding = accepted.has("accept-encoding")
    ? acceptsEncodings({ headers: accepted }, "gzip", "identity")
    : "identity"; // a client that names none, such as curl, seldom unpacks one
  if (encoding === undefined || accepts({ headers: accepted }, mediaType) === undefined) {
    throw new HttpError("The dashboard is only available as text/html, with gzip or without encoding", {
      status: 406,
      code: "not_acceptable",
    });
  }
  const { bytes, tag } = await representationIn(encoding);
  Object.assign(headers, {
    "etag": tag,
    "cache-control": "no-cache",
    "vary": [headers.vary, "accept, accept-encoding"].filter(Boolean).join(", "),
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  if (!ifNoneMatch(request.headers.get("if-none-match"), tag)) return { status: 304, headers, body: null };
  headers["content-type"] = `${mediaType}; charset=utf-8`;
  if (encoding === "gzip") headers["content-encoding"] = encoding;
  return { status: 200, headers, body: bytes };
}

function representationIn(encoding: "gzip" | "identity"): Promise<Representation> {
  const existing = representations.get(encoding);
  if (existing !== undefined) return existing;
  const representation = make(encoding);
  representations.set(encoding, representation);
  return representation;
}

async function make(encoding: "gzip" | "identity"): Promise<Representation> {
  const packed = fromBase64(packedPage);
  const bytes = encoding === "gzip" ? packed : new Uint8Array(await decompress(packed));
  return { bytes, tag: await createTag(bytes) };
}

/** Creates an entity tag. `eTag` of `@std/http` requires `ArrayBuffer.prototype.transfer`, which Node 20 lacks. */
async function createTag(bytes: BufferSource): Promise<string> {
  return `"${toBase64(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)))}"`;
}
