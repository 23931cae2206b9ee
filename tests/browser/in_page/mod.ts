/**
 * In place of `mod.ts` in a page: the browser entry. A document is given to `create` as that entry takes it.
 * @module
 */
import { create as createInPage, type CreateOptions, type MeshClient, MeshConfig } from "../../../browser.ts";

export * from "../../../browser.ts";

/** What tests give: a document in place of a configuration, too. */
type Options = Omit<CreateOptions, "config"> & { readonly config?: unknown };

/** Makes a client. */
export function create(first: string | Options, second?: Options): MeshClient {
  return typeof first === "string" ? createInPage(first, parsed(second ?? {})) : createInPage(parsed(first));
}

function parsed({ config, ...options }: Options): CreateOptions {
  if (config === undefined) return options;
  return { ...options, config: config instanceof MeshConfig ? config : MeshConfig.parse(config) };
}
