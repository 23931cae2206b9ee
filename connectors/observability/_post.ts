/**
 * Delivery over HTTP, with retries.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";

/** Maximum retries after the first attempt. */
const maxRetries = 3;

/** Backoff before the first retry, ms; each further one is four times as long. */
const firstWaitMs = 1_000;

/** Timeout of one attempt, ms. */
const limitMs = 10_000;

/** The request to deliver. */
export interface PostedDelivery {
  /** Absolute URL. */
  readonly url: string;
  /** @default {"POST"} */
  readonly method?: string;
  /** Headers; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends a request until it is accepted with a 2xx status: up to four attempts, with backoff of 1, 4 and 16 s.
 *
 * @param delivery Creates the request for each attempt.
 * @param runtime Network and clock.
 * @param isRefusal Whether a status is final, so that no retry follows.
 * @default every status is retried
 * @throws {Error} If no attempt was accepted. The message contains neither URL nor body.
 */
export async function post(
  delivery: () => Promise<PostedDelivery>,
  runtime: Runtime,
  isRefusal: (status: number) => boolean = () => false,
): Promise<void> {
  for (let retries = 0;; retries++) {
    const status = await postOnce(await delivery(), runtime);
    if (status >= 200 && status < 300) return;
    if (retries === maxRetries || status > 0 && isRefusal(status)) throw new Error("The delivery was not accepted");
    const waitMs = firstWaitMs * 4 ** retries;
    // the timer does not keep the process alive
    await new Promise<void>((resolve) => void runtime.clock.after(waitMs, resolve));
  }
}

/** The response status; 0 if there was no response. */
async function postOnce(delivery: PostedDelivery, { send, clock }: Runtime): Promise<number> {
  const controller = new AbortController();
  const cancel = clock.after(limitMs, () => controller.abort(new Error("The delivery took too long")));
  try {
    const { status, body } = await send({ ...delivery, signal: controller.signal });
    await body?.cancel();
    return status;
  } catch {
    return 0; // the runtime's network error messages are never exposed
  } finally {
    cancel();
  }
}
