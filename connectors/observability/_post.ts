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
 * @throws {Error} When it was not accepted; the message has neither address nor body.
 */
export async function post(delivery: () => Promise<Delivery>, runtime: Runtime): Promise<void> {
  for (let retries = 0;; retries++) {
    if (await isAccepted(await delivery(), runtime)) return;
    if (retries === maxRetries) throw new Error("The delivery was not accepted");
    const waitMs = firstWaitMs * 4 ** retries;
    // a process that has nothing else to do ends
    await new Promise<void>((resolve) => void runtime.clock.after(waitMs, resolve));
  }
}

async function isAccepted(delivery: Delivery, { send, clock }: Runtime): Promise<boolean> {
  const controller = new AbortController();
  const cancel = clock.after(limitMs, () => controller.abort(new Error("The delivery took too long")));
  try {
    const { status, body } = await send({ ...delivery, signal: controller.signal });
    await body?.cancel();
    return status >= 200 && status < 300;
  } catch {
    return false; // a runtime's own text about the network is never passed on
  } finally {
    cancel();
  }
}
