/**
 * The section `proxy`.
 * @module
 */
import type { ValueLocation } from "./_scalars.ts";
import type { Given } from "./field.ts";
import { under } from "./report.ts";
import { defaultDeadlineMs, maxPriority } from "../settings/defaults.ts";
import { budget } from "./budget.ts";

const count = { type: "integer", min: 1 } as const;

const names = { type: "list", min: 1, item: { type: "text", isLiteral: true } } as const;

/** Limits of each end user of a client, and of a tag. */
export const limits = {
  type: "object",
  fields: {
    /** Maximum amount that may be spent. */
    budget: budget as typeof budget,
    /** Maximum number of requests per minute. */
    rpm: count as typeof count,
    /** Maximum number of tokens per minute. A call reserves its estimate, and counts what it used when it has ended. */
    tpm: count as typeof count,
    /** Maximum number of requests in flight, from their admission to the end of their responses. */
    concurrent: count as typeof count,
  },
} as const;

/** A team of clients. */
export const team = {
  type: "object",
  fields: {
    /** Pools that its clients may use, of those that they may use themselves. By default all pools and models. */
    pools: names as typeof names,
    /** Maximum amount that its clients may spend together. */
    budget: budget as typeof budget,
    /** Maximum number of requests per minute of its clients together. */
    rpm: count as typeof count,
    /** Maximum number of tokens per minute of its clients together. */
    tpm: count as typeof count,
    /** Maximum number of requests in flight of its clients together. */
    concurrent: count as typeof count,
    /** Names of guards of the requests of its clients, besides those of `proxy`, of the clients and of pools. */
    guards: names as typeof names,
  },
} as const;

/** Maximum length of notes, characters. */
const maxNotesLength = 2000;

/** The error of notes that are too long. */
function findNotesProblem(text: string): string | undefined {
  return text.length <= maxNotesLength ? undefined : `expected up to ${maxNotesLength} characters`;
}

/** Reports a client without a token, or with two. */
function checkToken(value: unknown, { path, report }: ValueLocation): void {
  const { token, token_hash: hash } = value as { token?: string; token_hash?: string };
  const isReported = ["token", "token_hash"].some((key) => report.hasProblemAt(under(path, key)));
  if (isReported) return;
  if (token !== undefined && hash !== undefined) {
    report.problem(under(path, "token_hash"), 'cannot be combined with "token": set one of them');
  }
  if (token === undefined && hash === undefined) {
    report.problem(under(path, "token"), 'missing: this key is required, or "token_hash"');
  }
}

/** A client with a token. */
export const client = {
  type: "object",
  required: ["name"],
  check: checkToken as typeof checkToken,
  fields: {
    /** The client's bearer token. Required unless there is a `token_hash`. */
    token: { type: "text", isSecret: true, format: "credential" },
    /**
     * SHA-256 of the token in hexadecimal, in place of `token`: for tokens that only their client has. The token must be
     * random, since the hash of one that can be guessed is easily searched for.
     */
    token_hash: { type: "text", isLiteral: true, format: "hash" },
    /** Name of the client in records and metrics. */
    name: { type: "text", isLiteral: true },
    /** Team of the client, in `teams`. Its requests count against the limits of both. */
    team: { type: "text", isLiteral: true },
    /** Tags of all its requests, in addition to their own. */
    tags: names as typeof names,
    /** Pools that the client may use, and whose models it may use by name. By default all pools and models. */
    pools: names as typeof names,
    /**
     * Models that the client may use, by name and as members of pools; others do not exist for it. By default all models.
     * With `pools`, those of them that are in its pools.
     */
    models: names as typeof names,
    /** Maximum amount that the client may spend. */
    budget: budget as typeof budget,
    /** Maximum number of requests per minute. */
    rpm: count as typeof count,
    /** Maximum number of tokens per minute. A call reserves its estimate, and counts what it used when it has ended. */
    tpm: count as typeof count,
    /** Maximum number of requests in flight, from their admission to the end of their responses. */
    concurrent: count as typeof count,
    /** Names of guards of its requests, besides those of `proxy` and of pools. */
    guards: names as typeof names,
    /** Notes for operators, up to 2 000 characters. The proxy does not show them to the client. */
    notes: { type: "text", isLiteral: true, isMultiline: true, format: findNotesProblem as typeof findNotesProblem },
    /**
     * Maximum `x-mesh-priority` of its requests, which places them in the queues of pools. Defaults to 0; to 100 for
     * clients without a team, pools or other limits.
     */
    priority: { type: "integer", min: 0, max: maxPriority as number },
    /** Whether its requests may contain keys of providers with `credentials: header`, in `x-provider-key`. */
    byok: { type: "flag" },
  },
} as const;

