/**
 * The public keys of an issuer (RFC 7517): fetched when they are needed, once for all who wait, and kept while they
 * cannot be fetched again.
 * @module
 */
import type { Cancel, Clock, Runtime } from "../../contracts/runtime.ts";
import { MeshError } from "../../errors.ts";
import { startAge } from "../../util/age.ts";
import { readBody } from "../../util/bytes.ts";
import { isObject } from "../../util/is_object.ts";
import { stripTrailing } from "../../util/strip_trailing.ts";
import { untilAborted } from "../../util/until_aborted.ts";
import type { KeyFinder } from "./load_jose.ts";

/** Timeout of a request, ms. */
const timeoutMs = 5_000;
/** Maximum size of a response, bytes; a key takes about 1 KiB with its certificate. */
const maxBytes = 512 * 1024;
/** Age at which keys are fetched again, ms. */
const refreshMs = 600_000;
/** Maximum age of keys that cannot be fetched again, ms. */
const maxAgeMs = 24 * 3_600_000;
/** Minimum time between fetches because of unknown keys, which any sender can name, ms. */
const cooldownMs = 30_000;
/** Time after a failed fetch without any keys, ms. */
const retryMs = 5_000;

/** The keys that an issuer had at one time. */
interface KeySet {
  readonly find: KeyFinder;
  /** The document, to notice changes. */
  readonly text: string;
}

/** The keys of an issuer cannot be fetched, and none are known. */
export class KeysUnavailableError extends Error {
  override name = "KeysUnavailableError";
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super("The keys of the issuer cannot be fetched");
    this.retryAfterMs = retryAfterMs;
  }
}

/** Where keys are, and how they are read. */
interface KeySource {
  /** The value of `iss`. */
  readonly issuer: string;
  /** Undefined: as the issuer's configuration states (OpenID Connect Discovery 1.0, section 4). */
  readonly jwksUri: string | undefined;
  readonly parse: (keys: object) => KeyFinder;
}

/** The current mesh. */
interface KeyUser {
  readonly runtime: Pick<Runtime, "clock" | "send">;
  /** Logs a warning for the operator. */
  readonly warn: (message: string) => void;
}

export class SigningKeys {
  readonly #source: KeySource;
  #user: KeyUser;
  #current: (KeySet & { readonly ageMs: () => number }) | undefined;
  #pending: Promise<void> | undefined;
  #abort: Cancel = () => {};
  /** Monotonic time of the last fetch, ms. */
  #fetchedAt = -Infinity;
  #failure: string | undefined;

  constructor(source: KeySource, user: KeyUser) {
    this.#source = source;
    this.#user = user;
  }

  /** Changes to another mesh. The keys remain. */
  use(user: KeyUser): void {
    this.#user = user;
  }

  /** Aborts a fetch, unless another mesh uses the keys by now. */
  release(user: KeyUser): void {
    if (user === this.#user) this.#abort();
  }

  /** The known keys; undefined if there are none. They are fetched again if they are old, which nothing waits for. */
  get current(): KeySet | undefined {
    const ageMs = this.#current?.ageMs() ?? 0;
    if (ageMs >= maxAgeMs) return this.#current = undefined;
    if (ageMs >= refreshMs && this.#hasCooledDown(cooldownMs)) this.#fetch().catch(() => {}); // it reports failures
    return this.#current;
  }

  /**
   * Returns the known keys, or fetches them.
   *
   * @throws {KeysUnavailableError} If they cannot be fetched.
   */
  async get(): Promise<KeySet> {
    if (this.current === undefined && (this.#pending !== undefined || this.#hasCooledDown(retryMs))) {
      await this.#fetch();
    }
    if (this.#current !== undefined) return this.#current;
    throw new KeysUnavailableError(Math.max(0, retryMs - this.#sinceFetchMs()));
  }

  /** Fetches the keys because one is unknown, at most once in 30 s. Returns the known ones. */
  async renew(): Promise<KeySet | undefined> {
    if (this.#pending !== undefined || this.#hasCooledDown(cooldownMs)) await this.#fetch();
    return this.#current;
  }

  #hasCooledDown(ms: number): boolean {
    return this.#sinceFetchMs() >= ms;
  }

  #sinceFetchMs(): number {
    return this.#user.runtime.clock.monotonic() - this.#fetchedAt;
  }

  /** Concurrent callers share one fetch. Never rejects. */
  #fetch(): Promise<void> {
    return this.#pending ??= this.#fetchOnce().finally(() => this.#pending = undefined);
  }

  async #fetchOnce(): Promise<void> {
    const { clock } = this.#user.runtime;
    this.#fetchedAt = clock.monotonic();
    const ageMs = startAge(clock);
    try {
      const text = await this.#withTimeout(clock, (signal) => this.#download(signal));
      const isSame = text === this.#current?.text;
      this.#current = { text, ageMs, find: isSame ? this.#current!.find : this.#parse(text) };
      this.#failure = undefined;
    } catch (error) {
      this.#reportFailure(error instanceof KeysError ? error.message : "cannot be reached");
    }
  }

  #parse(text: string): KeyFinder {
    const keys = parseJson(text);
    try {
      return this.#source.parse(keys);
    } catch {
      throw new KeysError("answered without keys");
    }
  }

  async #withTimeout<Result>(clock: Clock, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    const stop = () => controller.abort(new KeysError(`did not respond within ${timeoutMs} ms`));
    const cancel = clock.after(timeoutMs, stop);
    this.#abort = stop;
    try {
      return await untilAborted(work(controller.signal), controller.signal);
    } finally {
      cancel();
      this.#abort = () => {};
      controller.abort(); // frees the socket of a response that is not read to its end
    }
  }

  async #download(signal: AbortSignal): Promise<string> {
    const { issuer, jwksUri } = this.#source;
    if (jwksUri !== undefined) return await this.#read(jwksUri, signal);
    const metadata = parseJson(
      await this.#read(`${stripTrailing(issuer, "/")}/.well-known/openid-configuration`, signal),
    );
    if (metadata.issuer !== issuer) throw new KeysError("has the configuration of another issuer");
    const { jwks_uri } = metadata;
    if (typeof jwks_uri === "string" && /^https?:\/\//i.test(jwks_uri)) return await this.#read(jwks_uri, signal);
    throw new KeysError('has a configuration without "jwks_uri"');
  }

  async #read(url: string, signal: AbortSignal): Promise<string> {
    const headers = { accept: "application/json" };
    const response = await this.#user.runtime.send({ url, method: "GET", headers, signal, isNonStreaming: true });
    if (response.status !== 200) throw new KeysError(`answered ${response.status}`);
    const tooLarge = () => new KeysError(`answered with more than ${maxBytes} bytes`);
    return new TextDecoder().decode(await readBody(response, { maxBytes, tooLarge }));
  }

  /** Warns once about each cause. */
  #reportFailure(reason: string): void {
    if (reason === this.#failure) return;
    this.#failure = reason;
    const effect = this.#current === undefined
      ? "its tokens cannot be verified"
      : "the ones that are known are used, for up to 24 h";
    this.#user.warn(`No keys could be fetched for the issuer "${this.#source.issuer}", which ${reason}: ${effect}`);
  }
}

/** Why no keys could be fetched. The message contains nothing of the response but its status. */
class KeysError extends MeshError {
  constructor(message: string) {
    super(message, { code: "network_error" });
  }
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch { /* reported like other values */ }
  throw new KeysError("answered with something other than a JSON object");
}
