/**
 * Descriptions of configuration keys: the comments in `src/config/schema`. They are read from the source, so that
 * programs do not contain them.
 * @module
 */
import ts from "../npm/typescript.ts";

const folder = new URL("../../src/config/schema/", import.meta.url);
const first = "schema.ts";
/** Field functions whose members are named by the user. The path of their keys contains `*`. */
const maps: readonly string[] = ["mapField", "recordField"];

/** Field functions of a file, and the imports of their names. */
interface Source {
  readonly text: ts.SourceFile;
  readonly bodies: ReadonlyMap<string, ts.Expression>;
  readonly imports: ReadonlyMap<string, string>;
}

/**
 * Returns comments by the path of their key, such as `pools.*.retry.max_attempts`.
 *
 * @throws {Error} When a key has no comment, or is written in an unsupported form; the message names the line.
 */
export function readComments(): ReadonlyMap<string, string> {
  const reader = new CommentReader();
  reader.read({ name: "makeSchema", file: first });
  return reader.comments;
}

class CommentReader {
  readonly comments = new Map<string, string>();
  readonly #sources = new Map<string, Source>();

  /** Follows a function of the schema that creates a field. */
  read({ name, file }: { name: string; file: string }, path = ""): void {
    const { bodies, imports } = this.#source(file);
    const [body, origin] = [bodies.get(name), imports.get(name)];
    if (body !== undefined) this.#field(body, file, path);
    else if (origin !== undefined) this.read({ name, file: origin }, path);
  }

  /** Reads the keys of a field from the call that creates it. */
  #field(call: ts.Expression, file: string, path: string): void {
    if (!ts.isCallExpression(call)) return;
    const name = call.expression.getText();
    this.read({ name, file }, path);
    const inside = maps.includes(name) ? `${path}.*` : path;
    call.arguments.forEach((argument, index) => {
      const holdsKeys = name === "object" && index === 0 && ts.isObjectLiteralExpression(argument);
      if (!holdsKeys) return this.#field(argument, file, inside);
      for (const member of argument.properties) this.#key(member, file, path);
    });
  }

  #key(member: ts.ObjectLiteralElementLike, file: string, path: string): void {
    const where = () => {
      const source = this.#source(file).text;
      return `${file}:${source.getLineAndCharacterOfPosition(member.getStart()).line + 1}`;
    };
    if (!ts.isPropertyAssignment(member)) throw new Error(`${where()}: write the key as "key: field"`);
    const { name, initializer } = member;
    const key = ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : name.getText();
    const fullPath = path === "" ? key : `${path}.${key}`;
    const comment = ts.getJSDocCommentsAndTags(member).map(({ comment }) => ts.getTextOfJSDocComment(comment)).join("");
    if (comment === "") throw new Error(`${where()}: "${fullPath}" has no comment that says what it is for`);
    this.comments.set(fullPath, comment.replace(/\s+/g, " "));
    this.#field(initializer, file, fullPath);
  }

  #source(file: string): Source {
    const known = this.#sources.get(file);
    if (known !== undefined) return known;
    const content = Deno.readTextFileSync(new URL(file, folder));
    const text = ts.createSourceFile(file, content, ts.ScriptTarget.ESNext, true);
    const source = { text, bodies: findBodies(text), imports: findSchemaImports(text) };
    this.#sources.set(file, source);
    return source;
  }
}

/** Returns what the functions of a file return. */
function findBodies(text: ts.SourceFile): Map<string, ts.Expression> {
  const bodies = new Map<string, ts.Expression>();
  for (const statement of text.statements) {
    if (ts.isFunctionDeclaration(statement)) add(statement.name, statement.body);
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (initializer && ts.isArrowFunction(initializer)) add(name, initializer.body);
    }
  }
  return bodies;

  function add(name: ts.Node | undefined, body: ts.ConciseBody | undefined): void {
    const returned = body && ts.isBlock(body) ? body.statements.find(ts.isReturnStatement)?.expression : body;
    if (name !== undefined && returned !== undefined) bodies.set(name.getText(), returned as ts.Expression);
  }
}

/** Returns the schema files that names are imported from. */
function findSchemaImports(text: ts.SourceFile): Map<string, string> {
  const imports = new Map<string, string>();
  for (const statement of text.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const file = (statement.moduleSpecifier as ts.StringLiteral).text;
    const names = statement.importClause?.namedBindings;
    if (!/^\.\/[a-z]/.test(file) || names === undefined || !ts.isNamedImports(names)) continue;
    for (const { name } of names.elements) imports.set(name.text, file.replace("./", ""));
  }
  return imports;
}
