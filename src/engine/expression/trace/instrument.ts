/**
 * Wraps the parts of an expression in calls that record their values.
 *
 * The text between the parts stays as it is, so that no part changes its meaning: non-values (targets of assignments, callees
 * with their `this`, patterns, keys) get no call, and anonymous functions keep the name that they get from their position.
 *
 * @module
 */
import type { AnyNode, AssignmentProperty, CallExpression, ChainExpression, MemberExpression, Property } from "acorn";
import { childrenOf, walk } from "../syntax.ts";
import type { TracePlaces } from "./trace-places.ts";
import { anchorOf, isWorthShowing, takesName } from "./worth.ts";

/** The parts of an expression that are watched. */
export interface Watched {
  /** Values of sub-expressions. */
  readonly values: boolean;
  /** Both sides of choices. */
  readonly branches: boolean;
}

/** One member or call of a chain with `?.`. */
type Step = MemberExpression | CallExpression;

/** A pair of places that count how often a default was used, and how often a value was given. */
interface Default {
  readonly used: number;
  readonly given: number;
}

/** Statements that get a semicolon if they have none: otherwise, they could continue into the call that is inserted after them. */
const ENDS_IN_SEMICOLON: ReadonlySet<string> = new Set([
  ...["ExpressionStatement", "VariableDeclaration", "ReturnStatement", "ThrowStatement", "PropertyDefinition"],
]);

/** Node types that are copied unchanged, because they are not values or cannot be replaced by a call. */
const COPIED: ReadonlySet<string> = new Set(["MetaProperty", "PrivateIdentifier", "TemplateElement", "Super", "BreakStatement"]);

/** Instruments one expression. */
export class Instrumenter {
  readonly #places: TracePlaces;
  readonly #with: Watched;
  #defaults: Default[] | undefined;

  /** Creates an instrumenter that adds its places to `places`. */
  constructor(places: TracePlaces, watched: Watched) {
    this.#places = places;
    this.#with = watched;
  }

  /** Returns the text of an expression whose value is used, with calls around it and its parts. */
  value(node: AnyNode): string {
    if (!this.#with.values || !isWorthShowing(node)) return this.#inner(node);
    return this.#places.nest(
      () => {
        const inner = this.#inner(node);
        return this.#places.call("t", [this.#shown(node)], inner);
      },
      () => this.#inner(node),
    );
  }

