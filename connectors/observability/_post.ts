/**
 * Deliveries over HTTP.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";

/** Tries after the first one. */
const maxRetries = 3;

/** The first wait before another try, ms; each further one is four times as long. */
const firstWaitMs = 1_000;

/** Limit of one try, ms. */
const limitMs = 10_000;

/** What is delivered. */
export interface Delivery {
  /** Absolute. */
  readonly url: string;
  /** @default {"POST"} */
  readonly method?: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Delivers until it is accepted with 2xx: up to four times, with 1, 4 and 16 s in between.
 *
 * @param delivery Made anew for each try.
 * @param runtime Network and time.
 * @param isRefusal Whether a status says that another try is pointless.
 *   @default none does
 * @throws {Error} When it was not accepted; the message has neither address nor body.
 */
export async function post(
  delivery: () => Promise<Delivery>,
  runtime: Runtime,
  isRefusal: (status: number) => boolean = () => false,
): Promise<void> {
  for (let retries = 0;; retries++) {
    const status = await statusOf(await delivery(), runtime);
    if (status >= 200 && status < 300) return;
    if (retries === maxRetries || status > 0 && isRefusal(status)) throw new Error("The delivery was not accepted");
    const waitMs = firstWaitMs * 4 ** retries;
    // a process that has nothing else to do ends
    await new Promise<void>((resolve) => void runtime.clock.after(waitMs, resolve));
  }
}

/** 0 without a response. */
async function statusOf(delivery: Delivery, { send, clock }: Runtime): Promise<number> {
  const controller = new AbortController();
  const cancel = clock.after(limitMs, () => controller.abort(new Error("The delivery took too long")));
  try {
    const { status, body } = await send({ ...delivery, signal: controller.signal });
    await body?.cancel();
    return status;
  } catch {
    return 0; // a runtime's own text about the network is never passed on
  } finally {
    cancel();
  }
}
