/**
 * Contestants: how to start one, and what a client sends to it.
 * @module
 */
import { traceFlag } from "./collections.ts";
import type { Start } from "./process.ts";

/** Parameters of starting a contestant. */
export interface Stage {
  /** Port to listen on. */
  readonly port: number;
  /** Base URL of the upstream, with `/v1`. */
  readonly upstream: string;
  /** Folder of the contestant. */
  readonly folder: string;
  /** Path of the upstream's self-signed certificate; undefined without TLS. */
  readonly certificate?: string;
  /** Whether V8 logs its garbage collections. A start is measured without: the flag makes V8 reject cached code. */
  readonly isTraced?: boolean;
}

/** A contestant. */
export interface Contestant {
  /** Its name for `--contestants`. */
  readonly name: string;
  /** Its title in tables. */
  readonly title: string;
  /** Name of the pass-through on the same runtime. */
  readonly bare?: string;
  /**
   * Installs what it needs, and returns its command. An empty command means no process: requests go directly to the
   * upstream.
   */
  start(stage: Stage): Promise<Pick<Start, "command" | "env" | "folder">>;
  /** Additional request headers. */
  headers?(stage: Stage): Readonly<Record<string, string>>;
  /** The `model` of requests. */
  readonly model: string;
  /** Whether it is so slow that it is measured for longer. */
  readonly isSlow?: boolean;
  /** Startup timeout, ms. */
  readonly startMs?: number;
}

/** A request, and its URL. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const question = "Tell in a few words how a request finds its way through a router to a model, and back. ".repeat(3);

/** Form of a request. */
export interface RequestForm {
  /** Whether the response is streamed. @default false */
  readonly isStream?: boolean | undefined;
  /** How often it contains its question of 260 characters. @default 1 */
  readonly repeated?: number;
}

/** Returns the request of a client. */
export function createTarget(
  contestant: Contestant,
  stage: Stage,
  { isStream = false, repeated = 1 }: RequestForm = {},
): Target {
  const content = question.repeat(repeated).trim();
  const messages = [{ role: "system", content: "Be brief." }, { role: "user", content }];
  const request = { model: contestant.model, messages, max_tokens: 200, ...(isStream ? { stream: true } : {}) };
  return {
    port: stage.port,
    path: "/v1/chat/completions",
    headers: {
      "content-type": "application/json",
      "authorization": "Bearer key",
      ...contestant.headers?.(stage),
    },
    body: JSON.stringify(request),
  };
}

/** Flags of V8 on Node. */
export function nodeFlags({ isTraced = false }: Stage): string[] {
  return isTraced ? [traceFlag] : [];
}

/** Flags of V8 on Deno. */
export function denoFlags({ isTraced = false }: Stage): string[] {
  return isTraced ? [`--v8-flags=${traceFlag}`] : [];
}

/** Environment variables that make a program trust the upstream's certificate. */
export function toTrustEnvironment({ certificate }: Stage): Record<string, string> {
  if (certificate === undefined) return {};
  return {
    DENO_CERT: certificate,
    NODE_EXTRA_CA_CERTS: certificate,
    SSL_CERT_FILE: certificate,
    REQUESTS_CA_BUNDLE: certificate,
  };
}
