import { assertEquals } from "@std/assert";
import { evaluatedBy } from "../support/module_graph.ts";

/** What declares connectors, and the small ones that most starts use. */
const declarations = [
  /^server\.ts$/,
  /^(guards|observability|secrets|storage)\/declarations\.ts$/,
  /^strategies\/all\.ts$/,
  /^secrets\/(env|memory)\.ts$/,
  /^storage\/(_lock|memory)\.ts$/,
  /^providers\/(catalogue\/)?[a-z]\w*\.ts$/,
  /^providers\/_(catalogue|count|efforts|lazy|openai_error|openai_family|openai_operations|openai_vendor|anthropic_generations|anthropic_models|gemini_family|gemini_models|dialect_attributes)\.ts$/,
];

Deno.test("the list of a server's connectors imports what declares them, and no code of theirs", async () => {
  const modules = (await evaluatedBy("connectors/server.ts")).flatMap((path) => path.split("connectors/")[1] ?? []);
  assertEquals(modules.filter((path) => !declarations.some((pattern) => pattern.test(path))), []);
});