  #shown(node: AnyNode): number {
    const { source } = this.#places;
    return this.#places.point("value", node, { label: this.#places.sourceOf(node), anchor: anchorOf(node, source) });
  }

  /** The text of `node` with its children rendered by `render`. */
  #splice(node: AnyNode, render: (child: AnyNode) => string, children: readonly AnyNode[] = childrenOf(node)): string {
    let text = "";
    let at = node.start;
    for (const child of [...children].sort((left, right) => left.start - right.start)) {
      text += this.#places.source.slice(at, child.start) + render(child);
      at = child.end;
    }
    return text + this.#places.source.slice(at, node.end);
  }

  /** The text of `node` with calls around its parts, but none around itself. */
  #inner(node: AnyNode): string {
    if (COPIED.has(node.type) || node.type === "ContinueStatement") return this.#places.sourceOf(node);
    const text = this.#ofType(node);
    const runsOn = ENDS_IN_SEMICOLON.has(node.type) && this.#places.source[node.end - 1] !== ";";
    return runsOn ? `${text};` : text;
  }

  #ofType(node: AnyNode): string {
    switch (node.type) {
      case "CallExpression":
        return this.#splice(node, (child) => (child === node.callee ? this.#callee(child) : this.value(child)));
      case "NewExpression":
        return this.#splice(node, (child) => (child === node.callee ? this.#constructed(child) : this.value(child)));
      case "TaggedTemplateExpression":
        return this.#splice(node, (child) => (child === node.tag ? this.#callee(child) : this.#inner(child)));
      case "MemberExpression":
        return this.#member(node, (object) => this.#object(object));
      case "ChainExpression":
        return this.#chain(node);
      case "UnaryExpression":
        if (node.operator === "delete" || node.argument.type === "Identifier") return this.#splice(node, (child) => this.#place(child));
        return this.#splice(node, (child) => this.value(child));
      case "UpdateExpression":
        return this.#splice(node, (child) => this.#place(child));
      case "ConditionalExpression":
      case "IfStatement":
        return this.#splice(node, (child) => (child === node.test ? this.#test(node) : this.value(child)));
      case "LogicalExpression":
        return this.#splice(node, (child) => (child === node.left ? this.#leftSide(node) : this.value(child)));
      case "AssignmentExpression":
        return this.#assignment(node);
      case "VariableDeclarator":
        return this.#destructuring(node, { pattern: node.id, from: node.init });
      case "Property":
      case "MethodDefinition":
      case "PropertyDefinition":
        return this.#keyed(node);
      case "FunctionExpression":
      case "FunctionDeclaration":
      case "ArrowFunctionExpression":
        return this.#function(node);
      case "ClassExpression":
      case "ClassDeclaration":
        return this.#splice(node, (child) => (child === node.id ? this.#places.sourceOf(child) : this.value(child)));
      case "CatchClause":
        return this.#splice(node, (child) => (child === node.param ? this.#pattern(child) : this.#inner(child)));
      case "LabeledStatement":
        return this.#splice(node, (child) => (child === node.label ? this.#places.sourceOf(child) : this.#inner(child)));
      case "ForStatement":
        return this.#splice(node, (child) => (child === node.init ? this.#head(child) : this.value(child)));
      case "ForInStatement":
      case "ForOfStatement":
        return this.#splice(node, (child) => (child === node.left ? this.#places.sourceOf(child) : this.value(child)));
      default:
        return this.#splice(node, (child) => this.value(child));
    }
  }

  /** The text of a loop's initializer. It gets no semicolon, because the semicolon after it belongs to the loop. */
  #head(node: AnyNode): string {
    return node.type === "VariableDeclaration" ? this.#splice(node, (child) => this.#inner(child)) : this.value(node);
  }

  #object(node: AnyNode): string {
    return node.type === "Super" ? this.#places.sourceOf(node) : this.value(node);
  }

  #member(node: MemberExpression, render: (object: AnyNode) => string): string {
    const property = (child: AnyNode) => (node.computed ? this.value(child) : this.#places.sourceOf(child));
    return this.#splice(node, (child) => (child === node.object ? render(child) : property(child)));
  }

  /** The text of a callee. A member keeps the object that it is called on. */
  #callee(node: AnyNode): string {
    if (node.type === "ChainExpression") return this.#splice(node, (child) => this.#nativeChain(child));
    return node.type === "Identifier" ? this.#places.sourceOf(node) : this.#inner(node);
  }

  /** The text of a target of an assignment, `delete` or `typeof`. */
  #place(node: AnyNode): string {
    return this.#callee(node);
  }

  /** The text of the operand of `new`, without a call around it, whose argument list would belong to `new`. */
  #constructed(node: AnyNode): string {
    if (node.type === "MemberExpression") return this.#member(node, (object) => this.#constructed(object));
    return node.type === "Identifier" || node.type === "TaggedTemplateExpression" ? this.#places.sourceOf(node) : this.#inner(node);
  }

  #test(node: Extract<AnyNode, { type: "ConditionalExpression" | "IfStatement" }>): string {
    if (!this.#with.branches) return this.value(node.test);
    return this.#places.nest(
      () => {
        const text = this.value(node.test);
        const yes = this.#places.point("branch", node.consequent, { label: "condition true" });
        const no = this.#places.point("branch", node.alternate ?? node.test, { label: "condition false" });
        return this.#places.call("c", [yes, no], text);
      },
      () => this.value(node.test),
    );
  }

  #leftSide({ left, right, operator }: Extract<AnyNode, { type: "LogicalExpression" }>): string {
    if (!this.#with.branches) return this.value(left);
    return this.#places.nest(
      () => {
        const text = this.value(left);
        const decides = this.#places.point("branch", left, { label: "left side decides" });
        const runs = this.#places.point("branch", right, { label: "right side runs" });
        if (operator === "??") return this.#places.call("n", [runs, decides], text);
        return operator === "&&" ? this.#places.call("c", [runs, decides], text) : this.#places.call("c", [decides, runs], text);
      },
      () => this.value(left),
    );
  }

  #assignment(node: Extract<AnyNode, { type: "AssignmentExpression" }>): string {
    const { left, right, operator } = node;
    if (left.type === "ObjectPattern" || left.type === "ArrayPattern") return this.#destructuring(node, { pattern: left, from: right });
    const target = () => this.#place(left);
    const plain = () => this.#splice(node, (child) => (child === left ? target() : this.value(child)));
    if (!this.#with.branches || !/^(&&|\|\||\?\?)=$/.test(operator) || takesName(right)) return plain();
    return this.#places.nest(() => {
      const runs = this.#places.point("branch", right, { label: "right side runs" });
      const decides = this.#places.point("branch", left, { label: "left side decides" });
      this.#places.differences.push([decides, runs]);
      const text = this.#splice(node, (child) => (child === left ? target() : this.#places.call("h", [runs], this.value(child))));
      return this.#places.call("h", [decides], text);
    }, plain);
  }

  /** The text of a node that assigns values of another node to a pattern. */
  #destructuring(node: AnyNode, { pattern, from }: { pattern: AnyNode; from: AnyNode | null | undefined }): string {
    const defaults: Default[] = [];
    const target = this.#collecting(defaults, () => this.#pattern(pattern));
    const source = from && this.value(from);
    return this.#splice(node, (child) => (child === pattern ? target : this.#counting(defaults, source ?? "")));
  }

  /** Wraps `text` in one call for each default, which counts how often that default could be used. */
  #counting(defaults: readonly Default[], text: string): string {
    return defaults.reduce((inner, { given }) => this.#places.call("h", [given], inner), text);
  }

  #collecting(defaults: Default[] | undefined, render: () => string): string {
    const before = this.#defaults;
    this.#defaults = defaults;
    const text = render();
    this.#defaults = before;
    return text;
  }

  #pattern(node: AnyNode): string {
    switch (node.type) {
      case "ObjectPattern":
        return this.#splice(node, (child) => (child.type === "Property" ? this.#patternProperty(child) : this.#pattern(child)));
      case "ArrayPattern":
      case "RestElement":
        return this.#splice(node, (child) => this.#pattern(child));
      case "AssignmentPattern":
        return this.#splice(node, (child) => (child === node.left ? this.#pattern(child) : this.#default(node)));
      case "MemberExpression":
        return this.#place(node);
      default:
        return this.#places.sourceOf(node);
    }
  }

  #patternProperty(node: Property | AssignmentProperty): string {
    if (node.shorthand) return this.#pattern(node.value);
    const key = (child: AnyNode) => (node.computed ? this.#collecting(undefined, () => this.value(child)) : this.#places.sourceOf(child));
    return this.#splice(node, (child) => (child === node.key ? key(child) : this.#pattern(child)));
  }

  #default({ left, right }: Extract<AnyNode, { type: "AssignmentPattern" }>): string {
    const defaults = this.#defaults;
    const text = this.#collecting(undefined, () => this.value(right));
    // An anonymous function takes the name of its target, but not inside a call. Each counted default adds a call around the source.
    if (defaults === undefined || !this.#with.branches || takesName(right) || defaults.length >= this.#places.nesting) return text;
    const used = this.#places.point("branch", right, { label: "default used" });
    const given = this.#places.point("branch", left, { label: "value given" });
    defaults.push({ used, given });
    this.#places.differences.push([given, used]);
    return this.#places.call("h", [used], text);
  }

  #function(node: Extract<AnyNode, { type: "FunctionExpression" | "FunctionDeclaration" | "ArrowFunctionExpression" }>): string {
    const defaults: Default[] = [];
    const parameters = new Map(
      node.params.map((parameter) => [parameter as AnyNode, this.#collecting(defaults, () => this.#pattern(parameter))]),
    );
    const body = () => {
      if (node.body.type !== "BlockStatement") return this.#collecting(undefined, () => this.#counting(defaults, this.value(node.body)));
      const text = this.#collecting(undefined, () => this.#inner(node.body));
      const counts = defaults.map(({ given }) => `${this.#places.call("h", [given], "0")};`).join("");
      return `{${counts}${text.slice(1)}`;
    };
    return this.#splice(node, (child) => {
      if (child === node.body) return body();
      return child === node.id ? this.#places.sourceOf(child) : parameters.get(child)!;
    });
  }

  #keyed(node: Extract<AnyNode, { type: "Property" | "MethodDefinition" | "PropertyDefinition" }>): string {
    if (node.type === "Property" && node.shorthand) {
      const name = this.#places.sourceOf(node.key);
      const text = this.value(node.value);
      // Written in full, this one key would set the prototype.
      return text === name || name === "__proto__" ? name : `${name}:${text}`;
    }
    const key = (child: AnyNode) => (node.computed ? this.value(child) : this.#places.sourceOf(child));
    return this.#splice(node, (child) => (child === node.key ? key(child) : this.value(child)));
  }

  /**
   * Rewrites a chain with `?.` as calls with functions for the rest of the chain: `a?.b.c` becomes `o(a, (v) => v.b.c)`, so that its parts
   * can be watched separately.
   */
  #chain(chain: ChainExpression): string {
    const steps: Step[] = [];
    let base: AnyNode = chain.expression;
    while (base.type === "MemberExpression" || base.type === "CallExpression") {
      steps.unshift(base);
      base = base.type === "MemberExpression" ? base.object : base.callee;
    }
    const isCalled = steps[0]!.type === "CallExpression";
    const isOwn = base.type === "Super" || (isCalled && base.type === "ChainExpression");
    // A function inside a generator cannot yield for it.
    const native = isOwn || walk(chain).some(({ node }) => node.type === "YieldExpression") || this.#places.isFull;
    if (native) return this.#splice(chain, (child) => this.#nativeChain(child));
    const start = isCalled ? this.#callee(base) : this.#object(base);
    return this.#steps(base.type === "Identifier" && start === base.name ? start : `(${start})`, steps);
  }

  #steps(text: string, steps: readonly Step[]): string {
    const [step, ...rest] = steps;
    if (step === undefined) return text;
    const next = rest[0];
    const isMethod = step.type === "MemberExpression" && next?.type === "CallExpression";
    if (isMethod && next.optional) return this.#optionalMethod(text, { member: step, call: next, rest: rest.slice(1) });
    return this.#optional(text, step, (object) => {
      const reached = object + this.#suffix(step);
      return this.#steps(isMethod || rest.length === 0 ? reached : this.#kept(step, reached), rest);
    });
  }

  /** Applies `follow` to the object, or to a name for it if the step is optional. */
  #optional(text: string, step: Step, follow: (object: string) => string): string {
    if (!step.optional) return follow(text);
    const object = step.type === "MemberExpression" ? step.object : step.callee;
    const present = this.#places.point("branch", { start: object.end, end: step.end }, { label: "value present" });
    const absent = this.#places.point("branch", object, { label: "value absent" });
    const name = this.#places.temporary();
    return ` ${this.#places.prefix}o(${present},${absent},${text},(${name})=>(${this.#places.deeper(() => follow(name))}))`;
  }

  /** `text.member?.(…)`, which calls the member on its object. */
  #optionalMethod(text: string, { member, call, rest }: { member: MemberExpression; call: CallExpression; rest: readonly Step[] }): string {
    return this.#optional(text, member, (object) => {
      const owner = this.#places.temporary();
      const method = this.#optional(owner + this.#suffix(member), call, (name) => {
        const reached = ` ${this.#places.prefix}r(${name},${owner},[${call.arguments.map((argument) => this.value(argument)).join(",")}])`;
        return this.#steps(rest.length === 0 ? reached : this.#kept(call, reached), rest);
      });
      return `((${owner})=>(${method}))(${object})`;
    });
  }

  #suffix(step: Step): string {
    if (step.type === "CallExpression") return `(${step.arguments.map((argument) => this.value(argument)).join(",")})`;
    return step.computed ? `[${this.value(step.property)}]` : `.${this.#places.sourceOf(step.property)}`;
  }

  /** Wraps `text`, which gives the value of `step`, in the call that records the value. */
  #kept(step: Step, text: string): string {
    if (!this.#with.values) return text;
    return this.#places.call("t", [this.#shown(step)], text);
  }

  /** An unchanged chain: parts after its first `?.` get no call. */
  #nativeChain(node: AnyNode): string {
    if (!hasOptional(node)) return this.value(node);
    const lower = (child: AnyNode, plain: (child: AnyNode) => string) => (hasOptional(child) ? this.#nativeChain(child) : plain(child));
    if (node.type === "MemberExpression") return this.#member(node, (object) => lower(object, (child) => this.#object(child)));
    const { callee } = node as CallExpression;
    return this.#splice(node, (child) => (child === callee ? lower(child, (inner) => this.#callee(inner)) : this.value(child)));
  }
}

/** Reports whether a member or call comes after a `?.` of its own chain. */
function hasOptional(node: AnyNode): boolean {
  if (node.type !== "MemberExpression" && node.type !== "CallExpression") return false;
  return node.optional || hasOptional(node.type === "MemberExpression" ? node.object : node.callee);
}
