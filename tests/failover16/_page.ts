/**
 * What `docs/failover.md` says of the sixteen faults: its configuration, and the verdicts of both configurations.
 * @module
 */
import { readFileSync } from "node:fs";
import { parse } from "@std/yaml";
import type { Configuration } from "./_scene.ts";
import type { Vendor } from "./_vendors.ts";
import type { Verdict } from "./_verdicts.ts";

// two levels below the root, also when bundled for Node
const page = readFileSync(new URL("../../docs/failover.md", import.meta.url), "utf8");

/** A row of the table of faults. */
export interface FaultRow {
  readonly title: string;
  readonly defaults: Verdict;
  readonly printed: Verdict;
}

/** Returns the table of faults by their numbers. */
export function readTable(): ReadonlyMap<number, FaultRow> {
  const rows = page.matchAll(/^\| (\d+) \| (.+?) \| .+? \| (pass|partly|safe|fail) \| (pass|partly|safe|fail) \|$/gm);
  return new Map([...rows].map(([, number, title, defaults, printed]) => [
    Number(number),
    { title: title!, defaults: defaults as Verdict, printed: printed as Verdict },
  ]));
}

interface PrintedConfig {
  readonly providers: Readonly<Record<string, object>>;
  readonly models: Readonly<Record<string, object>>;
  readonly pools: Readonly<Record<string, object>>;
}

/** The priority that both configurations have: the other model is the fallback of the first. */
const chat = { models: ["a", "b"], strategy: "priority", model_priority: ["a", "b"] };

/** A configuration of defaults, with timeouts of 30 s. */
export const defaults: Configuration = (urls, vendor) => {
  const provider = { execution: { timeout: "30s" } };
  return {
    providers: { a: scripted(urls.a, vendor, provider), b: scripted(urls.b, vendor, provider) },
    models: { a: priced("a"), b: priced("b") },
    pools: { chat },
  };
};

/**
 * The configuration that the page prints. Its two providers and models are the scripted ones, its pool is `chat`;
 * everything else is as printed.
 */
export const printed: Configuration = (urls, vendor) => {
  const [text = ""] = /(?<=^## Uninterrupted answers\n[^]*?^```yaml\n)[^]*?(?=^```)/m.exec(page) ?? [];
  const { providers, models, pools, ...sections } = parse(text) as PrintedConfig;
  const [a = {}, b = {}] = Object.values(providers);
  const names = Object.keys(models);
  const [pool = {}] = Object.values(pools);
  const renamed = JSON.stringify(pool).replaceAll(JSON.stringify(names[0]), '"a"');
  return {
    ...sections,
    providers: { a: scripted(urls.a, vendor, a), b: scripted(urls.b, vendor, b) },
    models: { a: priced("a"), b: priced("b") },
    pools: { chat: JSON.parse(renamed.replaceAll(JSON.stringify(names[1]), '"b"')) },
  };
};

function scripted(url: string, { connector, settings }: Vendor, provider: object): object {
  return { ...provider, connector, base_url: url, api_key: "key-of-a-test-0123456789", ...settings };
}

function priced(name: string): object {
  return { provider: name, model: name, capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } };
}
