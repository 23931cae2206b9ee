/**
 * What every secret store behind an HTTP API does: bounded calls, answers read with care, errors that say which store
 * and which secret and never quote what was answered.
 * @module
 */
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { ConfigError, ConnectorError, NetworkError } from "../../src/errors.ts";
import { readBody } from "../../src/util/bytes.ts";

/** A call that takes longer is given up, ms. */
const maxAnswerMs = 10_000;
/** More than any of them answers: AWS takes values of 64 KiB, a list has a hundred names a page. */
const maxBytes = 4 * 1024 * 1024;

/** A list that goes on and on is no list. */
const maxPages = 1_000;

/** Vendors' codes of failed authentication and missing permission; AWS and token endpoints send them with 400. */
const refusals =
  /AccessDenied|UnrecognizedClient|Signature|ExpiredToken|MissingAuthentication|^invalid_(?:client|grant)$/;

/** Something to be done at a vendor. */
export interface VendorCall extends Omit<UpstreamRequest, "signal" | "isWhole"> {
  /** What it is for, after "cannot": `look up the secret "NAME"`. */
  readonly task: string;
  /** Error statuses or codes that are a response like any other. */
  readonly expected?: readonly (number | string)[];
}

/** The response. */
export interface VendorResponse {
  /** Of HTTP. */
  readonly status: number;
  /** The vendor's word for the error, if it is one. */
  readonly code?: string;
  /** The JSON object; an empty one when there was no body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Calls one vendor for one store. */
export class Vendor {
  readonly store: string;
  /** For time, environment and network. */
  readonly runtime: Runtime;
  readonly #access: string;

  /**
   * @param store The connector's id, for messages.
   * @param runtime For time, environment and network.
   * @param access What to look at when the vendor refuses us.
   */
  constructor(store: string, runtime: Runtime, access: string) {
    this.store = store;
    this.runtime = runtime;
    this.#access = access;
  }

  /**
   * Sends a request and reads the JSON that comes back.
   *
   * @param call What for.
   * @throws {ConnectorError} When there is no answer in time, none that can be read, or an unexpected error.
   */
  async call({ task, expected = [], ...request }: VendorCall): Promise<VendorResponse> {
    const { status, text } = await this.#send(task, request);
    const body = status === 204 || text.trim() === "" ? {} : objectOf(text);
    const code = body === undefined ? undefined : codeOf(body);
    const isExpected = expected.includes(status) || code !== undefined && expected.includes(code);
    if (isExpected) return { status, code, body: body ?? {} };
    if (status < 200 || status > 299) throw this.error(task, `it answered ${status}${this.#about(status, code)}`);
    if (body === undefined) throw this.error(task, `it answered ${status} with something else than a JSON object`);
    return { status, body };
  }

  /**
   * All names of a list that comes in pages, sorted.
   *
   * @param read Reads a page: the first, or the one that a page before named as next.
   * @throws {ConnectorError} When there is no end to it.
   */
  async names(
    read: (next: string | undefined) => Promise<{ readonly names: readonly unknown[]; readonly next: unknown }>,
  ): Promise<readonly string[]> {
    const all: string[] = [];
    let token: string | undefined;
    for (let count = 0; count < maxPages; count++) {
      const { names, next } = await read(token);
      all.push(...names.map(String));
      if (typeof next !== "string" || next === "") return all.sort();
      token = next;
    }
    throw this.error("list secrets", `the list has more than ${maxPages} pages`);
  }

  /**
   * What to throw.
   *
   * @param task What was to be done, after "cannot".
   * @param reason Why it was not, without a value in it.
   */
  error(task: string, reason: string): ConnectorError {
    return new ConnectorError(`${this.store}: cannot ${task}: ${reason}`);
  }

  async #send(task: string, request: UpstreamRequest): Promise<{ status: number; text: string }> {
    const controller = new AbortController();
    const cancel = this.runtime.clock.after(maxAnswerMs, () => controller.abort());
    try {
      const answer = await this.runtime.send({ ...request, signal: controller.signal, isWhole: true });
      return { status: answer.status, text: await textOf(answer) };
    } catch (error) {
      if (ConnectorError.isInstance(error)) throw this.error(task, error.message);
      if (controller.signal.aborted) throw this.error(task, `no answer within ${maxAnswerMs / 1000} s`);
      const isUnreached = NetworkError.isInstance(error) && error.neverSent;
      throw this.error(task, isUnreached ? "no connection" : "the connection broke");
    } finally {
      cancel();
    }
  }

  #about(status: number, code: string | undefined): string {
    const word = code === undefined ? "" : ` (${code})`;
    const isRefusal = status === 401 || status === 403 || refusals.test(code ?? "");
    return isRefusal ? `${word}: check ${this.#access}` : word;
  }
}

/**
 * An attribute of the `secrets` section, or a variable that stands for it.
 *
 * @param value As configured.
 * @param path Its name, for messages.
 * @throws {ConfigError} When it is no text.
 */
export function attribute(value: unknown, path: string): string | undefined {
  if (value === undefined || typeof value === "string" && value.trim() !== "") return value?.trim();
  throw new ConfigError([{ path: `secrets.${path}`, message: "expected a text" }]);
}

/**
 * The first of some variables that is set.
 *
 * @param runtime Knows the environment.
 * @param names The variables.
 */
export function variable(runtime: Runtime, ...names: readonly string[]): string | undefined {
  return names.map((name) => runtime.env(name)?.trim()).find((value) => value !== undefined && value !== "");
}

/**
 * An address, without a slash at its end.
 *
 * @param value As configured.
 * @param path Its name, for messages.
 * @throws {ConfigError} When it is no address a key may be sent to.
 */
export function address(value: string, path: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, "");
  throw new ConfigError([{
    path: `secrets.${path}`,
    message: "expected an http or https address without user, query and fragment",
  }]);
}

async function textOf(answer: UpstreamResponse): Promise<string> {
  const tooLarge = () => new ConnectorError(`the answer is over ${maxBytes} bytes`);
  return new TextDecoder().decode(await readBody(answer, { maxBytes, tooLarge }));
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return { items: value };
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

/** `{__type}` of AWS, `{error: {code | status}}` of Microsoft and Google, `{error}` of their token endpoints. */
function codeOf({ __type, error }: Readonly<Record<string, unknown>>): string | undefined {
  const inner = typeof error === "object" && error !== null ? error as Record<string, unknown> : {};
  const words = [__type, inner.status, inner.code, error];
  const word = words.find((one): one is string => typeof one === "string")?.replace(/^.*#/, "");
  return word !== undefined && /^[A-Za-z][\w.-]{0,63}$/.test(word) ? word : undefined; // a word, not what it is about
}