/** An issuer of JWTs. */
const jwtIssuer = {
  type: "object",
  required: ["issuer", "audience"],
  fields: {
    /** The issuer, exactly as in the claim `iss`. */
    issuer: { type: "text", isLiteral: true },
    /** Accepted values of the claim `aud`; a token has to contain one of them. */
    audience: { type: "list", min: 1, isSingleAllowed: true, item: { type: "text", isLiteral: true } },
    /**
     * URL of the issuer's public keys (JWKS). By default that of its `/.well-known/openid-configuration`, which requires
     * an issuer that is a URL.
     */
    jwks_uri: { type: "text", isLiteral: true, format: "keysUrl" },
    /** Accepted algorithms. By default all of them; none is symmetric, since who verifies with such a key can also sign. */
    algorithms: {
      type: "list",
      min: 1,
      item: {
        type: "choice",
        values: [
          "RS256",
          "RS384",
          "RS512",
          "PS256",
          "PS384",
          "PS512",
          "ES256",
          "ES384",
          "ES512",
          "EdDSA",
          "Ed25519",
        ],
      },
    },
    /**
     * Claim that names the client, a configured one or one created at runtime. A claim is a name, or a dotted path into
     * nested claims. Unknown clients are refused, not created.
     */
    client: { type: "text", isLiteral: true },
    /** Claim that names the team, or a list of names; the first known one counts. */
    team: { type: "text", isLiteral: true },
    /** Claim with the tags of its requests. */
    tags: { type: "text", isLiteral: true },
    /**
     * Claim with the role, or a list of roles: `admin` makes an administrator; `viewer` reads all of `/mesh/…` and
     * `/metrics` and changes nothing. By default no token has a role.
     */
    role: { type: "text", isLiteral: true },
    /** Values that claims must have: a value, or a list of which one suffices. All claims have to match. */
    allow: { type: "any" },
  },
} as const;

