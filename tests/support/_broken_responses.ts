/**
 * Providers whose non-streaming responses are broken, as tables: behaviour, outcome in the records, state of the model
 * afterwards.
 * @module
 */
import {
  type Behaviour,
  completeResponse,
  completion,
  cutAt,
  emptyBody,
  errorIn200,
  html200,
  json,
  ok,
  raw,
  reset,
  status,
  stream,
  truncatedJson,
} from "./upstream.ts";

/** A kind of failure. */
interface BrokenRow {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly outcome: string;
  /** Number of calls while another provider is up. @default 3 */
  readonly calls?: number;
  /** State of its model in a pool where one failure deactivates. */
  readonly state?: string;
  /** Error for the client when there is no other model. */
  readonly alone?: string;
  /** Whether the call may have been billed. */
  readonly billed?: true;
}

const lie = completeResponse(200, '{"choices":[]}', "application/json", { "content-encoding": "gzip" });
const limited = { outcome: "rate_limited", alone: "429 rate_limit_exceeded" };
const noQuota = {
  outcome: "quota_exhausted",
  calls: 1,
  state: "quota_exhausted for 21600s",
  alone: "429 insufficient_quota",
};
const invalid = { outcome: "invalid_response" };

/** Broken connections and invalid responses. */
export const brokenResponses: readonly BrokenRow[] = [
  { name: "a reset at once", behaviour: reset(), outcome: "network", billed: true },
  { name: "a close at once", behaviour: reset("close"), outcome: "network", billed: true },
  { name: "a reset in the head", behaviour: cutAt(ok(), 20), outcome: "network", billed: true },
  { name: "a reset after the head", behaviour: cutAt(ok(), "headers"), outcome: "network", billed: true },
  { name: "a close after the head", behaviour: cutAt(ok(), "headers", "close"), outcome: "network", billed: true },
  { name: "a reset in the body", behaviour: cutAt(ok(), 200), outcome: "network", billed: true },
  { name: "a close in the body", behaviour: cutAt(ok(), 200, "close"), outcome: "network", billed: true },
  { name: "a body that says gzip and is none", behaviour: lie, outcome: "network", billed: true },
  { name: "no HTTP", behaviour: raw("SSH-2.0-OpenSSH_9.6\r\n"), outcome: "network", billed: true },
  { name: "a web page", behaviour: html200(), ...invalid },
  { name: "a stream nobody asked for", behaviour: stream(), ...invalid },
  { name: "JSON that breaks off", behaviour: truncatedJson(), ...invalid },
  { name: "an empty body", behaviour: emptyBody(), ...invalid },
  { name: "204", behaviour: status(204), ...invalid },
  { name: "null", behaviour: json(null), ...invalid },
  { name: "a list", behaviour: json([]), ...invalid },
  { name: "a text", behaviour: json("Hello"), ...invalid },
  { name: "an object without choices", behaviour: json({}), ...invalid },
  { name: "choices: null", behaviour: json({ choices: null }), ...invalid },
  { name: "choices: []", behaviour: json({ choices: [] }), ...invalid },
  { name: "an error of no kind", behaviour: errorIn200(), outcome: "server" },
  { name: "an error that is a text", behaviour: json({ error: "Overloaded" }), outcome: "server" },
  {
    name: "an error beside choices: null",
    behaviour: json({ error: { message: "No" }, choices: null }),
    outcome: "server",
  },
  {
    name: "an error beside a whole answer",
    behaviour: json({ ...completion({ model: "a" }), error: { message: "The guard tripped" } }),
    outcome: "server",
  },
  { name: "an error with code 502", behaviour: errorIn200({ code: 502 }), outcome: "server" },
  { name: "a rate limit", behaviour: errorIn200({ code: "rate_limit_exceeded" }), ...limited },
  { name: "a rate limit with code 429", behaviour: errorIn200({ code: 429 }), ...limited },
  { name: "no quota", behaviour: errorIn200({ code: "insufficient_quota" }), ...noQuota },
  { name: "no quota with code 402", behaviour: errorIn200({ code: 402 }), ...noQuota },
  {
    name: "a bad key",
    behaviour: errorIn200({ code: "invalid_api_key" }),
    outcome: "auth",
    calls: 1,
    alone: "502 upstream_auth_error",
  },
];
