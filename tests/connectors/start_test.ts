import { assertEquals } from "@std/assert";

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

/** The modules that importing one evaluates, by their paths in `connectors/`. */
async function evaluatedBy(path: string): Promise<string[]> {
  const args = ["info", "--json", "--no-lock", path];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
  const { roots, modules }: ModuleGraph = JSON.parse(new TextDecoder().decode(stdout));
  const evaluated = new Set<string>();
  const queue = [...roots];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (evaluated.has(next)) continue;
    evaluated.add(next);
    const { dependencies = [] } = modules.find(({ specifier }) => specifier === next) ?? {};
    queue.push(...dependencies.flatMap(({ code, isDynamic }) => isDynamic ? [] : code?.specifier ?? []));
  }
  return [...evaluated].flatMap((specifier) => specifier.split("/connectors/")[1] ?? []).sort();
}

/** What declares connectors, and the small ones that most starts use. */
const declarations = [
  /^server\.ts$/,
  /^(discovery|observability|secrets|storage)\/declarations\.ts$/,
  /^strategies\/all\.ts$/,
  /^secrets\/(env|memory)\.ts$/,
  /^storage\/(_lock|memory)\.ts$/,
  /^providers\/(catalogue\/)?[a-z]\w*\.ts$/,
  /^providers\/_(catalogue|efforts|lazy|openai_error|openai_operations|openai_vendor|anthropic_generations|anthropic_models|gemini_family|gemini_models|dialect_attributes)\.ts$/,
];

Deno.test("the list of a server's connectors imports what declares them, and no code of theirs", async () => {
  const modules = await evaluatedBy(new URL("../../connectors/server.ts", import.meta.url).href);
  assertEquals(modules.filter((path) => !declarations.some((pattern) => pattern.test(path))), []);
});
