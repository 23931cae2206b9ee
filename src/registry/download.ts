/**
 * Downloads files that a configuration names by their addresses.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { ConnectorError, NetworkError } from "../errors.ts";
import { readBody } from "../util/bytes.ts";
import { untilAborted } from "../util/until_aborted.ts";

/** Timeout of a download, ms. */
const downloadMs = 60_000;
/** Maximum number of redirects; release hosts redirect once or twice. */
const maxRedirects = 5;

interface DownloadOptions {
  /** Name of the file in messages, which begins them. */
  readonly name: string;
  /** Maximum size. */
  readonly maxBytes: number;
  readonly runtime: Pick<Runtime, "send" | "clock">;
}

/**
 * Downloads a file. Plain HTTP is accepted from this machine only.
 *
 * @param address Its URL.
 * @throws {ConnectorError} When the server cannot be reached or has not got it, or it is too large.
 * @throws {DeadlineError} When it takes more than a minute.
 */
export async function downloadBytes(address: string, options: DownloadOptions): Promise<Uint8Array> {
  const { name, runtime: { clock } } = options;
  const controller = new AbortController();
  const message = `${name} was not downloaded within ${downloadMs / 1000} s`;
  try {
    const fetched = fetchBytes(address, options, controller.signal);
    return await untilAborted(fetched, undefined, { clock, ms: downloadMs, message });
  } finally {
    controller.abort();
  }
}

async function fetchBytes(
  address: string,
  { name, maxBytes, runtime }: DownloadOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const refuse = (reason: string) => new ConnectorError(`${name} cannot be downloaded: ${reason}`);
  let url = address;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!isSafeAddress(url) || redirects > 0 && !url.startsWith("https:") && address.startsWith("https:")) {
      throw refuse("only https is allowed");
    }
    const response = await runtime.send({ url, method: "GET", headers: {}, signal })
      .catch((error: unknown) => {
        throw NetworkError.isInstance(error) ? refuse(describeNetworkError(error)) : error;
      });
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (location === null) {
      if (response.status !== 200) throw refuse(`the server answered ${response.status}`);
      const tooLarge = () => refuse(`it is over ${maxBytes / 1024 / 1024} MiB`);
      return await readBody(response, { maxBytes, tooLarge });
    }
    url = new URL(location, url).href;
  }
  throw refuse("it is redirected too often");
}

/** The reason, of a server that is not a provider. */
function describeNetworkError({ message }: NetworkError): string {
  const text = message.replace("the provider", "the server");
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** Whether a URL is protected against tampering: https, or this machine. */
function isSafeAddress(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
}
