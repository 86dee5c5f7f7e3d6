/**
 * A source with all of its mutants, each behind a switch: `a < b` becomes
 * `(mutation.is(1) ? (a <= b) : (a < b))`. So one load of the modules is enough to run every mutant.
 */
import {
  type Edit,
  editsOf,
  isAndOr,
  isBoolean,
  isComparison,
  optionalEdits,
  type Place,
} from './mutators.ts';
import { child, children, type Node, parse, parts } from './syntax.ts';

export interface Mutant {
  readonly id: number;
  /** From the root of the checkout. */
  readonly file: string;
  readonly line: number;
  /** The function or constant of the module that it is in. */
  readonly within: string;
  readonly code: string;
  readonly becomes: string;
}

export interface Instrumented {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

/** How instrumented code reads the switches, which runner.ts defines. */
const SWITCHES = 'globalThis.mutation';

interface Insertion {
  readonly at: number;
  readonly isOpening: boolean;
  readonly depth: number;
  readonly text: string;
  /** How much of the source it replaces. */
  readonly length?: number;
}

/**
 * @param isMutated whether it has mutants; its loops are counted anyway, so that none runs forever because of a
 * mutant elsewhere
 * @param firstId the id of its first mutant
 */
export function instrument(
  { file, source }: { readonly file: string; readonly source: string },
  isMutated: boolean,
  firstId = 0,
): Instrumented {
  const walk = new Walk({ file, source }, isMutated, firstId);
  walk.visit(parse(file, source), { depth: 0, within: '', place: VALUE });
  return { source: inserted(source, walk.insertions), mutants: walk.mutants };
}

const VALUE: Place = { isCondition: false };
const CONDITION: Place = { isCondition: true };
const FIXED_TEXT: Place = { isCondition: false, isFixedText: true };

interface At {
  readonly depth: number;
  readonly within: string;
  readonly place: Place;
  /** The optional chain that the node is a link of: a link alone cannot be wrapped. */
  readonly chain?: Node | undefined;
}

const LOOPS = new Set([
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
]);

class Walk {
  readonly insertions: Insertion[] = [];
  readonly mutants: Mutant[] = [];

  private readonly file: string;
  private readonly source: string;
  private readonly isMutated: boolean;
  private readonly firstId: number;

  constructor(read: { file: string; source: string }, isMutated: boolean, firstId: number) {
    this.file = read.file;
    this.source = read.source;
    this.isMutated = isMutated;
    this.firstId = firstId;
  }

  visit(node: Node, at: At): void {
    if (node.type.startsWith('Import') || node.declare === true) return;
    const within = at.within === '' ? nameOf(node) : at.within;
    const here = { ...at, within };
    const first = this.nextId;
    if (LOOPS.has(node.type)) this.count(child(node, 'body'), here);
    if (this.isMutated) this.mutate(node, here);
    for (const [field, part] of parts(node)) {
      if (isKey(node, field)) continue;
      this.visit(part, {
        depth: at.depth + 1,
        within,
        place: placeOf(node, field, at.place),
        chain: chainOf(node, field, at.chain),
      });
    }
    if (at.within === '' && node.type === 'VariableDeclaration')
      this.keepComputable(node, first, at);
  }

  /** Makes a constant of the module one that can be computed again. */
  private keepComputable(node: Node, first: number, { depth }: At): void {
    const [declarator, ...others] = children(node, 'declarations');
    const ids = `[${first}, ${this.nextId}]`;
    if (first === this.nextId || declarator === undefined || others.length > 0) return;
    const [id, init] = [child(declarator, 'id'), child(declarator, 'init')];
    if (node.kind !== 'const' || id.type !== 'Identifier') return;
    this.insertions.push({
      at: node.start,
      isOpening: true,
      depth,
      text: 'let',
      length: 'const'.length,
    });
    const of = `{ file: '${this.file}', ids: ${ids} }`;
    const assign = `(value) => { ${String(id.name)} = value; }`;
    this.insertions.push({
      at: init.start,
      isOpening: true,
      depth,
      text: `${SWITCHES}.constant(${of}, () => (`,
    });
    this.insertions.push({ at: init.end, isOpening: false, depth, text: `), ${assign})` });
  }

  private get nextId(): number {
    return this.firstId + this.mutants.length;
  }

  private mutate(node: Node, at: At): void {
    const host = at.chain ?? node;
    const edits = [...editsOf(node, at.place, this.source), ...optionalEdits(node, this.source)];
    for (const edit of edits) this.choose(host, edit, at);
    this.mutateStatement(node, at);
  }

  /** Wraps an expression in a choice between it and a mutant of it. */
  private choose(host: Node, edit: Edit, at: At): void {
    const becomes =
      this.source.slice(host.start, edit.start) + edit.text + this.source.slice(edit.end, host.end);
    const is = this.add(host, becomes, at);
    this.wrap(host, `(${is} ? (${becomes}) : (`, '))', at.depth);
  }

