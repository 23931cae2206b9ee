/** How `docs/api.md` writes what `deno doc` reads. */
import { assertEquals, assertThrows } from "@std/assert";
import { commentLines, readDoc } from "../../scripts/reference/api/doc.ts";
import { symbolLines } from "../../scripts/reference/api/symbols.ts";
import { writeType } from "../../scripts/reference/api/types.ts";

/** What the page says of a source. */
async function written(source: string): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/entry.ts`;
    await Deno.writeTextFile(file, source);
    const { symbols } = await readDoc(new URL(`file://${file}`));
    return symbols.map((symbol) => symbolLines(symbol).join("\n")).join("\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("types read as they were written", async () => {
  const types = [
    'type A = "a" | 1 | true | null;',
    "type B = readonly string[] | [number, ...string[]];",
    "type C<Value extends string = string> = Record<Value, (value: Value, index?: number) => void>;",
    "type D = { readonly a?: string; [name: string]: unknown; };",
    'type E = D["a"] & keyof D;',
    "type F = typeof fetch | (new (...given: string[]) => Date);",
    "type G = { readonly [name in keyof D]?: D[name] };",
    "type H<Value> = Value extends string ? Value : never;",
    "type I = `${string}.x${number}`;",
    "type J<Value> = Value extends readonly (infer Item)[] ? Item : never;",
  ];
  const source = types.map((type) => `/** A type. */\nexport ${type}`).join("\n");
  assertEquals(await written(source), types.map((type) => `/** A type. */\n${type}`).join("\n"));
});

Deno.test("of overloads callers see all but the implementation, of classes what is not private", async () => {
  const source = `
/** Makes one. More. */
export function make(name: string): Made;
/** Makes one by number. */
export function make(id: number): Made;
export function make(given: string | number): Made { return new Made(String(given)); }
/** What is made. */
export class Made extends Date {
  #secret = 1;
  /** Nobody's business. */
  private hidden = this.#secret;
  /**
   * For us.
   *
   * @internal
   */
  plan(): void {}
  /** Its name. */
  readonly name: string;
  /** Makes it. */
  constructor(name: string, options: { readonly a?: string } = {}) { super(); this.name = name + options.a; }
  /** The first. */
  static first(): Made { return new Made("first"); }
  /** Whether it is late. */
  get isLate(): boolean { return false; }
  /** For subclasses. */
  protected parts(..._all: string[]): void {}
}`;
  assertEquals(
    await written(source),
    `/** Makes one. More. */
function make(name: string): Made;
/** Makes one by number. */
function make(id: number): Made;
/** What is made. */
class Made extends Date {
  /** The first. */
  static first(): Made;
  /** Makes it. */
  constructor(name: string, options?: { readonly a?: string; });
  /** Its name. */
  readonly name: string;
  /** Whether it is late. */
  get isLate(): boolean;
  /** For subclasses. */
  protected parts(...all: string[]): void;
}`,
  );
});

Deno.test("comments are complete: paragraphs, parameters, remarks and examples, also of members", async () => {
  const source = `
/**
 * What is stored. It has a name.
 *
 * Its second paragraph mentions {@linkcode Stored.read}:
 *
 * - one
 *
 * @example
 * \`\`\`ts
 * const stored = new Stored();
 * \`\`\`
 */
export interface Stored {
  /**
   * Its name.
   *
   * @default {"none"}
   */
  name?: string;
  /**
   * Reads it.
   *
   * @param at When.
   * @returns What was stored.
   * @throws {RangeError} If it is too late.
   */
  read(at: number): string;
}`;
  assertEquals(
    await written(source),
    source.trim().replace("export ", "").replace("{@linkcode Stored.read}", "\`Stored.read\`"),
  );
});

Deno.test("a comment without text and tags has no lines", () => {
  assertEquals([commentLines(undefined), commentLines({ doc: " " })], [[], []]);
});

Deno.test("a type of a kind that no writer knows fails, and is not left out", () => {
  assertThrows(() => writeType({ kind: "novel" }), Error, '"novel"');
});
