/**
 * `modelmesh init`: writes a commented configuration for the providers detected.
 * @module
 */
import { detectProviders } from "../config/detect/detect.ts";
import { detectFormat, loadDocument } from "../config/load/load.ts";
import { readSettings } from "../config/load/sources.ts";
import { MeshError, NoProvidersError } from "../errors.ts";
import { Engine } from "../engine/engine.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import { type Command, type CommandParts, UsageError } from "./command.ts";
import { configText } from "./init_text.ts";
import { counted } from "./table.ts";

const defaultPath = "modelmesh.yaml";

export const init: Command = {
  help: `Usage: modelmesh init [file] [options]

Writes a commented configuration (${defaultPath}) for the providers whose API keys are in the environment, or a template if
there are none. Keys are referenced by name and not written. The file is valid, and its comments describe further settings.

Options:
  --force            Overwrite an existing file
  --env-file <file>  Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json             Print {"ok", "path", "providers", "pools"} as JSON
  --help             Show this help

Examples:
  modelmesh init
  modelmesh init --env-file .env config/mesh.yaml
  modelmesh init --force

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: [],
  switches: ["force"],
  maxArguments: 1,
  async run({ positional: [path = defaultPath], json, has }, parts) {
    if (!/\.ya?ml$/i.test(path)) {
      throw new UsageError("The configuration has comments: the file name has to end in .yaml or .yml");
    }
    const { text, providers } = textFor(parts);
    const pools = await checkedPools(text, path, parts);
    await write(path, text, { parts, isForced: has("force") });
    const { shell } = parts;
    if (json) shell.stdout.write(`${JSON.stringify({ ok: true, path, providers, pools })}\n`);
    else {
      const found = providers.length === 0
        ? "No provider was detected: set OPENAI_API_KEY, or add another provider to the file"
        : `${counted(providers.length, "provider")}: ${providers.join(", ")}`;
      shell.stdout.write(`Wrote ${path}. ${found}\n`);
      shell.stderr.write(`Next: modelmesh check ${path} --secrets --probe, then modelmesh proxy --config ${path}\n`);
    }
    return 0;
  },
};

function textFor(parts: CommandParts): { text: string; providers: string[] } {
  const { providers: connectors, env } = createConfigContext(new Engine(parts));
  try {
    const { providers } = detectProviders(connectors, env);
    return { text: configText(providers, env), providers: providers.map(({ entry }) => entry.id) };
  } catch (error) {
    if (!NoProvidersError.isInstance(error)) throw error;
    return { text: configText([], env), providers: [] };
  }
}

/** Parses the text as the proxy will, and returns the names of its pools. */
async function checkedPools(text: string, path: string, parts: CommandParts): Promise<string[]> {
  detectFormat(path);
  const files = { ...parts.runtime.files!, readText: () => Promise.resolve(text) };
  const document = await loadDocument(path, files);
  const settings = readSettings(document, createConfigContext(new Engine(parts)), {
    source: path,
    mayLackProviders: true,
  });
  return [...settings.pools.keys()];
}

async function write(
  path: string,
  text: string,
  { parts: { runtime }, isForced }: { readonly parts: CommandParts; readonly isForced: boolean },
): Promise<void> {
  const files = runtime.files!;
  const isThere = await files.readText(path).then(() => true, () => false);
  if (isThere && !isForced) {
    throw new MeshError(`"${path}" already exists: use another name, or --force to overwrite it`);
  }
  try {
    await (isThere ? files.replaceText(path, text) : files.writeText(path, text, { createNew: true }));
  } catch (error) {
    throw new MeshError(`Cannot write "${path}": its directory does not exist, or it is not writable`, {
      cause: error,
    });
  }
}