  private mutateStatement(node: Node, at: At): void {
    switch (node.type) {
      case 'ExpressionStatement':
      case 'ContinueStatement':
        if (typeof node.directive === 'string') return;
        // In braces, so that an `else` after it belongs to the `if` before it.
        this.wrap(node, `{if (!${this.add(node, '', at)}) {`, '}}', at.depth);
        return;
      case 'ForOfStatement': {
        const list = child(node, 'right');
        this.wrap(list, `(${this.add(list, '[]', at)} ? [] : (`, '))', at.depth);
        return;
      }
      case 'SwitchCase':
        this.mutateCase(node, at);
        return;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        this.mutateBody(node, at);
        return;
      default:
    }
  }

  private mutateBody(node: Node, at: At): void {
    const body = child(node, 'body');
    if (children(body, 'body').length === 0) return;
    const is = this.add(node, '{}', at, `${this.source.slice(node.start, body.start)}{…}`);
    this.insert(body.start + 1, `if (${is}) return;`, at.depth);
  }

  private mutateCase(node: Node, at: At): void {
    const [first] = children(node, 'consequent');
    if (node.test === null) {
      if (first === undefined) return;
      const is = this.add(node, 'default: break;', at);
      this.insert(first.start, `if (${is}) break;`, at.depth - 0.5);
      return;
    }
    const test = child(node, 'test');
    const is = this.add(test, 'never', at, `case ${this.source.slice(test.start, test.end)}`);
    this.wrap(test, `(${is} ? Symbol() : (`, '))', at.depth);
  }

  private add(node: Node, becomes: string, { within }: At, code?: string): string {
    const id = this.nextId;
    this.mutants.push({
      id,
      file: this.file,
      line: this.source.slice(0, node.start).split('\n').length,
      within,
      code: oneLine(code ?? this.source.slice(node.start, node.end)),
      becomes: oneLine(becomes),
    });
    return `${SWITCHES}.is(${id})`;
  }

  private count(body: Node, { depth }: At): void {
    if (body.type === 'BlockStatement') {
      this.insert(body.start + 1, `${SWITCHES}.count();`, depth);
    } else {
      this.wrap(body, `{${SWITCHES}.count();`, '}', depth);
    }
  }

  private wrap({ start, end }: Node, before: string, after: string, depth: number): void {
    // Several around one node nest: the later ones are inside.
    const inner = depth + this.insertions.length * 1e-6;
    this.insertions.push({ at: start, isOpening: true, depth: inner, text: before });
    this.insertions.push({ at: end, isOpening: false, depth: inner, text: after });
  }

  private insert(at: number, text: string, depth: number): void {
    this.insertions.push({ at, isOpening: true, depth, text });
  }
}

function inserted(source: string, insertions: readonly Insertion[]): string {
  const ordered = [...insertions].sort(
    (a, b) =>
      a.at - b.at ||
      Number(a.isOpening) - Number(b.isOpening) ||
      (a.isOpening ? a.depth - b.depth : b.depth - a.depth),
  );
  let result = '';
  let from = 0;
  for (const { at, text, length = 0 } of ordered) {
    result += source.slice(from, at) + text;
    from = at + length;
  }
  return result + source.slice(from);
}

function nameOf(node: Node): string {
  const named = node.type === 'VariableDeclarator' || node.type.endsWith('Declaration');
  const { id } = node;
  return named && typeof id === 'object' && id !== null && 'name' in id ? String(id.name) : '';
}

/** Names of fields, which are not expressions. */
function isKey(node: Node, field: string): boolean {
  if (field === 'property') return node.computed !== true;
  return (field === 'key' && node.computed !== true) || field === 'source' || field === 'quasi';
}

function chainOf(node: Node, field: string, chain: Node | undefined): Node | undefined {
  if (node.type === 'ChainExpression') return node;
  return field === 'object' || field === 'callee' || node.type === 'TSNonNullExpression'
    ? chain
    : undefined;
}

const CONDITIONS = new Set([
  'IfStatement',
  'ConditionalExpression',
  'WhileStatement',
  'DoWhileStatement',
  'ForStatement',
]);

function placeOf(node: Node, field: string, place: Place): Place {
  if (field === 'test') {
    if (node.type === 'SwitchCase') return FIXED_TEXT;
    if (!CONDITIONS.has(node.type)) return VALUE;
    // A loop that never ends needs no test.
    return isLoop(node) ? { isCondition: true, except: 'true' } : CONDITION;
  }
  if (isAndOr(node)) return operandPlace(node, field, place);
  if (isComparison(node)) return FIXED_TEXT;
  if (isThrown(node)) return FIXED_TEXT;
  if (node.type === 'UnaryExpression' && node.operator === '!') {
    return { isCondition: true, except: 'both' };
  }
  return node.type.startsWith('TS') ? place : VALUE;
}

function isLoop({ type }: Node): boolean {
  return LOOPS.has(type);
}

function operandPlace(node: Node, field: string, { isCondition }: Place): Place {
  const except = node.operator === '&&' ? 'false' : 'true';
  const isRight = field === 'right';
  if (isRight && !isCondition && !isBoolean(child(node, 'right'))) return VALUE;
  return { isCondition: true, except };
}

/** Built-in errors: their texts name a mistake of the program. */
function isThrown(node: Node): boolean {
  const callee = node.type === 'NewExpression' ? child(node, 'callee') : undefined;
  return callee?.type === 'Identifier' && /^(Range|Type)?Error$/.test(String(callee.name));
}

function oneLine(code: string): string {
  return code.replaceAll(/\s+/g, ' ');
}
