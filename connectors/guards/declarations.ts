/**
 * Declarations of guards and of discovery connectors, in one module, since each module adds to the duration of every
 * start.
 * @module
 */
/** The attribute of all of them. */
const stages = {
  type: "list",
  values: ["request", "response"],
  about: "What is checked: texts of requests (`request`), of responses (`response`). Both by default.",
} as const;

/** Named patterns. */
export const regexDeclaration = {
  id: "mesh.guard.regex.v1",
  kind: "guard",
  attributes: {
    patterns: {
      type: "object",
      isRequired: true,
      about:
        "Patterns by name, in the syntax of RE2, which takes linear time: without lookaround and backreferences. `(?i)` at the start ignores case.",
    },
    action: {
      type: "text",
      values: ["block", "mask"],
      default: "block",
      about: "What happens to a text that has a match: it is refused (`block`), or each match is replaced (`mask`).",
    },
    replacement: { type: "text", about: "What replaces a match. Defaults to the pattern's name, such as `[PROJECT]`." },
    stages: stages as typeof stages,
    reach: {
      type: "integer",
      min: 1,
      default: 256,
      about: "Length of the longest match, characters, up to 2 047: so much of a stream is held back.",
    },
  },
} as const;

/** Personal data. */
export const piiDeclaration = {
  id: "mesh.guard.pii.v1",
  kind: "guard",
  attributes: {
    types: {
      type: "list",
      values: ["email", "phone", "card", "iban", "ip", "key"],
      about:
        "What is found: e-mail addresses, phone numbers, card numbers with a valid check digit (Luhn), IBANs with a valid checksum, IP addresses, keys of known forms. All by default.",
    },
    action: {
      type: "text",
      values: ["block", "mask", "restore"],
      default: "mask",
      about:
        "What happens to them: the request or response is refused (`block`); they are replaced, such as by `[EMAIL]` (`mask`); they are replaced in requests, and put back into the response and its tool arguments (`restore`).",
    },
    stages: stages as typeof stages,
  },
} as const;

/** Classification by a model. */
export const moderationDeclaration = {
  id: "mesh.guard.moderation.v1",
  kind: "guard",
  attributes: {
    pool: {
      type: "text",
      isRequired: true,
      about: "Pool, or capability, that serves `moderation`. Its models see the texts.",
    },
    categories: {
      type: "list",
      about: "Categories that are refused, such as `violence`. By default, whatever the model flags.",
    },
    stages: stages as typeof stages,
  },
} as const;

/** A service that decides. */
export const webhookGuardDeclaration = {
  id: "mesh.guard.webhook.v1",
  kind: "guard",
  attributes: {
    url: {
      type: "url",
      isRequired: true,
      about: "Address that receives the texts: `POST {texts, stage, pool, client, request_id}`.",
    },
    secret: { type: "text", about: "Secret that signs the calls (Standard Webhooks, HMAC-SHA256)." },
    stages: stages as typeof stages,
    interval: {
      type: "integer",
      min: 1,
      default: 1000,
      about: "Number of new characters of a stream after which the service is asked again, up to 1 024.",
    },
  },
} as const;

/** Syncs the model registry. */
export const registrySyncDeclaration = {
  id: "mesh.registry-sync.v1",
  kind: "discovery",
} as const;

/** Probes providers. */
export const healthMonitorDeclaration = {
  id: "mesh.health-monitor.v1",
  kind: "discovery",
} as const;
