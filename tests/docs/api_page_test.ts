/** How `docs/api.md` writes what `deno doc` reads. */
import { assertEquals, assertThrows } from "@std/assert";
import { firstSentence, readDoc } from "../../scripts/reference/api/doc.ts";
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
    `/** Makes one. */
function make(name: string): Made;
/** Makes one by number. */
function make(id: number): Made;
/** What is made. */
class Made extends Date {
  static first(): Made; // The first.
  constructor(name: string, options?: { readonly a?: string; }); // Makes it.
  readonly name: string; // Its name.
  get isLate(): boolean; // Whether it is late.
  protected parts(...all: string[]): void; // For subclasses.
}`,
  );
});

Deno.test("a first sentence ends at its period, not at one inside a name", () => {
  assertEquals(
    firstSentence({ doc: "Reads `a.b` of {@linkcode Mesh.stats}, e.g. once.\nThen twice." }),
    "Reads `a.b` of `Mesh.stats`, e.g. once.",
  );
});

Deno.test("a type of a kind that no writer knows fails, and is not left out", () => {
  assertThrows(() => writeType({ kind: "novel" }), Error, '"novel"');
});
