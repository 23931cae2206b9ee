/**
 * Tools that search the web. With `proxy.tools.web_search`, the proxy runs them for every model: they are functions in
 * chat. Otherwise only the providers of some models do.
 * @module
 */
import type { Tool } from "../contracts/openai.ts";
import type { NativeOnly } from "./native_only.ts";

/** A search tool of a request, which the proxy runs. */
export interface WebSearchTool {
  /** Name of its function in chat. */
  readonly name: string;
  /** Maximum number of searches that the request allows; undefined without a limit. */
  readonly maxUses?: number | undefined;
  /** Domains to which results are limited; undefined if they are not. */
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
}

/** A search tool as a request describes it. */
export interface RequestedSearch extends Omit<WebSearchTool, "name"> {
  /** Path of the member that makes it a search tool. */
  readonly param: string;
  /** What the member contains, quoted; undefined if its name says it. */
  readonly shown?: string;
  /** Name in `x-mesh-dropped-params`. */
  readonly droppedName: string;
}

/**
 * Decides what is done with the search tool of a request. Without `proxy.tools.web_search`, models whose provider
 * searches itself are preferred; others get the request without the tool, unless it is essential.
 *
 * @param requested The tool; undefined if there is none.
 */
export function decideSearch(
  requested: RequestedSearch | undefined,
  { name, isServed, isEssential, nativeOnly }: {
    /** Name for its function, which no other function has. */
    readonly name: string;
    /** Whether the proxy runs searches. */
    readonly isServed: boolean;
    /** Whether the request is pointless without it: there is no other tool, or the model has to call it. */
    readonly isEssential: boolean;
    readonly nativeOnly: NativeOnly;
  },
): {
  /** The function that stands for it, if the proxy runs it. */
  readonly function?: Tool;
  readonly search?: WebSearchTool;
  readonly dropped: readonly string[];
} {
  if (requested === undefined) return { dropped: [] };
  const { param, shown, droppedName, maxUses, allowedDomains, blockedDomains } = requested;
  if (isServed) {
    const search = { name, maxUses, allowedDomains, blockedDomains };
    return { function: createSearchFunction(name), search, dropped: [] };
  }
  if (!isEssential) {
    nativeOnly.prefer();
    return { dropped: [droppedName] };
  }
  nativeOnly.add(
    param,
    `"${param}" is ${
      shown === undefined ? "" : `${shown}, `
    }a search that models of other APIs do not have: set "proxy.tools.web_search" to a pool ` +
      "of search models, which then serves it for every model, describe a tool of your own, or ask a model whose " +
      "provider searches itself",
  );
  return { dropped: [] };
}

function createSearchFunction(name: string): Tool {
  return {
    type: "function",
    function: {
      name,
      description: "Searches the web. Returns titles, addresses and excerpts of pages. " +
        "Use it for facts that may have changed or that you do not know.",
      parameters: {
        type: "object",
        properties: { query: { type: "string", description: "What to search for." } },
        required: ["query"],
        additionalProperties: false,
      },
    },
  };
}

/** A list of domains; undefined if there is none. */
export function findDomains(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.filter((domain): domain is string => typeof domain === "string").map((domain) => domain.toLowerCase());
}

/** A maximum number of searches; undefined if there is none. */
export function findMaxUses(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && value as number > 0 ? value as number : undefined;
}
