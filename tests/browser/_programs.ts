/**
 * What pages of several tests run: text to them, as every program, so that each stands for itself.
 * @module
 */
import type { Program } from "./_page.ts";

/** Where and how a program asks. */
export interface Asked {
  /** The provider's address; a proxy's in `proxyUrl`. */
  readonly baseUrl?: string;
  readonly proxyUrl?: string;
  /** The provider's key or the proxy's token. */
  readonly apiKey?: string;
}

/** Asks one provider for a stream, shows its pieces as they come, and returns them. */
export const streamed: Program<Asked, string[]> = async (modelmesh, facts, show) => {
  const { BrowserBaseProvider, create, createBrowserProviderConfig } = modelmesh;
  const config = createBrowserProviderConfig({ models: ["chat"], ...facts });
  const client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
  const stream = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }], stream: true });
  const pieces: string[] = [];
  for await (const { choices } of stream) {
    const piece = choices[0]?.delta.content;
    if (!piece) continue;
    show(piece);
    pieces.push(piece);
  }
  await client.close();
  return pieces;
};
