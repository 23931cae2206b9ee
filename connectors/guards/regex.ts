/**
 * A guard of named patterns, matched in linear time by RE2, so that no text can keep it busy.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Guard, GuardReplacement } from "../../src/contracts/guard.ts";
import { ConfigError, type ConfigProblem, ConnectorError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { regexDeclaration } from "./declarations.ts";
import { onlyAt } from "./_stages.ts";

/** The longest match that a stream allows, characters. */
const maxReach = 2047;

/** The used part of `re2js`. */
interface Engine {
  compile(pattern: string): {
    matcher(text: string): {
      find(): boolean;
      start(): number;
      end(): number;
    };
    matches(text: string): boolean;
  };
}

/** A compiled pattern. */
interface Rule {
  readonly name: string;
  readonly replacement: string;
  readonly pattern: ReturnType<Engine["compile"]>;
}

/** Bundlers treat an import whose rejection is handled as optional. */
function notInstalled(error: unknown): never {
  throw error;
}

/**
 * Loads the guard with its package.
 *
 * @throws {ConnectorError} If `re2js` is not installed.
 */
export async function loadRegexGuard(): Promise<Connector<"guard">> {
  try {
    // deno-lint-ignore no-import-prefix -- an entry in deno.json would be downloaded before any task
    const { RE2JS } = await import("npm:re2js@2.10.0").catch(notInstalled) as { readonly RE2JS: Engine };
    return { ...regexDeclaration, create: (settings) => createRegexGuard(settings, RE2JS) };
  } catch (error) {
    const message = `The guard "${regexDeclaration.id}" requires the package "re2js", which is not installed: `;
    throw new ConnectorError(`${message}add it with "npm install re2js@2"`, error);
  }
}

/** @throws {ConfigError} If a pattern is invalid; reports all of them. */
function createRegexGuard(
  { patterns, action = "block", replacement, stages, reach = 256 }: Readonly<Record<string, unknown>>,
  engine: Engine,
): Guard {
  const rules = compileRules(patterns, { engine, replacement });
  return onlyAt(stages, {
    reach: Math.min(Number(reach), maxReach),
    check: (texts) => {
      const changed: GuardReplacement[] = [];
      for (const { path, text } of texts) {
        let current = text;
        const found: string[] = [];
        for (const rule of rules) {
          const masked = mask(current, rule);
          if (masked === current) continue;
          if (action === "block") return { action: "block", code: rule.name, path };
          current = masked;
          found.push(rule.name);
        }
        if (found.length > 0) changed.push({ path, text: current, rule: found.join(",") });
      }
      return changed.length === 0 ? { action: "allow" } : { action: "replace", texts: changed };
    },
  });
}

function compileRules(
  patterns: unknown,
  { engine, replacement }: { readonly engine: Engine; readonly replacement: unknown },
): Rule[] {
  const problems: ConfigProblem[] = [];
  const rules = Object.entries(isObject(patterns) ? patterns : {}).flatMap(([name, source]): Rule[] => {
    const path = `patterns.${name}`;
    if (typeof source !== "string" || source === "") {
      problems.push({ path, message: "expected a pattern" });
      return [];
    }
    try {
      const pattern = engine.compile(source);
      if (pattern.matcher("").find()) problems.push({ path, message: "matches the empty text, and so every text" });
      return [{
        name,
        pattern,
        replacement: typeof replacement === "string" ? replacement : `[${name.toUpperCase()}]`,
      }];
    } catch (error) {
      const reason = error instanceof Error ? error.message : "it is invalid";
      const message = `is not a pattern that takes linear time (RE2: no lookaround, no backreferences): ${reason}`;
      problems.push({ path, message });
      return [];
    }
  });
  if (rules.length === 0 && problems.length === 0) problems.push({ path: "patterns", message: "has no pattern" });
  if (problems.length > 0) throw new ConfigError(problems);
  return rules;
}

/** Replaces every match. */
function mask(text: string, { pattern, replacement }: Rule): string {
  const matcher = pattern.matcher(text);
  let masked = "";
  let end = 0;
  while (matcher.find()) {
    if (matcher.end() === matcher.start()) continue;
    masked += text.slice(end, matcher.start()) + replacement;
    end = matcher.end();
  }
  return end === 0 ? text : masked + text.slice(end);
}
