/**
 * What a mutant changes. A change that another one implies is left out: `a === b` becomes true and false, so
 * `a !== b` would add nothing.
 *
 * 1. A condition is always true, or always false. An operand of `&&` or `||` is left out.
 * 2. A comparison includes its boundary, or excludes it.
 * 3. Arithmetic is reversed: `+` and `-`, `*` and `/`, `++` and `--`, `Math.min` and `Math.max`. A sign is lost.
 * 4. A value with a default is without it, or is always the default. A default of '' is only for the compiler.
 * 5. A literal is another one: true and false, a text or a list is empty. The text of a thrown error is for the
 *    programmer, and a text that is compared is covered by 1.
 * 6. A statement, a `case`, a loop or the body of a function does nothing.
 * 7. A step of a list is left out (filter, sort, slice), or applies to all instead of some.
 * 8. An optional access is not optional, and an expression is not anchored.
 */
import { child, children, type Node } from './syntax.ts';

/** Text that replaces a part of the source. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Where an expression is, as far as it decides what is a change. */
export interface Place {
  /** It only decides between two ways. */
  readonly isCondition: boolean;
  /** Its own `true` or `false` would repeat a change of the expression around it. */
  readonly except?: 'true' | 'false' | 'both';
  /** Its text is for programmers, or compared. */
  readonly isFixedText?: boolean;
}

/** The changes of an expression itself, without those of its parts. */
export function editsOf(node: Node, place: Place, source: string): readonly Edit[] {
  const all = (text: string): Edit => ({ start: node.start, end: node.end, text });
  return [...conditionEdits(node, place), ...valueEdits(node, place, source)].map((edit) =>
    typeof edit === 'string' ? all(edit) : edit,
  );
}

const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const COMPARISONS = new Set([
  ...Object.keys(BOUNDARIES),
  '===',
  '!==',
  '==',
  '!=',
  'in',
  'instanceof',
]);

export function isComparison({ type, operator }: Node): boolean {
  return type === 'BinaryExpression' && COMPARISONS.has(String(operator));
}

/** Whether an expression is a boolean by its form. */
export function isBoolean(node: Node): boolean {
  return (
    isComparison(node) ||
    (node.type === 'UnaryExpression' && node.operator === '!') ||
    (isAndOr(node) && isBoolean(child(node, 'right')))
  );
}

export function isAndOr({ type, operator }: Node): boolean {
  return type === 'LogicalExpression' && operator !== '??';
}

function conditionEdits(node: Node, { isCondition, except }: Place): readonly string[] {
  if (node.type === 'Literal' || !(isCondition || isBoolean(node))) return [];
  // Its operands are left out one by one, so that the other value would repeat those.
  const ofOperands = isAndOr(node) ? [node.operator === '&&' ? 'true' : 'false'] : [];
  return ['true', 'false'].filter(
    (value) => except !== 'both' && except !== value && !ofOperands.includes(value),
  );
}

function valueEdits(node: Node, place: Place, source: string): readonly (string | Edit)[] {
  switch (node.type) {
    case 'BinaryExpression':
      return binaryEdits(node, source);
    case 'LogicalExpression':
      return node.operator === '??' ? defaultEdits(node, source) : [];
    case 'UnaryExpression':
      return node.operator === '-' ? [codeOf(child(node, 'argument'), source)] : [];
    case 'UpdateExpression':
      return [
        codeOf(node, source).replace(String(node.operator), node.operator === '++' ? '--' : '++'),
      ];
    case 'AssignmentExpression':
      return hasText(child(node, 'right')) ? [] : operatorEdits(node, ASSIGNMENTS, source);
    case 'Literal':
      return literalEdits(node, place);
    case 'TemplateLiteral':
      return place.isFixedText === true ? [] : [`''`];
    case 'ArrayExpression':
      return children(node, 'elements').length > 0 ? ['[]'] : [];
    case 'CallExpression':
      return callEdits(node, source);
    default:
      return [];
  }
}

function codeOf({ start, end }: Node, source: string): string {
  return source.slice(start, end);
}

