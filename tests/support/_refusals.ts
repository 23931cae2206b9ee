/**
 * Content that a provider refuses, and the other model.
 * @module
 */
import { type Behaviour, completeResponse, ok, stream } from "./upstream.ts";

/** The model that would serve the request. */
export const b: Behaviour = ok({ text: "from b" });
/** Streams the same. */
export const fromB: Behaviour = stream({ pieces: ["from", " b"] });

export const reason = "Your request was rejected as a result of our safety system.";
/** The error as the provider sends it. */
export const policy: Readonly<Record<string, string | null>> = {
  message: reason,
  type: "invalid_request_error",
  param: null,
  code: "content_policy_violation",
};

/** An error response with this body. */
export function refuse(code: number, body: unknown): Behaviour {
  return completeResponse(code, JSON.stringify(body), "application/json");
}

export const refusal: Behaviour = refuse(400, { error: policy });
