/**
 * Token counting endpoints of dialects. A vendor that counts free of charge is asked; otherwise tokens are estimated.
 * @module
 */
import type { Dialect } from "../dialects/dialect.ts";
import { missing } from "../pipeline/check_body.ts";
import { countTokens } from "../pipeline/count_tokens.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { OriginalRequest } from "../pipeline/original.ts";
import { poolFor } from "../pipeline/select_pool.ts";
import { readWork, type Work } from "./body.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";
import { toRoutedRequest } from "./perform_request.ts";
import { addCountHeaders } from "./routing_headers.ts";

/**
 * Creates a token counting route. The model's name must exist, as for a request.
 *
 * @param dialect A dialect with {@linkcode Dialect.counting}.
 * @param read Reads the body.
 */
export function countRoute(dialect: Dialect, read: (exchange: Exchange) => Promise<Work> = readWork): RouteEntry {
  const counting = dialect.counting!;
  return {
    methods: ["POST"],
    isWork: true,
    dialect,
    handle: async (exchange) => {
      const { value, time } = await read(exchange);
      const counted = counting.toCounted(value);
      const { chat: body, native, dropped = [], session } = dialect.translate(counted, exchange.request);
      if (body.model === undefined) throw missing("model");
      const { client, mesh: { registry, routeDeps }, headers } = exchange;
      poolFor(body.model, { client }, registry);
      const text = JSON.stringify(counted);
      const original = new OriginalRequest({ dialect: dialect.name, dropped, native: native && { text, ...native } });
      const request = toRoutedRequest(exchange, { operation: chat, body, original, session, time });
      await request.scopes?.admit();
      const count = await countTokens(request, routeDeps);
      addCountHeaders(headers, count);
      return json(counting.formatCount(count.tokens), { headers });
    },
  };
}