const ARITHMETIC: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&': '|',
  '|': '&',
  '**': '*',
};

const ASSIGNMENTS: Readonly<Record<string, string>> = {
  '+=': '-=',
  '-=': '+=',
  '??=': '=',
  '||=': '=',
  '&&=': '=',
};

function binaryEdits(node: Node, source: string): readonly Edit[] {
  const joinsText =
    node.operator === '+' && (hasText(child(node, 'left')) || hasText(child(node, 'right')));
  return joinsText ? [] : operatorEdits(node, { ...BOUNDARIES, ...ARITHMETIC }, source);
}

/** Another operator. Parentheses around operands stay. */
function operatorEdits(
  node: Node,
  becomes: Readonly<Record<string, string>>,
  source: string,
): readonly Edit[] {
  const operator = String(node.operator);
  const text = becomes[operator];
  if (text === undefined) return [];
  const start = source.indexOf(operator, child(node, 'left').end);
  return [{ start, end: start + operator.length, text }];
}

/** Whether `+` joins texts. */
function hasText(node: Node): boolean {
  if (node.type === 'TemplateLiteral') return true;
  if (node.type === 'Literal') return typeof node.value === 'string';
  return (
    node.type === 'BinaryExpression' &&
    node.operator === '+' &&
    (hasText(child(node, 'left')) || hasText(child(node, 'right')))
  );
}

function defaultEdits(node: Node, source: string): readonly string[] {
  const [left, right] = [child(node, 'left'), child(node, 'right')];
  const isForCompiler = right.type === 'Literal' && right.value === '';
  return [...(isForCompiler ? [] : [codeOf(left, source)]), codeOf(right, source)];
}

function literalEdits(node: Node, { isFixedText, isCondition }: Place): readonly string[] {
  const { value } = node;
  if (typeof value === 'boolean') return isCondition ? [] : [String(!value)];
  if (typeof value === 'string' && value !== '' && isFixedText !== true) return [`''`];
  return typeof node.regex === 'object' ? anchorEdits(String(node.raw)) : [];
}

function anchorEdits(raw: string): readonly string[] {
  const end = raw.lastIndexOf('/');
  const pattern = raw.slice(1, end);
  const flags = raw.slice(end);
  return [
    ...(pattern.startsWith('^') ? [`/${pattern.slice(1) || '(?:)'}${flags}`] : []),
    ...(pattern.endsWith('$') ? [`/${pattern.slice(0, -1) || '(?:)'}${flags}`] : []),
  ];
}

const SWAPPED = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    min: 'max',
    max: 'min',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    find: 'findLast',
    findLast: 'find',
    findIndex: 'findLastIndex',
    findLastIndex: 'findIndex',
    indexOf: 'lastIndexOf',
    lastIndexOf: 'indexOf',
    toLowerCase: 'toUpperCase',
    toUpperCase: 'toLowerCase',
    floor: 'ceil',
    ceil: 'floor',
  }),
);
const LEFT_OUT = new Set([
  'filter',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
  'slice',
  'trim',
  'trimEnd',
  'trimStart',
]);

function callEdits(node: Node, source: string): readonly Edit[] {
  const callee = child(node, 'callee');
  if (callee.type !== 'MemberExpression' || callee.computed === true) return [];
  const property = child(callee, 'property');
  const name = codeOf(property, source);
  const swapped = SWAPPED.get(name);
  if (swapped !== undefined) return [{ start: property.start, end: property.end, text: swapped }];
  if (!LEFT_OUT.has(name)) return [];
  const dots = callee.optional === true ? 2 : 1;
  return [{ start: property.start - dots, end: node.end, text: '' }];
}

/** An optional access that is not optional. */
export function optionalEdits(node: Node, source: string): readonly Edit[] {
  const isCall = node.type === 'CallExpression';
  if (node.optional !== true || !(isCall || node.type === 'MemberExpression')) return [];
  const start = source.indexOf('?.', child(node, isCall ? 'callee' : 'object').end);
  const isNamed = !isCall && node.computed !== true;
  return [{ start, end: start + 2, text: isNamed ? '.' : '' }];
}
