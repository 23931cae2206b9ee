/**
 * Which modules an import evaluates.
 * @module
 */

interface ModuleGraph {
  readonly roots: readonly string[];
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly isDynamic?: boolean;
    }[];
  }[];
}

const root = new URL("../../", import.meta.url).href;

/**
 * The modules that importing some evaluates, by their paths in the repository. What is imported later is not among them.
 *
 * @param paths From the repository's root.
 */
export async function evaluatedBy(...paths: readonly string[]): Promise<string[]> {
  const evaluated = new Set<string>();
  for (const path of paths) {
    const args = ["info", "--json", "--no-lock", root + path];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
    const { roots, modules }: ModuleGraph = JSON.parse(new TextDecoder().decode(stdout));
    const queue = [...roots];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (evaluated.has(next)) continue;
      evaluated.add(next);
      const { dependencies = [] } = modules.find(({ specifier }) => specifier === next) ?? {};
      queue.push(...dependencies.flatMap(({ code, isDynamic }) => isDynamic ? [] : code?.specifier ?? []));
    }
  }
  return [...evaluated].map((specifier) => specifier.startsWith(root) ? specifier.slice(root.length) : specifier)
    .sort();
}
