/**
 * What the tests of the browser entry share: providers at loopback addresses, and answers to them.
 * @module
 */
import {
  BrowserBaseProvider,
  type ChatStream,
  createBrowserProviderConfig,
  openAiCompatible,
  providerOf,
} from "../../browser.ts";
import type { BrowserProviderOptions, GivenProvider, VendorOptions } from "../../src/contracts/browser_provider.ts";

export { fakeClock, messages } from "../support/_library.ts";

/** A key that no provider accepts. */
export const key = "key-of-this-user-0123456789";

/**
 * A provider with one model, `small`.
 *
 * @param baseUrl Where it is.
 * @param options What else is special.
 */
export function providerAt(baseUrl: string, options: Partial<BrowserProviderOptions> = {}): BrowserBaseProvider {
  return new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl, apiKey: key, models: ["small"], ...options }));
}

/**
 * A vendor with two models, `one` and `two`; `one` is its default.
 *
 * @param options Its address and key.
 */
export function vendorAt(vendor: string, { baseUrl, ...options }: VendorOptions): GivenProvider {
  const connector = openAiCompatible({
    id: `${vendor}.test.v1`,
    vendor,
    baseUrl: baseUrl!,
    models: [{ id: "one", defaultFor: ["chat-completion"] }, { id: "two" }],
  });
  return providerOf(connector, options);
}

/** The text of a streamed response. */
export async function read(stream: ChatStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}
