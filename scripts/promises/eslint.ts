/**
 * ESLint with the rules of typescript-eslint, pinned. It is loaded by computed names: a package that is named in an
 * import changes which types the other packages of this tree get.
 * @module
 */

/** A finding. */
interface Finding {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The part of ESLint that is used. */
interface Linter {
  verify(text: string, config: readonly unknown[], options: { readonly filename: string }): readonly Finding[];
}

/** ESLint, and the parser and plugin of typescript-eslint. */
export interface Eslint {
  readonly Linter: new (options: { readonly configType: "flat"; readonly cwd: string }) => Linter;
  readonly parser: unknown;
  readonly plugin: unknown;
}

const names = [
  "npm:eslint@10.15.0",
  "npm:@typescript-eslint/parser@8.74.0",
  "npm:@typescript-eslint/eslint-plugin@8.74.0",
];

/** Loads ESLint. */
export async function loadEslint(): Promise<Eslint> {
  const [{ Linter }, parser, { default: plugin }] = await Promise.all(names.map((name) => import(name)));
  return { Linter, parser, plugin };
}
