/**
 * The tools of a request: their names in chat, where all of them are functions, and in the API.
 * @module
 */
import type { Tool } from "../../contracts/openai.ts";
import { renameIdentifiers } from "../../util/rename_identifiers.ts";
import { type Declaration, functionCalls, type NamedTool } from "./_call_kinds.ts";

/** The names of functions that every chat API accepts. */
const nameRule = { max_length: 64 };

/** Tools by both of their names. */
export class ToolTable {
  /** The functions, in order. */
  readonly functions: Tool[] = [];
  readonly #byKey = new Map<string, string>();
  readonly #byChatName = new Map<string, NamedTool>();
  readonly #byNamespace = new Map<string, string[]>();
  /** How often a name was taken. */
  readonly #repeats = new Map<string, number>();

  /** Adds a tool, unless it is known: a search finds tools again. */
  add(tool: NamedTool, declaration: Declaration): void {
    if (this.#byKey.has(toKey(tool))) return;
    this.functions.push({ type: "function", function: { name: this.#register(tool), ...declaration } });
  }

  /** The name of a function for a tool, which is another one only if it is too long or taken. */
  toChatName(tool: NamedTool): string {
    return this.#byKey.get(toKey(tool)) ?? this.#register(tool);
  }

  /** The tool that a function stands for. */
  find(chatName: string): NamedTool {
    return this.#byChatName.get(chatName) ?? { kind: functionCalls, name: chatName };
  }

  /** The functions for the tools of a namespace. */
  listNamespace(namespace: string): readonly string[] {
    return this.#byNamespace.get(namespace) ?? [];
  }

  #register(tool: NamedTool): string {
    const wanted = shorten(tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`);
    let name = wanted;
    for (let repeat = this.#repeats.get(wanted) ?? 2; this.#byChatName.has(name); repeat++) {
      name = shorten(`${wanted}_${repeat}`);
      this.#repeats.set(wanted, repeat + 1);
    }
    this.#byKey.set(toKey(tool), name);
    this.#byChatName.set(name, tool);
    if (tool.namespace !== undefined) this.#noteMember(tool.namespace, name);
    return name;
  }

  #noteMember(namespace: string, name: string): void {
    const members = this.#byNamespace.get(namespace);
    if (members === undefined) this.#byNamespace.set(namespace, [name]);
    else members.push(name);
  }
}

function toKey({ kind, name, namespace = "" }: NamedTool): string {
  return JSON.stringify([kind.abbreviation, namespace, name]);
}

function shorten(name: string): string {
  return renameIdentifiers([name], nameRule).get(name) ?? name;
}
