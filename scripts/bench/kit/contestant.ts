/**
 * Who is measured: how one is started, and what a client sends it.
 * @module
 */
import type { Start } from "./process.ts";

/** What a contestant is started with. */
export interface Stage {
  /** Where it is to listen. */
  readonly port: number;
  /** The upstream's address, with `/v1`. */
  readonly upstream: string;
  /** A folder of its own. */
  readonly folder: string;
  /** Path of the certificate that the upstream has signed itself; none without TLS. */
  readonly certificate?: string;
}

/** One that is measured. */
export interface Contestant {
  /** As `--contestants` names it. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** The bare pass-through on the same runtime. */
  readonly bare?: string;
  /** What it is started with; installs what that needs. No command is no process: straight to the upstream. */
  start(stage: Stage): Promise<Pick<Start, "command" | "env" | "folder">>;
  /** Headers beside the usual ones. */
  headers?(stage: Stage): Readonly<Record<string, string>>;
  /** What a client calls the model. */
  readonly model: string;
  /** Answers so few requests that it is measured for longer. */
  readonly isSlow?: boolean;
  /** How long it may take until it listens, ms. */
  readonly startMs?: number;
}

/** What a client sends, and where. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const question = "Tell in a few words how a request finds its way through a router to a model, and back. ".repeat(3);

/**
 * A client's request.
 *
 * @param contestant Who gets it.
 * @param stage Where that one is.
 * @param isStream Whether the answer is to come in events.
 */
export function targetOf(contestant: Contestant, stage: Stage, isStream: boolean): Target {
  const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: question.trim() }];
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

/** Environments that make a program trust the upstream's certificate. */
export function trustOf({ certificate }: Stage): Record<string, string> {
  if (certificate === undefined) return {};
  return {
    DENO_CERT: certificate,
    NODE_EXTRA_CA_CERTS: certificate,
    SSL_CERT_FILE: certificate,
    REQUESTS_CA_BUNDLE: certificate,
  };
}
