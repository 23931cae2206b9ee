/** The names that an editor completes, from TypeScript's own language service. */
import { assertEquals } from "@std/assert";
import { fromFileUrl, root } from "../../scripts/npm/files.ts";
import ts from "../../scripts/npm/typescript.ts";

const path = fromFileUrl(new URL("completions.ts", root)); // exists only in the service

const head = 'import { create } from "./mod.ts";\n';
let text = head;
let version = 0;

const service = ts.createLanguageService({
  getCompilationSettings: () => ({
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  }),
  getScriptFileNames: () => [path],
  getScriptVersion: (name) => name === path ? `${version}` : "0",
  getScriptSnapshot: (name) => {
    const read = name === path ? text : ts.sys.readFile(name);
    return read === undefined ? undefined : ts.ScriptSnapshot.fromString(read);
  },
  getCurrentDirectory: () => fromFileUrl(root),
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: (name) => name === path || ts.sys.fileExists(name),
  readFile: (name) => name === path ? text : ts.sys.readFile(name),
});

/** The completions at the caret, which `|` marks in a program. */
function completionsAt(marked: string): readonly string[] {
  text = head + marked.replace("|", "");
  version++;
  const caret = head.length + marked.indexOf("|");
  return (service.getCompletionsAtPosition(path, caret, {})?.entries ?? []).map(({ name }) => name);
}

const places: Readonly<Record<string, readonly [program: string, ...expected: string[]]>> = {
  "a capability": ['create("|")', "chat-completion", "text-embeddings", "text-to-speech"],
  "a vendor": ['create("chat-completion", { providers: ["|"] })', "openai", "anthropic", "ollama"],
  "a strategy": ['create("chat-completion", { strategy: "|" })', "round-robin", "cost-first", "session-stickiness"],
  "a pool's strategy": ['create({ config: { pools: { p: { strategy: "|" } } } })', "round-robin", "latency-first"],
  "a provider's entry": ['create({ config: { providers: { "|": {} } } })', "openai.llm.v1", "ollama.local.v1"],
  "a provider's connector": [
    'create({ config: { providers: { own: { connector: "|" } } } })',
    "openai.compatible.v1",
    "vllm.local.v1",
  ],
  "a storage": ['create({ config: { storage: { connector: "|" } } })', "redis.redis.v1", "aws.s3.v1"],
  "a secret store": ['create({ config: { secrets: { store: "|" } } })', "mesh.dotenv.v1"],
  "an error's code": [
    'declare const error: import("./mod.ts").MeshError; if (error.code === "|") create("");',
    "rate_limit_exceeded",
    "no_active_model",
    "invalid_configuration",
  ],
  "a key of a pool": ["create({ config: { pools: { p: { | } } } })", "strategy", "deactivation", "budget"],
};

for (const [place, [program, ...expected]] of Object.entries(places)) {
  Deno.test(`an editor completes ${place}`, () => {
    const offered = completionsAt(program);
    assertEquals(expected.filter((name) => !offered.includes(name)), [], `offered: ${offered.slice(0, 20)}`);
  });
}
