/**
 * Image generation and editing in OpenAI's dialect.
 *
 * Source: OpenAI REST API reference, `POST /images/generations` and `/images/edits`, document version 2.3.0.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationResponse } from "../../src/contracts/provider.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import type { VendorOperation } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * Image operations of a vendor that accepts OpenAI's requests.
 *
 * @param path Path relative to the vendor's base URL.
 */
export function imagesAt(path: string): VendorOperation {
  return (post, { clock }) => async (request, options) => {
    const wire = await readBytes(await post(path, request, options));
    return imagesIn(parseObject(decoder.decode(wire)), { clock, wire });
  };
}

/**
 * The images of a response. Null members are removed and the creation time is filled in, for vendors that deviate from
 * OpenAI's shape.
 *
 * @param context The clock, and the bytes of the response.
 * @throws {UpstreamError} `invalid_response` if it has no images.
 */
export function imagesIn(
  body: JsonObject,
  { clock, wire }: { readonly clock: Clock; readonly wire?: Uint8Array },
): OperationResponse {
  throwIfError(body);
  const { data, created } = body;
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  if (!Array.isArray(data) || !data.every((one) => isObject(one) && (isText(one.url) || isText(one.b64_json)))) {
    throw new UpstreamError("The provider's response has no images", { kind: "invalid_response" });
  }
  const isComplete = Number.isInteger(created) && !data.some((one) => Object.values(one).includes(null));
  if (isComplete && wire !== undefined) return { body, wire };
  return {
    body: {
      ...body,
      created: Number.isInteger(created) ? created : Math.floor(clock.now() / 1000),
      data: data.map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== null))),
    },
  };
}