/** The section `proxy`. */
export const proxy = {
  type: "object",
  fields: {
    /** Address to listen on. */
    host: { type: "text", default: "127.0.0.1", format: "host" },
    /** Port to listen on. 0 selects a free port. */
    port: { type: "integer", min: 0, max: 65_535, default: 8080 },
    /**
     * Address of this process, such as `10.0.0.7:8080`, that administrators see in the list of processes on one storage
     * (`/mesh/processes`). Nothing connects to it. By default none.
     */
    address: { type: "text" },
    /** Served endpoints, as paths without `/v1`. All by default. */
    endpoints: {
      type: "list",
      min: 1,
      item: {
        type: "choice",
        isPath: true,
        values: [
          "models",
          "chat/completions",
          "completions",
          "embeddings",
          "audio/speech",
          "audio/transcriptions",
          "audio/translations",
          "responses",
          "responses/compact",
          "responses/input_tokens",
          "messages",
          "messages/count_tokens",
          "v1beta/models",
          "images/generations",
          "images/edits",
          "moderations",
          "files",
          "batches",
          "fine_tuning/jobs",
          "rerank",
          "search",
          "documents/parse",
        ],
      },
    },
    /** Names of the guards of all requests, in order. Those of clients and pools come after them. */
    guards: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Authentication of clients. */
    auth: {
      type: "object",
      fields: {
        /** Authentication method of clients. */
        method: { type: "choice", values: ["bearer"], default: "bearer" },
        /** Accepted tokens: strings, or objects with the client's name and limits. */
        tokens: {
          type: "list",
          min: 1,
          item: {
            type: "either",
            options: [{ type: "text", isSecret: true, format: "credential" }, client as typeof client],
          },
        },
        /**
         * Administrators' tokens: they see everything, activate and deactivate models, and manage clients. They need
         * not be listed in `tokens`. By default all tokens without a team, pools or other limits.
         */
        admin_tokens: { type: "list", min: 1, item: { type: "text", isSecret: true, format: "credential" } },
        /** Issuers whose JWTs are accepted in addition to tokens. Requires the package `jose`. */
        jwt: { type: "list", min: 1, item: jwtIssuer as typeof jwtIssuer },
        /**
         * URL under which clients reach the proxy, for `/.well-known/oauth-protected-resource` (RFC 9728). By default
         * that of the request.
         */
        resource: { type: "text", isLiteral: true, format: "baseUrl" },
      },
    },
    /** Cross-origin requests of browsers. */
    cors: {
      type: "object",
      fields: {
        /** `false` disables CORS. */
        enabled: { type: "flag", default: true },
        /** Allowed origins. By default any origin if a token is set, otherwise loopback origins only. */
        origins: { type: "list", item: { type: "text", format: "origin" } },
        /** Allowed request headers. By default those that the preflight request names. */
        headers: { type: "list", item: { type: "text" } },
        /** Allowed methods. By default those of the path. */
        methods: { type: "list", item: { type: "choice", values: ["GET", "POST", "DELETE", "OPTIONS"] } },
        /** How long browsers may cache the preflight response. */
        max_age: { type: "duration", min: 0, default: 600_000 },
      },
    },
    /** Host names that are served without a token, in addition to loopback names. */
    allowed_hosts: { type: "list", item: { type: "text", format: "host" } },
    /** Maximum number of concurrent requests. Further requests are answered with 503. */
    max_concurrent: { type: "integer", min: 1, default: 1000 },
    /**
     * Maximum number of connections of clients, of each worker with `--workers`. Beyond it, the connection that has
     * been idle for longest is closed; if none is idle, the new one. It is lower where the process may open too few
     * files (`ulimit -n`): each connection needs up to two. `Deno.serve` has no such limit.
     */
    max_connections: { type: "integer", min: 1, default: 10_000 },
    /** Maximum size of a JSON body. */
    body_limit: { type: "size", default: 33_554_432 },
    /**
     * Maximum memory for all request bodies, from their first byte to the end of their response. What a body has above
     * 1 MiB counts three times: as received, parsed and sent. Further requests are answered with 503. A single client
     * (identified by its token, otherwise by its address unless that is a loopback address) may use a quarter.
     */
    body_memory: { type: "size", default: 268_435_456 },
    /** Maximum size of an audio or file upload, and of all uploads together while they are being read. */
    upload_limit: { type: "size", default: 536_870_912 },
    /** Deadline of a request. */
    request_timeout: { type: "duration", default: defaultDeadlineMs as number },
    /**
     * Time between the stop signal and the refusal of connections. During this time only `/ready` reports the shutdown.
     */
    drain_delay: { type: "duration", min: 0, default: 0 },
    /**
     * Interval of heartbeats in a stream that waits for its provider. After 10 s without content, a stream begins with
     * one. `0s` disables them.
     */
    heartbeat: { type: "duration", min: 0, default: 15_000 },
    /**
     * HTTP server: `Deno.serve` (`deno`, the default on Deno, and available only there) or `node:http` (`node`, the
     * default on Node). `Deno.serve` has no time limit for slow request headers, does not limit connections, and may not
     * detect a client that disconnects before its response begins. With `proxy.tls`, `node:https` serves, and `node:http`
     * in the workers of `--workers`.
     */
    listener: { type: "choice", values: ["deno", "node"] },
    /**
     * Secret that signs the ids of files, batches and fine-tuning jobs, and compacted conversations. Use a secret
     * reference, and the same value on every proxy that serves them. Defaults to the provider's API key; what is signed
     * becomes invalid when that key changes.
     */
    id_secret: { type: "text", isSecret: true, format: "secret" },
    /** Responses (`/v1/responses`) that the proxy stores. */
    responses: {
      type: "object",
      fields: {
        /**
         * Stores responses and their input in the storage, for the client that requested them: `previous_response_id`
         * continues a conversation at any provider, `background` responses go on without a connection, and both can be
         * retrieved. Without it, the proxy stores nothing, and these features require a provider that has them. Requires a
         * section `storage`.
         */
        state: { type: "flag", default: false },
        /** How long a response is stored. */
        ttl: { type: "duration", default: 2_592_000_000 },
        /** Maximum size of all stored responses. Beyond it, the oldest ones of the client with the most are deleted. */
        max_bytes: { type: "size", default: 268_435_456 },
      },
    },
    /** Tools of the APIs that the proxy runs for models whose providers do not. */
    tools: {
      type: "object",
      fields: {
        /**
         * Web search for every model: the `web_search` tools of requests are run by a pool of search models, and billed
         * to the client. Without it, only models whose provider searches itself have them.
         */
        web_search: {
          type: "object",
          required: ["pool"],
          fields: {
            /** Pool that runs the searches. */
            pool: { type: "text", isLiteral: true },
            /** Maximum number of searches for one response. */
            max_uses: { type: "integer", min: 1, default: 5 },
          },
        },
      },
    },
    /** Serves HTTPS through `node:https`. The files are reloaded when they change. */
    tls: {
      type: "object",
      required: ["cert", "key"],
      fields: {
        /** PEM file with the certificate, followed by the intermediate certificates. */
        cert: { type: "text", isLiteral: true },
        /** PEM file with the private key, without a passphrase. */
        key: { type: "text", isLiteral: true },
      },
    },
  },
} as const;

/** The section as given. */
export type ProxyValues = Given<typeof proxy>;

/** A token with limits of its client, as given. */
export type TokenValues = Given<typeof client>;

/** A team, as given. */
export type TeamValues = Given<typeof team>;

/** The limits of a tag or of each end user, as given. */
export type LimitValues = Given<typeof limits>;
