/**
 * Finds the `@example` blocks of source files and makes them runnable.
 *
 * A statement may be followed by a comment that says what it yields, on the same line or on lines of its own:
 * `parseKey("a/b"); // { namespace: "a", name: "b" }`. What reads as a literal, or as a name that is in scope, is compared
 * with the value; `// throws CODE` expects an error; any other text is for the reader.
 */
import * as ts from "typescript";

/** One block, and what is needed to run it. */
export interface Example {
  /** Path of its file from the root. */
  readonly file: string;
  /** Subject of the doc comment, with its line. */
  readonly subject: string;
  /** JavaScript with a call of `yields(number, value)` or `throws(number, run)` for every expectation. */
  readonly script: string;
  /** The comments behind the statements, by number. */
  readonly expectations: readonly string[];
  /** Names that the block uses and does not declare. */
  readonly names: readonly string[];
  readonly awaits: boolean;
}

/** Every example in the text of a source file. */
export function findExamples(file: string, text: string): Example[] {
  return [...text.matchAll(/\/\*\*(?:(?!\*\/)[^])*\*\/\s*([^\n]*)/g)].flatMap((match) => {
    const line = text.slice(0, match.index).split("\n").length;
    const name = /(?:function\*?|class|interface|type|const)\s+(\w+)/.exec(match[1]!)?.[1] ?? match[1]!.slice(0, 30);
    return blocksOf(match[0]).map((code) => compile(code, { file, subject: `${name} (line ${line})` }));
  });
}

/** The code below each `@example` of a doc comment, up to the next tag. Fences are dropped. */
function blocksOf(comment: string): string[] {
  const body = comment.slice(0, comment.lastIndexOf("*/")).replace(/^[ \t]*\* ?/gm, "");
  return [...body.matchAll(/^@example(?:[^\n]*)\n((?:(?!^@\w)[^])*)/gm)].map((match) => match[1]!.replace(/^```.*$/gm, "").trim());
}

function compile(code: string, place: { file: string; subject: string }): Example {
  const source = ts.createSourceFile("example.ts", code, ts.ScriptTarget.ES2023, true);
  const expectations: string[] = [];
  const lines = source.statements.map((statement) => {
    const comment = commentBehind(code, statement.end);
    return comment === undefined ? statement.getText() : checked(statement, expectations.push(comment) - 1, comment);
  });
  const script = ts.transpile(lines.join("\n"), { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext });
  return { ...place, script, expectations, names: freeNames(source), awaits: /\bawait\b/.test(code) };
}

/** The comment on the rest of the line, or else the comment lines below. */
function commentBehind(code: string, end: number): string | undefined {
  const rest = /^[ \t]*\/\/([^\n]*)/.exec(code.slice(end))?.[1] ?? /^[ \t]*\n((?:[ \t]*\/\/[^\n]*(?:\n|$))+)/.exec(code.slice(end))?.[1];
  return rest?.replace(/^[ \t]*\/\//gm, "").trim();
}

function checked(statement: ts.Statement, number: number, comment: string): string {
  if (ts.isExpressionStatement(statement)) {
    const expression = statement.expression.getText();
    return comment.startsWith("throws ") ? `await throws(${number}, async () => (${expression}));` : `yields(${number}, (${expression}));`;
  }
  const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations.at(-1)!.name : undefined;
  const check = declared !== undefined && ts.isIdentifier(declared) ? `yields(${number}, ${declared.text});` : "";
  return `${statement.getText()}\n${check}`;
}

/** Names used in `source` and declared nowhere in it; a name that is declared anywhere counts as declared. */
function freeNames(source: ts.SourceFile): string[] {
  const used = new Set<string>();
  const declared = new Set<string>();
  const visit = (node: ts.Node, parent: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isIdentifier(node) && !isMemberName(node, parent)) (isDeclaredName(node, parent) ? declared : used).add(node.text);
    ts.forEachChild(node, (child) => visit(child, node));
  };
  visit(source, source);
  return [...used].filter((name) => !declared.has(name) && !(name in globalThis) && name !== "undefined");
}

function isMemberName(node: ts.Identifier, parent: ts.Node): boolean {
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent)) && parent.name === node
  );
}

function isDeclaredName(node: ts.Identifier, parent: ts.Node): boolean {
  const declares =
    ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent) || ts.isFunctionDeclaration(parent);
  return declares && parent.name === node;
}

/** Whether `text` is a JavaScript literal: numbers, texts, lists, objects and so on, but no call and no variable. */
export function isLiteral(text: string): boolean {
  const source = ts.createSourceFile("literal.ts", `(${text});`, ts.ScriptTarget.ES2023, true);
  const { parseDiagnostics } = source as unknown as { parseDiagnostics: readonly unknown[] };
  const [statement] = source.statements;
  return (
    parseDiagnostics.length === 0 &&
    source.statements.length === 1 &&
    ts.isExpressionStatement(statement!) &&
    isLiteralNode(statement.expression)
  );
}

function isLiteralNode(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node)) return isLiteralNode(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return isLiteralNode(node.operand);
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isLiteralNode);
  if (ts.isObjectLiteralExpression(node))
    return node.properties.every((one) => ts.isPropertyAssignment(one) && isLiteralNode(one.initializer));
  const constant = [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword].includes(node.kind);
  return constant || ts.isLiteralExpression(node) || (ts.isIdentifier(node) && ["undefined", "NaN", "Infinity"].includes(node.text));
}
