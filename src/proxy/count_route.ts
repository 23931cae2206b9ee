/**
 * Token counting endpoints of dialects: an estimate, without a call to a provider.
 * @module
 */
import type { Dialect } from "../dialects/dialect.ts";
import { missing } from "../pipeline/check_body.ts";
import { estimateTokens } from "../pipeline/estimate.ts";
import { poolFor } from "../pipeline/select_pool.ts";
import type { RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";
import { readWork } from "./body.ts";

/**
 * Creates a token counting route. The model's name must exist, as for a request.
 *
 * @param dialect A dialect with {@linkcode Dialect.counting}.
 */
export function countRoute(dialect: Dialect): RouteEntry {
  const counting = dialect.counting!;
  return {
    methods: ["POST"],
    isWork: true,
    dialect,
    handle: async (exchange) => {
      const { value } = await readWork(exchange);
      const body = counting.toCountedChat(value, exchange.request);
      if (body.model === undefined) throw missing("model");
      const { client, mesh: { registry }, headers, admit } = exchange;
      poolFor(body.model, { client }, registry);
      await admit?.();
      return json(counting.formatCount(estimateTokens(body).input), { headers });
    },
  };
}
